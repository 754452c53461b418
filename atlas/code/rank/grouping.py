"""Group the hits of one file, so that an answer shows more files without any hit changing its rank. Pure.

The first ten hits of a question cover about four files. Lowering further hits of a file would hide the right definition
behind other files; here they are listed with the first one, by name and line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.question.parse_question import Query, is_bare_name
from atlas.code.rank.rank import Candidate
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label

MAX_SAME_FILE = 12
"""Maximum number of hits that a group lists after its first; further hits of the file start a new group."""

_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_REDEFINITION = lazy_regex(r"#\d+$")
_SINGLE = frozenset((Label.CLAIM, Label.DECISION, Label.OBSERVATION, Label.ENTITY))


@dataclass(frozen=True, slots=True)
class Group:
    """A hit, and hits of its file that rank below it."""

    first: Candidate
    same_file: tuple[Candidate, ...] = ()
    twins: tuple[Candidate, ...] = ()
    """Definitions of the same name in other files: those of other platforms or builds."""


def group_by_file(ranked: Sequence[Candidate], query: Query) -> list[Group]:
    """Return all candidates in groups, in order of their first hits.

    Definitions of one name in several files are one hit. Symbols of a bare name stay single: each of them is an answer.
    So do notes, whose state is shown. A decision record stands for its sections, for the same reason.
    """
    if is_bare_name(query):
        return group_by_symbol(ranked)
    singles, twins = _with_twins(ranked)
    groups: list[list[Candidate]] = []
    open_groups: dict[str, list[Candidate]] = {}
    for each in singles:
        path, label = each.node.row.path, each.node.row.label
        group = open_groups.get(path) if path and label not in _SINGLE else None
        if group is not None and len(group) <= MAX_SAME_FILE:
            group.insert(0 if label == Label.ADR else len(group), each)
            continue
        groups.append([each])
        open_groups[path] = groups[-1]
    return [Group(first, tuple(same_file), tuple(twins.get(first.node.row.uid, ()))) for first, *same_file in groups]


def group_by_symbol(ranked: Sequence[Candidate]) -> list[Group]:
    """Return each candidate as a hit of its own, definitions of one name in several files as one."""
    singles, twins = _with_twins(ranked)
    return [Group(each, (), tuple(twins.get(each.node.row.uid, ()))) for each in singles]


def _with_twins(ranked: Sequence[Candidate]) -> tuple[list[Candidate], dict[str, list[Candidate]]]:
    """Return the candidates without those that a better one of another file defines as well, and those by its uid."""
    first: dict[str, Candidate] = {}
    singles: list[Candidate] = []
    twins: dict[str, list[Candidate]] = {}
    for each in ranked:
        row = each.node.row
        if row.label not in _DEFINITIONS:
            singles.append(each)
            continue
        name = _REDEFINITION.sub("", row.qualified_name) if "#" in row.qualified_name else row.qualified_name
        known = first.setdefault(f"{each.node.project}:{name}", each)
        if known.node.row.path == row.path:
            singles.append(each)
        else:
            twins.setdefault(known.node.row.uid, []).append(each)
    return singles, twins
