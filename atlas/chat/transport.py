"""Transports of servers: a process on stdio, or Streamable HTTP; both report the end of the connection.

What a process writes to stderr is read at once and its last lines are kept, so that a failure can be explained and a
talkative server neither blocks nor fills the memory.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from atlas.chat.server_spec import ServerSpec

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

KEPT_LINES = 20
"""Lines of stderr that are kept."""

MAX_LINE = 500

HTTP_TIMEOUTS = httpx2.Timeout(30.0, read=300.0)
"""Seconds; a server may hold a response stream open, and each call has a time limit of its own."""


class Stderr:
    """The last lines that a process wrote to stderr."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first."""
        return tuple(self._lines)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[TextIO]:
        """Yield the file that the process writes to; its end is closed with the block."""
        loop = asyncio.get_running_loop()
        incoming, outgoing = os.pipe()
        reader = asyncio.StreamReader(limit=1 << 16)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb")
        )
        task = asyncio.create_task(self._collect(reader))
        try:
            with os.fdopen(outgoing, "w") as written:
                yield written
        finally:
            task.cancel()
            transport.close()

    async def _collect(self, reader: asyncio.StreamReader) -> None:
        rest = b""
        while chunk := await reader.read(1 << 14):
            *lines, rest = (rest + chunk).split(b"\n")
            self._lines.extend(line[:MAX_LINE].decode(errors="replace") for line in lines)
            rest = rest[:MAX_LINE]


class WatchedReads:
    """A read stream of the SDK that calls `ended` when the other side closes it; everything else is the stream's."""

    def __init__(self, inner: Any, ended: Callable[[], None]) -> None:
        self._inner, self._ended = inner, ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def receive(self) -> Any:
        """Return the next message."""
        try:
            return await self._inner.receive()
        except Exception:
            self._ended()
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._inner.__aexit__(*raised)


@asynccontextmanager
async def open_transport(
    spec: ServerSpec, stderr: Stderr, ended: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    """Start or reach a server for the duration of the block. Raises OSError if its command cannot be started."""
    if spec.url:
        async with (
            httpx2.AsyncClient(headers=dict(spec.headers), timeout=HTTP_TIMEOUTS) as client,
            streamable_http_client(spec.url, http_client=client) as (reads, writes),
        ):
            yield cast("TransportStreams", (WatchedReads(reads, ended), writes))
        return
    parameters = StdioServerParameters(
        command=spec.command, args=list(spec.arguments), env=dict(spec.environment), cwd=spec.folder or None
    )
    async with stderr.reading() as written, stdio_client(parameters, errlog=written) as (reads, writes):
        yield cast("TransportStreams", (WatchedReads(reads, ended), writes))
