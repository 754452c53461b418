"""Sentences prepared for comparison: content words, negations, amounts, circumstances, subject and time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from atlas.core.english.stems import stem
from atlas.core.english.stop_words import STATEMENT_STOP_WORDS
from atlas.knowledge.retrieval.comparisons import SidesCompared, comparison
from atlas.knowledge.retrieval.opposites import (
    CIRCUMSTANCES,
    CONDITIONS,
    HYPOTHETICAL,
    NEGATING_VERBS,
    NEGATIONS,
    PHRASES,
    REPORTS,
    SOME,
    SYNONYMS,
    VERBS,
    WORDS,
    sides,
)
from atlas.knowledge.retrieval.quantities import CLOCK, Growth, Quantity, growth, is_unit, quantities

_WORD = re.compile(r"\d[\d.,]*(?:x\b)?|[A-Za-z][\w'-]*(?:[.][\w'-]+)*|%")
_PHRASES = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b", re.IGNORECASE)
_PAST, _FUTURE = (re.compile(WORDS["phases"][name], re.IGNORECASE) for name in ("past", "future"))
_SUPPOSED = re.compile(WORDS["phases"]["supposed"], re.IGNORECASE)
_LABELS = frozenset(map(stem, WORDS["labels"].split()))
_VAGUE = frozenset(WORDS["vague"].split())
_NUMBERS = frozenset(WORDS["numbers"]) - {"once"}
_MONTHS = "|".join(month.capitalize() for month in WORDS["months"].split())
_DATE = re.compile(rf"\b(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,4}})?\b|\b(?:19|20)\d\d(?:-\d\d){{0,2}}\b")
_STOPPED = re.compile(r"\bstop(?:s|ped)? (?=\w+ing\b)", re.IGNORECASE)
_APPOSITION = re.compile(r",\s+(?:which|who)\b", re.IGNORECASE)
"""Behind a comma the clause says something about the subject; without one it says which is meant."""
_AND = frozenset(("and", "or", "nor"))
_AUXILIARIES = frozenset(WORDS["auxiliaries"].split())
_PHRASE_STARTS = frozenset(("of", "in", "on", "at", "for", "from", "with", "to", "by", "that", "which", "who"))
_RELATIVE = frozenset(("that", "which", "who"))
_NAME = re.compile(r"(?<=[a-z,;:\d] )[A-Z][\w-]+")
_PAST_VERB = re.compile(WORDS["phases"]["past_verb"], re.IGNORECASE)
MAX_CIRCUMSTANCE = 3
"""Content words of a circumstance; what follows belongs to the statement."""


@dataclass(frozen=True)
class Statement:
    """A sentence prepared for comparison. Without slots: what is asked for many times is kept."""

    words: tuple[tuple[str, str], ...]
    """(stem, word as written) of the content words in order."""
    negations: tuple[str, ...]
    amounts: tuple[Quantity, ...]
    growth: Growth | None
    comparison: SidesCompared | None
    circumstances: frozenset[str]
    """Stems and numbers of phrases that begin with "in", "when", "under" and the like."""
    absent: frozenset[str]
    """Stems of a "without" at the beginning."""
    labels: frozenset[str]
    """Numbered things: "version 2"."""
    subject: frozenset[str]
    """Stems before the first verb; empty if no verb is known."""
    head: str
    """The last of them in order, "" if a phrase such as "of the parser" may follow the noun."""
    is_partial: bool
    """Whether it is about some cases only."""
    is_vague: bool
    """Whether its amounts are those of most cases."""
    is_default: bool
    """Whether it says what holds "by default"."""
    is_option: bool
    """Whether it says what can be."""
    dates: frozenset[str]
    """Months, and days of a month, in small letters."""
    phase: str
    """past, future, supposed (it states nothing) or empty."""
    text: str
    """The sentence, with phrases replaced by the words that stand for them."""
    names: frozenset[str]
    """Stems of words with a capital, other than the first one."""
    is_past: bool
    """Whether its verb is in the past tense: it may tell what happened once."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all content words."""
        return frozenset(form for form, _ in self.words)

    @property
    def is_negated(self) -> bool:
        """Whether an odd number of negations is left."""
        return len(self.negations) % 2 == 1


