"""The lines of one client on a socket, read and written as those of a client on stdin and stdout.

The limits are those of `runtime.process.stdin`: long lines are refused without being kept, and a client that does not
read its answers is not read either.
"""

from __future__ import annotations

import asyncio
import codecs
import io
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any

from atlas.runtime.process.stdin import STDIO_LINE, STDIO_PAUSE_SECONDS, STDIO_TASKS, TOO_LONG

CHUNK = 1 << 16

tasks_of_client: ContextVar[set[asyncio.Task[Any]] | None] = ContextVar("tasks_of_client", default=None)
"""The unfinished tasks of the client that is being served."""


def with_counted_tasks(
    loop: asyncio.AbstractEventLoop, work: Generator[Any, None, Any] | Coroutine[Any, Any, Any], **more: Any
) -> asyncio.Task[Any]:
    """Return a task that is counted for the client whose task starts it: a task factory."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **more)
    tasks = tasks_of_client.get()
    if tasks is not None:
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    return task


class ClientLines:
    """An asynchronous iterator over lines, each with its end."""

    def __init__(self, reader: asyncio.StreamReader, heard: Callable[[str], None]) -> None:
        """`heard` is called with each line."""
        self._reader, self._heard = reader, heard
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        self._lines: deque[str] = deque()
        self._rest: list[str] = []
        self._length, self._is_skipping, self._is_over = 0, False, False

    def __aiter__(self) -> ClientLines:
        return self

    async def __anext__(self) -> str:
        tasks = tasks_of_client.get() or ()
        # each running request and each unwritten answer is a task
        while len(tasks) > STDIO_TASKS:  # noqa: ASYNC110 no event reports the end of a task
            await asyncio.sleep(STDIO_PAUSE_SECONDS)
        while not self._lines and not self._is_over:
            part = await self._reader.read(CHUNK)
            self._is_over = not part
            self._split(self._decoder.decode(part, final=self._is_over))
            if self._is_over and self._length:
                self._end("")
        if not self._lines:
            raise StopAsyncIteration
        line = self._lines.popleft()
        self._heard(line)
        return line

    def _split(self, text: str) -> None:
        *lines, rest = text.split("\n")
        for line in lines:
            self._add(line)
            self._end("\n")
        self._add(rest)

    def _add(self, text: str) -> None:
        self._length += len(text)
        self._is_skipping = self._is_skipping or self._length >= STDIO_LINE
        if self._is_skipping:
            self._rest.clear()
        elif text:
            self._rest.append(text)

    def _end(self, mark: str) -> None:
        self._lines.append(TOO_LONG if self._is_skipping else "".join(self._rest) + mark)
        self._rest.clear()
        self._length, self._is_skipping = 0, False


class ClientWriter:
    """Writes text to a client's socket; `flush` waits while the client does not read."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        """Take text for the client."""
        self._writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until the client has read most of it. Raises OSError when it is gone."""
        await self._writer.drain()
