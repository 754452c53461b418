"""Leader election: of several processes, the one that holds a project's lease works on it, and the others stand by.

The lease keeps two processes from linking the same tree; the store's fencing ensures that only one of them writes. This
module does not know what the work is.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable

from atlas.code.index.worker import Log
from atlas.core.contracts import Coordinator
from atlas.core.errors import AtlasError, Unavailable, WriterBusy
from atlas.core.threads import in_background

LEASE = "writer"
"""Name of the lease on a project's bus."""

SHARE = 5
"""Renewals during one lease; processes that stand by ask as often."""


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
        """`coordinator` is the project's own, `seconds` the duration of a lease.

        `work` runs with each lease; it returns soon after its event is set, or raises an AtlasError.
        """
        self.project, self.holder = project, ""
        """`holder`: the holder when the lease was last requested; "" if unknown."""
        self._coordinator, self._me, self._seconds, self._work, self._log = coordinator, holder, seconds, work, log

    @property
    def holds(self) -> bool:
        """Whether this process leads the project."""
        return self.holder == self._me

    async def run(self, stop: asyncio.Event) -> None:
        """Compete for the lease and work while holding it, until `stop` is set."""
        while not stop.is_set():
            await self._ask()
            if self.holds:
                await self._hold(stop)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._seconds / SHARE)

    async def _ask(self) -> None:
        """Acquire or renew the lease; an unavailable bus changes nothing: no other process can have acquired it."""
        before = self.holder
        with contextlib.suppress(Unavailable):
            self.holder = await self._coordinator.lease(LEASE, self._me, self._seconds)
        if self.holder != before:
            self._log("lease", {"project": self.project, "holder": self.holder})

    async def _hold(self, stop: asyncio.Event) -> None:
        over = asyncio.Event()
        renewal = asyncio.create_task(self._renew_until_over(stop, over))
        try:
            await self._work(over)
        except AtlasError as error:
            self._log("released the lease", {"project": self.project, "error": error.message})
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
            self.holder = ""
            with contextlib.suppress(AtlasError):
                await self._coordinator.release(LEASE, self._me)

    async def _renew_until_over(self, stop: asyncio.Event, over: asyncio.Event) -> None:
        """Renew the lease until the work is over; set `over` when it should end."""
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


def process_name() -> str:
    """Return a name that identifies this process on the bus: host, process id, and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"


@contextlib.asynccontextmanager
async def hold_lease(coordinator: Coordinator, project: str, seconds: float) -> AsyncGenerator[None]:
    """Hold the project's lease during the block and renew it. Raises WriterBusy while another process holds it."""
    me = process_name()
    holder = await coordinator.lease(LEASE, me, seconds)
    if holder != me:
        raise WriterBusy(
            f"process {holder.rpartition(':')[0]} leads {project}", "wait until it has finished, or stop it"
        )
    try:
        async with in_background(_renew(coordinator, me, seconds)):
            yield
    finally:
        with contextlib.suppress(Unavailable):
            await coordinator.release(LEASE, me)


async def _renew(coordinator: Coordinator, holder: str, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds / SHARE)
        with contextlib.suppress(Unavailable):
            await coordinator.lease(LEASE, holder, seconds)
