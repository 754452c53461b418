"""Whether the index has anything to do with a question: an absolute relevance, 0..1. Pure.

Scores of candidates compare the hits of one question with each other; the best hit of nonsense scores as high as that
of a good question. Two signals do not depend on the other hits: the cosine of the nearest text, and the share of the
question's words that the index knows, by rarity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from atlas.code.question.parse_question import Query
from atlas.code.retrieve.rarity import idf
from atlas.core.english.stems import base_forms, other_spellings
from atlas.core.english.stop_words import ASKING
from atlas.core.model import Scored, WordCounts

BIAS, PER_COSINE, PER_KNOWN = -4.9, 6.9, 4.0
"""Logistic regression on ten packages: 387 generated questions and 214 written by hand that they answer, against 1,300
questions of nonsense, word salad, cooking, travel and sports, and 340 that other packages answer, which make up .3 of
their class; both classes weigh the same, and so do both sorts of the first (docs/measurements/search.md)."""
ALONE = (-4.9, 3.1, 6.7)
"""The same where nothing has a vector or no word is known, from a fit that trusts known words more: without any, no
cosine makes a question relevant."""
STRENGTH_BIAS, STRENGTH = -5.1, (8.4, 1.7, 2.1, 0.6)
"""The same for the strength of a match, by cosine, known words, and the shares of the question's words that the first
hits and their files have; questions that other packages answer make up .7 of their class."""
WEAK = 0.3
"""Below it, an answer says that the match is weak."""
RELEVANT = 0.2
"""Below it, an answer says that nothing relevant was found."""
FREQUENT = log(2)
"""Rarity of a word that the index has too often for it to be counted."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the channels say about a question as a whole."""

    cosine: float
    """Of the nearest text; 0 without vectors."""
    known: float
    """Share of the rarity of the question's words that words of the index have."""
    is_named: bool
    """A symbol, a file or a quoted text of the question is in the index."""
    in_hit: float = 0.0
    """Share of the rarity of the question's words that one of the first hits has in its name, documentation or path."""
    in_file: float = 0.0
    """The same for the file of one of the first three."""


def read_signals(
    query: Query, hits: Mapping[str, Sequence[Scored]], counts: WordCounts, frequent: frozenset[str] = frozenset()
) -> Signals:
    """Return the signals. `frequent`: words of the index that `counts` omits, see `uncounted`."""
    size = max(len(counts.nodes), 1)
    known = total = 0.0
    for word in _asked(query):
        files = max(len(counts.words.get(form, ())) for form in _forms(word))
        weight = FREQUENT if word in frequent else idf(size, files)
        total += weight
        known += weight if files or word in frequent else 0.0
    near = (*hits.get("meaning", ()), *hits.get("prose", ()))
    return Signals(
        cosine=max((score for _, score in near), default=0.0),
        known=known / total if total else 0.0,
        is_named=any(hits.get(channel) for channel in ("name", "exact", "phrase", "written")),
    )


def with_coverage(
    signals: Signals, query: Query, counts: WordCounts, shown: Sequence[tuple[str, frozenset[str]]]
) -> Signals:
    """Return the signals with what the first hits have of the question; `shown`: path and words of each."""
    size = max(len(counts.nodes), 1)
    forms = {word: _forms(word) for word in _asked(query)}
    files = {word: {path for form in own for path in counts.words.get(form, ())} for word, own in forms.items()}
    rarity = {word: idf(size, len(paths)) for word, paths in files.items()}
    total = sum(rarity.values())
    if not total or not shown:
        return signals
    in_hit = max(sum(rarity[word] for word, own in forms.items() if words.intersection(own)) for _, words in shown)
    in_file = max(sum(rarity[word] for word, paths in files.items() if path in paths) for path, _ in shown[:3])
    return replace(signals, in_hit=in_hit / total, in_file=in_file / total)


def _asked(query: Query) -> Sequence[str]:
    return [word for word in query.words if word not in ASKING] or query.words


def uncounted(query: Query, counts: WordCounts) -> tuple[str, ...]:
    """Return the words of a question that were not counted: the index lacks them, or has them too often."""
    return tuple(word for word in query.words if not any(map(counts.words.get, _forms(word))))


def _forms(word: str) -> list[str]:
    forms = (word, *base_forms(word))
    return [*forms, *(other for form in forms for other in other_spellings(form))]


def relevance(signals: Signals) -> float:
    """Return how likely it is that the index answers the question: 1 for what it has by name."""
    if signals.is_named:
        return 1.0
    is_alone = not signals.cosine or not signals.known
    bias, per_cosine, per_known = ALONE if is_alone else (BIAS, PER_COSINE, PER_KNOWN)
    score = bias + per_cosine * signals.cosine + per_known * signals.known
    return 1 / (1 + exp(-score))


def match_strength(signals: Signals) -> float:
    """Return how likely it is that the hits answer the question: 1 for what the index has by name."""
    if signals.is_named:
        return 1.0
    values = (signals.cosine, signals.known, signals.in_hit, signals.in_file)
    return 1 / (1 + exp(-STRENGTH_BIAS - sum(weight * value for weight, value in zip(STRENGTH, values, strict=True))))
