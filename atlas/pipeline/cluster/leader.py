"""One project that one of several processes keeps: who holds its lease works, the others wait to follow.

The lease says who should work, so that two do not link the same tree; that only one writes is the store's to see to.
It must not know what the work is.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from atlas.contracts import Coordinator
from atlas.errors import AtlasError, Unavailable
from atlas.pipeline.worker import Log

LEASE = "writer"
"""Name of the lease on a project's bus."""

SHARE = 5
"""A holder says so often in the time of a lease that it is there, and those who wait ask as often."""


class LeaderElection:
    """Use once: `run`."""

    def __init__(
        self,
        coordinator: Coordinator,
        project: str,
        holder: str,
        seconds: float,
        work: Callable[[asyncio.Event], Awaitable[None]],
        log: Log,
    ) -> None:
        """`coordinator` is the project's own, `seconds` how long a holder that is silent still counts.

        `work` is called with each lease and returns soon after its event was set, or raises an AtlasError.
        """
        self.project, self.holder = project, ""
        """`holder`: who held the lease when it was last asked for; "" when that is not known."""
        self._coordinator, self._me, self._seconds, self._work, self._log = coordinator, holder, seconds, work, log

    @property
    def holds(self) -> bool:
        """Whether this process works on the project."""
        return self.holder == self._me

    async def run(self, stop: asyncio.Event) -> None:
        """Compete for the lease and work while it is held, until `stop` is set."""
        while not stop.is_set():
            await self._ask()
            if self.holds:
                await self._hold(stop)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._seconds / SHARE)

    async def _ask(self) -> None:
        """Take or keep the lease; a bus that is away changes nothing: nobody else can have got it there."""
        before = self.holder
        with contextlib.suppress(Unavailable):
            self.holder = await self._coordinator.lease(LEASE, self._me, self._seconds)
        if self.holder != before:
            self._log("lease", {"project": self.project, "holder": self.holder})

    async def _hold(self, stop: asyncio.Event) -> None:
        over = asyncio.Event()
        keeping = asyncio.create_task(self._keep(stop, over))
        try:
            await self._work(over)
        except AtlasError as error:
            self._log("gave the lease back", {"project": self.project, "error": error.message})
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            self.holder = ""
            with contextlib.suppress(AtlasError):
                await self._coordinator.release(LEASE, self._me)

    async def _keep(self, stop: asyncio.Event, over: asyncio.Event) -> None:
        """Keep the lease until the work is over; set `over` when it should be."""
        stopped = asyncio.create_task(stop.wait())
        try:
            while True:
                await asyncio.wait([stopped], timeout=self._seconds / SHARE)
                await self._ask()
                if stopped.done() or not self.holds:
                    over.set()
                if stopped.done():
                    await asyncio.sleep(self._seconds / SHARE)
        finally:
            stopped.cancel()
