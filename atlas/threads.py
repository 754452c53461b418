"""Work that cannot be called back, as in a thread: who is cancelled while waiting for it goes when it has ended.

Else the next in line would change what it still uses, or read what is there before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


async def in_thread(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Return `work(*arguments)`, run in a thread; raises what it raises."""
    return await run_shielded(asyncio.get_running_loop().run_in_executor(None, work, *arguments))


async def run_shielded(work: asyncio.Future[_Result]) -> _Result:
    """Return the result of a thread's work; raises what it raises. Cancelled, it still waits for the end."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        work.exception()  # nobody else asks for it
        raise cancelled
    return work.result()
