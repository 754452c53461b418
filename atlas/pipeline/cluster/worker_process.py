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
from atlas.pipeline.cluster.leader import LeaderElection
from atlas.pipeline.tiers.graph import EmbedTier
from atlas.pipeline.worker import Log, TierReport, run_tier

HEARTBEAT_SECONDS = 1.0
HEARTBEAT_TTL = 15.0
"""A process that has not told anything for so long is gone."""

STOP_SECONDS = 45.0
"""A batch at work has 30 of them."""


class WorkerProcess:
    """Use once: `run`."""

    def __init__(
        self,
        bus: Bus,
        name: str,
        elections: Sequence[LeaderElection],
        embed: EmbedTier | None,
        resident: Callable[[], int],
        log: Log,
    ) -> None:
        """`name` tells this process from all others on the bus; `resident` returns its resident bytes."""
        self._bus, self._name, self._standbys, self._embed = bus, name, elections, embed
        self._resident, self._log = resident, log
        self._report = TierReport()
        self._started_at = time.time()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; the batches at hand are finished first. Raises what no waiting helps against."""
        working: list[Coroutine[object, object, None]] = [election.run(stop) for election in self._standbys]
        if self._embed is not None:
            working.append(run_tier(self._bus, self._embed, self._report, stop, self._log))
        tasks = [asyncio.create_task(job) for job in working]
        heartbeats = asyncio.create_task(self._send_heartbeats())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([stopped, heartbeats, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in (heartbeats, *tasks):
                if task.done():
                    task.result()
        finally:
            stop.set()
            stopped.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in (heartbeats, *tasks):
                task.cancel()
            await asyncio.gather(heartbeats, *tasks, return_exceptions=True)
            with contextlib.suppress(Unavailable):
                await self._bus.report(self._name, "{}", 0.001)

    async def _send_heartbeats(self) -> None:
        while True:
            with contextlib.suppress(Unavailable):
                await self._bus.report(self._name, json.dumps(self.state(), separators=(",", ":")), HEARTBEAT_TTL)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def state(self) -> Mapping[str, object]:
        """Return what `atlas status` shows of this process; only plain values, so that it can be written as JSON."""
        embed = self._report
        return {
            "version": __version__,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_at": self._started_at,
            "heartbeat_at": time.time(),
            "resident_bytes": self._resident(),
            "embeds": self._embed is not None,
            "embedded": embed.events,
            "embed_busy": embed.busy,
            "waits_for": embed.away,
            "projects": {election.project: election.holder for election in self._standbys},
            "holds": [election.project for election in self._standbys if election.holds],
        }
