"""Quantities in a sentence: numbers with their unit as intervals, so that two statements can be compared.

"at most 30 seconds" is ("time", 0, 30), "half a second" ("time", 0.5, 0.5), "8 retries" ("retry", 8, 8). Units of one
kind are converted to one unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atlas.core.english.stems import stem
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.retrieval.opposites import SYNONYMS, WORDS, either

_UNITS: dict[str, tuple[str, float]] = {
    unit: (kind, float(factor)) for kind, units in WORDS["units"].items() for unit, factor in units.items()
}
_NUMBERS: dict[str, float] = WORDS["numbers"]
_SCALES: dict[str, float] = WORDS["scales"]
_NOT_UNITS = frozenset(WORDS["not_units"].split())
_BOUNDS: dict[str, str] = {word: kind for kind, words in WORDS["bounds"].items() for word in words}
_TOLERANCE = 0.2
"""Half the width of "about N", as a share of N."""


_LABELS = frozenset(map(stem, WORDS["labels"].split()))


_PHRASE = lazy_regex(
    rf"(?:(?P<bound>{either(_BOUNDS)})\s*(?:{either(WORDS['labels'].split())}\s+)?)?"
    rf"(?P<number>\d+(?:\.\d+){{2,3}}|\d[\d,_]*(?:\.\d+)?(?:[eE]-?\d+)?|\b{either(_NUMBERS)}\b)"
    rf"(?:\s*(?P<scale>{either(_SCALES)})\b)?(?:-(?=[a-z]{{3}})|\s*(?:of\s+)?(?:an?\s+)?)(?P<unit>%|[A-Za-zµ]+)?",
    re.IGNORECASE,
)


_RANGE_START = lazy_regex(r"(?:(?:between|from)\s+)?(\d[\d,_]*(?:\.\d+)?)\s*\S*\s*(?:and|to|-|–)\s*$", re.IGNORECASE)
CLOCK = lazy_regex(r"\b([01]?\d|2[0-3]):([0-5]\d)(?!:?\d)(?:\s?(?:a\.?m\b|(p)\.?m\b))?", re.IGNORECASE)
_KINDS = frozenset(WORDS["units"])
_EXACTLY = lazy_regex(r"\b(?:only|exactly|just) $", re.IGNORECASE)
_AFTER = [(name, lazy_regex(text, re.IGNORECASE)) for name, text in WORDS["after_number"].items()]


class Quantity(NamedTuple):
    """A number as an interval. `kind` is `time` (seconds), `bytes`, `share`, or the stem of the counted noun."""

    kind: str
    low: float
    high: float
    text: str
    start: int
    """Offset in the sentence."""
    also: str = ""
    """The word after an adjective: "5 open sockets"."""

    def is_like(self, other: Quantity) -> bool:
        """Return whether both count the same."""
        return bool({self.kind, self.also} & {other.kind, other.also} - {""})


def quantities(sentence: str) -> list[Quantity]:
    """Return the quantities of a sentence in order. A number without a unit has the noun before it as its kind."""
    found = [
        Quantity("clock", at, at, match.group(), match.start())
        for match in CLOCK.finditer(sentence)
        for at in [60.0 * int(match[1]) + int(match[2]) + (720 if match[3] and int(match[1]) < 12 else 0)]
    ]
    sentence = CLOCK.sub(lambda match: " " * len(match.group()), sentence) if found else sentence
    for match in _PHRASE.finditer(sentence):
        number, start = match["number"], match.start("number")
        if start and (sentence[start - 1].isalnum() or sentence[start - 1] in "._/#^("):
            continue
        value = _value(number) * _SCALES.get((match["scale"] or "").lower(), 1.0)
        unit = (match["unit"] or "").lower()
        kind, factor = _unit(unit, sentence[max(0, match.start("number") - 60) : match.start("number")])
        if kind in _LABELS and number.count(".") == 1:
            value = _version(number)
        is_count = kind in _KINDS or match["bound"] or _EXACTLY.search(sentence, max(0, start - 8), start)
        if not kind or (number.lower() == "one" and not is_count):
            continue
        bound = _BOUNDS.get((match["bound"] or "").lower(), "")
        if not bound:
            bound = next((name for name, after in _AFTER if after.match(sentence, match.end("number"))), "")
        low, high = _interval(value * factor, bound)
        also = _next_word(sentence[match.end() : match.end() + 40]) if unit and kind not in _KINDS else ""
        found.append(Quantity(kind, low, high, match.group().strip(), match.start(), also))
    return _ranges(sentence, found)


def _ranges(sentence: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Join "between 10 and 20 s", "from 10 to 20 s" and "10-20 s" to one interval."""
    joined: list[Quantity] = []
    for quantity in found:
        words = _RANGE_START.search(sentence, max(0, quantity.start - 60), quantity.start)
        if words is None:
            joined.append(quantity)
            continue
        _, factor = _unit(_last_word(quantity.text), "")
        low = _value(words[1]) * (factor if quantity.kind in _KINDS else 1.0)
        if joined and joined[-1].start >= words.start():
            joined.pop()
        joined.append(quantity._replace(low=min(low, quantity.low), text=words.group() + quantity.text))
    return joined


def _next_word(after: str) -> str:
    match = re.match(r"\s+([a-z]+)", after)
    return _counted(match[1]) if match and match[1] not in _NOT_UNITS else ""


def _counted(word: str) -> str:
    return SYNONYMS.get(stem(word), stem(word))


