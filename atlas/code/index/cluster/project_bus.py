"""One project's view of a shared bus: its own streams, lease and heartbeat under their usual names.

The stream of tier 3 is shared: the leader of a project takes only that project's events, while every embedding worker
takes those of all projects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED
from atlas.code.index.heartbeat import DAEMON
from atlas.core.contracts import Bus
from atlas.core.events import DeadLetter, Delivery, Event, StreamState

STREAMS = (FILE_CHANGED, AST_DIRTY, EMBED_DIRTY)


class ProjectBus:
    """Implements `contracts.Bus` on top of another bus."""

    def __init__(self, bus: Bus, project: str, *, closes: bool = False) -> None:
        """Create a view of `bus`; with `closes`, closing the view closes `bus` too."""
        self._bus, self._suffix, self._closes = bus, f":{project}", closes

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        """See `Streams.publish`."""
        return await self._bus.publish(self._own(stream), events)

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        """See `Streams.take`."""
        return await self._bus.take(self._own(stream), group, limit, wait)

    async def extend_visibility(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """See `Streams.extend_visibility`."""
        await self._bus.extend_visibility(self._own(stream), group, ids)

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """See `Streams.acknowledge`."""
        await self._bus.acknowledge(self._own(stream), group, ids)

    async def nack(self, stream: str, group: str, ids: Sequence[str], reason: str) -> None:
        """See `Streams.nack`."""
        await self._bus.nack(self._own(stream), group, ids, reason)

    async def reclaim(self, stream: str, group: str, *, from_others: bool = False) -> int:
        """See `Streams.reclaim`."""
        return await self._bus.reclaim(self._own(stream), group, from_others=from_others)

    async def states(self, streams: Sequence[str] = ()) -> list[StreamState]:
        """Return the states of the project's own streams and of the shared one."""
        asked = [self._own(stream) for stream in streams or STREAMS]
        states = await self._bus.states(asked)
        return [replace(state, stream=state.stream.removesuffix(self._suffix)) for state in states]

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """Return the dead letters of the project, oldest first."""
        letters = await self._bus.dead_letters(limit)
        return [letter for letter in letters if letter.event.project == self._suffix[1:]]

    async def retry(self, ids: Sequence[str]) -> int:
        """See `Streams.retry`."""
        return await self._bus.retry(ids)

    async def drop(self, ids: Sequence[str]) -> int:
        """See `Streams.drop`."""
        return await self._bus.drop(ids)

    async def lease(self, name: str, holder: str, seconds: float) -> str:
        """See `Coordinator.lease`."""
        return await self._bus.lease(name + self._suffix, holder, seconds)

    async def release(self, name: str, holder: str) -> None:
        """See `Coordinator.release`."""
        await self._bus.release(name + self._suffix, holder)

    async def send_heartbeat(self, name: str, text: str, seconds: float) -> None:
        """See `Coordinator.send_heartbeat`."""
        await self._bus.send_heartbeat(name + self._suffix, text, seconds)

    async def heartbeat(self, name: str) -> str:
        """See `Coordinator.heartbeat`."""
        return await self._bus.heartbeat(name + self._suffix)

    async def heartbeats(self) -> dict[str, str]:
        """Return the heartbeats of all worker processes; those of daemons belong to one project each."""
        sent = await self._bus.heartbeats()
        return {name: text for name, text in sent.items() if not name.startswith(f"{DAEMON}:")}

    async def aclose(self) -> None:
        """See `Bus.aclose`."""
        if self._closes:
            await self._bus.aclose()

    def _own(self, stream: str) -> str:
        return stream if stream == EMBED_DIRTY else stream + self._suffix
