"""An ASGI application around another: checks who asks, how much is sent and how much is under way, then lets it work.

A request counts once it is allowed and has arrived whole (`bodies.py`). At most `at_work` requests are worked on, of
which few begin together (`turns.py`), and `waiting` wait; beyond that one is told to come again. A request that takes
too long ends, one whose client has gone leaves the queue. Must not know what the application inside does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from atlas.http.admission import AdmissionControl, Displaced, Permit
from atlas.http.auth import Access, Rejection
from atlas.http.bodies import BodyBuffers, ClientDisconnected, drain
from atlas.process.bulkhead import leave_place

logger = logging.getLogger("atlas.http")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Health = Callable[[], Awaitable[tuple[bool, dict[str, object]]]]
"""() -> (works, what may be told to anybody)."""

HEALTH_PATH = "/healthz"

HEALTH_SECONDS = 1.0
"""For so long an answer about health is given again: anybody may ask, as often as they like."""

UNREAD_SECONDS = 0.02
"""A request whose client is not reading for so long gives up its turn: the connection ends later, if it stays so."""

CLOSING = frozenset({401, 403, 421})
"""Refusals after which the connection is closed: who may not come in must connect again for each try."""

KNOWN = "atlas.known"
"""Set in a request's `state` when it is allowed and whole: its connection is then worth more than others."""

TURNED_AWAY = "atlas.turned_away"
"""Set there when it is refused only because of too many others: its connection may rest until it may come again."""

RETRY_SECONDS = 1

UNLOGGED = frozenset({404, 405})
"""Older clients try to open a stream, which is no mishap."""

LOG_SECONDS = 10.0
"""A reason to refuse is logged at most this often."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much is taken at once; all positive, `waiting` may be 0, and the last two, which then are no limits."""

    body_bytes: int
    request_seconds: float
    at_work: int
    waiting: int
    per_client: int = 0
    """Requests of one address, at work or waiting."""
    starting: int = 0
    """Of those at work, so many in their first `STARTING_SECONDS`."""