def _last_word(text: str) -> str:
    return text.split()[-1].lower() if text.split() else ""


def is_unit(word: str) -> bool:
    """Return whether a word is a unit of time, size or share."""
    return word in _UNITS or word.removesuffix("s") in _UNITS


def excludes(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities of one kind cannot both hold."""
    slack = 1e-9 * max(abs(bound) for bound in (one.low, one.high, other.low, other.high, 1e-9) if math.isfinite(bound))
    return one.low > other.high + slack or other.low > one.high + slack


def _value(text: str) -> float:
    word = _NUMBERS.get(text.lower())
    if text.count(".") > 1:
        return _version(text)
    return float(text.replace(",", "").replace("_", "")) if word is None else float(word)


def _version(text: str) -> float:
    """Return a number that orders versions: 3.10 is after 3.9."""
    return sum(float(part) / 1000.0**place for place, part in enumerate(text.replace("_", "").split(".")) if part)


def _unit(unit: str, before: str) -> tuple[str, float]:
    for form in (unit, unit.removesuffix("s")):
        if form in _UNITS:
            return _UNITS[form]
    if unit and unit not in _NOT_UNITS:
        return _counted(unit), 1.0
    words = re.findall(r"[a-z]+", before.lower())
    named = [word for word in words[-3:] if word not in _NOT_UNITS and len(word) > 2]
    return (_counted(named[-1]), 1.0) if named else ("", 1.0)


def _interval(value: float, bound: str) -> tuple[float, float]:
    if bound == "upper":
        return -math.inf, value
    if bound == "lower":
        return value, math.inf
    if bound == "about":
        return value * (1 - _TOLERANCE), value * (1 + _TOLERANCE)
    return value, value


@dataclass(frozen=True, slots=True)
class Growth:
    """A complexity class as an interval of growth: (exponential, degree, logarithms), compared in this order."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    text: str
    start: int
    end: int

    @property
    def resource(self) -> str:
        """The word "time" of "constant-time", else a blank."""
        return " time " if self.text.lower().endswith("time") else " "

    def excludes(self, other: Growth) -> bool:
        """Return whether no function has both growths."""
        return self.low > other.high or other.low > self.high


_NAMED: dict[str, list[list[float]]] = WORDS["growth"]
_NAMES = lazy_regex(rf"\b{either(_NAMED)}(?:[- ]time\b|\b)", re.IGNORECASE)
_BIG_O = lazy_regex(
    r"(?P<letter>\bbig[- ]O(?: of)?|\b(?:O|Theta|Omega)|[ΘΩ])\s?\((?P<inside>(?:[^()]|\([^()]{0,40}\)){1,80})\)|"
    r"\b(?:proportional to|order of|as|in|is|takes) (?:the )?(?P<bare>(?:square root of |square of )?[b-hj-z]"
    r"(?: log [a-z]\b|\^\d(?:\.\d+)?|²|³| squared| cubed|\b(?! [a-z])))",
)
_BOUNDED = lazy_regex(
    r"\b(?:at most|at worst|bounded(?: above)?|no (?:worse|more|slower) than|upper bound)\b", re.IGNORECASE
)
_FACTOR = lazy_regex(
    r"log\^?\d*\s*\(?[a-z]*\)?|sqrt\s*\(?[a-z]\)?|√\s*\(?[a-z]\)?|[\w.]{1,40}!|\d[\d.]{0,20}\^\(?[a-z]\)?|[a-z](?:\^[\d.]+)?"
)


def growth(sentence: str) -> Growth | None:
    """Return the first complexity class of a sentence: "O(n log n)", "linear", "proportional to n^2"."""
    if (match := _BIG_O.search(sentence)) and (rank := _rank(match["inside"] or match["bare"])) is not None:
        low, high = rank, rank
    elif match := _NAMES.search(sentence):
        name = re.sub(r"[- ]time$", "", match.group().lower())
        low, high = (_triple(bound) for bound in _NAMED[name])
    else:
        return None
    if _BOUNDED.search(sentence):
        low = (0.0, 0.0, 0.0)
    if (match.groupdict().get("letter") or "") in ("Ω", "Omega"):
        high = (math.inf, 0.0, 0.0)
    return Growth(low, high, match.group(), match.start(), match.end())


def _triple(bound: Sequence[float]) -> tuple[float, float, float]:
    return (bound[0], bound[1], bound[2])


def _rank(text: str) -> tuple[float, float, float] | None:
    """Return the growth of an expression: that of its fastest term."""
    plain = text.lower()
    for written, short in WORDS["powers"].items():
        plain = plain.replace(written, short)
    terms = [_term(term) for term in plain.split("+")]
    return max((term for term in terms if term is not None), default=None)


def _term(text: str) -> tuple[float, float, float] | None:
    exponential, degree, logs = 0.0, 0.0, 0.0
    factors = _FACTOR.findall(text)
    for factor in factors:
        if factor.startswith("log"):
            logs += float(factor[4]) if factor[3:4] == "^" and factor[4:5].isdigit() else 1.0
        elif factor.startswith(("sqrt", "√")):
            degree += 0.5
        elif factor.endswith("!"):
            exponential += 2.0
        elif factor[0].isdigit():
            exponential += 1.0
        else:
            _, _, power = factor.partition("^")
            degree += float(power) if re.fullmatch(r"\d+(?:\.\d+)?", power) else 1.0
    return (exponential, degree, logs) if factors or re.fullmatch(r"[\d.\s]+", text) else None
