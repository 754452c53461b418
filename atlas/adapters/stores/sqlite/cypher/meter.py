"""Memory accounting for the values of a running query: bytes in use, and the size of a value when written out.

Long strings, lists and maps that a query builds become `Text`, `Items` and `Entries`. They charge the query's guard on
creation and report to it when they are freed, so an intermediate result counts exactly as long as it exists, however
often it is shared. `weight` is the size with shared parts counted each time: the cost of comparing, sorting and writing
a value. `[a, a]`, applied repeatedly, doubles in weight but hardly grows in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, cast

from atlas.adapters.stores.sqlite.cypher.values import MAX_LIST, Node, Path, is_list, is_map, too_long
from atlas.core.errors import QueryError

MAX_VALUE = 16_000_000
"""Maximum bytes of one value, shared parts counted each time: 100,000 strings of 100 characters, compared in 0.3 s."""
SMALL = 128
"""Characters.

Shorter strings are counted with their container, so that ordinary queries have no accounting overhead.
"""
_STEP = 10_000
"""Bytes by which a list grows before it is charged again."""
FEW = 8
"""Items. A list or map of at most this many scalars is counted with its container, too."""
POINTER, HEADER, ENTRY = 8, 64, 100
"""Bytes of a reference, of an empty list, and of an entry of a map or set."""

_PLAIN = frozenset((str, int, float, bool, type(None)))
_SCALARS = frozenset((int, float, bool, type(None), Node))
_NODE, _EDGE = 72, 180


class Charging(Protocol):
    """The account that bytes are charged to."""

    def charge(self, size: int) -> None:
        """Count bytes in use (negative: freed). Raises QueryError above the limit."""
        ...

    def release(self, size: int) -> None:
        """Count bytes as freed; never raises."""
        ...


class Text(str):
    """A string longer than `SMALL`, built by the query."""

    __slots__ = ("guard", "weight")
    guard: Charging
    weight: int

    def __del__(self) -> None:
        """Report that the string is freed."""
        self.guard.release(self.weight)


class Items(list[object]):
    """A list built by the query; `own` is the bytes that no other tracked value is charged for."""

    __slots__ = ("guard", "own", "weight")
    guard: Charging
    own: int
    weight: int

    def __del__(self) -> None:
        """Report that the list is freed."""
        self.guard.release(self.own)


class Entries(dict[str, object]):
    """A map built by the query; see `Items`."""

    __slots__ = ("guard", "own", "weight")
    guard: Charging
    own: int
    weight: int

    def __del__(self) -> None:
        """Report that the map is freed."""
        self.guard.release(self.own)


def weigh(value: object) -> int:
    """Return the bytes of a value with all its content."""
    kind = value.__class__
    if kind in _PLAIN:
        return value.__sizeof__()
    if isinstance(value, (Text, Items, Entries)):
        return value.weight
    if isinstance(value, list):
        return HEADER + sum([POINTER + weigh(item) for item in cast("list[object]", value)])
    if isinstance(value, dict):
        return HEADER + sum([ENTRY + weigh(item) for item in cast("dict[str, object]", value).values()])
    if isinstance(value, Path):
        return HEADER + _EDGE * len(value.edges)
    return _NODE if kind is Node else _EDGE


def own(value: object) -> int:
    """Return the bytes of a value that are not charged elsewhere."""
    return 0 if isinstance(value, (Text, Items, Entries)) else weigh(value)


def held_by(row: Iterable[object]) -> int:
    """Return the bytes of a row or a key that are not charged yet."""
    return ENTRY + sum([8 + value.__sizeof__() if value.__class__ in _PLAIN else 8 + own(value) for value in row])


def key_bytes(values: Iterable[object]) -> int:
    """Return the bytes of the grouping or ordering keys of values: the keys of lists and maps are copies."""
    return 2 * ENTRY + sum([value.__sizeof__() if value.__class__ in _PLAIN else _key(value) for value in values])


def _key(value: object) -> int:
    return 3 * weigh(value) if is_list(value) or is_map(value) else own(value)


def hold(value: object, guard: Charging) -> object:
    """Return a new value that is counted until it is freed. Raises QueryError above a limit."""
    kind = value.__class__
    if kind is str:
        text = cast("str", value)
        return _hold_text(text, guard) if len(text) > SMALL else value
    if kind is list:
        return hold_list(cast("list[object]", value), guard)
    return _hold_map(cast("dict[str, object]", value), guard) if kind is dict else value


def hold_list(items: list[object], guard: Charging, weight: int = -1, charge: int = -1) -> list[object]:
    """Return a counted list; `weight` and `charge` are its `weight` and `own` if known."""
    if weight < 0:
        if len(items) <= FEW and _SCALARS.issuperset([item.__class__ for item in items]):
            return items
        weight = charge = HEADER
        for item in items:
            size = weigh(item)
            weight += POINTER + size
            charge += POINTER if isinstance(item, (Text, Items, Entries)) else POINTER + size
    check_weight(weight)
    held = Items(items)
    held.guard, held.weight, held.own = guard, weight, charge
    guard.charge(charge)
    return held


class ListBuilder:
    """A growing list whose content is counted while it grows."""

    __slots__ = ("_charge", "_charged", "_guard", "_items", "_weight")

    def __init__(self, guard: Charging) -> None:
        self._guard, self._items = guard, list[object]()
        self._weight = self._charge = self._charged = 0

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: object, times: int = 1) -> None:
        """Add a value. Raises QueryError if the list becomes too long or too large."""
        if value.__class__ in _PLAIN:
            size = charge = value.__sizeof__()
        else:
            size, charge = weigh(value), own(value)
        self._weight += (POINTER + size) * times
        self._charge += POINTER * times + charge
        if self._charge - self._charged > _STEP:
            self._guard.charge(self._charge - self._charged)
            self._charged = self._charge
        if self._weight > MAX_VALUE or len(self._items) + times > MAX_LIST:
            check_weight(self._weight)
            raise too_long()
        self._items.extend((value,) * times)

    def finished(self) -> list[object]:
        """Return the list; the builder cannot be used afterwards."""
        self._guard.release(self._charged)
        return hold_list(self._items, self._guard, HEADER + self._weight, HEADER + self._charge)


def join_lists(joined: list[object], parts: tuple[object, object], guard: Charging) -> list[object]:
    """Return the counted list `left + right` without measuring every item again."""
    weight = charge = HEADER
    for part in parts:
        # An appended item needs a reference; a joined list loses its header.
        more = -HEADER if is_list(part) else POINTER
        weight += more + weigh(part)
        charge += more + (part.own if isinstance(part, Items) else own(part))
    return hold_list(joined, guard, weight, charge)


def check_weight(weight: int) -> None:
    """Raise QueryError if a value is larger than `MAX_VALUE`."""
    if weight > MAX_VALUE:
        raise QueryError(
            f"a value has more than {MAX_VALUE // 1_000_000} MB when written out",
            "collect less: filter or aggregate earlier, or return rows instead of a list",
        )


def _hold_text(text: str, guard: Charging) -> str:
    held = Text(text)
    held.guard, held.weight = guard, text.__sizeof__()
    guard.charge(held.weight)
    return held


def _hold_map(entries: dict[str, object], guard: Charging) -> dict[str, object]:
    if len(entries) <= FEW and _SCALARS.issuperset([value.__class__ for value in entries.values()]):
        return entries
    held = Entries(entries)
    held.guard, held.weight = guard, HEADER + sum([ENTRY + weigh(value) for value in entries.values()])
    held.own = HEADER + sum([ENTRY + own(value) for value in entries.values()])
    guard.charge(held.own)
    check_weight(held.weight)
    return held
