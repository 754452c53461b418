"""Possible contradictions between two statements, found in their words.

Statements clash by negation, opposites, comparisons, quantities or complexity classes. The two must be about the same
thing: most of the remaining words of the shorter one have to occur in the longer one. The clashing words are named, so
that a reader can judge. Meaning is not understood: a clash is a hint, never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atlas.search.notes.opposites import (
    CIRCUMSTANCES,
    CLASSES,
    CONDITIONS,
    NEGATING_VERBS,
    NEGATIONS,
    PHRASES,
    SOME,
    STOP_WORDS,
    SYNONYMS,
    opposites,
    sides,
    stem,
)
from atlas.search.notes.quantities import Quantity, excludes, quantities

MIN_SHARED = 0.5
"""Share of the content words of the statement with fewer words that the other one must contain."""
MIN_SHARED_NEGATED = 0.6
"""The same for statements that differ by a negation only: any two statements may differ by one."""
_WORD = re.compile(r"[OΘΩ]\s?\((?:[^()]|\([^)]*\))*\)|\d[\d.,]*|[A-Za-z][\w'-]*(?:[.][\w'-]+)*|%|²")
_PHRASES = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b", re.IGNORECASE)
MAX_CIRCUMSTANCE = 3
"""Content words of a circumstance; what follows belongs to the statement."""
_COMPARATIVES = frozenset(("more", "less", "fewer", "better", "worse"))
_ORDER = frozenset(map(stem, ("before", "after", "precede", "follow", "above", "below", "over", "under")))
_COMPLEXITY = re.compile(r"[OΘΩ]\s?\(((?:[^()]|\([^)]*\))*)\)")


@dataclass(frozen=True, slots=True)
class Clash:
    """What clashes: its kind and the words on each side."""

    kind: str
    """negation, opposite, comparison, quantity or complexity."""
    one: str
    other: str
    shared: float
    """Share of content words that the statements have in common."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence prepared for comparison."""

    words: tuple[tuple[str, str], ...]
    """(stem, word as written) of the content words in order."""
    negations: tuple[str, ...]
    amounts: tuple[Quantity, ...]
    complexity: tuple[int, str] | None
    than: int
    """Number of content words before "than"; 0 without a comparison."""
    circumstances: frozenset[str]
    """Stems and numbers of phrases that begin with "in", "when", "under" and the like."""
    is_partial: bool
    """Whether it is about some cases only."""

    @property
    def stems(self) -> frozenset[str]:
        """The stems of all content words."""
        return frozenset(form for form, _ in self.words)


def statement(text: str) -> Statement:
    """Prepare a sentence."""
    words: list[tuple[str, str]] = []
    negations: list[str] = []
    complexity: tuple[int, str] | None = None
    than = 0
    circumstances: set[str] = set()
    is_partial, opening, last, length = False, "", "", 0
    plain = _PHRASES.sub(lambda found: PHRASES[found.group().lower()], text.replace("’", "'"))
    for match in _WORD.finditer(plain):
        written = match.group()
        if bound := _COMPLEXITY.fullmatch(written):
            rank = CLASSES.get(re.sub(r"[\s()]|\*(?!\*)", "", bound[1].lower()))
            complexity = complexity or ((rank, written) if rank is not None else None)
            continue
        word = written.lower().rstrip(".,")
        if word in CLASSES and len(word) > 3 and word != "constant":
            complexity = complexity or (CLASSES[word], written)
            continue
        if word in NEGATIONS or word.endswith("n't"):
            negations.append(written)
            continue
        if word == "than":
            than = len(words)
        is_partial = is_partial or word in SOME
        form = stem(word)
        if word in CIRCUMSTANCES or word in CONDITIONS:
            opening, length = word, 0
        elif opening and word not in STOP_WORDS:
            length += 1
            is_number = word[0].isdigit()
            is_meant = opening in CONDITIONS or not set(sides(form))
            if length <= MAX_CIRCUMSTANCE and (is_meant if not is_number else length == 1 or last == "version"):
                circumstances.add(SYNONYMS.get(form, form))
        last = word
        if form in NEGATING_VERBS:
            negations.append(written)
        elif word not in STOP_WORDS and not word[0].isdigit():
            words.append((SYNONYMS.get(form, form), written))
    amounts = tuple(quantities(text))
    return Statement(tuple(words), tuple(negations), amounts, complexity, than, frozenset(circumstances), is_partial)


def clash(one: Statement, other: Statement) -> Clash | None:
    """Return what clashes between two statements about the same thing, None if nothing does."""
    if _differ(one, other):
        return None
    tests: Sequence[Callable[[Statement, Statement], Clash | None]] = (
        _complexity,
        _comparison,
        _quantity,
        _opposite,
        _negation,
    )
    return next((found for test in tests if (found := test(one, other)) is not None), None)


def _differ(one: Statement, other: Statement) -> bool:
    """Return whether each has circumstances that the other does not mention."""
    mine = one.circumstances - other.stems
    theirs = other.circumstances - one.stems
    return bool(mine and theirs)


def _shared(one: Statement, other: Statement, without: frozenset[str] = frozenset()) -> float:
    """Return the share of the smaller statement's content words that the larger one contains."""
    mine, theirs = one.stems - without, other.stems - without
    smaller = min(len(mine), len(theirs))
    return len(mine & theirs) / smaller if smaller else 0.0


