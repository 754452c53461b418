"""Put the definition of an identifier that a question writes first. Pure.

Words of plain English are not identifiers: `Query.names` has those in the shape of code, or in backticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.rank.rank import Candidate
from atlas.core.model import Label

MOST_DEFINITIONS = 3
"""Of one name; of a name that more have, the question's other words say which is meant."""
MOST_NAMES = 3
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_STEP = 0.001


def definitions_first(ranked: Sequence[Candidate], query: Query) -> list[Candidate]:
    """Return ranked candidates with the definitions of the names in a question before all others.

    A sentence of documentation and a report write names without asking for them.
    """
    if is_bare_name(query) or query.states or query.reports or not 0 < len(query.names) <= MOST_NAMES:
        return list(ranked)
    first: dict[str, Candidate] = {}
    for name in query.names:
        own = [each for each in ranked if _defines(each, name, query)]
        if len(own) <= MOST_DEFINITIONS:
            first |= {each.node.row.uid: each for each in own}
    best = ranked[0].score if ranked else 0.0
    lifted = [
        replace(each, score=max(each.score, best + _STEP * (len(first) - number)))
        for number, each in enumerate(first.values())
    ]
    return [*lifted, *(each for each in ranked if each.node.row.uid not in first)]


def _defines(candidate: Candidate, name: str, query: Query) -> bool:
    row = candidate.node.row
    is_named = row.qualified_name == name or row.qualified_name.endswith(f".{name}")
    return is_named and row.label in _DEFINITIONS and (query.wants_tests or not row.is_test)
