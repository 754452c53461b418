"""The name in a question about edges -> the nodes that can have such edges. Reads names only; follows nothing.

A method has no subclasses and nobody imports one: of all that have the name, only what the relation can apply to is
meant, and only several of those are ambiguous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from atlas.model import Filter, Label, Match, Node
from atlas.search import Reader
from atlas.search.route import RelationIntent

SEEDS = 3
"""Nodes a relation is followed from; more means that the name is too ambiguous to be a relation's anchor."""

Labels = tuple[Label, ...]

_CLASSES: tuple[Labels, ...] = ((Label.CLASS,),)
_CALLABLE = (Label.FUNCTION, Label.METHOD, Label.CLASS)
_CALLS: tuple[Labels, ...] = ((*_CALLABLE, Label.VALUE), _CALLABLE)
_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE)

APPLIES: Mapping[str, tuple[Labels, ...]] = {
    "callers": _CALLS,
    "callees": _CALLS,
    "subclasses": _CLASSES,
    "bases": _CLASSES,
    "overrides": ((Label.METHOD, Label.VALUE), (Label.METHOD,)),
    "importers": ((*_FILES, Label.CLASS, Label.FUNCTION, Label.VALUE), _FILES),
    "imports": (_FILES,),
}
"""By kind of relation: what can have its edges, then what the name means rather when that is too many."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a relation's name stands for: `nodes` (more than `SEEDS` of them: ambiguous), found by `match`."""

    match: Match
    nodes: tuple[Node, ...]
    labels: Labels
    """What the name was narrowed to; () = anything."""

    def narrowed(self, where: Filter) -> Filter | None:
        """Return the filter for these labels only; None when it leaves none of them."""
        if not self.labels:
            return where
        labels = tuple(label for label in self.labels if not where.labels or label in where.labels)
        return replace(where, labels=labels) if labels else None


async def anchors_of(reader: Reader, relation: RelationIntent, project: str) -> Anchors:
    """Return the nodes of a relation's name, at most one more than `SEEDS`.

    As it is written, else without case; anything that has the name when the relation applies to none of it.
    """
    for match in (Match.SUFFIX, Match.FOLDED):
        found = None
        for labels in APPLIES.get(relation.kind, ()):
            narrower = await _find(reader, relation, project, match, labels)
            if narrower.nodes:
                found = narrower
            if len(narrower.nodes) <= SEEDS:
                break
        if found is not None:
            return found
    return await _find(reader, relation, project, Match.SUFFIX, ())


def why_not_followed(anchors: Anchors, relation: RelationIntent) -> str:
    """Return what is to be said of a name whose nodes are too many, or not the project's own, or none."""
    if len(anchors.nodes) <= SEEDS:
        return "is not a symbol of the index"
    if anchors.labels or relation.kind not in APPLIES:
        return "is ambiguous: qualify it"
    # to qualify it would not help
    return f"is no {' or '.join(label.lower() for label in APPLIES[relation.kind][0])}"


async def _find(reader: Reader, relation: RelationIntent, project: str, match: Match, labels: Labels) -> Anchors:
    nodes = await reader.store.find(relation.name, match, Filter(project=project, labels=labels), SEEDS + 1)
    return Anchors(match, tuple(nodes), labels)
