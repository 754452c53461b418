"""Aggregate functions as accumulators. A row may stand for several equal ones: `weight` is how often it counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, cast

from atlas.errors import QueryError
from atlas.stores.cypher.operators import ARITHMETIC
from atlas.stores.cypher.values import MAX_LIST, group_key, is_number, mismatch, order_key


class Accumulator(Protocol):
    """Takes values that are not null, gives the result."""

    def add(self, value: object, weight: int) -> None:
        """Take a value `weight` times."""
        ...

    def result(self) -> object:
        """Return the aggregate of all values taken."""
        ...


@dataclass(slots=True)
class Count:
    """count(x), count(*)."""

    total: int = 0

    def add(self, value: object, weight: int) -> None:
        """Take a value."""
        self.total += weight

    def result(self) -> int:
        """Return how many."""
        return self.total


@dataclass(slots=True)
class Sum:
    """sum(x): 0 of nothing."""

    total: object = 0

    def add(self, value: object, weight: int) -> None:
        """Take a number."""
        if not is_number(value):
            raise mismatch("Integer or Float", value)
        self.total = ARITHMETIC["+"](self.total, ARITHMETIC["*"](value, weight))

    def result(self) -> object:
        """Return the sum."""
        return self.total


@dataclass(slots=True)
class Numbers:
    """avg, stDev, stDevP, percentileCont and percentileDisc: all numbers are kept, null of nothing."""

    finish: Callable[[list[float]], float | None]
    charge: Callable[[int], None]
    numbers: list[float] = field(default_factory=list[float])

    def add(self, value: object, weight: int) -> None:
        """Take a number."""
        if not is_number(value):
            raise mismatch("Integer or Float", value)
        self.charge(weight)
        self.numbers.extend([cast("float", value)] * weight)

    def result(self) -> float | None:
        """Return the statistic."""
        return self.finish(self.numbers) if self.numbers else None


@dataclass(slots=True)
class Extreme:
    """min(x), max(x) in the global order; null of nothing."""

    largest: bool
    best: object = None
    key: tuple[object, ...] | None = None

    def add(self, value: object, weight: int) -> None:
        """Take a value."""
        key = order_key(value)
        if self.key is None or (key > self.key if self.largest else key < self.key):
            self.best, self.key = value, key

    def result(self) -> object:
        """Return the extreme value."""
        return self.best


@dataclass(slots=True)
class Collect:
    """collect(x): a list, empty of nothing."""

    charge: Callable[[int], None]
    items: list[object] = field(default_factory=list[object])

    def add(self, value: object, weight: int) -> None:
        """Take a value."""
        self.charge(weight)
        if len(self.items) + weight > MAX_LIST:
            raise QueryError(
                f"collect() makes a list of more than {MAX_LIST:,} items", "use count(), or filter earlier"
            )
        self.items.extend([value] * weight)

    def result(self) -> list[object]:
        """Return the list."""
        return self.items


@dataclass(slots=True)
class Distinct:
    """Passes each value once."""

    inner: Accumulator
    charge: Callable[[int], None]
    seen: set[object] = field(default_factory=set[object])

    def add(self, value: object, weight: int) -> None:
        """Take a value, if it is new."""
        key = group_key(value)
        if key not in self.seen:
            self.charge(1)
            self.seen.add(key)
            self.inner.add(value, 1)

    def result(self) -> object:
        """Return the aggregate of the distinct values."""
        return self.inner.result()


def make_accumulator(name: str, distinct: bool, charge: Callable[[int], None], share: float) -> Accumulator:
    """Return a fresh accumulator; `share` is the second argument of the percentiles."""
    inner: Accumulator
    if name == "count":
        inner = Count()
    elif name == "sum":
        inner = Sum()
    elif name in ("min", "max"):
        inner = Extreme(name == "max")
        return inner
    elif name == "collect":
        inner = Collect(charge)
    else:
        inner = Numbers(_statistic(name, share), charge)
    return Distinct(inner, charge) if distinct else inner


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
