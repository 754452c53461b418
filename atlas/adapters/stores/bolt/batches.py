"""Pipelined UNWIND statements: the client prepares the next batch of rows while the server works on the current one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any, Self

from atlas.adapters.stores.bolt.connection import Transaction

BATCH = 2_000
"""Rows per UNWIND."""

Rows = list[tuple[Any, ...]]


class StatementBatches:
    """The statements of one transaction; at most one is in flight.

    Use it as a context manager. On exit every statement has finished, and an error of any of them has been raised.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._flight: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self._landed()
        elif self._flight is not None:
            # Nothing else may use the connection while the transaction is rolled back.
            self._flight.cancel()
            await asyncio.gather(self._flight, return_exceptions=True)

    async def send(
        self,
        text: str,
        name: str,
        values: Iterable[Any],
        found: Rows | None = None,
        *,
        size: int = BATCH,
        **others: object,
    ) -> None:
        """Run a statement with up to `size` values per call in the parameter `name`; no call for no values.

        Its rows are available in `found` after the next statement has been started. Raises the errors of earlier
        statements.
        """
        for batch in _cut(values, size):
            await self._landed()
            self._flight = asyncio.create_task(self._run(text, {**others, name: batch}, found))
            await asyncio.sleep(0)  # The statement is in flight while the next batch is prepared.

    async def rows(self, text: str, /, **parameters: object) -> Rows:
        """Run one statement after the one in flight and return its rows."""
        await self._landed()
        return await self._transaction.rows(text, **parameters)

    async def each(self, text: str, name: str, values: Iterable[Any]) -> Rows:
        """Send a statement and return its rows."""
        found: Rows = []
        await self.send(text, name, values, found)
        await self._landed()
        return found

    async def gathered(self, text: str, name: str, values: Iterable[Any]) -> Rows:
        """Send a statement that returns all rows of a batch as one list, and return them."""
        return unfolded(await self.each(text, name, values))

    async def _run(self, text: str, parameters: dict[str, object], found: Rows | None) -> None:
        rows = await self._transaction.rows(text, **parameters)
        if found is not None:
            found += rows

    async def _landed(self) -> None:
        flight, self._flight = self._flight, None
        if flight is not None:
            await flight


def unfolded(found: Rows) -> Rows:
    """Return the rows of results that consist of one list each."""
    return [tuple(row) for (rows,) in found for row in rows]


def _cut(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of at most `size` values; each list is built on request."""
    source = iter(values)
    while batch := list(islice(source, size)):
        yield batch
