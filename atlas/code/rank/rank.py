"""Code-aware ranking: fused scores to an order, by the steps of `SCORING`. Pure.

The steps with their constants, and the features that they read, are in Rust (`rust-parser/retrieval/src/rank/`): a
question is ranked in one call without the GIL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from atlas.code.question.cues import asks
from atlas.code.question.languages import LanguageTerms
from atlas.code.question.parse_question import Query
from atlas.code.rank.features import QuestionEvidence
from atlas.code.reader import SearchStep
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Node
from atlas.parsing import collapse_candidates, rank_candidates, scoring_steps

SCORING: tuple[SearchStep[None], ...] = tuple(
    SearchStep(name, None, why, features=tuple(features)) for name, why, features in scoring_steps()
)
"""The steps from the fused score to that of the ranking, in this order: bonuses, factors, ties."""


LEAST_WORDS = 5
"""Of a description that no verb of `parse_question` opens: shorter ones are headings and names."""
_OPENS = lazy_regex(
    r"(?:(?:attempt|assign|call|change|check|compare|count|encapsulate|format|get|given|keep|look|notify|override"
    r"|query|report|reorder|require|retrieve|return|rewrite|run|tell|traverse|try|turn|use|visit|walk)\b"
    r"|(?:an?|the|this|these|another|if|true|false|whether|must|same|similar|alias|number|list|based) "
    r"|(?:\S+ ){0,2}?(?:accessor|alias|builder|callback|class|constructor|container|context manager|decorator|enum"
    r"|enumeration|error|exception|factory|flag|function|helper|hook|indicator|interface|marker|metaclass|method|mixin"
    r"|signal|struct|trait|type|utility|wrapper) (?:called|for|of|raised|returned|that|thrown|to|used|which|with)\b"
    r"|[a-z]{2,}[^\Wsu]s (?!(?:and|are|as|at|by|for|from|have|in|is|of|on|or|to|was|were|with|\w+ing)\b))",
    re.IGNORECASE,
)
"""How a documentation begins that `is_documentation` leaves to the phrases of relations: an infinitive, an article, a
kind of definition and what it is for, or a verb in the third person."""

_ACTS = lazy_regex(r"(?:used to \w+|[a-z]{2,}[^\Wsu]s (?:an?|the|all|each|every|this|its|true|whether|if)\b)")
"""A documentation without its subject, whatever its first letter: nobody asks so."""


@dataclass(slots=True)  # not frozen: a question makes 400, and each would take four times as long
class Candidate:
    """A node with its relevance signals; nothing changes one."""

    node: Node
    score: float
    channels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    degree: int = 0
    """Number of incoming edges (calls, imports, subclasses)."""
    also: tuple[str, ...] = ()
    """Uids of the same symbol that were merged into this candidate."""
    features: Mapping[str, float] = field(default_factory=dict[str, float])
    """What is known about it for the question (`features.FEATURES`); empty where only one channel was asked."""


def describes_one(query: Query) -> bool:
    """Return whether a question is written as a sentence of documentation: it describes one definition, as a rule."""
    text = query.text
    is_sentence = text[:1].isupper() or text.endswith(".") or _ACTS.match(text) is not None
    return is_sentence and not query.reports and (query.states or _describes(query))


def _describes(query: Query) -> bool:
    """Return whether a text that may ask for a relation reads like a documentation all the same."""
    text = query.text
    wants = query.wants_documents or query.wants_reasons or query.wants_configuration or query.wants_tests
    if wants or query.focus >= 1 or len(text.split()) < LEAST_WORDS or asks(text.removeprefix("Get ")):
        return False
    return _OPENS.match(text) is not None


def rank(
    candidates: Sequence[Candidate],
    query: Query,
    languages: LanguageTerms,
    evidence: QuestionEvidence | None = None,
    *,
    demote_tests: bool = True,
    off: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """Return candidates best first, one per symbol, ties by name, by the steps of `SCORING` that are not `off`.

    `demote_tests` False ranks tests like other code. Without evidence, the features are those that the candidates have.
    """
    ranked = rank_candidates(candidates, query, describes_one(query), languages, evidence, demote_tests, off)
    return [_ranked(candidates, *each) for each in ranked]


def collapse(candidates: Sequence[Candidate], languages: LanguageTerms) -> list[Candidate]:
    """Keep one candidate per symbol and file that defines it: class before constructor, declaration last."""
    return [_ranked(candidates, *each) for each in collapse_candidates(candidates, languages)]


def _ranked(
    candidates: Sequence[Candidate],
    place: int,
    score: float,
    merged: Sequence[int],
    features: Mapping[str, float] | None = None,
) -> Candidate:
    best = candidates[place]
    known = best.features if features is None else features
    if not merged:
        # The constructor takes a third of the time of `replace`.
        return Candidate(best.node, score, best.channels, best.reasons, best.degree, best.also, known)
    group = [candidates[each] for each in merged]
    return replace(
        best,
        score=score,
        channels=tuple(dict.fromkeys(name for each in group for name in each.channels)),
        reasons=tuple(dict.fromkeys(reason for each in group for reason in each.reasons)),
        also=tuple(each.node.row.uid for each in group if each is not best),
        features=known,
    )
