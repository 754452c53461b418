"""Consistent reads on servers that only offer read-committed isolation.

Transactions of Neo4j see the commit of another transaction while it is applied, record by record and index by index. A
writer therefore records the beginning and the end of each commit in separate transactions. A read is consistent if no
commit began and none was in progress during it; otherwise it is repeated, and in the end it locks the counts, so that
commits wait for it. Transactions of Memgraph read a snapshot, so this module does nothing there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from atlas.adapters.stores.bolt.connection import BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import Dialect
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.errors import AtlasError

_ATTEMPTS = 8
_WAIT = 0.01
_PATIENCE = 1.0
"""Seconds after which a read is no longer repeated: it waits for the commits to end and holds back the next ones."""
_HOLD_PATIENCE = 10.0
"""Seconds to wait for the end of one commit. Then its writer counts as killed, and the last result is returned."""

_CALM = 5.0
"""Seconds after a commit in which others are likely: reads check the counts before their work as well."""
_KEPT = 256
"""Sets of projects whose counts are remembered."""

_Result = TypeVar("_Result")


async def announce(link: BoltConnection, dialect: Dialect, name: str, projects: Sequence[str]) -> None:
    """Record that a commit to the projects begins (`begin_commit`) or has ended, successful or not (`end_commit`)."""
    if not dialect.snapshots and projects:
        text = cypher_statements("write")[name]
        await link.write(lambda transaction: transaction.rows(text, names=list(projects)))


class CommitCounts:
    """The commit counts that the reads of a store saw last, by the projects read.

    Counts only grow: if no commit was in progress then and none has begun since, none was in progress in between. A
    read therefore checks once, after its work.
    """

    def __init__(self) -> None:
        self._quiet: dict[tuple[str, ...], int] = {}
        self._killed: dict[tuple[str, ...], tuple[int, int]] = {}
        self._calm_at = 0.0

    async def read(
        self, link: BoltConnection, projects: Iterable[str], work: Callable[[Transaction], Awaitable[_Result]]
    ) -> _Result:
        """Return the result of `work`, repeated if the projects (none: all) changed during the read."""
        names = tuple(projects)
        result, is_consistent = await link.read(lambda transaction: self._repeated(transaction, names, work))
        if is_consistent:
            return result
        held = await self._holding_commits(link, names, work)
        return result if held is None else held[0]

    async def _repeated(
        self, transaction: Transaction, names: tuple[str, ...], work: Callable[[Transaction], Awaitable[_Result]]
    ) -> tuple[_Result, bool]:
        """Return the last result of `work`, and whether no commit was in progress."""
        clock = asyncio.get_running_loop().time
        started = clock()
        known = self._quiet.get(names) if started > self._calm_at else None
        begun, ended = (known, known) if known is not None else await _commits(transaction, names)
        result = await work(transaction)
        for attempt in range(_ATTEMPTS):
            now, now_ended = await _commits(transaction, names)
            if begun == ended == now:
                self._keep(names, now, now_ended)
                return result, True
            self._quiet.pop(names, None)
            self._calm_at = clock() + _CALM
            if known is not None:
                # An attempt that began with current counts does not count against the time limit.
                known, started = None, clock()
            if (now, now_ended) == self._killed.get(names):
                return result, True
            if attempt == _ATTEMPTS - 1 or clock() - started > _PATIENCE:
                break
            # On a busy server one commit may outlast all attempts.
            while now != now_ended and clock() - started <= _PATIENCE:
                await asyncio.sleep(_WAIT)
                now, now_ended = await _commits(transaction, names)
            begun, ended = now, now_ended
            result = await work(transaction)
        return result, False

    async def _holding_commits(
        self, link: BoltConnection, names: tuple[str, ...], work: Callable[[Transaction], Awaitable[_Result]]
    ) -> tuple[_Result] | None:
        """Return the result of `work` while no commit can begin; None when that is not possible."""
        counts = (0, 0)

        async def hold(transaction: Transaction) -> tuple[_Result] | None:
            nonlocal counts
            await transaction.rows(cypher_statements("write")["hold_commits"], names=list(names))
            counts = await _commits(transaction, names)
            return (await work(transaction),) if counts[0] == counts[1] else None

        clock = asyncio.get_running_loop().time
        until = clock() + _HOLD_PATIENCE
        while clock() < until:
            try:
                held = await link.write(hold, link.address.read_seconds)
            except AtlasError:
                # a user or a replica without the right to write; the read alone may still work
                return None
            if held is not None:
                return held
            await asyncio.sleep(_WAIT)
        self._killed[names] = counts
        return None

    def _keep(self, names: tuple[str, ...], begun: int, ended: int) -> None:
        if len(self._quiet) >= _KEPT:
            self._quiet.clear()
            self._killed.clear()
        if begun == ended:
            self._quiet[names] = begun


async def _commits(transaction: Transaction, names: Sequence[str]) -> tuple[int, int]:
    """Return how many commits have begun and ended; the next commit also ends one whose writer was killed."""
    ((begun, ended),) = await transaction.rows(cypher_statements("read")["commits"], names=list(names))
    return begun, ended
