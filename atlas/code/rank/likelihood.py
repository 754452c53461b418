"""How likely each candidate is what the question asks for: calibrated probabilities from scores and ranks. Pure.

Scores of candidates order the hits of one question; how far the answer should go down that order depends on how likely
the next hit is the right one. For sentences, rank and distance to the first hit tell it: the weight of a candidate is
exp(SHARPNESS * (score / first - 1)) / rank ** DECAY, and `NONE` stands for a target that is not a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from types import MappingProxyType

from atlas.code.question.long_text import MIN_WORDS
from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.rank.rank import Candidate
from atlas.core.model import Label


@dataclass(frozen=True, slots=True)
class Certainty:
    """How fast likelihood falls behind the first hit."""

    decay: float
    sharpness: float
    none: float


IS_SURE = "sure"
SENTENCE = Certainty(0.75, 4.0, 0.2)
"""Maximum likelihood on 617 questions of eleven packages, each kind with the same weight (docs/measurements/search.md):
candidates that get .03, .003 and .0008 are right in .033, .003 and .001."""
NAME = Certainty(3.0, 8.0, 0.01)
"""The same on 740 names of eleven packages."""
EXACT = Certainty(2.0, 16.0, 0.01)
"""The question is the title of the first hit, writes its place, or quotes a text that it has; several such hits score
alike."""
REPEATED = Certainty(0.75, 4.0, 1.0)
"""The first hit is a document that repeats an error's message: the code that reports it may be no candidate at all."""
SURE, LIKELY = 0.4, 0.24
"""Likelihoods from which on a hit of a sentence is right in .8 and in half of the cases: its likelihood is low where
others share its file, whose hits count as one (2,300 hits of 11 packages, docs/measurements/search.md)."""
SURE_NAME, LIKELY_NAME = 0.8, 0.5
"""The same for names, titles and quoted texts, whose likelihoods are as observed."""
SURE_RANKS = 5
"""Hits up to this rank are judged by score and rank alone."""
NEW_FILE = 2.0
"""Behind them, the first hit of a file is right twice as often as score and rank say (129 of 63.6 expected)."""
BY_LABEL: Mapping[str, float] = MappingProxyType(
    {
        Label.CLASS: 2.0,
        Label.FILE: 0.4,
        Label.DOC_FILE: 0.4,
        Label.EXTERNAL_SYMBOL: 0.05,
        Label.EXTERNAL_PACKAGE: 0.05,
        Label.PROJECT: 0.05,
    }
)
"""The same for kinds of nodes that are right more or less often than others of their score and rank."""
_DOCUMENTS = frozenset((Label.DOC_FILE, Label.DOC_SECTION, Label.ADR))
QUOTED = "text of the question"
"""The reason of a hit whose source has a text that the question quotes."""
_QUOTES = ('"', "'", "“", ": ")
"""In a question that quotes a text or has a message behind the kind of error; a number alone makes no message."""
_NAMED = frozenset(("name", "exact name", "name without case", "similar name"))


def likelihoods(ranked: Sequence[Candidate], query: Query, relevance: float = 1.0) -> list[float]:
    """Return for each candidate how likely it is the one that is meant; together at most `relevance`."""
    if not ranked:
        return []
    certainty, best = certainty_of(ranked[0], query), ranked[0].score
    weights = _weights([each.score for each in ranked], best, certainty)
    if certainty is SENTENCE:
        weights = [own * factor for own, factor in zip(weights, _factors(ranked), strict=True)]
    total = sum(weights) + certainty.none
    return [relevance * weight / total for weight in weights]


def how_sure(likelihood: float, certainty: Certainty) -> str:
    """Return `sure`, `likely` or `guess` for a hit."""
    sure, likely = (SURE, LIKELY) if certainty is SENTENCE else (SURE_NAME, LIKELY_NAME)
    return IS_SURE if likelihood >= sure else "likely" if likelihood >= likely else "guess"


def certainty_of(first: Candidate, query: Query) -> Certainty:
    """Return how sure the first hit is, by the kind of the question."""
    if is_bare_name(query) and _NAMED.intersection(first.reasons):
        return NAME
    row = first.node.row
    if "place" in first.channels:
        return EXACT
    if query.errors and row.label in _DOCUMENTS:
        return REPEATED
    if "exact" in first.channels:
        return EXACT
    is_title = row.label in _DOCUMENTS and row.name.casefold().split() == query.text.casefold().split()
    is_quoted = QUOTED in first.reasons and bool(query.phrases) and any(mark in query.text for mark in _QUOTES)
    is_quoted = is_quoted and len(query.text.split()) < MIN_WORDS
    return EXACT if is_title or is_quoted else SENTENCE


def _factors(ranked: Sequence[Candidate]) -> list[float]:
    """Return how much more often each candidate is right than its score and rank say."""
    rows = [each.node.row for each in ranked]
    firsts = rows[:SURE_RANKS]
    seen = {row.path for row in firsts}
    factors = [1.0] * len(firsts)
    for row in rows[SURE_RANKS:]:
        factor = BY_LABEL.get(row.label, 1.0)
        if row.path not in seen:
            seen.add(row.path)
            factor = NEW_FILE * factor if row.path else factor
        factors.append(factor)
    return factors


def _weights(scores: Sequence[float], best: float, certainty: Certainty) -> list[float]:
    powers = _powers(certainty.decay, len(scores))
    if best <= 0:
        return [1.0 / power for power in powers]
    sharpness = certainty.sharpness
    return [
        exp(sharpness * (score / best - 1)) / power if score < best else 1.0 / power
        for score, power in zip(scores, powers, strict=True)
    ]


@lru_cache(16)
def _powers(decay: float, count: int) -> tuple[float, ...]:
    return tuple(float(rank) ** decay for rank in range(1, count + 1))
