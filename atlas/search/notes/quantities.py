"""Quantities in a sentence: numbers with their unit as intervals, so that two statements can be compared.

"at most 30 seconds" is ("time", 0, 30), "half a second" ("time", 0.5, 0.5), "8 retries" ("retry", 8, 8). Units of one
kind are converted to one unit.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_TIME = {
    "ns": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "µs": 1e-6, "microsecond": 1e-6, "ms": 1e-3, "millisecond": 1e-3,
    "msec": 1e-3, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "day": 86_400, "week": 604_800,
}  # fmt: skip
_BYTES = {
    "byte": 1, "b": 1, "kb": 1e3, "kib": 1024, "kilobyte": 1e3, "mb": 1e6, "mib": 1 << 20, "megabyte": 1e6,
    "gb": 1e9, "gib": 1 << 30, "gigabyte": 1e9, "tb": 1e12, "tib": 1 << 40, "terabyte": 1e12,
}  # fmt: skip
_SHARE = {"%": 0.01, "percent": 0.01}
_UNITS = {
    **{unit: ("time", factor) for unit, factor in _TIME.items()},
    **{unit: ("bytes", float(factor)) for unit, factor in _BYTES.items()},
    **{unit: ("share", factor) for unit, factor in _SHARE.items()},
}
_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "half": 0.5,
    "twice": 2, "once": 1, "dozen": 12,
}  # fmt: skip
_SCALES = {"k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "billion": 1e9, "hundred": 1e2}
_NUMBER = (
    r"(?P<number>\d[\d,_]*(?:\.\d+)?(?:[eE]-?\d+)?|\b(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b)"
)
_PHRASE = re.compile(
    r"(?P<bound>at most|up to|no more than|not more than|under|below|less than|fewer than|within|maximum of|max|"
    r"at least|no less than|no fewer than|more than|over|above|minimum of|min|exceeds?|about|around|approximately|"
    r"roughly|nearly|almost|~|<=|>=|<|>|≤|≥)?\s*"  # noqa: RUF001 the signs that people write
    + _NUMBER
    + r"(?:\s*(?P<scale>k|m|thousand|million|billion|hundred)\b)?\s*(?:of\s+)?(?:an?\s+)?(?P<unit>%|[A-Za-zµ]+)?",
    re.IGNORECASE,
)
_UPPER = frozenset(
    ("at most", "up to", "no more than", "not more than", "under", "below", "less than", "fewer than", "within",
     "maximum of", "max", "<=", "<", "≤")  # noqa: RUF001
)  # fmt: skip
_LOWER = frozenset(
    ("at least", "no less than", "no fewer than", "more than", "over", "above", "minimum of", "min", "exceed",
     "exceeds", ">=", ">", "≥")  # noqa: RUF001
)  # fmt: skip
_ABOUT = frozenset(("about", "around", "approximately", "roughly", "nearly", "almost", "~"))
_TOLERANCE = 0.2
_NOT_UNITS = frozenset(
    "and or of to in on at by for from with than the a an is are was were it its that which when while if as but per each "
    "every after before during more less times".split()
)


class Quantity(NamedTuple):
    """A number as an interval. `kind` is `time` (seconds), `bytes`, `share`, or the stem of the counted noun."""

    kind: str
    low: float
    high: float
    text: str
    start: int
    """Offset in the sentence."""


def quantities(sentence: str) -> list[Quantity]:
    """Return the quantities of a sentence in order. A number without a unit has the noun before it as its kind."""
    found: list[Quantity] = []
    for match in _PHRASE.finditer(sentence):
        number, start = match["number"], match.start("number")
        if start and sentence[start - 1] in "._-/#^(" and sentence[start - 1 : start] != "-":
            continue
        if start and (sentence[start - 1].isalnum() or sentence[start - 1] in "_^."):
            continue
        value = _value(number) * _SCALES.get((match["scale"] or "").lower(), 1.0)
        unit = (match["unit"] or "").lower()
        kind, factor = _unit(unit, sentence[: match.start()])
        if not kind or (number.lower() == "one" and kind not in ("time", "bytes", "share")):
            continue
        low, high = _interval(value * factor, (match["bound"] or "").lower())
        found.append(Quantity(kind, low, high, match.group().strip(), match.start()))
    return found


def excludes(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities of one kind cannot both hold."""
    slack = 1e-9 * max(abs(one.low), abs(other.low), 1e-9)
    return one.low > other.high + slack or other.low > one.high + slack


def _value(text: str) -> float:
    word = _WORDS.get(text.lower())
    return float(text.replace(",", "").replace("_", "")) if word is None else float(word)


def _unit(unit: str, before: str) -> tuple[str, float]:
    for form in (unit, unit.removesuffix("s")):
        if form in _UNITS:
            return _UNITS[form]
    if unit and unit not in _NOT_UNITS:
        return _stem(unit), 1.0
    words = re.findall(r"[a-z]+", before.lower())
    named = [word for word in words[-3:] if word not in _NOT_UNITS and len(word) > 2]
    return (_stem(named[-1]), 1.0) if named else ("", 1.0)


def _interval(value: float, bound: str) -> tuple[float, float]:
    if bound in _UPPER:
        return -math.inf, value
    if bound in _LOWER:
        return value, math.inf
    if bound in _ABOUT:
        return value * (1 - _TOLERANCE), value * (1 + _TOLERANCE)
    return value, value


def _stem(word: str) -> str:
    for ending, less in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word[: -len(ending)] + less
    return word
