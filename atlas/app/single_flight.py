"""One run of a piece of work for all who wait for it, such as an index pass or a check of the tree.

A run is a task of its own: a waiter that is cancelled leaves it to the others, and none of them sees another one's run
replaced or removed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class StartedRun(Generic[Result]):
    """A run and the moment when it began, in seconds of the monotonic clock."""

    began: float
    task: asyncio.Task[Result]


class SingleFlight(Generic[Result]):
    """Use from one event loop; close with `aclose`."""

    def __init__(self) -> None:
        self._last: StartedRun[Result] | None = None

    @property
    def running(self) -> StartedRun[Result] | None:
        """The run at work, None without one."""
        return self._last if self._last is not None and not self._last.task.done() else None

    async def after(
        self, moment: float, work: Callable[[], Coroutine[Any, Any, Result]], seconds: float | None = None
    ) -> StartedRun[Result] | None:
        """Return an ended run that began at `moment` or later, None if there is none within `seconds`.

        A run at work that began earlier ends first; then the first waiter begins the next one with its `work`.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            run = self._last
            if run is None or (run.task.done() and run.began < moment):
                run = self._last = StartedRun(time.monotonic(), asyncio.create_task(work()))
            # cancellation of a waiter does not reach the task: `wait` leaves it alone
            await asyncio.wait([run.task], timeout=None if end is None else max(end - time.monotonic(), 0.0))
            if not run.task.done():
                return None
            if run.began >= moment:
                return run

    async def aclose(self, *, cancel: bool = True) -> None:
        """Wait for the end of the run at work, which is cancelled unless `cancel` is false; idempotent."""
        run = self.running
        if run is not None:
            if cancel:
                run.task.cancel()
            await asyncio.gather(run.task, return_exceptions=True)
