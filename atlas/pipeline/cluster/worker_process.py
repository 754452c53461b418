"""One process among several that work on shared store and bus: stands by for its projects, and embeds for all.

Every process of the kind is equal: what one holds the others wait for, and what one leaves pending the others take.
Adapters and the keepers of projects come in. It must not know which store and bus there are, nor how it was started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence

from atlas import __version__
from atlas.contracts import Bus
from atlas.errors import Unavailable
from atlas.pipeline.cluster.leader import Standby
from atlas.pipeline.tiers.graph import EmbedTier
from atlas.pipeline.worker import Log, TierReport, run_tier

TELL_SECONDS = 1.0
TOLD_LIFE = 15.0
"""A process that has not told anything for so long is gone."""

STOP_SECONDS = 45.0
"""A batch at work has 30 of them."""


class Crew:
    """Use once: `run`."""

    def __init__(
        self,
        bus: Bus,
        name: str,
        standbys: Sequence[Standby],
        embed: EmbedTier | None,
        resident: Callable[[], int],
        log: Log,
    ) -> None:
        """`name` tells this process from all others on the bus; `resident` returns its resident bytes."""
        self._bus, self._name, self._standbys, self._embed = bus, name, standbys, embed
        self._resident, self._log = resident, log
        self._report = TierReport()
        self._started_at = time.time()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; the batches at hand are finished first. Raises what no waiting helps against."""
        working: list[Coroutine[object, object, None]] = [standby.run(stop) for standby in self._standbys]
        if self._embed is not None:
            working.append(run_tier(self._bus, self._embed, self._report, stop, self._log))
        tasks = [asyncio.create_task(job) for job in working]
        telling = asyncio.create_task(self._tell())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([stopped, telling, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in (telling, *tasks):
                if task.done():
                    task.result()
        finally:
            stop.set()
            stopped.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in (telling, *tasks):
                task.cancel()
            await asyncio.gather(telling, *tasks, return_exceptions=True)
            with contextlib.suppress(Unavailable):
                await self._bus.report(self._name, "{}", 0.001)

    async def _tell(self) -> None:
        while True:
            with contextlib.suppress(Unavailable):
                await self._bus.report(self._name, json.dumps(self.state(), separators=(",", ":")), TOLD_LIFE)
            await asyncio.sleep(TELL_SECONDS)

    def state(self) -> Mapping[str, object]:
        """Return what `atlas status` shows of this process; only plain values, so that it can be written as JSON."""
        embed = self._report
        return {
            "version": __version__,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_at": self._started_at,
            "told_at": time.time(),
            "resident_bytes": self._resident(),
            "embeds": self._embed is not None,
            "embedded": embed.events,
            "embed_busy": embed.busy,
            "waits_for": embed.away,
            "projects": {standby.project: standby.holder for standby in self._standbys},
            "holds": [standby.project for standby in self._standbys if standby.holds],
        }
