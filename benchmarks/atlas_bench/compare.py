"""Compare two indexes of the same tree completely, without loading either into memory.

Equality is that of invariant I1. Sorted rows of each kind are read from both sides and merged; differences are counted
by kind, with a few samples. This module does not know how a store represents its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

SAMPLES = 5
SHOWN = 40
"""Maximum characters of a value in a sample."""

_Row = tuple[Any, ...]


class IndexContents(Protocol):
    """All contents of a store."""

    @property
    def kinds(self) -> Mapping[str, tuple[str, str]]:
        """Kind -> names of the key columns, and of the other columns, separated by spaces."""
        ...

    def rows(self, kind: str) -> Iterator[_Row]:
        """Yield the rows of a kind, key columns first, sorted by key."""
        ...


@dataclass(frozen=True, slots=True)
class IndexDifference:
    """Differences in one kind of rows between the stores A and B."""

    kind: str
    rows_a: int
    rows_b: int
    only_a: int
    only_b: int
    changed: int
    """Rows with the same key and different values."""
    samples: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.only_a or self.only_b or self.changed)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One entry per kind, in a fixed order."""

    kinds: tuple[IndexDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether the stores have the same contents."""
        return all(kind.equal for kind in self.kinds)

    def lines(self) -> list[str]:
        """Return the differences, one line per kind and per sample; empty if there are none."""
        found: list[str] = []
        for kind in self.kinds:
            if not kind.equal:
                found.append(f"{kind.kind}: {kind.only_a} only in A, {kind.only_b} only in B, {kind.changed} differ")
                found += [f"  {sample}" for sample in kind.samples]
        return found


def compare(a: IndexContents, b: IndexContents, samples: int = SAMPLES) -> Comparison:
    """Return how two stores differ. Raises what the stores raise."""
    return Comparison(tuple(_compare(kind, a, b, samples) for kind in a.kinds))


def _compare(kind: str, a: IndexContents, b: IndexContents, samples: int) -> IndexDifference:
    keys, others = (names.split() for names in a.kinds[kind])
    width = len(keys)
    count_a = count_b = only_a = only_b = changed = 0
    shown: list[str] = []
    left, right = a.rows(kind), b.rows(kind)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        order = _order(one, other, width)
        count_a, count_b = count_a + (order <= 0), count_b + (order >= 0)
        only_a, only_b = only_a + (order < 0), only_b + (order > 0)
        differs = bool(order) or one != other
        changed += differs and not order
        if differs and len(shown) < samples:
            shown.append(_sample(one if order <= 0 else None, other if order >= 0 else None, width, others))
        one = next(left, None) if order <= 0 else one
        other = next(right, None) if order >= 0 else other
    return IndexDifference(kind, count_a, count_b, only_a, only_b, changed, tuple(shown))


def _order(one: _Row | None, other: _Row | None, width: int) -> int:
    """Return -1 if `one` sorts first, 1 if `other` does, 0 if their keys are equal."""
    if one is None or other is None:
        return 1 if one is None else -1
    if one is other or one[:width] == other[:width]:
        return 0
    return -1 if one[:width] < other[:width] else 1


def _sample(one: _Row | None, other: _Row | None, width: int, names: list[str]) -> str:
    if one is None or other is None:
        row = one or other or ()
        place = "A" if other is None else "B"
        return f"only in {place}: {_key(row, width)} ({_values(row[width:], names)})"
    pairs = zip(names, one[width:], other[width:], strict=True)
    changes = (f"{name} {_shown(a)} -> {_shown(b)}" for name, a, b in pairs if a != b)
    return f"{_key(one, width)}: {', '.join(changes)}"


def _key(row: _Row, width: int) -> str:
    return " ".join(str(part) for part in row[:width])


def _values(values: _Row, names: list[str]) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in zip(names, values, strict=True) if value != "")


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
