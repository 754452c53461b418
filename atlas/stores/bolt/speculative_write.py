"""The next write of new units, begun while the last one is being committed: its nodes are there when its turn comes.

A server works at half of a first index in commits, and half of the rest is nodes, which need nothing of others. Only
where a transaction sees what others commit meanwhile: in a snapshot, edges would miss their ends for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from operator import is_

from atlas.errors import Unavailable
from atlas.model import GraphDelta
from atlas.stores.bolt.apply import StartedWrite, begin
from atlas.stores.bolt.connection import BoltConnection, Transaction

ABANDON_SECONDS = 10.0
"""Seconds for which what was begun waits for its turn once it could come: others may wait for its locks."""

Rest = Callable[[Transaction, StartedWrite], Awaitable[int]]


class SpeculativeWrite:
    """An open transaction with the nodes of `deltas`: either `complete` commits it, or `give_up` takes it back."""

    def __init__(self, link: BoltConnection, deltas: Sequence[GraphDelta]) -> None:
        self._deltas = deltas
        self._turn: asyncio.Future[Rest] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(link.write(self._work, once=True))
        self._end: asyncio.TimerHandle | None = None
        self._is_late = False

    def is_for(self, deltas: Sequence[GraphDelta]) -> bool:
        """Tell whether these are the deltas that it has begun with."""
        return len(deltas) == len(self._deltas) and all(map(is_, deltas, self._deltas))

    async def complete(self, rest: Rest) -> int:
        """Run the rest of the write and commit. Raises what anything in it raised; it is not tried again."""
        if self._end is not None:
            self._end.cancel()
        if self._is_late:
            raise Unavailable("what was begun of a write was taken back before its turn came", "try again")
        if not self._turn.done():
            self._turn.set_result(rest)
        return await self._task

    def hurry(self) -> None:
        """Begin to lose patience."""
        self._end = asyncio.get_running_loop().call_later(ABANDON_SECONDS, self._too_late)

    async def give_up(self) -> None:
        """Leave nothing behind; idempotent."""
        if self._end is not None:
            self._end.cancel()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _too_late(self) -> None:
        self._is_late = True
        self._task.cancel()

    async def _work(self, transaction: Transaction) -> int:
        begun = await begin(transaction, self._deltas)
        rest = await self._turn
        return await rest(transaction, begun)