class _WordReader:
    """Reads the words of a sentence in order."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []
        self.negations: list[str] = []
        self.circumstances: set[str] = set()
        self.absent: set[str] = set()
        self.labels: set[str] = set()
        self.subject: frozenset[str] | None = None
        self.seen: set[str] = set()
        self._opening, self._length, self._last, self._before = "", 0, "", ""
        self._without, self._is_first, self._is_name = -1, False, False
        self._in_relative, self._is_verb = False, False
        self.head, self._has_phrase = "", False

    def read(self, written: str) -> None:
        """Take the next word."""
        word = written.lower().rstrip(".,").removesuffix("'s")
        if self.subject is None and self.words and (word in VERBS or word.endswith("n't")):
            self._end_subject()
        self._has_phrase = self._has_phrase or word in _PHRASE_STARTS
        self._follow_relative(word)
        if word in VERBS and self._opening in CIRCUMSTANCES:
            self._opening = ""
        if not self._negates(word, written):
            form = stem(word)
            form = SYNONYMS.get(form, form)
            self._place(word, form)
            self._content(word, form, written)
        if (self._last, word) != ("at", "most"):
            self.seen.add(word)
        self._before, self._last, self._is_name = self._last, word, written[:1].isupper()

    def _follow_relative(self, word: str) -> None:
        """Notice where a relative clause begins and ends: "parameters that are not given are filled in"."""
        is_auxiliary = word in _AUXILIARIES or word.endswith("n't")
        if self.words and self._last in _RELATIVE and (is_auxiliary or word in VERBS):
            self._in_relative = True
        elif is_auxiliary and not self._is_verb:
            self._in_relative = False
        self._is_verb = is_auxiliary or (self._is_verb and word in NEGATIONS)

    def _end_subject(self) -> None:
        """Keep the words so far as subject; "requests without a key" are no negated requests."""
        self.subject = stems_of(self.words)
        self.head = "" if self._has_phrase else self.words[-1][0]
        if self._without >= 0:
            self.absent |= stems_of(self.words[self._without :])
            self.negations = [word for word in self.negations if word.lower() != "without"]

    def _negates(self, word: str, written: str) -> bool:
        is_opening = word == "without" and not self.words
        if is_opening or not (word in NEGATIONS or word.endswith("n't")):
            return False
        if self._in_relative:
            # it says which things are meant, and denies nothing about them
            return True
        is_again = bool(self.negations) and (word == "nor" or self._last in _AND or self._before in _AND)
        if not is_again and self._last != "but":
            self.negations.append(written)
            self._without = len(self.words) if word == "without" and self.subject is None else self._without
        return True

    def _place(self, word: str, form: str) -> None:
        """Collect circumstances and labels."""
        is_number = word[0].isdigit()
        if is_number and (stem(self._last) in _LABELS or (self._is_name and len(self.words) == 1)):
            label = f"{stem(self._last)} {word}"
            self.labels.add(label)
            if len(self.words) <= 1 or self._before == "of":
                self.circumstances.add(label)
        if word in CIRCUMSTANCES or word in CONDITIONS or (word == "for" and not self.seen):
            self._opening, self._length, self._is_first = word, 0, not self.seen
        elif self._last[:1].isdigit() and is_unit(word):
            self.circumstances.discard(self._last)
        elif (self._last, word) in (("at", "least"), ("at", "most")):
            self._opening = ""
        elif self._opening and word not in STATEMENT_STOP_WORDS:
            self._length += 1
            is_meant = self._is_first or self._opening in CONDITIONS or not set(sides(stem(word)))
            is_counted = self._length == 1 or self._last == "version"
            if self._length <= MAX_CIRCUMSTANCE and (is_counted if is_number else is_meant):
                (self.absent if self._opening == "without" else self.circumstances).add(form)

    def _is_amount(self, word: str) -> bool:
        is_measure = self._last[:1].isdigit() and is_unit(word)
        return word[0].isdigit() or word in _NUMBERS or is_measure

    def _content(self, word: str, form: str, written: str) -> None:
        if stem(word) in NEGATING_VERBS:
            self.negations.append(written)
        elif word not in STATEMENT_STOP_WORDS and not self._is_amount(word):
            self.words.append((form, written))


MAX_STATEMENT = 4_000
"""Characters of a text that are compared: a claim is a sentence, and pairs of words are compared with each other."""


@lru_cache(maxsize=512)
def statement(text: str) -> Statement:
    """Prepare a sentence; of a longer text the first `MAX_STATEMENT` characters."""
    text = text[:MAX_STATEMENT]
    plain = _PHRASES.sub(lambda found: PHRASES[found.group().lower()], text.replace("’", "'"))
    plain = _APPOSITION.sub(",", _STOPPED.sub("does not ", plain))
    grows = growth(plain)
    rest = plain if grows is None else plain[: grows.start] + grows.resource + plain[grows.end :]
    reader = _WordReader()
    for match in _WORD.finditer(CLOCK.sub("", rest)):
        reader.read(match.group())
    return Statement(
        tuple(reader.words),
        tuple(reader.negations),
        tuple(quantities(plain)),
        grows,
        comparison(plain, len(reader.negations) % 2 == 1),
        frozenset(reader.circumstances),
        frozenset(reader.absent),
        frozenset(reader.labels),
        reader.subject or frozenset(),
        reader.head,
        bool(reader.seen & SOME) or _denies_all(plain),
        bool(reader.seen & _VAGUE),
        "default" in reader.seen,
        bool(reader.seen & {"can", "may"}) and "default" not in reader.seen,
        frozenset(match.group().lower() for match in _DATE.finditer(plain)),
        _phase(plain, reader.seen),
        plain,
        frozenset(stem(word.lower()) for word in _NAME.findall(plain)),
        _PAST_VERB.search(plain) is not None,
    )


def _denies_all(text: str) -> bool:
    return re.search(r"\bnot (?:all|every|each|always)\b", text, re.IGNORECASE) is not None


def _phase(text: str, words: set[str]) -> str:
    is_reported = bool(words & REPORTS)
    if _SUPPOSED.search(text) or words >= {"will", "if"} or (words & HYPOTHETICAL and not is_reported):
        return "supposed"
    return "past" if _PAST.search(text) else "future" if _FUTURE.search(text) else ""


def stems_of(words: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the stems of (stem, word as written)."""
    return frozenset(form for form, _ in words)
