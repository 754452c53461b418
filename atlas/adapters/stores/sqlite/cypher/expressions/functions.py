"""The scalar functions that depend only on their arguments: strings, numbers, lists, conversions.

`FUNCTIONS` maps the lower-case name to its arity and code. Functions with `nulls` are not called if an argument is
null: the result is null, as in Cypher.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from atlas.adapters.stores.sqlite.cypher.expressions.conversions import (
    or_null,
    to_boolean,
    to_float,
    to_integer,
    to_items,
    to_list,
    to_number,
    to_string,
)
from atlas.adapters.stores.sqlite.cypher.values import (
    MAX_LIST,
    Edge,
    Node,
    Path,
    as_list,
    check_integer,
    check_length,
    check_list,
    check_string,
    equals,
    is_list,
    mismatch,
    too_long,
)
from atlas.core.errors import QueryError

MAX_DELIMITERS = 1_000
"""Maximum number of characters of all delimiters of one split()."""


class Function(NamedTuple):
    """`low` to `high` arguments; with `nulls`, any null argument makes the result null."""

    call: Callable[..., object]
    low: int
    high: int
    nulls: bool = True


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise mismatch("String", value)
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise mismatch("Integer", value)
    return value


def _on_text(function: Callable[[str], object]) -> Callable[[object], object]:
    return lambda value: function(_text(value))


def _size(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Path):
        raise QueryError("size() does not take a path", "use length(path)")
    return len(to_items(value))


def _length(value: object) -> int:
    if not isinstance(value, Path):
        raise QueryError("length() takes a path", "use size() for lists and strings")
    return len(value.edges)


def _reverse(value: object) -> object:
    return value[::-1] if isinstance(value, str) else to_items(value)[::-1]


def _is_empty(value: object) -> bool:
    return not (value if isinstance(value, (str, dict)) else to_items(value))


def _replace(text: object, old: object, new: object) -> str:
    subject, search, replacement = _text(text), _text(old), _text(new)
    # Check before building the string: a replacement can make a string a million times as long.
    longer = subject.count(search) * (len(replacement) - len(search))
    check_length(len(subject) + longer)
    return subject.replace(search, replacement)


def _split(text: object, delimiter: object) -> list[object]:
    subject = _text(text)
    if is_list(delimiter):
        delimiters = [_text(item) for item in as_list(delimiter)]
        if sum(len(item) + 1 for item in delimiters) > MAX_DELIMITERS:
            raise QueryError(f"split() takes at most {MAX_DELIMITERS:,} characters of delimiters", "use fewer")
        return check_list(list(re.split("|".join(re.escape(item) for item in delimiters), subject)))
    separator = _text(delimiter)
    if (subject.count(separator) if separator else len(subject)) > MAX_LIST:
        raise too_long()
    return check_list(list(subject.split(separator) if separator else (subject or [""])))


def _substring(text: object, start: object, length: object = None) -> str:
    begin = _integer(start)
    count = None if length is None else _integer(length)
    if begin < 0 or (count is not None and count < 0):
        raise QueryError("substring() takes no negative start or length")
    return _text(text)[begin : None if count is None else begin + count]


def _left(text: object, length: object) -> str:
    if _integer(length) < 0:
        raise QueryError("left() takes no negative length")
    return _text(text)[: _integer(length)]


def _right(text: object, length: object) -> str:
    count = _integer(length)
    if count < 0:
        raise QueryError("right() takes no negative length")
    return _text(text)[-count:] if count else ""


def _range(start: object, stop: object, step: object = 1) -> list[object]:
    first, last, stride = _integer(start), _integer(stop), _integer(step)
    if stride == 0:
        raise QueryError("the step of range() cannot be 0")
    numbers = range(first, last + (1 if stride > 0 else -1), stride)
    if len(numbers) > MAX_LIST:
        raise QueryError(f"range() makes at most {MAX_LIST:,} items")
    return list(numbers)


def _whole(round_: Callable[[float], float]) -> Callable[[object], float]:
    def apply(value: object) -> float:
        number = float(to_number(value))
        return float(round_(number)) if math.isfinite(number) else number

    return apply


def _round(value: object, precision: object = 0) -> float:
    number, digits = float(to_number(value)), _integer(precision)
    if not math.isfinite(number) or not 0 <= digits <= 15:
        return number
    scale = 10.0**digits
    scaled = number * scale
    if digits == 0:
        return float(math.floor(scaled + 0.5))
    return math.copysign(math.floor(abs(scaled) + 0.5), scaled) / scale


def _abs(value: object) -> float:
    number = abs(to_number(value))
    return check_integer(number) if isinstance(number, int) else number


def _sign(value: object) -> int:
    number = to_number(value)
    return (number > 0) - (number < 0)


def _real(function: Callable[[float], float]) -> Callable[[object], float]:
    def apply(value: object) -> float:
        try:
            return float(function(float(to_number(value))))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return apply


def _log(value: float) -> float:
    return -math.inf if value == 0 else math.log(value)


def _coalesce(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _nullif(left: object, right: object) -> object:
    return None if equals(left, right) is True else left


def _relationships(value: object) -> list[object]:
    if not isinstance(value, Path):
        raise mismatch("Path", value)
    return list(value.edges)


def _nodes(value: object) -> list[object]:
    if not isinstance(value, Path):
        raise mismatch("Path", value)
    return [Node(identity) for identity in value.nodes]


def _end(position: str) -> Callable[[object], Node]:
    def apply(value: object) -> Node:
        if not isinstance(value, Edge):
            raise mismatch("Relationship", value)
        return Node(value.source if position == "source" else value.target)

    return apply


def _item(position: int) -> Callable[[object], object]:
    def apply(value: object) -> object:
        items = to_items(value)
        return items[position] if items else None

    return apply


def _tail(value: object) -> list[object]:
    return to_items(value)[1:]


def _upper(text: str) -> str:
    return check_string(text.upper())


def _is_nan(value: object) -> bool:
    return math.isnan(to_number(value))


FUNCTIONS: Mapping[str, Function] = {
    "size": Function(_size, 1, 1),
    "char_length": Function(_on_text(len), 1, 1),
    "length": Function(_length, 1, 1),
    "isempty": Function(_is_empty, 1, 1),
    "reverse": Function(_reverse, 1, 1),
    "head": Function(_item(0), 1, 1),
    "last": Function(_item(-1), 1, 1),
    "tail": Function(_tail, 1, 1),
    "range": Function(_range, 2, 3),
    "tolower": Function(_on_text(str.lower), 1, 1),
    "lower": Function(_on_text(str.lower), 1, 1),
    "toupper": Function(_on_text(_upper), 1, 1),
    "upper": Function(_on_text(_upper), 1, 1),
    "trim": Function(_on_text(str.strip), 1, 1),
    "ltrim": Function(_on_text(str.lstrip), 1, 1),
    "rtrim": Function(_on_text(str.rstrip), 1, 1),
    "replace": Function(_replace, 3, 3),
    "split": Function(_split, 2, 2),
    "substring": Function(_substring, 2, 3),
    "left": Function(_left, 2, 2),
    "right": Function(_right, 2, 2),
    "tostring": Function(to_string, 1, 1),
    "tostringornull": Function(or_null(to_string), 1, 1),
    "tointeger": Function(to_integer, 1, 1),
    "tointegerornull": Function(or_null(to_integer), 1, 1),
    "tofloat": Function(to_float, 1, 1),
    "tofloatornull": Function(or_null(to_float), 1, 1),
    "toboolean": Function(to_boolean, 1, 1),
    "tobooleanornull": Function(or_null(to_boolean), 1, 1),
    "tostringlist": Function(to_list(to_string), 1, 1),
    "tointegerlist": Function(to_list(to_integer), 1, 1),
    "tofloatlist": Function(to_list(to_float), 1, 1),
    "tobooleanlist": Function(to_list(to_boolean), 1, 1),
    "abs": Function(_abs, 1, 1),
    "ceil": Function(_whole(math.ceil), 1, 1),
    "floor": Function(_whole(math.floor), 1, 1),
    "round": Function(_round, 1, 2),
    "sign": Function(_sign, 1, 1),
    "sqrt": Function(_real(math.sqrt), 1, 1),
    "exp": Function(_real(math.exp), 1, 1),
    "log": Function(_real(_log), 1, 1),
    "log10": Function(_real(lambda v: -math.inf if v == 0 else math.log10(v)), 1, 1),
    "sin": Function(_real(math.sin), 1, 1),
    "cos": Function(_real(math.cos), 1, 1),
    "tan": Function(_real(math.tan), 1, 1),
    "pi": Function(lambda: math.pi, 0, 0),
    "e": Function(lambda: math.e, 0, 0),
    "isnan": Function(_is_nan, 1, 1),
    "coalesce": Function(_coalesce, 1, 100, nulls=False),
    "nullif": Function(_nullif, 2, 2, nulls=False),
    "nodes": Function(_nodes, 1, 1),
    "relationships": Function(_relationships, 1, 1),
    "startnode": Function(_end("source"), 1, 1),
    "endnode": Function(_end("target"), 1, 1),
}
AGGREGATES = frozenset(
    ("count", "sum", "avg", "min", "max", "collect", "stdev", "stdevp", "percentilecont", "percentiledisc")
)

GRAPH_FUNCTIONS = frozenset(("type", "labels", "id", "elementid", "keys", "properties", "exists"))
"""Functions that read the graph."""
