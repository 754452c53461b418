"""One project that a worker process competes to lead, with the daemon that runs while it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from atlas.code.index.cluster.leader import LeaderElection
from atlas.code.index.daemon import Daemon
from atlas.code.index.daemon_client import is_drained
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.worker import Log
from atlas.core.contracts import Bus


class OwnedProject:
    """Each lease creates a new daemon, because another process may have written to the store meanwhile."""

    def __init__(
        self, project: str, bus: Bus, holder: str, seconds: float, make_daemon: Callable[[Bus], Daemon], log: Log
    ) -> None:
        """`bus` is the project's own, `holder` identifies this process, `seconds` is the duration of a lease."""
        self.election = LeaderElection(bus, project, holder, seconds, self._lead, log)
        self._bus, self._make_daemon = bus, make_daemon
        self._daemon: Daemon | None = None

    async def is_settled(self) -> bool:
        """Whether another process leads the project, or this one does and has indexed it."""
        if self._daemon is None:
            return bool(self.election.holder) and not self.election.holds
        (project,) = cast("list[dict[str, Any]]", self._daemon.state()["projects"])
        return project["ready"] and await is_drained(self._bus, AstTier.stream, AstTier.group)

    async def _lead(self, over: asyncio.Event) -> None:
        self._daemon = self._make_daemon(self._bus)
        try:
            await self._daemon.run(over)
        finally:
            self._daemon = None
