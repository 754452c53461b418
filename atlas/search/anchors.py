"""The name in a relation question to the nodes that can have such edges. Reads names only, follows no edges.

Methods have no subclasses and are not imported: among the nodes with the name, only those to which the relation applies
count, and the name is ambiguous only if there are several of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from atlas.model import Filter, Label, Match, Node
from atlas.search import Reader
from atlas.search.route import RelationIntent

SEEDS = 3
"""Maximum number of nodes from which a relation is followed; a name with more nodes is too ambiguous."""

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
"""Kind of relation -> labels that can have its edges, then narrower labels to prefer if these are too many."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The nodes of a relation's name, found by `match`; more than `SEEDS` nodes mean that the name is ambiguous."""

    match: Match
    nodes: tuple[Node, ...]
    labels: Labels
    """The labels to which the name was narrowed; () for all."""

    def narrowed(self, where: Filter) -> Filter | None:
        """Return the filter restricted to these labels; None if no label remains."""
        if not self.labels:
            return where
        labels = tuple(label for label in self.labels if not where.labels or label in where.labels)
        return replace(where, labels=labels) if labels else None


async def anchors_of(reader: Reader, relation: RelationIntent, project: str) -> Anchors:
    """Return the nodes of a relation's name, at most one more than `SEEDS`.

    The name is matched as written, then ignoring case; if the relation applies to none of the matches, all of them
    count.
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
    """Return why a relation was not followed: its name is unknown, ambiguous, or of a label without such edges."""
    if len(anchors.nodes) <= SEEDS:
        return "is not a symbol of the index"
    if anchors.labels or relation.kind not in APPLIES:
        return "is ambiguous: qualify it"
    # Qualifying the name would not help.
    return f"is not a {' or '.join(label.lower() for label in APPLIES[relation.kind][0])}"


async def _find(reader: Reader, relation: RelationIntent, project: str, match: Match, labels: Labels) -> Anchors:
    nodes = await reader.store.find(relation.name, match, Filter(project=project, labels=labels), SEEDS + 1)
    return Anchors(match, tuple(nodes), labels)
