"""Consistent reads on servers that only offer read-committed isolation.

Transactions of Neo4j see the commit of another transaction while it is applied, record by record and index by index. A
writer therefore records the beginning and the end of each commit in separate transactions. A read is consistent if no
commit began and none was in progress during it; otherwise it is repeated. Transactions of Memgraph read a snapshot, so
this module does nothing there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from atlas.stores.bolt.connection import BoltConnection, Transaction
from atlas.stores.bolt.dialect import Dialect
from atlas.stores.shared.statements import cypher_statements

_ATTEMPTS = 8
_WAIT = 0.01
_PATIENCE = 1.0
"""Seconds after which a read is not repeated: the last result is returned. Readers never wait for long."""

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
        self._calm_at = 0.0

    async def consistent(
        self, transaction: Transaction, projects: Iterable[str], work: Callable[[], Awaitable[_Result]]
    ) -> _Result:
        """Return the result of `work`, repeated if the projects (none: all) changed during the read."""
        names = tuple(projects)
        clock = asyncio.get_running_loop().time
        started = clock()
        known = self._quiet.get(names) if started > self._calm_at else None
        begun, ended = (known, known) if known is not None else await _commits(transaction, names)
        for _ in range(_ATTEMPTS):
            result = await work()
            now, now_ended = await _commits(transaction, names)
            if begun == ended == now:
                self._keep(names, now, now_ended)
                return result
            self._quiet.pop(names, None)
            self._calm_at = clock() + _CALM
            if known is not None:
                # An attempt that began with current counts does not count against the time limit.
                known, started = None, clock()
            if clock() - started > _PATIENCE:
                return result
            # On a busy server one commit may outlast all attempts.
            while now != now_ended and clock() - started <= _PATIENCE:
                await asyncio.sleep(_WAIT)
                now, now_ended = await _commits(transaction, names)
            begun, ended = now, now_ended
        return await work()

    def _keep(self, names: tuple[str, ...], begun: int, ended: int) -> None:
        if len(self._quiet) >= _KEPT:
            self._quiet.clear()
        if begun == ended:
            self._quiet[names] = begun


async def _commits(transaction: Transaction, names: Sequence[str]) -> tuple[int, int]:
    """Return how many commits have begun and ended; the next commit also ends one whose writer was killed."""
    ((begun, ended),) = await transaction.rows(cypher_statements("read")["commits"], names=list(names))
    return begun, ended
