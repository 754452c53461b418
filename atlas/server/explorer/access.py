"""Who may read the explorer's pages: one browser, let in by a token that works once, and no page of another site.

The token comes in the URL that `atlas ui` opens. The answer sets a cookie that scripts cannot read and that other sites
cannot send, and leads to the first page from a page of our own: browsers do not send such a cookie with a redirect that
began elsewhere. Every answer, errors too, carries the headers that keep a browser from running anything but our script.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from atlas.server.http.auth import LOOPBACK_NAMES, Access, Rejection
from atlas.server.http.middleware import KNOWN, App, Message, Receive, Scope, Send

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # other sites learn nothing; without the origin of our own forms they could not be told from those of other sites
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
STATIC = "/static/"
WRITES = frozenset({"/unit/write", "/chat/ask", "/chat/allow", "/chat/end"})
"""The only paths that take POST: forms of pages of ours, each with the token of this process's forms."""
FORM = "application/x-www-form-urlencoded"
MAX_QUERY = 16_384
"""Bytes of a request's query: a question of the longest kind is shorter."""
AGAIN = "Open the address that `atlas ui` has printed. It works once: for another browser, start `atlas ui` again."


class OneBrowser:
    """The ASGI application that the network sees: checks a request, then has the pages answer it."""

    def __init__(self, app: App, token: str, start: str) -> None:
        """`start`: the path to which the token leads, our own."""
        self._app, self._start = app, start
        self._token: str | None = token
        """None once it was used."""
        self._cookie = f"atlas-{secrets.token_hex(4)}"
        """Cookies are kept by host, not by port: two explorers need two names."""
        self._secret = secrets.token_urlsafe(32)
        self._access = Access(LOOPBACK_NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        guarded = _with_headers(send)
        rejection = self._rejected(scope, headers)
        if rejection is not None:
            await _respond(guarded, rejection.status, _page("Not allowed", rejection.message), rejection.headers)
        elif scope["path"].startswith(STATIC) or self._is_known(headers):
            # its connection is closed later than that of a stranger
            scope.setdefault("state", {})[KNOWN] = True
            await self._app(scope, receive, guarded)
        elif self._lets_in(scope):
            await self._let_in(guarded)
        else:
            await _respond(guarded, 403, _page("Not allowed", AGAIN))

    def _rejected(self, scope: Scope, headers: Mapping[str, str]) -> Rejection | None:
        """Return why a request is refused whoever sends it, or None."""
        rejection = self._access.check_host_origin(headers)
        if rejection is not None:
            return Rejection(rejection.status, "This server answers to names of this machine only.")
        is_write = scope["method"] == "POST" and scope["path"] in WRITES
        if not is_write and scope["method"] not in ("GET", "HEAD"):
            return Rejection(405, "There is nothing to write here.", {"allow": "GET, HEAD"})
        if len(scope["query_string"]) > MAX_QUERY:
            return Rejection(414, "The question is too long.")
        # a page of another port is of the same site, and its requests carry the cookie
        origin = headers.get("origin")
        is_own = origin is None or origin.lower() == f"http://{headers.get('host', '').lower()}"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        if not is_own or (site not in ("none", "same-origin") and mode != "navigate"):
            return Rejection(403, "Pages of other sites may not ask here.")
        # a form says where it comes from: what does not say it is no form of ours
        if is_write and (origin is None or site not in ("none", "same-origin")):
            return Rejection(403, "Only pages of this server may write.")
        if is_write and headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            return Rejection(415, "Only forms are read.")
        return None

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._secret.encode())

    def _lets_in(self, scope: Scope) -> bool:
        """Return whether a request has the token; it is used up then."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._token is None or not hmac.compare_digest(given.encode(), self._token.encode()):
            return False
        self._token = None
        return True

    async def _let_in(self, send: Send) -> None:
        start = escape(self._start, quote=True)
        body = f'<meta http-equiv="refresh" content="0; url={start}"><p><a href="{start}">Continue</a></p>'
        cookie = f"{self._cookie}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
        await _respond(send, 200, _document("Code Atlas", body), {"set-cookie": cookie})


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
            given = [pair for pair in message.get("headers", ()) if pair[0].decode("latin-1") not in SECURITY_HEADERS]
            message = {**message, "headers": [*given, *own]}
        await send(message)

    return guarded


def _page(title: str, text: str) -> bytes:
    return _document(title, f"<h1>{escape(title)}</h1><p>{escape(text)}</p>")


def _document(title: str, body: str) -> bytes:
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    style = f'<link rel="stylesheet" href="{STATIC}explorer.css"></head>'
    return f"{head}{style}<body><main>{body}</main></body></html>".encode()


async def _respond(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    given = {"content-type": "text/html; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
