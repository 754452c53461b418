"""Standard input of a server that one client speaks to: claimed from all other code, with limits on what is read."""

from __future__ import annotations

import asyncio
import io
import os

import anyio

STDIO_LINE = 4 << 20
"""Maximum characters of a message over stdio; a longer one is discarded while it is read."""
TOO_LONG = "too long\n"
"""Stands for a line that was discarded; it is no JSON."""
STDIO_TASKS = 128
"""Limit of requests that are running or have an unread answer; beyond it no further requests are read."""
STDIO_PAUSE_SECONDS = 0.02


class _Text(io.TextIOWrapper):
    """Standard input with a limit on the line length: a longer line is replaced by an invalid message."""

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(STDIO_LINE)
        if len(line) < STDIO_LINE or line.endswith("\n"):
            return line
        while (rest := super().readline(STDIO_LINE)) and not rest.endswith("\n"):
            pass
        return TOO_LONG


class Lines(anyio.AsyncFile[str]):
    """Lines of a client; reading pauses while too many answers are unwritten."""

    async def readline(self) -> str:
        """Return the next line, "" at the end."""
        # Each running request and each unwritten answer is a task.
        while len(asyncio.all_tasks()) > STDIO_TASKS:  # noqa: ASYNC110 no event reports the end of a task
            await anyio.sleep(STDIO_PAUSE_SECONDS)
        return await super().readline()


def claim_stdin() -> Lines:
    """Return standard input and detach it: no other code of this process and no child process can read it."""
    taken = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Never closed: a thread may still wait for a line when the server ends.
    binary = os.fdopen(taken, "rb", closefd=False)
    return Lines(_Text(binary, encoding="utf-8", errors="replace"))
