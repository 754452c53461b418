"""Buffer the bodies of requests: read whole before a request counts as one, within limits of size, time and memory.

While bodies together need too much memory, the one that has been arriving for longest is given up, not the newest: an
honest body arrives in milliseconds.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from atlas.http.auth import Rejection

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

BODY_SECONDS = 30.0
"""A client has this long to send its request."""

PAUSE_SECONDS = 5.0
"""And no longer than this between two parts of it."""

MEMORY_BYTES = 64 << 20
"""All bodies that are arriving or wait for a turn; a single body may be larger than that."""

DRAIN_BYTES, DRAIN_SECONDS = 16 << 20, 2.0
"""So much of a refused request is still taken in: a client that is cut off while it sends never reads the answer."""


SMALL_BYTES = 65_536
"""A body up to this is never refused for want of memory: the number of connections bounds what they need."""


class ClientDisconnected(Exception):
    """The client left before it had sent everything."""


class BodyBuffers:
    """The bodies in memory. For one event loop."""

    def __init__(self, body_bytes: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self._body_bytes, self._memory_bytes = body_bytes, max(memory_bytes, body_bytes)
        self._held = 0
        self._arriving: OrderedDict[_Arriving, None] = OrderedDict()
        """Oldest first."""

    @property
    def too_large(self) -> Rejection:
        """What to say of a body beyond the limit."""
        return Rejection(413, f"a request may have {self._body_bytes:,} bytes")

    def check_length(self, length: str) -> Rejection | None:
        """Return why a body of the announced length is refused, or None."""
        is_number = length.isascii() and length.isdecimal()
        return self.too_large if is_number and (len(length) > 18 or int(length) > self._body_bytes) else None

    @asynccontextmanager
    async def read(self, receive: Receive, seconds: float) -> AsyncGenerator[bytes | Rejection]:
        """Give a whole body, or why it is refused; it counts until the end of the block. Raises ClientDisconnected."""
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
                    return Rejection(503, "too much is waiting already", {"retry-after": "1"})
                if not message.get("more_body", False):
                    return bytes(body)
                if part:
                    arriving.extend()

    def _hold(self, arriving: _Arriving, more: int) -> bool:
        """Count bytes; give up other bodies when they are too many together. False when there is no other."""
        arriving.held += more
        self._held += more
        while self._held > self._memory_bytes and arriving.held > SMALL_BYTES:
            oldest = next((one for one in self._arriving if one is not arriving), None)
            if oldest is None:
                return False
            del self._arriving[oldest]
            self._release(oldest)
            oldest.give_up()
        return True

    def _release(self, arriving: _Arriving) -> None:
        self._held -= arriving.held
        arriving.held = 0


class _Arriving:
    """A body that is being read, with its deadline."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._is_given_up = False
        self.held = 0
        self.timeout = asyncio.timeout_at(self._next())

    def extend(self) -> None:
        """Note that a part has come."""
        if not (self._is_given_up or self.timeout.expired()):
            self.timeout.reschedule(self._next())

    def give_up(self) -> None:
        """End the reading now."""
        self._is_given_up = True
        if not self.timeout.expired():
            self.timeout.reschedule(asyncio.get_running_loop().time())

    def _next(self) -> float:
        return min(self._end, asyncio.get_running_loop().time() + PAUSE_SECONDS)


async def drain(receive: Receive) -> bool:
    """Throw away what is left of a refused request; return whether that was all of it."""
    length = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while length <= DRAIN_BYTES:
                message = await receive()
                length += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    return False
