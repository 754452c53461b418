"""Comparisons of two things: "A is faster than B", "B outperforms A", "A is at least as fast as B"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.core.english.stems import stem
from atlas.core.english.stop_words import STATEMENT_STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.retrieval.opposites import SYNONYMS, WORDS, opposites, sides

_WORD = lazy_regex(r"[A-Za-z0-9][\w'-]*(?:[.][\w'-]+)*")
_AS = lazy_regex(
    r"\b(?P<least>at least )?(?P<factor>twice |half |times )?(?:just )?as (?P<word>[a-z]+)(?: [a-z]+){0,3}? as\b",
    re.IGNORECASE,
)
_THAN = lazy_regex(r"\bthan\b(?!\s*(?:\d[\d.,]*|about|half|once|" + "|".join(WORDS["numbers"]) + r")\b)", re.IGNORECASE)
_VERB = lazy_regex(r"\b(?:" + "|".join(WORDS["winning"].split()) + r")\b", re.IGNORECASE)
_ASPECT = lazy_regex(r"\b(?:in|on|at|for|by) ([a-z]+)(?: ([a-z]+))?", re.IGNORECASE)
_VALUES = [frozenset(map(stem, group.split())) for group in WORDS["values"].split("|")]
_COSTS = frozenset(SYNONYMS.get(stem(word), stem(word)) for word in WORDS["costs"].split())
_SIZES = {word: sign for sign, words in ((1, WORDS["larger"]), (-1, WORDS["smaller"])) for word in words.split()}
_EQUALLY = lazy_regex(r"\bequally (?P<word>[a-z]+)", re.IGNORECASE)
_FLIPPED = str.maketrans("<>", "><")


@dataclass(frozen=True, slots=True)
class SidesCompared:
    """Two sides, and which of the signs <, = and > may stand between them for a dimension."""

    first: frozenset[str]
    second: frozenset[str]
    dimensions: tuple[tuple[int, str], ...]
    """(1 or -1, stem): what is compared; several names of one dimension."""
    signs: frozenset[str]
    text: str
    words: frozenset[str]
    """Stems of both sides; equal sides name both things at once: "A and B are equally fast"."""

    def excludes(self, other: SidesCompared) -> bool:
        """Return whether the comparisons are about the same things and cannot both hold."""
        sense = _sense(self.dimensions, other.dimensions)
        if self.first == self.second or other.first == other.second:
            return bool(sense and self.words & other.words) and not self.signs & other.signs
        is_swapped = bool(self.first & other.second and self.second & other.first)
        if not sense or not (is_swapped or (self.first & other.first and self.second & other.second)):
            return False
        turns = is_swapped != (sense < 0)
        theirs = frozenset(sign.translate(_FLIPPED) for sign in other.signs) if turns else other.signs
        return not self.signs & theirs


def _sense(mine: Sequence[tuple[int, str]], theirs: Sequence[tuple[int, str]]) -> int:
    """Return 1 if both compare by the same, -1 if by opposites, 0 if by different dimensions."""
    for sign, form in mine:
        for its_sign, its_form in theirs:
            if form == its_form or sides(form) & sides(its_form):
                return sign * its_sign
            value = _value(form) * _value(its_form)
            if opposites(form, its_form):
                return -sign * its_sign
            if value and (form in ("good", "bad") or its_form in ("good", "bad")):
                return sign * its_sign * value
    return 0


def _value(form: str) -> int:
    """Return 1 for what is welcome, -1 for its opposite, 0 for the rest."""
    return 1 if form in _VALUES[0] else -1 if form in _VALUES[1] else 0


def comparison(text: str, is_negated: bool) -> SidesCompared | None:
    """Return what a sentence compares; `is_negated` if it has an odd number of negations."""
    if match := _EQUALLY.search(text):
        words = _stems(text[: match.start()])
        dimensions = ((1, _adjective(match["word"].lower())),)
        signs = frozenset("<>" if is_negated else "=")
        return SidesCompared(words, words, dimensions, signs, match.group(), words)
    if match := _AS.search(text):
        dimensions = ((1, _adjective(match["word"].lower())),)
        factor = (match["factor"] or "").strip().lower()
        signs = "=>" if match["least"] else "<" if factor == "half" else ">" if factor else "="
        denied = "<"
    elif match := _THAN.search(text):
        if (found := _comparative(text[: match.start()])) is None:
            return None
        dimensions, at = found
        kept = text[at[0] : at[1]].partition(" ")[2]
        text_before = f"{text[: at[0]]} {kept} {text[at[1] : match.start()]}"
        signs = "<=" if is_negated else ">"
        return _compared(text_before, text[match.end() :], dimensions, signs, text[at[0] : at[1]])
    elif match := _VERB.search(text):
        aspects = [_adjective(word.lower()) for pair in _ASPECT.findall(text[match.end() :]) for word in pair if word]
        dimensions = (*((-1 if form in _COSTS else 1, form) for form in aspects), (1, "good"))
        signs, denied = ">", "<="
    else:
        return None
    signs = denied if is_negated else signs
    return _compared(text[: match.start()], text[match.end() :], dimensions, signs, match.group())


def _compared(
    before: str, after: str, dimensions: Sequence[tuple[int, str]], signs: str, text: str
) -> SidesCompared | None:
    first, second = _stems(before), _stems(after)
    return SidesCompared(first - second, second - first, tuple(dimensions), frozenset(signs), text, first | second)


def _stems(text: str) -> frozenset[str]:
    words = (word.lower().removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(SYNONYMS.get(stem(word), stem(word)) for word in words if word not in STATEMENT_STOP_WORDS)


def _comparative(before: str) -> tuple[list[tuple[int, str]], tuple[int, int]] | None:
    """Return the dimensions and the place of the last comparative of a text."""
    words = list(_WORD.finditer(before))
    for at in range(len(words) - 1, -1, -1):
        word = words[at].group().lower()
        if word in _SIZES:
            after = words[at + 1 : at + 3]
            named = [(_SIZES[word], _adjective(noun.group().lower())) for noun in after]
            own = [(1, stem(word)), (1, _adjective(word))]
            return [*named, *own], (words[at].start(), after[-1].end() if after else words[at].end())
        if word in ("better", "worse"):
            return [(1, "good" if word == "better" else "bad")], words[at].span()
        if word.endswith("er") and len(word) > 4 and sides(stem(word)):
            return [(1, _adjective(word))], words[at].span()
    return None


def _adjective(word: str) -> str:
    """Return the stem of a word without the ending of a comparative."""
    form = SYNONYMS.get(stem(word), stem(word))
    for ending, less in (("ier", "y"), ("er", ""), ("er", "e")):
        root = stem(word.removesuffix(ending) + less) if word.endswith(ending) and len(word) > 4 else ""
        if root and sides(root):
            return root
    return form
