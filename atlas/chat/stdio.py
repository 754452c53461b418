"""A server as a process: messages are lines of JSON on its standard input and output.

The SDK's own transport keeps a line that never ends, copies it with every piece, and reads as fast as a server writes.
Here a message has a limit of size, and reading has a pace: a server that floods waits on its full pipe.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import anyio
import mcp_types as types
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage

from atlas.chat.token_bucket import COUNTED, TokenBucket

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MAX_MESSAGE = 64 << 20
"""Bytes of one message."""

MAX_BRACKETS = 1_000_000
"""Objects and lists of one message: as values of Python they take some 200 bytes each."""

END_SECONDS = 2.0
"""A server gets this long to end after its standard input is closed, and again after SIGTERM."""


@asynccontextmanager
async def open_process(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    stderr: TextIO,
    pace: TokenBucket,
    refused: Callable[[str], None],
) -> AsyncGenerator[TransportStreams]:
    """Start a server for the duration of the block. Raises OSError if its command cannot be started.

    It gets the user's HOME, LOGNAME, PATH, SHELL, TERM and USER and the given variables. `refused` is called with the
    reason where the connection ends because of what the server sent.
    """
    home = Path.home()
    process = await anyio.open_process(
        command,
        env=get_default_environment() | dict(environment),
        stderr=stderr,
        cwd=folder or (home if home.is_dir() else "/"),
        start_new_session=True,
    )
    # no await until the block below owns the process
    sending, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writes, given = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, sending, pace, refused)
        tasks.start_soon(_write, process, given, sending)
        try:
            yield reads, writes
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                for stream in (reads, writes, sending, given):
                    await stream.aclose()
            tasks.cancel_scope.cancel()


async def _read(
    process: Process,
    sending: MemoryObjectSendStream[SessionMessage | Exception],
    pace: TokenBucket,
    refused: Callable[[str], None],
) -> None:
    """Pass messages on until the process ends or sends one that is too large; then empty its pipe, so that it ends."""
    assert process.stdout is not None
    closed = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
    parts: list[bytes] = []
    size = 0
    with contextlib.suppress(*closed):
        async with sending:
            while not size > MAX_MESSAGE:
                first, *lines = (await process.stdout.receive()).split(b"\n")
                parts.append(first)
                size += len(first)
                for line in lines:
                    await pace.wait(size / COUNTED)
                    await sending.send(_parsed(b"".join(parts)))
                    parts, size = [line], len(line)
            refused(f"it sent a message of more than {MAX_MESSAGE >> 20} MB")
    parts.clear()
    with contextlib.suppress(*closed):
        while True:
            await process.stdout.receive()


def _parsed(line: bytes) -> SessionMessage | Exception:
    if line.count(b"{") + line.count(b"[") > MAX_BRACKETS:
        return ValueError(f"a message with more than {MAX_BRACKETS} objects and lists")
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return ValueError("no message")  # the parser's own error keeps the whole line


async def _write(
    process: Process,
    given: MemoryObjectReceiveStream[SessionMessage],
    sending: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    try:
        async with given:
            async for message in given:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{text}\n".encode())
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        # the session sees the end instead of a request that is never answered
        await sending.aclose()


async def _end(process: Process) -> None:
    """Close standard input, and end the process and its descendants if it does not end by itself."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if not await _has_ended(process):
        await terminate_posix_process_tree(process, END_SECONDS)
        await _has_ended(process)
    # a descendant that survives may hold the pipes open
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        assert process.stdout is not None
        await process.stdout.aclose()


async def _has_ended(process: Process) -> bool:
    """Return whether the process ends in time."""
    with anyio.move_on_after(END_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 `wait` would also wait for pipes that others hold
            await anyio.sleep(0.01)
    return process.returncode is not None
