"""Heartbeats of long-running processes: each publishes its state on the bus every second until it ends.

The daemon sends one per data folder, or per project on shared servers; every worker process sends its own. `atlas
status` and `atlas index` read them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping

from atlas.core.contracts import Coordinator
from atlas.core.errors import AtlasError, Unavailable

DAEMON = "atlas:daemon"
"""The name of the daemon's heartbeat."""

HEARTBEAT_SECONDS = 1.0
HEARTBEAT_TTL = 15.0
"""A process whose last heartbeat is older counts as gone."""


class Heartbeat:
    """Publishes the state that `state` returns under `name`; the state consists of JSON values."""

    def __init__(self, coordinator: Coordinator, name: str, state: Callable[[], Mapping[str, object]]) -> None:
        self._coordinator, self._name, self._state = coordinator, name, state

    async def run(self) -> None:
        """Send a heartbeat every second until cancelled; a bus that is unavailable is skipped."""
        while True:
            with contextlib.suppress(Unavailable):
                await self.send()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def send(self) -> None:
        """Send one heartbeat now. Raises as the bus does."""
        text = json.dumps(self._state(), separators=(",", ":"))
        await self._coordinator.send_heartbeat(self._name, text, HEARTBEAT_TTL)

    async def end(self) -> None:
        """Expire the heartbeat: the process ends."""
        with contextlib.suppress(AtlasError):
            await self._coordinator.send_heartbeat(self._name, "", 0.001)
