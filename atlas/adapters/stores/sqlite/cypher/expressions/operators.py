"""Arithmetic, logic, text tests and subscripts on values, with Cypher's rules for null, types and overflow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import cast

from atlas.adapters.stores.sqlite.cypher.expressions.conversions import to_string
from atlas.adapters.stores.sqlite.cypher.values import (
    as_list,
    as_map,
    check_integer,
    check_list,
    check_string,
    equals,
    is_list,
    is_map,
    is_number,
    mismatch,
)
from atlas.core.errors import QueryError

Operator = Callable[[object, object], object]


def _add(left: object, right: object) -> object:
    if left is None or right is None:
        return None
    if is_list(left) or is_list(right):
        first = as_list(left) if is_list(left) else [left]
        second = as_list(right) if is_list(right) else [right]
        return check_list(first + second)
    if isinstance(left, str) or isinstance(right, str):
        return check_string(to_string(left) + to_string(right))
    return _numbers(left, right, lambda a, b: a + b)


def _subtract(left: object, right: object) -> object:
    return None if left is None or right is None else _numbers(left, right, lambda a, b: a - b)


def _multiply(left: object, right: object) -> object:
    return None if left is None or right is None else _numbers(left, right, lambda a, b: a * b)


def _divide(left: object, right: object) -> object:
    return None if left is None or right is None else _numbers(left, right, _quotient)


def _modulo(left: object, right: object) -> object:
    return None if left is None or right is None else _numbers(left, right, _remainder)


def _power(left: object, right: object) -> object:
    if left is None or right is None:
        return None
    first, second = _operands(left, right)
    try:
        result = float(first) ** float(second)
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.inf
    return result if isinstance(cast("object", result), float) else math.nan


ARITHMETIC: Mapping[str, Operator] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
    "^": _power,
}


def _operands(left: object, right: object) -> tuple[float, float]:
    for value in (left, right):
        if not is_number(value):
            raise mismatch("Integer or Float", value)
    return cast("tuple[float, float]", (left, right))


def _numbers(left: object, right: object, apply: Callable[[float, float], float]) -> float:
    first, second = _operands(left, right)
    try:
        result = apply(first, second)
    except OverflowError:
        return math.inf
    return check_integer(result) if isinstance(result, int) else result


def _quotient(left: float, right: float) -> float:
    if isinstance(left, int) and isinstance(right, int):
        if right == 0:
            raise QueryError("division by zero", "guard it: CASE WHEN x <> 0 THEN y / x END")
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    if right == 0:
        return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


def _remainder(left: float, right: float) -> float:
    if isinstance(left, int) and isinstance(right, int):
        if right == 0:
            raise QueryError("division by zero", "guard it: CASE WHEN x <> 0 THEN y % x END")
        return int(math.copysign(1, left)) * (abs(left) % abs(right))
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def negate(value: object) -> object:
    """Return `-value`."""
    return _subtract(0, value) if isinstance(value, int) else _multiply(-1.0, value)


def truth(value: object) -> bool | None:
    """Return a Boolean or null as such. Raises QueryError for other types."""
    if value is None or isinstance(value, bool):
        return value
    raise mismatch("Boolean", value)


def text_test(operator: str, subject: object, argument: object) -> bool | None:
    """Return STARTS WITH, ENDS WITH or CONTAINS; null unless both are strings."""
    if not isinstance(subject, str) or not isinstance(argument, str):
        return None
    if operator == "STARTS WITH":
        return subject.startswith(argument)
    return subject.endswith(argument) if operator == "ENDS WITH" else argument in subject


def member(element: object, collection: object) -> bool | None:
    """Return `element IN collection`."""
    if collection is None:
        return None
    if not is_list(collection):
        raise mismatch("List", collection)
    unknown = False
    for item in as_list(collection):
        equal = equals(element, item)
        if equal:
            return True
        unknown = unknown or equal is None
    return None if unknown else False


def subscript(subject: object, index: object, properties: Callable[[object], Mapping[str, object]]) -> object:
    """Return `subject[index]`: an item (negative counts from the end, null outside) or a property by name."""
    if subject is None or index is None:
        return None
    if is_list(subject):
        if not isinstance(index, int) or isinstance(index, bool):
            raise mismatch("Integer", index)
        items = as_list(subject)
        return items[index] if -len(items) <= index < len(items) else None
    if not isinstance(index, str):
        raise mismatch("String", index)
    return as_map(subject).get(index) if is_map(subject) else properties(subject).get(index)


def cut(subject: object, start: object, stop: object) -> list[object] | None:
    """Return `subject[start..stop]`; both bounds are integers or null."""
    if subject is None or start is None or stop is None:
        return None
    if not is_list(subject):
        raise mismatch("List", subject)
    for bound in (start, stop):
        if not isinstance(bound, int) or isinstance(bound, bool):
            raise mismatch("Integer", bound)
    return as_list(subject)[cast("int", start) : cast("int", stop)]
