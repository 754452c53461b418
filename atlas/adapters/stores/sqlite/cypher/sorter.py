"""ORDER BY: rows are sorted in short runs that are merged, so that no step holds the interpreter for long.

Sorting a list of a million rows takes seconds, during which no other Python thread runs.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

from atlas.adapters.stores.sqlite.cypher.guard import Guard
from atlas.adapters.stores.sqlite.cypher.meter import held_by, key_bytes
from atlas.adapters.stores.sqlite.cypher.values import Row, order_key

RUN = 5_000
"""Rows per run, which takes a few milliseconds to sort."""
_HELD = 200
"""Bytes of a held row in addition to its values and keys: two tuples and a list."""

_Key = tuple[object, ...]
_Held = tuple[list[_Key], int, Row]
"""(keys, number of rows before it, row)."""


class _Descending:
    """A key with reversed order."""

    __slots__ = ("key",)

    def __init__(self, key: _Key) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return other.key < self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]


class Sorter:
    """Sorts rows by their values; equal rows keep their order."""

    def __init__(self, descending: Sequence[bool], keep: int | None, guard: Guard) -> None:
        self._descending, self._keep, self._guard = descending, keep, guard
        self._runs: list[list[_Held]] = []
        self._run: list[_Held] = []
        self._count = self._kept = self._size = 0

    def add(self, values: Sequence[object], row: Row) -> None:
        """Add a row. Raises QueryError above the memory limit."""
        size = _HELD + key_bytes(values) + held_by(row)
        self._guard.charge(size)
        self._size += size
        self._run.append(([order_key(value) for value in values], self._count, row))
        self._count += 1
        if len(self._run) >= RUN:
            self._end_run()

    def rows(self) -> Iterator[Row]:
        """Yield the rows in order, at most `keep`."""
        self._end_run()
        for number, (_, _, row) in enumerate(self._merged()):
            if number == self._keep:
                break
            yield row
        self._guard.release(self._size)

    def _merged(self) -> Iterator[_Held]:
        runs, self._runs = self._runs, []
        for held in runs[0] if len(runs) == 1 else heapq.merge(*runs, key=self._merge_key):
            self._guard.tick()
            yield held

    def _merge_key(self, held: _Held) -> _Key:
        keys = [_Descending(key) if down else key for key, down in zip(held[0], self._descending, strict=True)]
        return (*keys, held[1])

    def _end_run(self) -> None:
        self._guard.look()
        for index in range(len(self._descending) - 1, -1, -1):
            self._run.sort(key=lambda held: held[0][index], reverse=self._descending[index])
        self._runs.append(self._run)
        self._kept += len(self._run)
        self._run = []
        if self._keep is not None and self._kept > 2 * self._keep + RUN:
            self._forget(self._keep)

    def _forget(self, keep: int) -> None:
        """Drop the rows that cannot be among the first `keep`."""
        best = list(islice(self._merged(), keep))
        self._runs, self._kept = [best], len(best)
        size = sum(_HELD + 2 * held_by(row) for _, _, row in best)
        self._guard.release(self._size - size)
        self._size = size
