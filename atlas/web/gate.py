"""An ASGI application around another: checks who asks, how much is sent and how much is under way, then lets it work.

At most `at_work` requests are worked on, of which few begin together (`turns.py`), and `waiting` wait in order; the
next one is told to come again, and so is a client that has too many of them. A request that takes too long ends, one
whose client has gone leaves the queue. Must not know what the application inside does.
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

from atlas.web.access import Access, Refusal
from atlas.web.turns import Turn, Turns

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

BODY_SECONDS = 30.0
"""A client has this long to send its request."""

DRAIN_BYTES, DRAIN_SECONDS = 16 << 20, 2.0
"""So much of a refused request is still taken in: a client that is cut off while it sends never reads the answer."""

RETRY_SECONDS = 1

UNLOGGED = frozenset({404, 405})
"""Older clients try to open a stream, which is no mishap."""

LOG_SECONDS = 10.0
"""A reason to refuse is logged at most this often."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken at once; all positive, `waiting` may be 0, and the last two, which then are no limits."""

    body_bytes: int
    request_seconds: float
    at_work: int
    waiting: int
    per_client: int = 0
    """Requests of one address, at work or waiting."""
    starting: int = 0
    """Of those at work, so many in their first `STARTING_SECONDS`."""


class Gate:
    """The ASGI application that the network sees. `path` leads to the application inside, nothing else does."""

    def __init__(self, app: App, path: str, access: Access, limits: Limits, health: Health) -> None:
        self._app, self._path, self._access, self._limits = app, path, access, limits
        self._turns = Turns(limits.at_work, limits.starting or limits.at_work)
        self._inside = 0
        self._inside_of: Counter[str] = Counter()
        self._health = _Remembered(health)
        self._log = _Log()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] == HEALTH_PATH and scope["method"] in ("GET", "HEAD"):
            refusal = self._access.foreign(headers)
            if refusal is None:
                works, body = await self._health()
                await _respond(send, 200 if works else 503, body)
                return
        else:
            refusal = self._refusal(scope, headers)
        if refusal is not None:
            await self._refuse(refusal, receive, send)
            return
        client = _client_of(scope)
        self._inside += 1
        self._inside_of[client] += 1
        try:
            await self._admit(scope, receive, send)
        finally:
            self._inside -= 1
            self._inside_of[client] -= 1
            if not self._inside_of[client]:
                del self._inside_of[client]

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        refusal = self._access.refusal(headers)
        if refusal is not None:
            return refusal
        if scope["path"] != self._path:
            return Refusal(404, f"there is only {self._path} and {HEALTH_PATH}")
        if scope["method"] != "POST":
            # without sessions there is no stream to open and none to delete
            return Refusal(405, "only POST is allowed", {"allow": "POST"})
        if 0 < self._limits.per_client <= self._inside_of[_client_of(scope)]:
            return Refusal(429, "this client has too many requests under way", {"retry-after": str(RETRY_SECONDS)})
        if self._inside >= self._limits.at_work + self._limits.waiting:
            return Refusal(503, "too many requests are waiting already", {"retry-after": str(RETRY_SECONDS)})
        length = headers.get("content-length", "")
        return self._too_large() if length.isdecimal() and int(length) > self._limits.body_bytes else None

    def _too_large(self) -> Refusal:
        return Refusal(413, f"a request may have {self._limits.body_bytes:,} bytes")

    async def _refuse(self, refusal: Refusal, receive: Receive, send: Send) -> None:
        self._log.refused(refusal)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await _read(receive, DRAIN_BYTES, keep=False)
        await _respond(send, refusal.status, _error(refusal), refusal.headers)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the body in, wait for a turn, work."""
        try:
            async with asyncio.timeout(min(BODY_SECONDS, self._limits.request_seconds)):
                body = await _read(receive, self._limits.body_bytes)
        except TimeoutError:
            await self._refuse(Refusal(408, "the request did not arrive in time"), receive, send)
            return
        if body is None:
            await self._refuse(self._too_large(), receive, send)
            return
        if isinstance(body, _Gone):
            return
        answer = _Answer(send)
        gone = asyncio.ensure_future(receive())  # after the body there is only the news that the client has left
        turn: Turn | None = None
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                turn = await self._turn(gone)
                if turn is not None:
                    await self._app(scope, _replay(body, gone), answer)
        except TimeoutError:
            late = Refusal(504, "the request took too long", {"retry-after": str(RETRY_SECONDS)})
            self._log.refused(late)
            if not answer.started:
                await _respond(send, late.status, _error(late), late.headers)
            # an answer that has begun ends unfinished: the connection is closed under it
        finally:
            gone.cancel()
            if turn is not None:
                turn.end()

    async def _turn(self, gone: asyncio.Future[Message]) -> Turn | None:
        """Wait for a turn, which the caller ends; None when the client left first."""
        if not self._turns.are_taken:
            return await self._turns.take()
        taking = asyncio.ensure_future(self._turns.take())
        try:
            await asyncio.wait({taking, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if taking.done():
                taking.result().end()
            taking.cancel()
            raise
        if taking.done():
            return taking.result()
        taking.cancel()
        return None


class _Gone:
    """The client left before it had sent everything."""


class _Answer:
    """Passes an answer on and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def __call__(self, message: Message) -> None:
        self.started = True
        await self._send(message)


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


class _Log:
    """Tells of refusals without letting them flood the log; what the client sent is not repeated."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._unsaid: dict[int, int] = {}

    def refused(self, refusal: Refusal) -> None:
        if refusal.status in UNLOGGED:
            return
        now = time.monotonic()
        if now - self._last.get(refusal.status, -LOG_SECONDS) < LOG_SECONDS:
            self._unsaid[refusal.status] = self._unsaid.get(refusal.status, 0) + 1
            return
        self._last[refusal.status] = now
        before = self._unsaid.pop(refusal.status, 0)
        more = f" ({before} more before)" if before else ""
        logger.warning("refused with %d: %s%s", refusal.status, refusal.message, more)


def _replay(body: bytes, gone: asyncio.Future[Message]) -> Receive:
    """Return a `receive` that gives the whole body, then waits for the client to leave."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await asyncio.shield(gone)

    return receive


async def _read(receive: Receive, limit: int, *, keep: bool = True) -> bytes | _Gone | None:
    """Return a request's body, None when it is longer than `limit`; `keep` False throws it away."""
    parts, length = bytearray(), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return _Gone()
        part: bytes = message.get("body", b"")
        length += len(part)
        if length > limit:
            return None
        if keep:
            parts += part
        if not message.get("more_body", False):
            return bytes(parts)


def _client_of(scope: Scope) -> str:
    """Return the address a request comes from; a proxy's is all that there is to see of those behind it."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""


def _error(refusal: Refusal) -> dict[str, object]:
    code = -32603 if refusal.status >= 500 else -32600
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": refusal.message}}


async def _respond(
    send: Send, status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> None:
    content = json.dumps(body).encode()
    given = {"content-type": "application/json", "content-length": str(len(content)), "cache-control": "no-store"}
    given |= headers or {}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
