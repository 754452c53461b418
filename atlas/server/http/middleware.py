"""ASGI middleware: checks access, request size and load, then calls the application.

A request counts once it is authorised and complete (`bodies.py`). At most `at_work` requests run, of which few start
together (`admission.py`), and `waiting` wait; further requests are rejected with Retry-After. A request that exceeds
its deadline ends, and one whose client has disconnected leaves the queue. Does not know what the application does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from atlas.core.wording import counted
from atlas.runtime.process.bulkhead import leave_place
from atlas.runtime.process.metrics import CALLS, CONTENT_TYPE, Sample, prometheus_text
from atlas.server.http.admission import AdmissionControl, Displaced, Permit
from atlas.server.http.auth import Access, Rejection
from atlas.server.http.bodies import BodyBuffers, ClientDisconnected, drain

logger = logging.getLogger("atlas.http")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Health = Callable[[], Awaitable[tuple[bool, dict[str, object]]]]
"""() -> (is healthy, details that any client may see)."""

HEALTH_PATH = "/healthz"

METRICS_PATH = "/metrics"
"""For Prometheus; a token is needed as for calls, if there is one."""

HEALTH_SECONDS = 1.0
"""A health result is reused for this long, because any client may ask as often as it likes."""

UNREAD_SECONDS = 0.02
"""A request gives up its permit when its client has not read for this long; the connection may end later."""

CLOSING = frozenset({401, 403, 421})
"""Statuses after which the connection is closed: an unauthorised client must connect again for each attempt."""

KNOWN = "atlas.known"
"""Key in a request's `state`, set once it is authorised and complete: its connection is closed later than others."""

TURNED_AWAY = "atlas.turned_away"
"""Key in a request's `state`, set when it is rejected because of load: its connection is not read for a while."""

RETRY_SECONDS = 1

UNLOGGED = frozenset({404, 405})
"""Statuses that are not logged: older clients normally try to open a stream."""

LOG_SECONDS = 10.0
"""Each status is logged at most once in this time."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of the server. All are positive; `waiting` may be 0, and 0 means no limit for the last two."""

    body_bytes: int
    request_seconds: float
    at_work: int
    waiting: int
    per_client: int = 0
    """Requests of one address, running or waiting."""
    starting: int = 0
    """Running requests in their first `STARTING_SECONDS`."""


