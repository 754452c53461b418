"""Reads of one state on servers without snapshots: what is read while a project is being committed is read again.

Neo4j's transactions see a commit of others at once, and see it grow: records and indexes one after the other. So a
writer says in transactions of their own when a commit begins and when it has ended. A read during which none began and
none was under way has seen one state. Memgraph's transactions read a snapshot: there this does nothing.
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
"""Seconds after which a read is not begun again: the newest answer is given as it is. A reader never waits long."""

_CALM = 5.0
"""Seconds after a commit in which others are likely: reads look before their work, too."""
_KEPT = 256
"""Sets of projects whose counts are remembered."""

_Result = TypeVar("_Result")


async def announce(link: BoltConnection, dialect: Dialect, name: str, projects: Sequence[str]) -> None:
    """Say that a commit to the projects begins (`begin_commit`) or has ended, whatever became of it (`end_commit`)."""
    if not dialect.snapshots and projects:
        text = cypher_statements("write")[name]
        await link.write(lambda transaction: transaction.rows(text, names=list(projects)))


class CommitCounts:
    """What a store's reads last saw of commits, by the projects that were read from.

    Counts only grow: when none was under way then and none has begun since, none was under way in between. So a read
    looks once, behind its work.
    """

    def __init__(self) -> None:
        self._quiet: dict[tuple[str, ...], int] = {}
        self._calm_at = 0.0

    async def settled(
        self, transaction: Transaction, projects: Iterable[str], work: Callable[[], Awaitable[_Result]]
    ) -> _Result:
        """Return the result of `work`, run again while the projects (none: all) were committed to meanwhile."""
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
                # work that was begun in good faith does not count against patience
                known, started = None, clock()
            if clock() - started > _PATIENCE:
                return result
            # a busy server takes longer for a commit than for all attempts
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
    """Return how many commits have begun and ended; one whose writer was killed ends with the next one."""
    ((begun, ended),) = await transaction.rows(cypher_statements("read")["commits"], names=list(names))
    return begun, ended
