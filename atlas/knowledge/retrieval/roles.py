"""Clashes of who does what: roles exchanged, one place taken by two, a bound against none.

All of them need equal subjects or equal predicates word by word, so a pair that only resembles another is left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from atlas.core.english.stems import stem
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.retrieval.opposites import SYNONYMS, WORDS
from atlas.knowledge.retrieval.quantities import Quantity
from atlas.knowledge.retrieval.statements import Statement, stems_of

Found = tuple[str, str, str]
"""Kind of a clash, and the words on each side."""

_MUTUAL = frozenset(map(stem, WORDS["mutual"].split()))
_PASSIVE = lazy_regex(r"\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:\w+ly\s+)?(\w+)(\s+by\b)?", re.IGNORECASE)
_THE = lazy_regex(r" (?:is|was|are|were|remains|became) (?:still )?the ", re.IGNORECASE)
_SOLE = frozenset(stem(word) for word in WORDS["sole"].split())
MAX_SUBJECT = 80
_ONCE = lazy_regex(rf"\b(?:{'|'.join(WORDS['once'].split())})\s+(?P<how>in|on|at|by|from|near)\s", re.IGNORECASE)
_LINES = enumerate(WORDS["exclusive"].strip().splitlines())
_EXCLUSIVE = {stem(word): at for at, line in _LINES for word in line.split()}
_TIMES = frozenset((1, 2, 3))
"""Lines of weekdays, months and seasons: it may rain in both of two months."""
_ALL = frozenset(("every", "each", "all", "any", "only", "solely", "exclusively", "just"))
_SOME = frozenset(("some", "several", "many", "most", "few"))
_ONLY = frozenset(("only", "solely", "exclusively", "just"))
_FREE = lazy_regex(WORDS["bounding"]["free"], re.IGNORECASE)
_TIGHT = lazy_regex(WORDS["bounding"]["tight"], re.IGNORECASE)
_CUT = lazy_regex(WORDS["bounding"]["cut"], re.IGNORECASE)
_OF_BOUNDS = frozenset(
    form for word in WORDS["bounding"]["words"].split() for form in (stem(word), SYNONYMS.get(stem(word), ""))
)
_NO_EFFECT = lazy_regex(WORDS["effects"]["none"], re.IGNORECASE)
_EFFECTS = frozenset(SYNONYMS.get(stem(word), stem(word)) for word in WORDS["effects"]["verbs"].split())
_TOGETHER = lazy_regex(r"\b(?:both|and|also|as well|or)\b", re.IGNORECASE)
MAX_WORDS = 14
"""Content words of a sentence whose roles are compared: longer ones have more than one verb."""


def bounds(one: Statement, other: Statement) -> Found | None:
    """Return a bound of one side that the other one denies: "at most 500 rows", "any number of rows"."""
    for free, tight, turned in ((one, other, False), (other, one, True)):
        without, within = _unbounded(free.text), ""
        if not without or _unbounded(tight.text) or not (within := _bounded(tight)):
            continue
        mine, theirs = ([form for form, _ in side.words if form not in _OF_BOUNDS] for side in (free, tight))
        common = set(mine) & set(theirs)
        if not common or mine[0] not in theirs or not (theirs[0] in mine or len(common) > 1):
            continue
        if other_names(one, other) or len(common) < math.ceil(min(len(set(mine)), len(set(theirs))) / 2):
            continue
        words = without, within
        return ("bound", words[1], words[0]) if turned else ("bound", *words)
    return None


@lru_cache(maxsize=512)
def _unbounded(text: str) -> str:
    """Return the words that deny a bound, "" if there are none. Kept: one statement is compared with many."""
    found = _FREE.search(text)
    return found.group().strip() if found else ""


def _bounded(side: Statement) -> str:
    """Return the words of a finite upper bound, "" if there is none."""
    if side.is_negated and not _CUT.search(side.text):
        return ""
    for amount in side.amounts:
        is_upper = math.isinf(amount.low) and math.isfinite(amount.high)
        is_cut = math.isinf(amount.high) and bool(_CUT.search(side.text))
        if is_upper or is_cut or _TIGHT.search(side.text):
            return amount.text
    return ""


def other_names(one: Statement, other: Statement) -> bool:
    """Return whether each side names something that the other one does not: "the train to Lyon" or "to Nice"."""
    return bool(one.names - other.names - other.stems) and bool(other.names - one.names - one.stems)


def roles(one: Statement, other: Statement) -> Found | None:
    """Return exchanged roles: "the sun orbits the earth", "the earth orbits the sun"."""
    if one.is_negated or other.is_negated or one.is_partial or other.is_partial:
        return None
    if any("=" in side.comparison.signs for side in (one, other) if side.comparison is not None):
        return None
    if max(len(one.words), len(other.words)) > MAX_WORDS:
        return None
    # the order of the sides must not matter
    for form, written, at in sorted((*word, at) for at, word in enumerate(one.words)):
        places = [place for place, (its, _) in enumerate(other.words) if its == form]
        if at == 0 or len(places) != 1 or form in _MUTUAL or not 0 < places[0] < len(other.words) - 1:
            continue
        if "passive" in (voices := {_voice(one, at), _voice(other, places[0])}) and len(voices) > 1:
            continue
        mine, theirs = _sides(one, at), _sides(other, places[0])
        before, after = mine
        its_before, its_after = theirs
        if not before or not its_before or before & its_before or before & after or its_before & its_after:
            continue
        if before <= its_after and its_before <= after and after - its_before == its_after - before:
            return "roles", f"{one.words[at - 1][1]} {written}", f"{other.words[places[0] - 1][1]} {written}"
    return None


def _sides(side: Statement, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems before and after a verb, exchanged for a passive: "is called by"."""
    before, after = (stems_of(_without_kinds(words)) - _MANNER for words in (side.words[:at], side.words[at + 1 :]))
    return (after, before) if _voice(side, at) == "by" else (before, after)


