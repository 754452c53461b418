"""How likely each candidate is what the question asks for: calibrated probabilities from scores and ranks. Pure.

Scores of candidates order the hits of one question; how far the answer should go down that order depends on how likely
the next hit is the right one. For sentences, rank and distance to the first hit tell it: the weight of a candidate is
exp(SHARPNESS * (score / first - 1)) / rank ** DECAY, and `NONE` stands for a target that is not a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from atlas.model import Label
from atlas.search.rank import Candidate
from atlas.search.route import Query, is_bare_name


@dataclass(frozen=True, slots=True)
class Certainty:
    """How fast likelihood falls behind the first hit."""

    decay: float
    sharpness: float
    none: float


SENTENCE = Certainty(0.75, 4.0, 0.2)
"""Maximum likelihood on 194 questions of five packages (docs/measurements/search.md): candidates that get .03, .003 and
.0006 are right in .024, .004 and .0005."""
NAME = Certainty(2.0, 4.0, 0.01)
"""The same on 634 names."""
EXACT = Certainty(2.0, 16.0, 0.01)
"""The question is the title of the first hit, or quotes a text that it has; several such hits score alike."""
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
    weights = [_weight(each.score, best, rank, certainty) for rank, each in enumerate(ranked, 1)]
    total = sum(weights) + certainty.none
    return [relevance * weight / total for weight in weights]


def certainty_of(first: Candidate, query: Query) -> Certainty:
    """Return how sure the first hit is, by the kind of the question."""
    if is_bare_name(query) and _NAMED.intersection(first.reasons):
        return NAME
    row = first.node.row
    is_title = row.label in _DOCUMENTS and row.name.casefold().split() == query.text.casefold().split()
    is_quoted = QUOTED in first.reasons and bool(query.phrases) and any(mark in query.text for mark in _QUOTES)
    return EXACT if is_title or is_quoted else SENTENCE


def _weight(score: float, best: float, rank: int, certainty: Certainty) -> float:
    behind = min(score / best - 1, 0.0) if best > 0 else 0.0
    return exp(certainty.sharpness * behind) / float(rank) ** certainty.decay
