"""Values of a running query and their comparison: equality with null, the order of ORDER BY, grouping keys.

Independent of SQL; entities are ids, their contents live in `graph`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard, cast

from atlas.core.errors import QueryError

Row: TypeAlias = tuple[object, ...]
MAX_LIST = 100_000
"""Maximum number of items of one list."""
MAX_STRING = 1_000_000
"""Maximum number of characters of one string."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node by its id in the store."""

    id: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship by its key in the store; `source` and `target` are node ids."""

    source: int
    type: str
    target: int
    line: int


@dataclass(frozen=True, slots=True)
class Path:
    """`len(nodes) == len(edges) + 1`; the edges may point against the direction of travel."""

    nodes: tuple[int, ...]
    edges: tuple[Edge, ...]


def type_name(value: object) -> str:
    """Return the Cypher name of a value's type, for messages and ordering."""
    if value is None:
        return "Null"
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    raise TypeError(f"not a Cypher value: {type(value).__name__}")


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "Boolean"),
    (int, "Integer"),
    (float, "Float"),
    (str, "String"),
    (list, "List"),
    (dict, "Map"),
    (Node, "Node"),
    (Edge, "Relationship"),
    (Path, "Path"),
)


def mismatch(expected: str, value: object) -> QueryError:
    """Return the error for a value of the wrong type."""
    shown = repr(value)[:60] if isinstance(value, (str, int, float, bool)) else ""
    return QueryError(f"type mismatch: expected {expected} but was {type_name(value)} {shown}".rstrip())


def is_number(value: object) -> bool:
    """Return whether the value is an Integer or a Float."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Return whether the value is a List."""
    return isinstance(value, list)


def is_map(value: object) -> TypeGuard[dict[str, object]]:
    """Return whether the value is a Map."""
    return isinstance(value, dict)


def as_list(value: object) -> list[object]:
    """Return the value typed as a List; the caller has checked its type."""
    return cast("list[object]", value)


def as_map(value: object) -> dict[str, object]:
    """Return the value typed as a Map; the caller has checked its type."""
    return cast("dict[str, object]", value)


def equals(left: object, right: object) -> bool | None:
    """Return `left = right`: None if null is involved, False for different types (1 = 1.0 is true)."""
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if is_number(left) and is_number(right):
        return left == right
    if is_list(left) and is_list(right):
        return _equal_sequences(left, right)
    if is_map(left) and is_map(right):
        first, second = as_map(left), as_map(right)
        if first.keys() != second.keys():
            return False
        return _equal_sequences([first[key] for key in first], [second[key] for key in first])
    return type(left) is type(right) and left == right


def _equal_sequences(left: Sequence[object], right: Sequence[object]) -> bool | None:
    if len(left) != len(right):
        return False
    result: bool | None = True
    for first, second in zip(left, right, strict=True):
        equal = equals(first, second)
        if equal is False:
            return False
        if equal is None:
            result = None
    return result


def compare(operator: str, left: object, right: object) -> bool | None:
    """Return `left operator right` for < <= > >=: None unless both are numbers, strings, booleans or lists."""
    if left is None or right is None:
        return None
    comparable = (
        (isinstance(left, str) and isinstance(right, str))
        or (is_number(left) and is_number(right))
        or (isinstance(left, bool) and isinstance(right, bool))
    )
    if not comparable:
        if is_list(left) and is_list(right):
            return _compare_lists(operator, as_list(left), as_list(right))
        return None
    first, second = cast("tuple[float, float]", (left, right))
    if operator == "<":
        return first < second
    if operator == "<=":
        return first <= second
    return first > second if operator == ">" else first >= second


def _compare_lists(operator: str, left: list[object], right: list[object]) -> bool | None:
    for first, second in zip(left, right, strict=False):
        equal = equals(first, second)
        if equal is None:
            return None
        if not equal:
            return compare(operator, first, second)
    return compare(operator, len(left), len(right))


def order_key(value: object) -> tuple[object, ...]:
    """Return a key that sorts all values: map, node, relationship, list, path, string, boolean, number, null."""
    if isinstance(value, str):
        return (5, value)
    if value is None:
        return (8,)
    if isinstance(value, bool):
        return (6, value)
    if isinstance(value, (int, float)):
        return (7, 1, 0.0) if math.isnan(value) else (7, 0, value)
    if is_list(value):
        return (3, tuple(order_key(item) for item in as_list(value)))
    if is_map(value):
        entries = as_map(value)
        return (0, tuple((key, order_key(entries[key])) for key in sorted(entries)))
    if isinstance(value, Node):
        return (1, value.id)
    if isinstance(value, Edge):
        return (2, value.source, value.type, value.target, value.line)
    if isinstance(value, Path):
        return (4, value.nodes, tuple(order_key(edge) for edge in value.edges))
    raise TypeError(f"not a Cypher value: {type(value).__name__}")


def group_key(value: object) -> object:
    """Return a hashable key, equal for values that DISTINCT and grouping treat as equal (null equals null)."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float) and math.isnan(value):
        return ("nan",)
    if is_list(value):
        return ("list", *(group_key(item) for item in as_list(value)))
    if is_map(value):
        entries = as_map(value)
        return ("map", *((key, group_key(entries[key])) for key in sorted(entries)))
    return value


def check_list(items: list[object]) -> list[object]:
    """Return the list; raises QueryError if it is longer than `MAX_LIST`."""
    if len(items) > MAX_LIST:
        raise too_long()
    return items


def too_long() -> QueryError:
    """Return the error for a list of more than `MAX_LIST` items."""
    hint = "use count(), filter or aggregate earlier, or add LIMIT"
    return QueryError(f"a list has more than {MAX_LIST:,} items", hint)


def check_string(text: str) -> str:
    """Return the string; raises QueryError if it is longer than `MAX_STRING`."""
    check_length(len(text))
    return text


def check_length(characters: int) -> None:
    """Raise QueryError for the length of a string longer than `MAX_STRING`."""
    if characters > MAX_STRING:
        raise QueryError(f"a string has more than {MAX_STRING:,} characters", "build a shorter one")


def check_integer(value: int) -> int:
    """Return the integer; raises QueryError outside 64 bits."""
    if not -(2**63) <= value < 2**63:
        raise QueryError("integer overflow", "use floating point: 1.0 * x")
    return value


def check_parameter(value: object, name: str, depth: int = 0) -> object:
    """Return a parameter as a Cypher value (tuples become lists).

    Raises QueryError for types that Cypher does not have.
    """
    if depth > 20:
        raise QueryError(f"the parameter ${name} is nested too deeply")
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return check_integer(value)
    if isinstance(value, str):
        return check_string(value.encode("utf-8", "replace").decode())
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[object]", value)
        return check_list([check_parameter(item, name, depth + 1) for item in items])
    if is_map(value):
        entries = cast("dict[object, object]", value)
        return {str(key): check_parameter(entry, name, depth + 1) for key, entry in entries.items()}
    raise QueryError(
        f"the parameter ${name} has the unsupported type {type(value).__name__}",
        "pass null, booleans, numbers, strings, lists or maps",
    )