class RequestLimiter:
    """The ASGI application that the network sees; only `path` leads to the inner application."""

    def __init__(self, app: App, path: str, access: Access, limits: RequestLimits, health: Health) -> None:
        self._app, self._path, self._access, self._limits = app, path, access, limits
        self._admission = AdmissionControl(limits.at_work, limits.starting or limits.at_work)
        self._bodies = BodyBuffers(limits.body_bytes)
        self._inside = 0
        self._inside_of: Counter[str] = Counter()
        self._health = _CachedHealth(health)
        self._log = _RejectionLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] == METRICS_PATH and scope["method"] == "GET":
            rejection = self._access.rejection(headers)
            if rejection is None:
                await _send(send, 200, prometheus_text(self._samples()).encode(), {"content-type": CONTENT_TYPE})
                return
        elif scope["path"] == HEALTH_PATH and scope["method"] in ("GET", "HEAD"):
            rejection = self._access.check_host_origin(headers)
            if rejection is None:
                works, body = await self._health()
                await _respond(send, 200 if works else 503, body)
                return
        else:
            rejection = self._check(scope, headers)
        if rejection is not None:
            await self._reject(rejection, receive, send)
            return
        with contextlib.suppress(ClientDisconnected):
            async with self._bodies.read(receive, self._limits.request_seconds) as body:
                if isinstance(body, Rejection):
                    await self._reject(body, receive, send)
                else:
                    # only a complete request takes a place, so half a request costs other clients nothing
                    await self._admit(scope, body, receive, send)

    def _samples(self) -> Iterable[Sample]:
        yield "atlas_http_requests", {}, self._inside
        yield "atlas_http_clients", {}, len(self._inside_of)
        yield from CALLS.samples()

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> Rejection | None:
        rejection = self._access.rejection(headers)
        if rejection is not None:
            return rejection
        if scope["path"] != self._path:
            return Rejection(404, f"only {self._path}, {HEALTH_PATH} and {METRICS_PATH} exist")
        if scope["method"] != "POST":
            # without sessions there are no streams to open or delete
            return Rejection(405, "only POST is allowed", {"allow": "POST"})
        return self._bodies.check_length(headers.get("content-length", ""))

    async def _reject(self, rejection: Rejection, receive: Receive, send: Send) -> None:
        """Send a rejection. Closes the connection of an unauthorised client and of one that is still sending."""
        self._log.rejected(rejection)
        is_drained = rejection.status != 408 and await drain(receive)
        close = {} if is_drained and rejection.status not in CLOSING else {"connection": "close"}
        await _respond(send, rejection.status, _error(rejection), {**rejection.headers, **close})

    async def _admit(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Take a place for a complete request, then wait for a permit and run it."""
        scope.setdefault("state", {})[KNOWN] = True
        client = _client_of(scope)
        full = self._is_full(client)
        if full is not None:
            await self._reject_busy(scope, full, send)
            return
        place = _Place(self, client)
        try:
            await self._work(scope, body, receive, _Answer(send, place), place)
        finally:
            place.leave()

    def _is_full(self, client: str) -> Rejection | None:
        again = {"retry-after": str(RETRY_SECONDS)}
        is_much = 0 < self._limits.per_client <= self._inside_of[client]
        if is_much and not self._admission.displace(client):
            return Rejection(429, "this client has too many requests in progress", again)
        if self._inside >= self._limits.at_work + self._limits.waiting and not self._admission.displace():
            return Rejection(503, "too many requests are waiting", again)
        return None

    async def _work(self, scope: Scope, body: bytes, receive: Receive, answer: _Answer, place: _Place) -> None:
        gone = asyncio.ensure_future(receive())  # after the body, the only message is that the client disconnected
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                place.permit = await self._permit(gone, place)
                if place.permit is not None:
                    leave_place.set(place.permit.end)
                    await self._app(scope, _replay(body, gone), answer)
        except TimeoutError:
            late = Rejection(504, "the request took too long", {"retry-after": str(RETRY_SECONDS)})
            self._log.rejected(late)
            if not answer.started:
                await _respond(answer.send, late.status, _error(late), late.headers)
            # an answer that has begun stays incomplete, and the connection is closed
        except Displaced:
            again = {"retry-after": str(RETRY_SECONDS)}
            await self._reject_busy(scope, Rejection(503, "too many requests are waiting", again), answer.send)
        finally:
            gone.cancel()

    async def _reject_busy(self, scope: Scope, rejection: Rejection, send: Send) -> None:
        scope["state"][TURNED_AWAY] = True
        self._log.rejected(rejection)
        await _respond(send, rejection.status, _error(rejection), rejection.headers)

    async def _permit(self, gone: asyncio.Future[Message], place: _Place) -> Permit | None:
        """Wait for a permit, which the caller ends; None when the client disconnects first. Raises Displaced."""
        asked = self._admission.request(place.client, place.leave)
        try:
            if not asked.done():
                await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._admission.cancel_request(asked)
            raise
        if asked.done():
            return asked.result()
        self._admission.cancel_request(asked)
        return None

    def enter(self, client: str) -> None:
        """Count a request as running or waiting."""
        self._inside += 1
        self._inside_of[client] += 1

    def leave(self, client: str) -> None:
        """Stop counting a request."""
        self._inside -= 1
        self._inside_of[client] -= 1
        if not self._inside_of[client]:
            del self._inside_of[client]


class _Place:
    """The share of a request in the limits: its count, in total and for its client, and its permit."""

    def __init__(self, limiter: RequestLimiter, client: str) -> None:
        self._limiter, self.client = limiter, client
        self.permit: Permit | None = None
        self._is_left = False
        limiter.enter(client)

    def leave(self) -> None:
        """Release everything; idempotent."""
        if self._is_left:
            return
        self._is_left = True
        self._limiter.leave(self.client)
        if self.permit is not None:
            self.permit.end()


class _Answer:
    """Forwards an answer and records whether it has begun; a client that does not read it loses its place."""

    def __init__(self, send: Send, place: _Place) -> None:
        self.send, self._place, self.started = send, place, False

    async def __call__(self, message: Message) -> None:
        self.started = True
        timer = asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._place.leave)
        try:
            await self.send(message)
        finally:
            timer.cancel()


class _CachedHealth:
    """Reuses a health result for `HEALTH_SECONDS`."""

    def __init__(self, ask: Health) -> None:
        self._ask, self._asking = ask, asyncio.Lock()
        self._known: tuple[float, tuple[bool, dict[str, object]]] | None = None

    async def __call__(self) -> tuple[bool, dict[str, object]]:
        async with self._asking:
            if self._known is None or time.monotonic() - self._known[0] > HEALTH_SECONDS:
                answer = await self._ask()
                self._known = time.monotonic(), answer
            return self._known[1]


class _RejectionLog:
    """Logs rejections without flooding the log; never logs what the client sent."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._suppressed: dict[int, int] = {}

    def rejected(self, rejection: Rejection) -> None:
        if rejection.status in UNLOGGED:
            return
        now = time.monotonic()
        if now - self._last.get(rejection.status, -LOG_SECONDS) < LOG_SECONDS:
            self._suppressed[rejection.status] = self._suppressed.get(rejection.status, 0) + 1
            return
        self._last[rejection.status] = now
        before = self._suppressed.pop(rejection.status, 0)
        more = f" ({counted(before, 'earlier one')} not logged)" if before else ""
        logger.warning("rejected with %d: %s%s", rejection.status, rejection.message, more)


def _replay(body: bytes, gone: asyncio.Future[Message]) -> Receive:
    """Return a `receive` that returns the complete body, then waits for the client to disconnect."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await asyncio.shield(gone)

    return receive


def _client_of(scope: Scope) -> str:
    """Return the address that a request comes from; for clients behind a proxy, that of the proxy."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""


def _error(rejection: Rejection) -> dict[str, object]:
    code = -32603 if rejection.status >= 500 else -32600
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": rejection.message}}


async def _respond(
    send: Send, status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> None:
    await _send(send, status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})


async def _send(send: Send, status: int, content: bytes, headers: Mapping[str, str]) -> None:
    given = {"content-length": str(len(content)), "cache-control": "no-store", **headers}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
