"""Run work whose end is waited for: threads, which cannot be cancelled, and tasks next to a block of code.

Cancellation is deferred until a thread finishes: otherwise the next task could change what it still uses, or read
before it has written.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, cast

_Result = TypeVar("_Result")


async def in_thread(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Run `work(*arguments)` in a thread and return its result; raises what it raises."""
    return await run_shielded(asyncio.get_running_loop().run_in_executor(None, work, *arguments))


async def in_daemon_thread(work: Callable[[], _Result]) -> _Result:
    """Run `work()` in a thread for which neither a cancelled caller nor the end of the program waits.

    For work that only prepares something, such as a long import.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: BaseException | None) -> None:
        if not ended.done():
            ended.set_exception(error) if error is not None else ended.set_result(cast("_Result", result))

    def run() -> None:
        outcome: tuple[_Result | None, BaseException | None]
        try:
            outcome = work(), None
        except BaseException as error:  # noqa: BLE001 isolation: whatever it raises belongs to the caller
            outcome = None, error
        with suppress(RuntimeError):  # the event loop may have ended
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, name="preparing", daemon=True).start()
    return await ended


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
    try:
        return work.result()
    finally:
        del work  # holds its error, whose traceback refers to this frame


@asynccontextmanager
async def in_background(work: Coroutine[object, object, None]) -> AsyncGenerator[None]:
    """Run `work` during the block, then cancel it and wait for its end; its errors are dropped."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
