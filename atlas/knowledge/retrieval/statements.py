"""Sentences prepared for comparison: content words, negations, amounts, circumstances, subject and time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from atlas.core.english.stems import stem
from atlas.core.english.stop_words import STATEMENT_STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
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
    either,
    sides,
)
from atlas.knowledge.retrieval.quantities import CLOCK, Growth, Quantity, growth, is_unit, quantities

_WORD = lazy_regex(r"\d[\d.,]*(?:x\b)?|[A-Za-z][\w'-]*(?:[.][\w'-]+)*|%")
_PHRASES = lazy_regex(rf"\b{either(PHRASES)}\b", re.IGNORECASE)
_PAST, _FUTURE = (lazy_regex(WORDS["phases"][name], re.IGNORECASE) for name in ("past", "future"))
_SUPPOSED = lazy_regex(WORDS["phases"]["supposed"], re.IGNORECASE)
_LABELS = frozenset(map(stem, WORDS["labels"].split()))
_VAGUE = frozenset(WORDS["vague"].split())
_NUMBERS = frozenset(WORDS["numbers"]) - {"once"}
_MONTHS = "|".join(month.capitalize() for month in WORDS["months"].split())
_DATE = lazy_regex(rf"\b(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,4}})?\b|\b(?:19|20)\d\d(?:-\d\d){{0,2}}\b")
_STOPPED = lazy_regex(r"\bstop(?:s|ped)? (?=\w+ing\b)", re.IGNORECASE)
_APPOSITION = lazy_regex(r",\s+(?:which|who)\b", re.IGNORECASE)
"""Behind a comma the clause says something about the subject; without one it says which is meant."""
_AND = frozenset(("and", "or", "nor"))
_AUXILIARIES = frozenset(WORDS["auxiliaries"].split())
_PHRASE_STARTS = frozenset(("of", "in", "on", "at", "for", "from", "with", "to", "by", "that", "which", "who"))
_RELATIVE = frozenset(("that", "which", "who"))
_NAME = lazy_regex(r"(?<=[a-z,;:\d] )[A-Z][\w-]+")
_NOT_ALL = lazy_regex(r"\bnot (?:all|every|each|always)\b", re.IGNORECASE)
_PAST_VERB = lazy_regex(WORDS["phases"]["past_verb"], re.IGNORECASE)
MAX_CIRCUMSTANCE = 3
"""Content words of a circumstance; what follows belongs to the statement."""


@dataclass(frozen=True)
class Statement:
    """A sentence prepared for comparison. Each part is read when it is asked for: most pairs need few of them."""

    text: str
    """The sentence, with phrases replaced by the words that stand for them."""

    @cached_property
    def _read(self) -> _WordReader:
        grows = self.growth
        rest = self.text if grows is None else self.text[: grows.start] + grows.resource + self.text[grows.end :]
        reader = _WordReader()
        for match in _WORD.finditer(CLOCK.sub("", rest)):
            reader.read(match.group())
        return reader

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """(stem, word as written) of the content words in order."""
        return tuple(self._read.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all content words."""
        return stems_of(self._read.words)

    @property
    def negations(self) -> Sequence[str]:
        """The words that negate."""
        return self._read.negations

    @property
    def is_negated(self) -> bool:
        """Whether an odd number of negations is left."""
        return len(self._read.negations) % 2 == 1

    @cached_property
    def amounts(self) -> tuple[Quantity, ...]:
        """The quantities in order."""
        return tuple(quantities(self.text))

    @cached_property
    def growth(self) -> Growth | None:
        """The first complexity class."""
        return growth(self.text)

    @cached_property
    def comparison(self) -> SidesCompared | None:
        """What is compared."""
        return comparison(self.text, self.is_negated)

    @property
    def circumstances(self) -> AbstractSet[str]:
        """Stems and numbers of phrases that begin with "in", "when", "under" and the like."""
        return self._read.circumstances

    @property
    def absent(self) -> AbstractSet[str]:
        """Stems of a "without" at the beginning."""
        return self._read.absent

    @property
    def labels(self) -> AbstractSet[str]:
        """Numbered things: "version 2"."""
        return self._read.labels

    @property
    def subject(self) -> frozenset[str]:
        """Stems before the first verb; empty if no verb is known."""
        return self._read.subject or frozenset()

    @property
    def head(self) -> str:
        """The last of them in order, "" if a phrase such as "of the parser" may follow the noun."""
        return self._read.head

    @cached_property
    def is_partial(self) -> bool:
        """Whether it is about some cases only."""
        return bool(self._read.seen & SOME) or _NOT_ALL.search(self.text) is not None

    @property
    def is_vague(self) -> bool:
        """Whether its amounts are those of most cases."""
        return bool(self._read.seen & _VAGUE)

    @property
    def is_default(self) -> bool:
        """Whether it says what holds "by default"."""
        return "default" in self._read.seen

    @property
    def is_option(self) -> bool:
        """Whether it says what can be."""
        return bool(self._read.seen & {"can", "may"}) and not self.is_default

    @cached_property
    def dates(self) -> frozenset[str]:
        """Months, and days of a month, in small letters."""
        return frozenset(match.group().lower() for match in _DATE.finditer(self.text))

    @cached_property
    def phase(self) -> str:
        """past, future, supposed (it states nothing) or empty."""
        words = self._read.seen
        is_supposed = words >= {"will", "if"} or (words & HYPOTHETICAL and not words & REPORTS)
        if is_supposed or _SUPPOSED.search(self.text):
            return "supposed"
        return "past" if _PAST.search(self.text) else "future" if _FUTURE.search(self.text) else ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Stems of words with a capital, other than the first one."""
        return frozenset(stem(word.lower()) for word in _NAME.findall(self.text))

    @cached_property
    def is_past(self) -> bool:
        """Whether its verb is in the past tense: it may tell what happened once."""
        return _PAST_VERB.search(self.text) is not None


class _KnownWord(NamedTuple):
    """What is known of a word wherever it stands."""

    lower: str
    root: str
    form: str
    """The root, or the one that stands for it and its synonyms."""
    is_verb: bool
    is_auxiliary: bool
    negates: bool
    is_number: bool


@lru_cache(maxsize=4_096)
def _word(written: str) -> _KnownWord:
    lower = written.lower().rstrip(".,").removesuffix("'s")
    root, is_short = stem(lower), lower.endswith("n't")
    return _KnownWord(
        lower,
        root,
        SYNONYMS.get(root, root),
        lower in VERBS,
        is_short or lower in _AUXILIARIES,
        is_short or lower in NEGATIONS,
        lower[0].isdigit(),
    )


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
        known = _word(written)
        word = known.lower
        if self.subject is None and self.words and (known.is_verb or word.endswith("n't")):
            self._end_subject()
        self._has_phrase = self._has_phrase or word in _PHRASE_STARTS
        self._follow_relative(known)
        if known.is_verb and self._opening in CIRCUMSTANCES:
            self._opening = ""
        if not (known.negates and self._negates(word, written)):
            self._place(known)
            self._content(known, written)
        if word != "most" or self._last != "at":
            self.seen.add(word)
        self._before, self._last, self._is_name = self._last, word, written[:1].isupper()

    def _follow_relative(self, known: _KnownWord) -> None:
        """Notice where a relative clause begins and ends: "parameters that are not given are filled in"."""
        if self.words and self._last in _RELATIVE and (known.is_auxiliary or known.is_verb):
            self._in_relative = True
        elif known.is_auxiliary and not self._is_verb:
            self._in_relative = False
        self._is_verb = known.is_auxiliary or (self._is_verb and known.lower in NEGATIONS)

    def _end_subject(self) -> None:
        """Keep the words so far as subject; "requests without a key" are no negated requests."""
        self.subject = stems_of(self.words)
        self.head = "" if self._has_phrase else self.words[-1][0]
        if self._without >= 0:
            self.absent |= stems_of(self.words[self._without :])
            self.negations = [word for word in self.negations if word.lower() != "without"]

    def _negates(self, word: str, written: str) -> bool:
        if word == "without" and not self.words:
            return False
        if self._in_relative:
            # it says which things are meant, and denies nothing about them
            return True
        is_again = bool(self.negations) and (word == "nor" or self._last in _AND or self._before in _AND)
        if not is_again and self._last != "but":
            self.negations.append(written)
            self._without = len(self.words) if word == "without" and self.subject is None else self._without
        return True

    def _place(self, known: _KnownWord) -> None:
        """Collect circumstances and labels."""
        word = known.lower
        if known.is_number and (stem(self._last) in _LABELS or (self._is_name and len(self.words) == 1)):
            label = f"{stem(self._last)} {word}"
            self.labels.add(label)
            if len(self.words) <= 1 or self._before == "of":
                self.circumstances.add(label)
        if word in CIRCUMSTANCES or word in CONDITIONS or (word == "for" and not self.seen):
            self._opening, self._length, self._is_first = word, 0, not self.seen
        elif self._last[:1].isdigit() and is_unit(word):
            self.circumstances.discard(self._last)
        elif self._last == "at" and word in ("least", "most"):
            self._opening = ""
        elif self._opening and word not in STATEMENT_STOP_WORDS:
            self._length += 1
            is_meant = self._is_first or self._opening in CONDITIONS or not sides(known.root)
            is_counted = self._length == 1 or self._last == "version"
            if self._length <= MAX_CIRCUMSTANCE and (is_counted if known.is_number else is_meant):
                (self.absent if self._opening == "without" else self.circumstances).add(known.form)

    def _is_amount(self, known: _KnownWord) -> bool:
        return known.is_number or known.lower in _NUMBERS or (self._last[:1].isdigit() and is_unit(known.lower))

    def _content(self, known: _KnownWord, written: str) -> None:
        if known.root in NEGATING_VERBS:
            self.negations.append(written)
        elif known.lower not in STATEMENT_STOP_WORDS and not self._is_amount(known):
            self.words.append((known.form, written))


MAX_STATEMENT = 4_000
"""Characters of a text that are compared: a claim is a sentence, and pairs of words are compared with each other."""


@lru_cache(maxsize=512)
def statement(text: str) -> Statement:
    """Prepare a sentence; of a longer text the first `MAX_STATEMENT` characters."""
    text = text[:MAX_STATEMENT]
    plain = _PHRASES.sub(lambda found: PHRASES[found.group().lower()], text.replace("’", "'"))
    return Statement(_APPOSITION.sub(",", _STOPPED.sub("does not ", plain)))


def stems_of(words: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the stems of (stem, word as written)."""
    return frozenset(form for form, _ in words)
