"""Whether the index has anything to do with a question: an absolute relevance, 0..1. Pure.

Scores of candidates compare the hits of one question with each other; the best hit of nonsense scores as high as that
of a good question. Two signals do not depend on the other hits: the cosine of the nearest text, and the share of the
question's words that the index knows, by rarity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from atlas.model import Scored, WordCounts
from atlas.search.file_prior import idf
from atlas.search.route import Query, base_forms
from atlas.search.spellings import other_spellings

BIAS, PER_COSINE, PER_KNOWN = -4.9, 6.9, 4.0
"""Logistic regression on ten packages: 387 generated questions and 214 written by hand that they answer, against 1,300
questions of nonsense, word salad, cooking, travel and sports, and 340 that other packages answer, which make up .3 of
their class; both classes weigh the same, and so do both sorts of the first (docs/measurements/search.md)."""
BIAS_OF_WORDS, PER_KNOWN_WORD = -4.9, 6.7
"""The same where nothing has a vector: the share of known words alone decides."""
RELEVANT = 0.2
"""Below it, an answer says that nothing relevant was found."""
_WRITTEN = "happen happens happened occur occurs work works done look find kind way thing things something"
ASKING = frozenset(_WRITTEN.split())
"""Words that say how a question is asked; whether the index has them means nothing."""
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


def read_signals(
    query: Query, hits: Mapping[str, Sequence[Scored]], counts: WordCounts, frequent: frozenset[str] = frozenset()
) -> Signals:
    """Return the signals. `frequent`: words of the index that `counts` omits, see `uncounted`."""
    size = max(len(counts.nodes), 1)
    known = total = 0.0
    for word in [word for word in query.words if word not in ASKING] or query.words:
        files = max(len(counts.words.get(form, ())) for form in _forms(word))
        weight = FREQUENT if word in frequent else idf(size, files)
        total += weight
        known += weight if files or word in frequent else 0.0
    near = (*hits.get("meaning", ()), *hits.get("prose", ()))
    return Signals(
        cosine=max((score for _, score in near), default=0.0),
        known=known / total if total else 0.0,
        is_named=any(hits.get(channel) for channel in ("name", "phrase", "written")),
    )


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
    score = BIAS + PER_COSINE * signals.cosine + PER_KNOWN * signals.known
    if not signals.cosine:
        score = BIAS_OF_WORDS + PER_KNOWN_WORD * signals.known
    return 1 / (1 + exp(-score))
