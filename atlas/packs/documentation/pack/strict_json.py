"""JSON of packs, which come from anywhere: whatever is wrong with it is a ValueError. Pure.

Python's own reader raises RecursionError for deep nesting, reads NaN, keeps the last of two equal keys, and makes
integers that fail only when they are shown or stored.
"""

from __future__ import annotations

import json
import math

MAX_DIGITS = 18
"""Of an integer: SQLite and most readers of JSON have 64 bits."""


def load_json(text: str) -> object:
    """Return the value of a JSON text. Raises ValueError."""
    try:
        found: object = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:  # half of a pair of surrogates can be neither printed nor stored
            json.dumps(found, ensure_ascii=False).encode("utf8")
        return found
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError("an integer is too large")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_int=_integer, parse_float=_finite, parse_constant=_refuse
)
