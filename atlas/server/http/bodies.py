"""Buffers request bodies, within limits of size, time and memory. A request counts only once its body is complete.

When all bodies together need too much memory, the one that has been arriving for longest is dropped, not the newest: an
honest body arrives within milliseconds.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from atlas.server.http.auth import Rejection

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

BODY_SECONDS = 30.0
"""Time limit for a body."""

PAUSE_SECONDS = 5.0
"""Time limit between two parts of a body."""

MEMORY_BYTES = 64 << 20
"""Memory for all bodies that are arriving or waiting; `mcp.max_body_bytes` can raise it."""

DRAIN_BYTES, DRAIN_SECONDS = 16 << 20, 2.0
"""How much of a rejected request is still read: a client that is disconnected while sending never sees the answer."""

SMALL_BYTES = 65_536
"""Bodies up to this size are never rejected for lack of memory: the number of connections bounds their sum."""


class ClientDisconnected(Exception):
    """The client disconnected before its request was complete."""


class BodyBuffers:
    """The request bodies in memory. For one event loop."""

    def __init__(self, body_bytes: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self._body_bytes, self._memory_bytes = body_bytes, max(memory_bytes, body_bytes)
        self._held = 0
        self._arriving: OrderedDict[_Arriving, None] = OrderedDict()
        """Oldest first."""

    @property
    def too_large(self) -> Rejection:
        """The rejection of a body beyond the size limit."""
        return Rejection(413, f"a request may have at most {self._body_bytes:,} bytes")

    def check_length(self, length: str) -> Rejection | None:
        """Return a rejection if the announced length exceeds the limit, or None."""
        is_number = length.isascii() and length.isdecimal()
        return self.too_large if is_number and (len(length) > 18 or int(length) > self._body_bytes) else None

    @asynccontextmanager
    async def read(self, receive: Receive, seconds: float) -> AsyncGenerator[bytes | Rejection]:
        """Yield the complete body or a rejection. The body uses memory until the block ends.

        Raises ClientDisconnected.
        """
        loop = asyncio.get_running_loop()
        arriving = _Arriving(loop.time() + min(BODY_SECONDS, seconds))
        self._arriving[arriving] = None
        try:
            try:
                body = await self._read(receive, arriving)
            except TimeoutError:
                body = Rejection(408, "the request did not arrive in time")
            finally:
                self._arriving.pop(arriving, None)
            if isinstance(body, Rejection):
                self._release(arriving)
            yield body
        finally:
            self._release(arriving)

    async def _read(self, receive: Receive, arriving: _Arriving) -> bytes | Rejection:
        body = bytearray()
        async with arriving.timeout:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientDisconnected
                part: bytes = message.get("body", b"")
                if len(body) + len(part) > self._body_bytes:
                    return self.too_large
                body += part
                if not self._hold(arriving, len(part)):
                    return Rejection(503, "request bodies use too much memory", {"retry-after": "1"})
                if not message.get("more_body", False):
                    return bytes(body)
                if part:
                    arriving.extend()

    def _hold(self, arriving: _Arriving, more: int) -> bool:
        """Count bytes, dropping older bodies when the total is too large; False when there is none to drop."""
        arriving.held += more
        self._held += more
        while self._held > self._memory_bytes and arriving.held > SMALL_BYTES:
            oldest = next((one for one in self._arriving if one is not arriving), None)
            if oldest is None:
                return False
            del self._arriving[oldest]
            self._release(oldest)
            oldest.drop()
        return True

    def _release(self, arriving: _Arriving) -> None:
        self._held -= arriving.held
        arriving.held = 0


class _Arriving:
    """A body that is being read, with its deadline."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._is_dropped = False
        self.held = 0
        self.timeout = asyncio.timeout_at(self._next())

    def extend(self) -> None:
        """Extend the deadline after a part has arrived."""
        if not (self._is_dropped or self.timeout.expired()):
            self.timeout.reschedule(self._next())

    def drop(self) -> None:
        """Stop reading now."""
        self._is_dropped = True
        if not self.timeout.expired():
            self.timeout.reschedule(asyncio.get_running_loop().time())

    def _next(self) -> float:
        return min(self._end, asyncio.get_running_loop().time() + PAUSE_SECONDS)


async def drain(receive: Receive) -> bool:
    """Read and discard the rest of a rejected request; return whether it was read completely."""
    length = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while length <= DRAIN_BYTES:
                message = await receive()
                length += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    return False
