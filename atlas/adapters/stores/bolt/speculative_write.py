"""Begins to write the next batch of new units while the last one is being committed.

Commits take half of a server's time in a first index, and nodes, which depend on nothing else, half of the rest. This
needs transactions that see what others commit meanwhile: in a snapshot, edges would never find their ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from operator import is_

from atlas.adapters.stores.bolt.apply import StartedWrite, begin
from atlas.adapters.stores.bolt.connection import BoltConnection, Transaction
from atlas.core.errors import Unavailable
from atlas.core.model import GraphDelta
from atlas.core.threads import run_shielded

ABANDON_SECONDS = 10.0
"""Seconds for which a transaction that was begun waits for `complete`: others may wait for its locks."""

Rest = Callable[[Transaction, StartedWrite], Awaitable[int]]
Batch = Sequence[GraphDelta]


class SpeculativeWrite:
    """An open transaction with the nodes of `deltas`: `complete` commits it, `give_up` rolls it back."""

    def __init__(self, link: BoltConnection, deltas: Sequence[GraphDelta]) -> None:
        self._deltas = deltas
        self._turn: asyncio.Future[Rest] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(link.write(self._work, once=True))
        self._end: asyncio.TimerHandle | None = None
        self._is_late = False

    def is_for(self, deltas: Sequence[GraphDelta]) -> bool:
        """Return whether it was begun with these deltas."""
        return len(deltas) == len(self._deltas) and all(map(is_, deltas, self._deltas))

    async def complete(self, rest: Rest) -> int:
        """Run the rest of the write and commit. Raises as either part does; does not retry."""
        if self._end is not None:
            self._end.cancel()
        if self._is_late:
            raise Unavailable("a write that was begun early was rolled back before its turn", "try again")
        if not self._turn.done():
            self._turn.set_result(rest)
        return await self._task

    def hurry(self) -> None:
        """Start the timer of `ABANDON_SECONDS`."""
        self._end = asyncio.get_running_loop().call_later(ABANDON_SECONDS, self._too_late)

    async def give_up(self) -> None:
        """Roll back; idempotent."""
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


async def with_following(batches: AsyncIterator[Batch]) -> AsyncGenerator[tuple[Batch, Callable[[], Batch]]]:
    """Yield each batch with a function that returns the next one, or nothing while that is not known.

    When it is closed, no request to `batches` is under way any more.
    """
    upcoming = asyncio.create_task(_next(batches))
    try:
        while (batch := await upcoming) is not None:
            upcoming = asyncio.create_task(_next(batches))
            yield batch, partial(_if_ready, upcoming)
    finally:
        upcoming.cancel()
        await run_shielded(asyncio.gather(upcoming, return_exceptions=True))


async def _next(batches: AsyncIterator[Batch]) -> Batch | None:
    return await anext(batches, None)


def _if_ready(upcoming: asyncio.Task[Batch | None]) -> Batch:
    is_ready = upcoming.done() and not upcoming.cancelled() and upcoming.exception() is None
    return (upcoming.result() or ()) if is_ready else ()
