"""The server of published indexes: a shelf behind HTTP, with a token for each holder (`app/published/tokens.py`).

Every request is one POST to one path, complete before it counts, so the limits of `http/middleware.py` hold as they do
for questions. A body is read and written in pieces.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from atlas import __version__
from atlas.app.published.manifest import MAX_ENTRY, is_project, read_entry
from atlas.app.published.remote import ACTION, BODY, ENTER, LENGTH, LIST, OFFSET, PATH, PROJECT, READ, WRITE
from atlas.app.published.shelf import PIECE
from atlas.app.published.tokens import PUBLISHING, READING
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.server.http.auth import Access, Rejection
from atlas.server.http.middleware import RequestLimiter, RequestLimits

if TYPE_CHECKING:
    import socket

    from atlas.app.published.shelf import IndexShelf
    from atlas.app.published.tokens import Holder, Holders
    from atlas.server.http.middleware import Receive, Scope, Send
    from atlas.server.http.server import Tls

logger = logging.getLogger("atlas.published")

LIMITS = RequestLimits(
    body_bytes=PIECE + MAX_ENTRY, request_seconds=60, at_work=8, waiting=64, per_client=16, starting=0
)
_CHALLENGE = {"www-authenticate": 'Bearer realm="code-atlas"'}
_DIGITS = 18


@dataclass(frozen=True, slots=True)
class HolderAccess(Access):
    """Requires the token of any holder; what the holder may do is decided with the request."""

    holders: Holders | None = None

    def rejection(self, headers: Mapping[str, str]) -> Rejection | None:
        """Return why a request is rejected, or None."""
        found = self.check_host_origin(headers)
        if found is not None:
            return found
        try:
            holder = self.holders.of(headers.get("authorization", "")) if self.holders is not None else None
        except ConfigError as error:
            logger.warning("no token is accepted: %s", error.message)
            return Rejection(503, "the tokens cannot be read")
        return None if holder is not None else Rejection(401, "a valid bearer token is required", _CHALLENGE)


class PublishedApp:
    """The ASGI application behind the limits."""

    def __init__(self, shelf: IndexShelf, holders: Holders) -> None:
        self._shelf, self._holders = shelf, holders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        content: bytes = (await receive()).get("body", b"")
        try:
            status, answer = 200, await asyncio.to_thread(self._answer, headers, content)
        except _Refused as error:
            status, answer = error.status, _error(str(error))
        except NotFound as error:
            status, answer = 404, _error(error.message)
        except AtlasError as error:
            logger.warning("a request failed: %s", error.message)
            # the message may name a path of this machine
            status, answer = 409, _error("the request is not valid, or the server cannot store it; see its log")
        kind = b"application/json" if status != 200 or headers.get(ACTION) == LIST else b"application/octet-stream"
        pairs = [
            (b"content-length", str(len(answer)).encode()),
            (b"content-type", kind),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": answer})

    def _answer(self, headers: Mapping[str, str], content: bytes) -> bytes:
        holder = self._holders.of(headers.get("authorization", ""))
        if holder is None:
            raise _Refused(401, "a valid bearer token is required")
        action = headers.get(ACTION, "")
        if action == LIST:
            readable = [name for name in self._shelf.projects() if holder.may(READING, name)]
            return json.dumps([asdict(entry) for entry in self._shelf.entries(readable)]).encode()
        project = headers.get(PROJECT, "")
        if action not in (READ, WRITE, ENTER):
            raise _Refused(400, f"{ACTION} is none of {LIST}, {READ}, {WRITE} and {ENTER}")
        self._check_right(holder, READING if action == READ else PUBLISHING, project)
        if action == ENTER:
            self._shelf.enter(project, read_entry(content))
            logger.info("%s published an index of %s", holder.name, project)
            return b"entered"
        offset, length = (_number(headers.get(name, "")) for name in (OFFSET, LENGTH))
        if action == READ:
            return self._shelf.read(project, headers.get(BODY, ""), offset, length)
        is_whole = self._shelf.write(project, headers.get(BODY, ""), offset, length, content)
        return b"whole" if is_whole else b"more"

    @staticmethod
    def _check_right(holder: Holder, right: str, project: str) -> None:
        # the same answer for a project that is not there: its name says something, too
        if not is_project(project) or not holder.may(right, project):
            raise _Refused(403, f"this token has no right to {right} this project")


class _Refused(Exception):
    """A request that is answered with a status; the message is for the client."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def serve_published(
    shelf: IndexShelf,
    holders: Holders,
    listening: socket.socket,
    access: Access,
    ready: Callable[[], None],
    tls: Tls | None,
) -> None:
    """Serve until a signal; `access` says which hosts may be addressed."""
    from atlas.server.http.server import serve

    async def health() -> tuple[bool, dict[str, object]]:
        return True, {"status": "ok", "version": __version__}

    guarded = HolderAccess(access.names, access.addresses, holders=holders)
    limiter = RequestLimiter(PublishedApp(shelf, holders), PATH, guarded, LIMITS, health)
    await serve(limiter, listening, ready, tls, LIMITS.at_work + LIMITS.waiting)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise _Refused(400, "an offset or length is no number")
    return int(text)


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()
