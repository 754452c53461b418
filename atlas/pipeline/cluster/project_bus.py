"""The bus of many projects as one of them sees it: its own streams and notes by their usual names, tier 3's for all.

So whoever holds a project's lease takes the events of that project and of no other, while every embedding worker takes
those of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.contracts import Bus
from atlas.model import DeadLetter, Delivery, Event, StreamState
from atlas.pipeline.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED

STREAMS = (FILE_CHANGED, AST_DIRTY, EMBED_DIRTY)


class ProjectBus:
    """Implements `contracts.Bus` over another one."""

    def __init__(self, bus: Bus, project: str, *, closes: bool = False) -> None:
        """Make a view; `closes`: the other one is closed with this one, else it is somebody else's."""
        self._bus, self._end, self._closes = bus, f":{project}", closes

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        """See `Bus.publish`."""
        return await self._bus.publish(self._own(stream), events)

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        """See `Bus.take`."""
        return await self._bus.take(self._own(stream), group, limit, wait)

    async def extend_visibility(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """See `Bus.extend_visibility`."""
        await self._bus.extend_visibility(self._own(stream), group, ids)

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """See `Bus.acknowledge`."""
        await self._bus.acknowledge(self._own(stream), group, ids)

    async def nack(self, stream: str, group: str, ids: Sequence[str], reason: str) -> None:
        """See `Bus.nack`."""
        await self._bus.nack(self._own(stream), group, ids, reason)

    async def reclaim(self, stream: str, group: str, *, from_others: bool = False) -> int:
        """See `Bus.reclaim`."""
        return await self._bus.reclaim(self._own(stream), group, from_others=from_others)

    async def states(self, streams: Sequence[str] = ()) -> list[StreamState]:
        """Return the states of the project's streams and of the shared one; others are not there."""
        asked = [self._own(stream) for stream in streams or STREAMS]
        states = await self._bus.states(asked)
        return [replace(state, stream=state.stream.removesuffix(self._end)) for state in states]

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """Return the dead letters of the project, oldest first."""
        letters = await self._bus.dead_letters(limit)
        return [letter for letter in letters if letter.event.project == self._end[1:]]

    async def retry(self, ids: Sequence[str]) -> int:
        """See `Bus.retry`."""
        return await self._bus.retry(ids)

    async def drop(self, ids: Sequence[str]) -> int:
        """See `Bus.drop`."""
        return await self._bus.drop(ids)

    async def put_note(self, name: str, text: str, seconds: float) -> None:
        """See `Bus.put_note`."""
        await self._bus.put_note(name + self._end, text, seconds)

    async def note(self, name: str) -> str:
        """See `Bus.note`."""
        return await self._bus.note(name + self._end)

    async def lease(self, name: str, holder: str, seconds: float) -> str:
        """See `Bus.lease`."""
        return await self._bus.lease(name + self._end, holder, seconds)

    async def release(self, name: str, holder: str) -> None:
        """See `Bus.release`."""
        await self._bus.release(name + self._end, holder)

    async def report(self, name: str, text: str, seconds: float) -> None:
        """See `Bus.report`: the list is everybody's."""
        await self._bus.report(name, text, seconds)

    async def reports(self) -> dict[str, str]:
        """See `Bus.reports`."""
        return await self._bus.reports()

    async def aclose(self) -> None:
        """See `Bus.aclose`."""
        if self._closes:
            await self._bus.aclose()

    def _own(self, stream: str) -> str:
        return stream if stream == EMBED_DIRTY else stream + self._end