def _same_subject(one: Statement, other: Statement, without: frozenset[str] = frozenset()) -> bool:
    """Return whether one of the statements begins with a word of the other one."""
    mine = next((form for form, _ in one.words if form not in without), "")
    theirs = next((form for form, _ in other.words if form not in without), "")
    return mine in other.stems or theirs in one.stems


def _complexity(one: Statement, other: Statement) -> Clash | None:
    mine, theirs, shared = one.complexity, other.complexity, _shared(one, other)
    if mine is None or theirs is None or mine[0] == theirs[0] or shared < MIN_SHARED:
        return None
    if len(one.negations) % 2 != len(other.negations) % 2 or not _same_subject(one, other):
        return None
    return Clash("complexity", mine[1], theirs[1], shared)


def _comparison(one: Statement, other: Statement) -> Clash | None:
    """Compare "A is faster than B" with "B is faster than A"."""
    if not one.than or not other.than:
        return None
    for at, (form, written) in enumerate(one.words[: one.than]):
        for to, (its_form, its_written) in enumerate(other.words[: other.than]):
            is_same, is_opposite = form == its_form, opposites(form, its_form)
            if not (is_same or is_opposite) or not (_compares(one, at) and _compares(other, to)):
                continue
            mine, theirs = _sides(one, at), _sides(other, to)
            is_straight = bool(mine[0] & theirs[0]) and bool(mine[1] & theirs[1])
            is_swapped = bool(mine[0] & theirs[1]) and bool(mine[1] & theirs[0])
            odd = len(one.negations) % 2 != len(other.negations) % 2
            if is_straight != is_swapped and (is_swapped != is_opposite) != odd:
                return Clash("comparison", written, its_written, _shared(one, other))
    return None


def _sides(compared: Statement, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return what stands before the comparative at `at` and after "than", without words of both."""
    first, second = _set(compared.words[:at]), _set(compared.words[compared.than :])
    return first - second, second - first


def _agrees_as_comparison(one: Statement, other: Statement) -> bool:
    """Return whether both compare two things, with these swapped or not."""
    return bool(one.than and other.than)


def _quantity(one: Statement, other: Statement) -> Clash | None:
    shared = _shared(one, other)
    if shared < MIN_SHARED or len(one.negations) % 2 != len(other.negations) % 2:
        return None
    pairs = [(mine, theirs) for mine in one.amounts for theirs in other.amounts if mine.kind == theirs.kind]
    clashing = [(mine, theirs) for mine, theirs in pairs if excludes(mine, theirs)]
    is_one = len(clashing) == 1 and len(pairs) - len(clashing) <= 1
    if not is_one or len(one.amounts) > 2 or not _same_subject(one, other) or _own_words(one, other):
        return None
    return Clash("quantity", clashing[0][0].text, clashing[0][1].text, shared)


def _own_words(one: Statement, other: Statement) -> bool:
    """Return whether both statements have two or more content words that the other one lacks."""
    return min(len(one.stems - other.stems), len(other.stems - one.stems)) > 2


def _opposite(one: Statement, other: Statement) -> Clash | None:
    if _agrees_as_comparison(one, other) or len(one.negations) % 2 != len(other.negations) % 2:
        return None
    only_mine = [word for word in one.words if word[0] not in other.stems]
    only_theirs = [word for word in other.words if word[0] not in one.stems]
    for form, written in only_mine:
        for its_form, its_written in only_theirs:
            if not opposites(form, its_form) or _is_swapped_order(one, other, form, its_form):
                continue
            without = frozenset((form, its_form))
            shared = _shared(one, other, without)
            if shared >= MIN_SHARED and _same_subject(one, other, without):
                return Clash("opposite", written, its_written, shared)
    return None


def _is_swapped_order(one: Statement, other: Statement, form: str, its_form: str) -> bool:
    """Return whether "A before B" says the same as "B after A"."""
    if form not in _ORDER or its_form not in _ORDER:
        return False
    at, to = ([word for word, _ in side.words].index(mark) for side, mark in ((one, form), (other, its_form)))
    return bool(_set(one.words[:at]) & _set(other.words[to:])) and bool(_set(one.words[at:]) & _set(other.words[:to]))


def _negation(one: Statement, other: Statement) -> Clash | None:
    if len(one.negations) % 2 == len(other.negations) % 2 or _agrees_as_comparison(one, other):
        return None
    only_mine, only_theirs = one.stems - other.stems, other.stems - one.stems
    if any(opposites(form, its_form) for form in only_mine for its_form in only_theirs):
        return None
    shared = _shared(one, other)
    is_other_object = len(only_mine) == len(only_theirs) == 1
    if shared < MIN_SHARED_NEGATED or not _same_subject(one, other) or is_other_object:
        return None
    negated, plain = (one, other) if len(one.negations) % 2 else (other, one)
    if plain.is_partial and (negated.is_partial or negated.stems - plain.stems):
        return None
    negation, key_words = " ".join(negated.negations), _key_words(plain, negated)
    mine, theirs = (negation, key_words) if negated is one else (key_words, negation)
    return Clash("negation", mine, theirs, shared)


def _key_words(plain: Statement, negated: Statement) -> str:
    return " ".join(written for form, written in plain.words if form in negated.stems)


def _compares(compared: Statement, at: int) -> bool:
    """Return whether the word at a place is a comparative: "faster", "more slowly", "less"."""
    written = compared.words[at][1].lower()
    before = compared.words[at - 1][1].lower() if at else ""
    return written in _COMPARATIVES or written.endswith("er") or before in ("more", "less")


def _set(words: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(form for form, _ in words)
