"""Run work that cannot be cancelled, such as a thread: cancellation is deferred until it finishes.

Otherwise the next task could change what the thread still uses, or read before it has written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


async def in_thread(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Run `work(*arguments)` in a thread and return its result; raises what it raises."""
    return await run_shielded(asyncio.get_running_loop().run_in_executor(None, work, *arguments))


async def run_shielded(work: asyncio.Future[_Result]) -> _Result:
    """Return the result of a thread's work; raises what it raises. Cancellation is deferred until the work finishes."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        work.exception()  # asyncio logs exceptions that are never retrieved
        raise cancelled
    return work.result()
