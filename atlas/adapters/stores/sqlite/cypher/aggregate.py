"""Aggregate functions as accumulators. A row may stand for several equal rows: `weight` is their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, cast

from atlas.adapters.stores.sqlite.cypher.expressions.operators import ARITHMETIC
from atlas.adapters.stores.sqlite.cypher.meter import POINTER, Charging, ListBuilder, key_bytes
from atlas.adapters.stores.sqlite.cypher.values import group_key, is_number, mismatch, order_key

_NUMBER = 24
"""Bytes per number."""


class Accumulator(Protocol):
    """Accumulates values that are not null and returns the result."""

    def add(self, value: object, weight: int) -> None:
        """Add a value `weight` times."""
        ...

    def result(self) -> object:
        """Return the aggregate of all added values."""
        ...


@dataclass(slots=True)
class Count:
    """count(x), count(*)."""

    total: int = 0

    def add(self, value: object, weight: int) -> None:
        """Add a value."""
        self.total += weight

    def result(self) -> int:
        """Return the count."""
        return self.total


@dataclass(slots=True)
class Sum:
    """sum(x): 0 for no values."""

    total: object = 0

    def add(self, value: object, weight: int) -> None:
        """Add a number."""
        if not is_number(value):
            raise mismatch("Integer or Float", value)
        self.total = ARITHMETIC["+"](self.total, ARITHMETIC["*"](value, weight))

    def result(self) -> object:
        """Return the sum."""
        return self.total


@dataclass(slots=True)
class Numbers:
    """avg, stDev, stDevP, percentileCont and percentileDisc: keeps all numbers; null for no values."""

    finish: Callable[[list[float]], float | None]
    guard: Charging
    numbers: list[float] = field(default_factory=list[float])

    def add(self, value: object, weight: int) -> None:
        """Add a number."""
        if not is_number(value):
            raise mismatch("Integer or Float", value)
        self.guard.charge((POINTER + _NUMBER) * weight)
        self.numbers.extend([cast("float", value)] * weight)

    def result(self) -> float | None:
        """Return the statistic."""
        return self.finish(self.numbers) if self.numbers else None


@dataclass(slots=True)
class Extreme:
    """min(x), max(x) in the global order; null for no values."""

    largest: bool
    guard: Charging
    best: object = None
    key: tuple[object, ...] | None = None
    held: int = 0

    def add(self, value: object, weight: int) -> None:
        """Add a value."""
        key = order_key(value)
        if self.key is None or (key > self.key if self.largest else key < self.key):
            size = key_bytes((value,))
            self.guard.charge(size - self.held)
            self.best, self.key, self.held = value, key, size

    def result(self) -> object:
        """Return the extreme value."""
        return self.best


@dataclass(slots=True)
class Collect:
    """collect(x): a list, empty for no values."""

    items: ListBuilder

    def add(self, value: object, weight: int) -> None:
        """Add a value."""
        self.items.add(value, weight)

    def result(self) -> list[object]:
        """Return the list; call this once."""
        return self.items.finished()


@dataclass(slots=True)
class Distinct:
    """Passes each distinct value on once."""

    inner: Accumulator
    guard: Charging
    seen: set[object] = field(default_factory=set[object])

    def add(self, value: object, weight: int) -> None:
        """Add a value if it is new."""
        key = group_key(value)
        if key not in self.seen:
            self.guard.charge(key_bytes((value,)))
            self.seen.add(key)
            self.inner.add(value, 1)

    def result(self) -> object:
        """Return the aggregate of the distinct values."""
        return self.inner.result()


def make_accumulator(name: str, distinct: bool, guard: Charging, share: float) -> Accumulator:
    """Return a new accumulator; `share` is the second argument of the percentiles."""
    inner: Accumulator
    if name == "count":
        inner = Count()
    elif name == "sum":
        inner = Sum()
    elif name in ("min", "max"):
        inner = Extreme(name == "max", guard)
        return inner
    elif name == "collect":
        inner = Collect(ListBuilder(guard))
    else:
        inner = Numbers(_statistic(name, share), guard)
    return Distinct(inner, guard) if distinct else inner


def _statistic(name: str, share: float) -> Callable[[list[float]], float | None]:
    if name == "avg":
        return lambda numbers: math.fsum(numbers) / len(numbers)
    if name in ("stdev", "stdevp"):
        return lambda numbers: _deviation(numbers, 1 if name == "stdev" else 0)
    if name == "percentiledisc":
        return lambda numbers: sorted(numbers)[max(math.ceil(share * len(numbers)) - 1, 0)]
    return lambda numbers: _interpolated(sorted(numbers), share)


def _deviation(numbers: Iterable[float], correction: int) -> float:
    values = list(numbers)
    mean = math.fsum(values) / len(values)
    degrees = len(values) - correction
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / degrees) if degrees else 0.0


def _interpolated(numbers: list[float], share: float) -> float:
    place = share * (len(numbers) - 1)
    low, high = math.floor(place), math.ceil(place)
    return float(numbers[low] + (numbers[high] - numbers[low]) * (place - low))