class RequestLimiter:
    """The ASGI application that the network sees. `path` leads to the application inside, nothing else does."""

    def __init__(self, app: App, path: str, access: Access, limits: RequestLimits, health: Health) -> None:
        self._app, self._path, self._access, self._limits = app, path, access, limits
        self._admission = AdmissionControl(limits.at_work, limits.starting or limits.at_work)
        self._bodies = BodyBuffers(limits.body_bytes)
        self._inside = 0
        self._inside_of: Counter[str] = Counter()
        self._health = _Remembered(health)
        self._log = _RejectionLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] == HEALTH_PATH and scope["method"] in ("GET", "HEAD"):
            rejection = self._access.check_host_origin(headers)
            if rejection is None:
                works, body = await self._health()
                await _respond(send, 200 if works else 503, body)
                return
        else:
            rejection = self._refusal(scope, headers)
        if rejection is not None:
            await self._reject(rejection, receive, send)
            return
        with contextlib.suppress(ClientDisconnected):
            async with self._bodies.read(receive, self._limits.request_seconds) as body:
                if isinstance(body, Rejection):
                    await self._reject(body, receive, send)
                else:
                    # only what has arrived whole takes a place: half a request costs nobody else anything
                    await self._admit(scope, body, receive, send)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Rejection | None:
        rejection = self._access.rejection(headers)
        if rejection is not None:
            return rejection
        if scope["path"] != self._path:
            return Rejection(404, f"there is only {self._path} and {HEALTH_PATH}")
        if scope["method"] != "POST":
            # without sessions there is no stream to open and none to delete
            return Rejection(405, "only POST is allowed", {"allow": "POST"})
        return self._bodies.check_length(headers.get("content-length", ""))

    async def _reject(self, rejection: Rejection, receive: Receive, send: Send) -> None:
        """Say no. Whoever has not sent everything by then, or is not allowed in, loses the connection."""
        self._log.refused(rejection)
        is_drained = rejection.status != 408 and await drain(receive)
        close = {} if is_drained and rejection.status not in CLOSING else {"connection": "close"}
        await _respond(send, rejection.status, _error(rejection), {**rejection.headers, **close})

    async def _admit(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Find a place for a request that has arrived, then wait for a turn and work."""
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
            return Rejection(429, "this client has too many requests under way", again)
        if self._inside >= self._limits.at_work + self._limits.waiting and not self._admission.displace():
            return Rejection(503, "too many requests are waiting already", again)
        return None

    async def _work(self, scope: Scope, body: bytes, receive: Receive, answer: _Answer, place: _Place) -> None:
        gone = asyncio.ensure_future(receive())  # after the body there is only the news that the client has left
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                place.permit = await self._permit(gone, place)
                if place.permit is not None:
                    leave_place.set(place.permit.end)
                    await self._app(scope, _replay(body, gone), answer)
        except TimeoutError:
            late = Rejection(504, "the request took too long", {"retry-after": str(RETRY_SECONDS)})
            self._log.refused(late)
            if not answer.started:
                await _respond(answer.send, late.status, _error(late), late.headers)
            # an answer that has begun ends unfinished: the connection is closed under it
        except Displaced:
            again = {"retry-after": str(RETRY_SECONDS)}
            await self._reject_busy(scope, Rejection(503, "too many requests are waiting already", again), answer.send)
        finally:
            gone.cancel()

    async def _reject_busy(self, scope: Scope, rejection: Rejection, send: Send) -> None:
        scope["state"][TURNED_AWAY] = True
        self._log.refused(rejection)
        await _respond(send, rejection.status, _error(rejection), rejection.headers)

    async def _permit(self, gone: asyncio.Future[Message], place: _Place) -> Permit | None:
        """Wait for a permit, which the caller ends; None when the client left first. Raises Displaced."""
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
        """Count a request."""
        self._inside += 1
        self._inside_of[client] += 1

    def leave(self, client: str) -> None:
        """Count it no longer."""
        self._inside -= 1
        self._inside_of[client] -= 1
        if not self._inside_of[client]:
            del self._inside_of[client]


class _Place:
    """What a request takes from others: a place among all and among those of its client, and a turn."""

    def __init__(self, gate: RequestLimiter, client: str) -> None:
        self._gate, self.client = gate, client
        self.permit: Permit | None = None
        self._is_left = False
        gate.enter(client)

    def leave(self) -> None:
        """Give it all back, once."""
        if self._is_left:
            return
        self._is_left = True
        self._gate.leave(self.client)
        if self.permit is not None:
            self.permit.end()


class _Answer:
    """Passes an answer on and knows whether it has begun; a client that does not read it loses its place meanwhile."""

    def __init__(self, send: Send, place: _Place) -> None:
        self.send, self._place, self.started = send, place, False

    async def __call__(self, message: Message) -> None:
        self.started = True
        timer = asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._place.leave)
        try:
            await self.send(message)
        finally:
            timer.cancel()


class _Remembered:
    """Asks at most once in `HEALTH_SECONDS`."""

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
    """Tells of refusals without letting them flood the log; what the client sent is not repeated."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._unsaid: dict[int, int] = {}

    def refused(self, rejection: Rejection) -> None:
        if rejection.status in UNLOGGED:
            return
        now = time.monotonic()
        if now - self._last.get(rejection.status, -LOG_SECONDS) < LOG_SECONDS:
            self._unsaid[rejection.status] = self._unsaid.get(rejection.status, 0) + 1
            return
        self._last[rejection.status] = now
        before = self._unsaid.pop(rejection.status, 0)
        more = f" ({before} more before)" if before else ""
        logger.warning("refused with %d: %s%s", rejection.status, rejection.message, more)


def _replay(body: bytes, gone: asyncio.Future[Message]) -> Receive:
    """Return a `receive` that gives the whole body, then waits for the client to leave."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await asyncio.shield(gone)

    return receive


def _client_of(scope: Scope) -> str:
    """Return the address a request comes from; a proxy's is all that there is to see of those behind it."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""


def _error(rejection: Rejection) -> dict[str, object]:
    code = -32603 if rejection.status >= 500 else -32600
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": rejection.message}}


async def _respond(
    send: Send, status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> None:
    content = json.dumps(body).encode()
    given = {"content-type": "application/json", "content-length": str(len(content)), "cache-control": "no-store"}
    given |= headers or {}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
