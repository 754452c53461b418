"""Possible contradictions between two statements, found in their words.

Statements clash by negation, opposites, comparisons, quantities, bounds, complexity classes, or by who does what
(`roles`). The two must be about the same
thing: most of the remaining words of the shorter one have to occur in the longer one. The clashing words are named, so
that a reader can judge. Meaning is not understood: a clash is a hint, never a verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atlas.core.english.stems import stem
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.retrieval.opposites import ATTRIBUTES, SYNONYMS, WORDS, opposites
from atlas.knowledge.retrieval.quantities import Quantity, excludes
from atlas.knowledge.retrieval.roles import bounds, exclusive, no_effect, other_caps, other_names, roles, sole, unique
from atlas.knowledge.retrieval.statements import Statement, statement, stems_of

__all__ = ["Clash", "clash", "statement"]

MIN_SHARED = 0.5
"""Share of the content words of the statement with fewer words that the other one must contain."""
MIN_SHARED_NEGATED = 0.6
"""The same for statements that differ by a negation only: any two statements may differ by one."""
MIN_SHARED_OPPOSITE = 0.6
"""The same for opposites, these left out, if both statements have more words of their own."""
MIN_SHARED_GROWTH = 0.3
"""The same where both name a complexity class: few statements do."""
_ORDER = frozenset(map(stem, ("before", "after", "precede", "follow", "above", "below", "over", "under")))
_NOBODY = frozenset(("nobody", "none", "neither"))
_MAY = lazy_regex(r"\b(?:may|can)\b", re.IGNORECASE)
"""After "nobody may", "guests may" is a permission, not a possibility."""
_MAXIMUM, _MINIMUM = stem("maximum"), stem("minimum")
_NEED = frozenset((stem("require"),))
_SEVERAL = frozenset(SYNONYMS.get(stem(word), stem(word)) for word in WORDS["several"].split())
_CONTRAST = lazy_regex(r", (?:but |and )?not (?P<denied>[^,.;]+)", re.IGNORECASE)
"""Behind a comma "not" denies what follows only: "runs on Linux, not on macOS"."""
_THAN_IN = lazy_regex(r"\bthan (?:in|on|at|with|by|for|during|under)\b", re.IGNORECASE)
"""What is compared are circumstances, not the subject."""
_SYMBOL = lazy_regex(r"`([A-Za-z_][\w.]{0,200})(?:\(\))?`")
_EVENTS = frozenset(map(stem, WORDS["events"].split()))


@dataclass(frozen=True, slots=True)
class Clash:
    """What clashes: its kind and the words on each side."""

    kind: str
    """negation, opposite, comparison, quantity, complexity, bound, roles, subject or value."""
    one: str
    other: str
    shared: float
    """Share of content words that the statements have in common."""


def clash(one: Statement, other: Statement) -> Clash | None:
    """Return what clashes between two statements about the same thing, None if nothing does."""
    one, other = _with_whole_names(one, other), _with_whole_names(other, one)
    if dates := _dates(one, other):
        return dates
    found = bounds(one, other) or unique(one, other) or exclusive(one, other) or sole(one, other)
    # that most pairs differ is known at once, their phase is not
    if (not found and _differ(one, other)) or "supposed" in (one.phase, other.phase) or one.phase != other.phase:
        return None
    if found:
        return Clash(*found, _shared(one, other))
    tests: Sequence[Callable[[Statement, Statement], Clash | None]] = (
        _complexity,
        _comparison,
        _quantity,
        _opposite,
        _effect,
        _negation,
        _roles,
    )
    return next((clashing for test in tests if (clashing := test(one, other)) is not None), None)


def _with_whole_names(side: Statement, other: Statement) -> Statement:
    """Return a statement that names symbols as the other one does: `limit` becomes `pkg.mod.limit`."""
    if "`" not in side.text or "`" not in other.text:
        return side
    whole = {found[1] for found in _SYMBOL.finditer(other.text)}
    text = side.text
    for short in dict.fromkeys(found[1] for found in _SYMBOL.finditer(side.text)):
        longer = [name for name in whole if name.endswith(f".{short}")]
        if len(longer) == 1 and short not in whole:
            text = text.replace(f"`{short}`", f"`{longer[0]}`").replace(f"`{short}()`", f"`{longer[0]}`")
    return side if text == side.text else statement(text)


def _differ(one: Statement, other: Statement) -> bool:
    """Return whether the statements are about different circumstances or subjects."""
    if other_names(one, other):
        return True
    if (one.is_default and other.is_option) or (other.is_default and one.is_option):
        return True
    if (one.absent & other.stems) - other.absent or (other.absent & one.stems) - one.absent:
        return True
    mine = one.circumstances - other.stems - other.labels
    theirs = other.circumstances - one.stems - one.labels
    return bool(mine and theirs) or _other_subjects(one, other)


def _other_subjects(one: Statement, other: Statement) -> bool:
    """Return whether each subject has a word that the other statement lacks."""
    mine, theirs = one.subject - other.stems, other.subject - one.stems
    if not (mine and theirs) or any(opposites(form, its) for form in mine for its in theirs):
        return False
    return not (one.comparison and other.comparison)


def _is_compound(one: Statement, other: Statement) -> bool:
    """Return whether one subject is another thing that is named after the other: "the museum", "the museum shop"."""
    longer, shorter = (one, other) if len(one.subject) > len(other.subject) else (other, one)
    is_longer = shorter.subject < longer.subject and bool(shorter.head and longer.head)
    return is_longer and longer.head not in shorter.stems


def _other_attributes(one: Statement, other: Statement) -> bool:
    """Return whether different quantities are meant: minimum and maximum, time and space."""
    for group in ATTRIBUTES:
        mine, theirs = ({at for at, words in enumerate(group) if words & side.stems} for side in (one, other))
        if mine and theirs and not mine & theirs:
            return True
    return False


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
    mine, theirs, shared = one.growth, other.growth, _shared(one, other)
    if mine is None or theirs is None or shared < MIN_SHARED_GROWTH or not mine.excludes(theirs):
        return None
    if one.is_negated != other.is_negated or not _same_subject(one, other) or _other_attributes(one, other):
        return None
    return Clash("complexity", mine.text, theirs.text, shared)


def _comparison(one: Statement, other: Statement) -> Clash | None:
    """Compare "A is faster than B" with "B is faster than A"."""
    if one.comparison is None or other.comparison is None or not one.comparison.excludes(other.comparison):
        return None
    if _THAN_IN.search(one.text) and _THAN_IN.search(other.text) and not _same_subject(one, other):
        return None  # "sound is faster in water than in air", "light is faster in air"
    return Clash("comparison", one.comparison.text, other.comparison.text, _shared(one, other))


def _quantity(one: Statement, other: Statement) -> Clash | None:
    shared = _shared(one, other)
    if one.is_vague != other.is_vague:
        return None
    if one.comparison or other.comparison or shared < MIN_SHARED or one.is_negated != other.is_negated:
        return None
    # what happened once breaks no rule, and "skips files over 1 MB" agrees with "reads files of 200 kB"
    if one.is_past != other.is_past or any(mine[0] not in _ORDER for mine, _ in _opposite_pairs(one, other)):
        return None
    pairs = [(mine, theirs) for mine in _amounts(one, other) for theirs in _amounts(other, one) if mine.is_like(theirs)]
    clashing = [pair for pair in pairs if excludes(*pair) or other_caps(one, other, *pair)]
    is_one = clashing and len(pairs) <= 2 and (len(clashing) == 1 or 1 in (len(one.amounts), len(other.amounts)))
    if not is_one or len(one.amounts) > 2 or not _same_subject(one, other) or _own_words(one, other):
        return None
    if _other_attributes(one, other) or (_SEVERAL & one.stems & other.stems and _is_bare(clashing[0])):
        return None
    return Clash("quantity", clashing[0][0].text, clashing[0][1].text, shared)


def _is_bare(pair: tuple[Quantity, Quantity]) -> bool:
    """Return whether these are exact numbers without a unit: "supports Python 3.8"."""
    return all(one.low == one.high and one.text.replace(".", "").isdigit() for one in pair)


def _amounts(one: Statement, other: Statement) -> list[Quantity]:
    """Return the quantities; what only one side calls a maximum or minimum is a bound of the other's."""
    stems = one.stems - other.stems
    amounts = list(one.amounts)
    if any(math.isinf(amount.low) or math.isinf(amount.high) for amount in other.amounts):
        return amounts
    if _MAXIMUM in stems:
        amounts = [amount._replace(low=-math.inf) for amount in amounts]
    elif _MINIMUM in stems:
        amounts = [amount._replace(high=math.inf) for amount in amounts]
    return amounts


