"""Possible contradictions between two statements, found in their words.

Statements clash by negation, opposites, comparisons, quantities or complexity classes. The two must be about the same
thing: most of the remaining words of the shorter one have to occur in the longer one. The clashing words are named, so
that a reader can judge. Meaning is not understood: a clash is a hint, never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atlas.search.notes.opposites import CLASSES, NEGATING_VERBS, NEGATIONS, STOP_WORDS, SYNONYMS, opposites, stem
from atlas.search.notes.quantities import Quantity, excludes, quantities

MIN_SHARED = 0.5
"""Share of the content words of the statement with fewer words that the other one must contain."""
_WORD = re.compile(r"[OΘΩ]\s?\((?:[^()]|\([^)]*\))*\)|\d[\d.,]*|[A-Za-z][\w'-]*(?:[.][\w'-]+)*|%|²")
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
    for match in _WORD.finditer(text.replace("’", "'")):
        written = match.group()
        if bound := _COMPLEXITY.fullmatch(written):
            rank = CLASSES.get(re.sub(r"[\s()]|\*(?!\*)", "", bound[1].lower()))
            complexity = complexity or ((rank, written) if rank is not None else None)
            continue
        word = written.lower()
        if word in CLASSES and len(word) > 3 and word != "constant":
            complexity = complexity or (CLASSES[word], written)
            continue
        if word in NEGATIONS or word.endswith("n't"):
            negations.append(written)
            continue
        if word == "than":
            than = len(words)
        form = stem(word)
        if form in NEGATING_VERBS:
            negations.append(written)
        elif word not in STOP_WORDS and not word[0].isdigit():
            words.append((stem(SYNONYMS.get(word, SYNONYMS.get(form, form))), written))
    return Statement(tuple(words), tuple(negations), tuple(quantities(text)), complexity, than)


def clash(one: Statement, other: Statement) -> Clash | None:
    """Return what clashes between two statements about the same thing, None if nothing does."""
    tests: Sequence[Callable[[Statement, Statement], Clash | None]] = (
        _complexity,
        _comparison,
        _quantity,
        _opposite,
        _negation,
    )
    return next((found for test in tests if (found := test(one, other)) is not None), None)


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
            if not (is_same or is_opposite) or not _is_comparative(written):
                continue
            mine = (_set(one.words[:at]), _set(one.words[one.than :]))
            theirs = (_set(other.words[:to]), _set(other.words[other.than :]))
            is_straight = bool(mine[0] & theirs[0]) and bool(mine[1] & theirs[1])
            is_swapped = bool(mine[0] & theirs[1]) and bool(mine[1] & theirs[0])
            odd = len(one.negations) % 2 != len(other.negations) % 2
            if is_straight != is_swapped and (is_swapped != is_opposite) != odd:
                return Clash("comparison", written, its_written, _shared(one, other))
    return None


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
            if not opposites(form, its_form):
                continue
            without = frozenset((form, its_form))
            shared = _shared(one, other, without)
            if shared >= MIN_SHARED and _same_subject(one, other, without):
                return Clash("opposite", written, its_written, shared)
    return None


def _negation(one: Statement, other: Statement) -> Clash | None:
    if len(one.negations) % 2 == len(other.negations) % 2 or _agrees_as_comparison(one, other):
        return None
    only_mine, only_theirs = one.stems - other.stems, other.stems - one.stems
    if any(opposites(form, its_form) for form in only_mine for its_form in only_theirs):
        return None
    shared = _shared(one, other)
    if shared < MIN_SHARED or not _same_subject(one, other):
        return None
    negated, plain = (one, other) if len(one.negations) % 2 else (other, one)
    negation, key_words = " ".join(negated.negations), _key_words(plain, negated)
    mine, theirs = (negation, key_words) if negated is one else (key_words, negation)
    return Clash("negation", mine, theirs, shared)


def _key_words(plain: Statement, negated: Statement) -> str:
    return " ".join(written for form, written in plain.words if form in negated.stems)


def _is_comparative(word: str) -> bool:
    return word.lower() in ("more", "less", "fewer", "better", "worse") or word.lower().endswith("er")


def _set(words: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(form for form, _ in words)
