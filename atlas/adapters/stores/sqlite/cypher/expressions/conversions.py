"""Type conversions: toString(), toInteger() and related functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import cast

from atlas.adapters.stores.sqlite.cypher.values import as_list, check_integer, is_list, is_number, mismatch
from atlas.core.errors import QueryError


def to_number(value: object) -> float:
    """Return the value if it is a Number; otherwise raise QueryError."""
    if not is_number(value):
        raise mismatch("Number", value)
    return cast("float", value)


def to_items(value: object) -> list[object]:
    """Return the value if it is a List; otherwise raise QueryError."""
    if not is_list(value):
        raise mismatch("List", value)
    return as_list(value)


def to_string(value: object) -> str:
    """Return a value as toString() and string concatenation render it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    raise mismatch("String, Number or Boolean", value)


def _float_text(value: float) -> str:
    """Return a float as Java's Double.toString writes it, which is the format of Neo4j."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = f"{value:.17f}".rstrip("0") if "e" in repr(value) else repr(value)
        return text + "0" if text.endswith(".") else text
    mantissa, _, exponent = f"{value:e}".partition("e")
    for digits in range(1, 17):
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        if float(f"{mantissa}e{exponent}") == value:
            break
    mantissa = mantissa.rstrip("0")
    return f"{mantissa + '0' if mantissa.endswith('.') else mantissa}E{int(exponent)}"


def to_integer(value: object) -> int | None:
    """Return an Integer from a string or number, truncated towards zero; null if the string is not a number."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([+-]?\d{1,20})\s*", value)
        if match:
            return check_integer(int(match.group(1)))
        number = to_float(value)
        return None if number is None or not math.isfinite(number) else check_integer(int(number))
    number = to_number(value)
    return check_integer(int(number)) if math.isfinite(number) else 0


def to_float(value: object) -> float | None:
    """Return a Float from a string or number; null if the string is not a number."""
    if isinstance(value, str):
        if not re.fullmatch(r"\s*+[+-]?(\d++(?:\.\d*+)?+|\.\d++)([eE][+-]?\d++)?\s*+", value):
            return None
        return float(value)
    return float(to_number(value))


def to_boolean(value: object) -> bool | None:
    """Return a Boolean from a boolean, integer or string; null if the string is not a boolean."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value != 0
    if not isinstance(value, str):
        raise mismatch("String", value)
    return {"true": True, "false": False}.get(value.strip().lower())


def or_null(convert: Callable[[object], object]) -> Callable[[object], object]:
    """Return the conversion, with null in place of an error."""

    def attempt(value: object) -> object:
        try:
            return convert(value)
        except QueryError:
            return None

    return attempt


def to_list(convert: Callable[[object], object]) -> Callable[[object], list[object]]:
    """Return the conversion of every item of a list."""
    return lambda value: [None if item is None else or_null(convert)(item) for item in to_items(value)]
