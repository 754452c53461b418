"""Group the hits of one file, so that an answer shows more files without any hit changing its rank. Pure.

The first ten hits of a question cover about four files. Lowering further hits of a file would hide the right definition
behind other files; here they are listed with the first one, by name and line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.rank.rank import Candidate
from atlas.core.model import Label

MAX_SAME_FILE = 12
"""Maximum number of hits that a group lists after its first; further hits of the file start a new group."""

_SINGLE = frozenset((Label.CLAIM, Label.DECISION, Label.OBSERVATION, Label.ENTITY))


@dataclass(frozen=True, slots=True)
class Group:
    """A hit, and hits of its file that rank below it."""

    first: Candidate
    same_file: tuple[Candidate, ...] = ()


def group_by_file(ranked: Sequence[Candidate], query: Query) -> list[Group]:
    """Return all candidates in groups, in order of their first hits.

    Symbols of a bare name stay single: each of them is an answer. So do notes, whose state is shown. A decision record
    stands for its sections, for the same reason.
    """
    if is_bare_name(query):
        return [Group(each) for each in ranked]
    groups: list[list[Candidate]] = []
    open_groups: dict[str, list[Candidate]] = {}
    for each in ranked:
        path, label = each.node.row.path, each.node.row.label
        group = open_groups.get(path) if path and label not in _SINGLE else None
        if group is not None and len(group) <= MAX_SAME_FILE:
            group.insert(0 if label == Label.ADR else len(group), each)
            continue
        groups.append([each])
        open_groups[path] = groups[-1]
    return [Group(first, tuple(same_file)) for first, *same_file in groups]