def _own_words(one: Statement, other: Statement) -> bool:
    """Return whether both statements have two or more content words that the other one lacks."""
    return min(len(one.stems - other.stems), len(other.stems - one.stems)) > 2


def _dates(one: Statement, other: Statement) -> Clash | None:
    """Return the two dates of one event; everything else has to be the same."""
    if not one.dates or not other.dates or one.dates & other.dates or one.is_negated or other.is_negated:
        return None
    if one.phase != other.phase or one.phase == "supposed":
        return None
    months = {stem(word.lower()) for side in (one, other) for date in side.dates for word in date.split()}
    rest = one.stems - months
    if rest != other.stems - months or not rest & _EVENTS:
        return None
    return Clash("quantity", " ".join(sorted(one.dates)), " ".join(sorted(other.dates)), 1.0)


def _opposite(one: Statement, other: Statement) -> Clash | None:
    if one.amounts and other.amounts and _other_attributes(one, other):
        return None
    if (one.comparison and other.comparison) or one.is_negated != other.is_negated:
        return None
    like = [(mine, theirs) for mine in one.amounts for theirs in other.amounts if mine.is_like(theirs)]
    if like and all(excludes(*pair) for pair in like):
        return None
    pairs = _opposite_pairs(one, other)
    without = frozenset(form for pair in pairs for form, _ in pair)
    shared = _shared(one, other, without)
    if _other_objects(one, other, without):
        return None
    have_own = one.stems - other.stems - without and other.stems - one.stems - without
    least = MIN_SHARED_OPPOSITE if have_own else MIN_SHARED
    if len(pairs) % 2 == 0 or _is_compound(one, other) or shared < least or not _same_subject(one, other, without):
        return None
    (_, mine), (_, theirs) = pairs[0]
    return Clash("opposite", mine, theirs, shared)


