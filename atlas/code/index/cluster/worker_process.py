"""One of several worker processes on a shared store and bus: competes to lead its projects, and embeds for all.

All worker processes are equal: one leads a project while the others stand by, and each takes over events that another
left pending. It knows neither the kind of store and bus nor how it was started.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence

from atlas import __version__
from atlas.code.index.cluster.leader import LeaderElection
from atlas.code.index.heartbeat import Heartbeat
from atlas.code.index.tiers.embed import EmbedTier
from atlas.code.index.tiers.sentence_transformer import QualityTier
from atlas.code.index.worker import Log, TierReport, run_tier
from atlas.core.contracts import Bus

STOP_SECONDS = 45.0
"""Time to stop; the batch at work has 30 s of it."""


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
        *,
        quality: QualityTier | None = None,
    ) -> None:
        """`name` identifies this process on the bus; `resident` returns its resident bytes."""
        self._bus, self._elections, self._embed = bus, elections, embed
        self._resident, self._log = resident, log
        self._report = TierReport()
        self._quality, self._quality_report = quality, TierReport()
        self._started_at = time.time()
        self._heartbeat = Heartbeat(bus, name, self.state)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set and the current batches are finished. Raises errors that retrying cannot solve."""
        working: list[Coroutine[object, object, None]] = [election.run(stop) for election in self._elections]
        if self._embed is not None:
            working.append(run_tier(self._bus, self._embed, self._report, stop, self._log))
        if self._quality is not None:
            working.append(run_tier(self._bus, self._quality, self._quality_report, stop, self._log))
        tasks = [asyncio.create_task(job) for job in working]
        heartbeats = asyncio.create_task(self._heartbeat.run())
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
            await self._heartbeat.end()

    def state(self) -> Mapping[str, object]:
        """Return what `atlas status` shows of this process, as JSON values."""
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
            "projects": {election.project: election.holder for election in self._elections},
            "holds": [election.project for election in self._elections if election.holds],
        }