def _without_kinds(words: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return words without those that say what a name behind them is: "the planet Earth"."""
    following = (*words[1:], ("", ""))
    return [
        one for one, (_, after) in zip(words, following, strict=False) if one[1][:1].isupper() or after.lower() == after
    ]


def _voice(side: Statement, at: int) -> str:
    """Return "by" or "passive" if the word is a participle behind "is", "" if not."""
    verb = side.words[at][1].lower()
    for match in _PASSIVE.finditer(side.text):
        if match[1].lower() == verb:
            return "by" if match[2] else "passive"
    return ""


_MANNER = frozenset(map(stem, WORDS["manner"].split()))


def unique(one: Statement, other: Statement) -> Found | None:
    """Return two that are called the only one of a kind: "Everest is the highest mountain", "K2 is" the same."""
    mine, theirs = _THE.search(one.text), _THE.search(other.text)
    if mine is None or theirs is None or one.is_negated or other.is_negated:
        return None
    subject, its_subject = one.text[: mine.start()], other.text[: theirs.start()]
    rest, its_rest = (_forms(side.text[the.end() :]) for side, the in ((one, mine), (other, theirs)))
    is_sole = any(word in _SOLE or (len(word) > 4 and word.endswith("est")) for word in rest)
    if not is_sole or rest != its_rest or max(len(subject), len(its_subject)) > MAX_SUBJECT:
        return None
    return None if _forms(subject) & _forms(its_subject) else ("subject", subject, its_subject)


def exclusive(one: Statement, other: Statement) -> Found | None:
    """Return two values of one thing of which it has one: "faces east" or "west", "JSON only", "invented in India"."""
    if one.is_negated or other.is_negated:
        return None
    mine, theirs = _own(one, other), _own(other, one)
    common = one.stems & other.stems
    if len(mine) != 1 or len(theirs) != 1 or not common or one.is_partial != other.is_partial:
        return None
    if one.amounts or other.amounts or one.comparison or other.comparison:
        return None
    if _SOME & _said(one) and _SOME & _said(other):
        return None
    words = mine[0][1], theirs[0][1]
    groups = (_EXCLUSIVE.get(mine[0][0]), _EXCLUSIVE.get(theirs[0][0]))
    is_time = groups[0] in _TIMES and mine[0][0] in one.circumstances and not _ONCE.search(one.text)
    is_only = bool(_ONLY & (_said(one) | _said(other)))
    is_object = one.words[0][0] == other.words[0][0] or is_only
    is_group = groups[0] is not None and groups[0] == groups[1] and not is_time
    if is_object and (is_group or (is_only and len(common) > 1)):
        return ("value", *words)
    mine_once, theirs_once = _ONCE.search(one.text), _ONCE.search(other.text)
    is_once = mine_once is not None and theirs_once is not None and mine_once["how"] == theirs_once["how"]
    if is_once and one.words[0][0] == other.words[0][0]:
        return ("value", *words)
    return None


def sole(one: Statement, other: Statement) -> Found | None:
    """Return what one side says of one thing only, and the other one of more: "CSV only", "CSV and Excel"."""
    for narrow, wide, turned in ((one, other, False), (other, one, True)):
        only = _ONLY & _said(narrow)
        if not only:
            continue
        more = [word for word in wide.words if word[0] not in narrow.stems and word[1].lower() not in ("also", "both")]
        missing = [word for word in narrow.words if word[0] not in wide.stems and word[1].lower() not in _ALL]
        is_clear = not (one.is_negated or other.is_negated or one.is_partial or other.is_partial or missing)
        if is_clear and 1 <= len(more) <= 2 and _TOGETHER.search(wide.text) and not _ONLY & _said(wide):
            words = next(iter(sorted(only))), " ".join(written for _, written in more)
            return ("value", words[1], words[0]) if turned else ("value", *words)
    return None


def _said(side: Statement) -> frozenset[str]:
    return _words_of(side.text)


@lru_cache(maxsize=512)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.lower().rstrip(".").split())


def no_effect(one: Statement, other: Statement) -> Found | None:
    """Return an effect of one thing on another that the other side denies: "has no effect on growth"."""
    for denying, plain, turned in ((one, other, False), (other, one, True)):
        found, at = _NO_EFFECT.search(denying.text), next(_effects_in(plain), -1)
        if found is None or at < 1 or plain.is_negated or plain.is_partial or _NO_EFFECT.search(plain.text):
            continue
        subject, effect_on = _forms(denying.text[: found.start()]), _forms(denying.text[found.end() :])
        its_subject, its_object = stems_of(plain.words[:at]), stems_of(plain.words[at + 1 :])
        own = (effect_on - _MANNER) - its_object - plain.stems
        if subject & its_subject and effect_on & its_object and len(own) <= 1:
            words = found.group(), plain.words[at][1]
            return ("negation", words[1], words[0]) if turned else ("negation", *words)
    return None


def _effects_in(side: Statement) -> Iterator[int]:
    return (at for at, (form, _) in enumerate(side.words) if form in _EFFECTS)


def other_caps(one: Statement, other: Statement, mine: Quantity, theirs: Quantity) -> bool:
    """Return whether both sides cap the same at different numbers: "at most 100 jobs", "up to 500 jobs"."""
    are_caps = mine.low == theirs.low == -math.inf and mine.high != theirs.high
    return are_caps and not (one.stems ^ other.stems) - _OF_BOUNDS


def _own(one: Statement, other: Statement) -> list[tuple[str, str]]:
    """Return the words that the other side lacks, without quantifiers."""
    known = other.stems
    return [word for word in one.words if word[0] not in known and word[1].lower() not in _ALL]


def _forms(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z0-9][\w'-]*", text.lower())
    return frozenset(SYNONYMS.get(stem(word), stem(word)) for word in words if word not in ("the", "a", "an"))