def _other_objects(one: Statement, other: Statement, without: frozenset[str]) -> bool:
    """Return whether each side ends with a word that the other one lacks: "the risk of bleeding", "of stroke"."""
    if not (one.words and other.words):
        return False
    mine, theirs = one.words[-1][0], other.words[-1][0]
    return not {mine, theirs} & without and mine not in other.stems and theirs not in one.stems


def _opposite_pairs(one: Statement, other: Statement) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return the pairs of opposite words, each word in one pair: two pairs say the same again."""
    found: list[tuple[tuple[str, str], tuple[str, str]]] = []
    left = [word for word in other.words if word[0] not in one.stems]
    for word in one.words:
        is_taken = word[0] in other.stems or any(word[0] == mine[0] for mine, _ in found)
        match = None if is_taken else next((its for its in left if _clash_as_words(one, other, word[0], its[0])), None)
        if match:
            found.append((word, match))
            left.remove(match)
    return found


def _clash_as_words(one: Statement, other: Statement, form: str, its_form: str) -> bool:
    return opposites(form, its_form) and not _is_swapped_order(one, other, form, its_form)


def _is_swapped_order(one: Statement, other: Statement, form: str, its_form: str) -> bool:
    """Return whether "A before B" says the same as "B after A"."""
    if form not in _ORDER or its_form not in _ORDER:
        return False
    at, to = ([word for word, _ in side.words].index(mark) for side, mark in ((one, form), (other, its_form)))
    before, after = stems_of(one.words[:at]), stems_of(one.words[at:])
    return bool(before & stems_of(other.words[to:])) and bool(after & stems_of(other.words[:to]))


def _negation(one: Statement, other: Statement) -> Clash | None:
    if one.is_negated == other.is_negated or (one.comparison and other.comparison):
        return None
    only_mine, only_theirs = one.stems - other.stems, other.stems - one.stems
    if any(opposites(form, its_form) for form in only_mine for its_form in only_theirs):
        return None
    shared = _shared(one, other)
    is_other_object = len(only_mine - _NEED) == len(only_theirs - _NEED) == 1
    if shared < MIN_SHARED_NEGATED or _is_compound(one, other) or not _same_subject(one, other) or is_other_object:
        return None
    negated, plain = (one, other) if one.is_negated else (other, one)
    is_allowed = _NOBODY & {word.lower() for word in negated.negations} and _MAY.search(plain.text)
    if plain.is_partial and not is_allowed and (negated.is_partial or negated.stems - plain.stems):
        return None
    contrast = _CONTRAST.search(negated.text)
    if contrast and len(negated.negations) == 1 and not plain.stems & statement(contrast["denied"]).stems:
        return None
    negation, key_words = " ".join(negated.negations), _key_words(plain, negated)
    mine, theirs = (negation, key_words) if negated is one else (key_words, negation)
    return Clash("negation", mine, theirs, shared)


def _effect(one: Statement, other: Statement) -> Clash | None:
    found = no_effect(one, other)
    return Clash(*found, _shared(one, other)) if found else None


def _roles(one: Statement, other: Statement) -> Clash | None:
    found = roles(one, other)
    return Clash(*found, _shared(one, other)) if found else None


def _key_words(plain: Statement, negated: Statement) -> str:
    return " ".join(written for form, written in plain.words if form in negated.stems)
