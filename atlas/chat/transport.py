"""Transports of servers: a process on stdio, or Streamable HTTP; both report the end of the connection.

What a process writes to stderr is read and its last lines are kept, so that a failure can be explained and a talkative
server neither blocks nor fills the memory. Whatever a server sends has limits of size and pace.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client

from atlas.chat.offer import MAX_NAME
from atlas.chat.server_spec import ServerSpec
from atlas.chat.stdio import MAX_MESSAGE, open_process
from atlas.chat.token_bucket import BURST, COUNTED, MESSAGES, TokenBucket

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

KEPT_LINES = 20
"""Lines of stderr that are kept."""

MAX_LINE = 500

STDERR_CHUNK, STDERR_PAUSE = 1 << 14, 0.01
"""Bytes of stderr that are read at once, and seconds until the next: a flood waits on its full pipe."""

HTTP_TIMEOUTS = httpx2.Timeout(30.0, read=300.0)
"""Seconds; a server may hold a response stream open, and each call has a time limit of its own."""

REQUESTS, REQUEST_BURST = 20.0, 100.0
"""HTTP requests a second to one server, and at once: a server says when the SDK connects to it again."""

REFUSED = "?" * (MAX_NAME + 1)
"""The name of an entry that cannot be read."""

_LISTED: dict[str, type[types.Tool] | type[types.Resource] | type[types.ResourceTemplate] | type[types.Prompt]] = {
    "tools": types.Tool,
    "resources": types.Resource,
    "resourceTemplates": types.ResourceTemplate,
    "prompts": types.Prompt,
}


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
        while chunk := await reader.read(STDERR_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            self._lines.extend(line[:MAX_LINE].decode(errors="replace") for line in lines)
            rest = rest[:MAX_LINE]
            await asyncio.sleep(STDERR_PAUSE)


class WatchedReads:
    """A read stream of the SDK with a pace, that calls `ended` when the other side closes it."""

    def __init__(self, inner: Any, pace: TokenBucket, ended: Callable[[], None]) -> None:
        self._inner, self._pace, self._ended = inner, pace, ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def receive(self) -> Any:
        """Return the next message."""
        await self._pace.wait()
        try:
            return readable_lists(await self._inner.receive())
        except Exception:
            self._ended()
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        await self._pace.wait()
        try:
            return readable_lists(await self._inner.__anext__())
        except StopAsyncIteration:
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._inner.__aexit__(*raised)


def readable_lists(message: Any) -> Any:
    """Return a message whose lists of tools, resources, templates and prompts the SDK can read.

    The SDK refuses the whole list for one broken entry, and with it the server. A schema that is missing or does not
    say that it is an object does now; an entry of another form has a name that is left out and counted (`MAX_NAME`).
    """
    response = getattr(message, "message", None)
    result = response.result if isinstance(response, types.JSONRPCResponse) else None
    for name, kind in _LISTED.items():
        listed = result.get(name) if result else None
        if not isinstance(listed, list):
            continue
        entries = cast("list[object]", listed)
        for place, entry in enumerate(entries):
            if name == "tools" and isinstance(entry, dict):
                cast("dict[str, object]", entry).setdefault("inputSchema", {})
            try:
                kind.model_validate(entry)
                if name == "tools":
                    _with_types(cast("dict[str, object]", entry))
            except ValueError:
                entries[place] = {"name": REFUSED, "inputSchema": {"type": "object"}, "uri": "x:", "uriTemplate": "x:"}
    return message


def _with_types(tool: dict[str, object]) -> None:
    """Add the type of schemas. Raises ValueError if the arguments are no object; a result may be anything."""
    for name in ("inputSchema", "outputSchema"):
        schema = cast("dict[str, object] | None", tool.get(name))
        if schema is not None and schema.setdefault("type", "object") != "object":
            if name == "inputSchema":
                raise ValueError("arguments are no object")
            del tool[name]


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response with a pace and a limit of size; an open stream of events has its limit per event."""

    def __init__(self, inner: httpx2.AsyncByteStream, pace: TokenBucket, most: int) -> None:
        self._inner, self._pace, self._most = inner, pace, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most > 0:
                raise httpx2.ReadError(f"an answer of more than {self._most >> 20} MB")
            await self._pace.wait(len(chunk) / COUNTED)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _http_client(spec: ServerSpec, pace: TokenBucket) -> httpx2.AsyncClient:
    requests = TokenBucket(REQUESTS, REQUEST_BURST)

    async def before(request: httpx2.Request) -> None:
        await requests.wait()

    async def after(response: httpx2.Response) -> None:
        # a compressed answer would have its size only after it is unpacked
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("a compressed answer, which was not asked for")
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        inner = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _Bounded(inner, pace, 0 if is_stream else MAX_MESSAGE)

    return httpx2.AsyncClient(
        headers={**spec.headers, "accept-encoding": "identity"},
        timeout=HTTP_TIMEOUTS,
        event_hooks={"request": [before], "response": [after]},
    )


@asynccontextmanager
async def open_transport(
    spec: ServerSpec, stderr: Stderr, ended: Callable[[str], None]
) -> AsyncGenerator[TransportStreams]:
    """Start or reach a server for the duration of the block. Raises OSError if its command cannot be started.

    `ended` is called with the reason when the connection has ended.
    """
    pace = TokenBucket(MESSAGES, BURST)

    def lost() -> None:
        ended("the connection was lost")

    if spec.url:
        async with (
            _http_client(spec, pace) as client,
            streamable_http_client(spec.url, http_client=client) as (reads, writes),
        ):
            yield cast("TransportStreams", (WatchedReads(reads, pace, lost), writes))
        return
    command = (spec.command, *spec.arguments)
    async with (
        stderr.reading() as written,
        open_process(command, spec.environment, spec.folder, written, pace, ended) as (reads, writes),
    ):
        yield cast("TransportStreams", (WatchedReads(reads, pace, lost), writes))
