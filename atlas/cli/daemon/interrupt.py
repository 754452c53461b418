"""Ends long work at Ctrl-C or SIGTERM: at its next safe point, or as a crash would if that takes too long."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

PATIENCE_SECONDS = 0.5
"""How long the work may take to end. One call into the linker can take seconds, and no thread can be stopped."""

INTERRUPTED = 130


@contextmanager
def ended_at_signals(leave: Callable[[], None]) -> Generator[None]:
    """Cancel the current task at the first signal; call `leave` and exit if it has not ended soon, or at a second one.

    Only for work that a crash at any point does not harm. Afterwards signals do what they did before. Windows keeps
    what `asyncio` does at Ctrl-C.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is None or sys.platform == "win32":
        yield
        return
    signals = 0

    def exit_at_once() -> None:
        leave()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    def interrupt() -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            exit_at_once()
        task.cancel()
        loop.call_later(PATIENCE_SECONDS, exit_at_once)

    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}
    for kind in before:
        loop.add_signal_handler(kind, interrupt)
    try:
        yield
    finally:
        for kind, handler in before.items():
            loop.remove_signal_handler(kind)
            signal.signal(kind, handler)
