"""Limits for an unbounded `*` on a server: the same depth as on the embedded store. Pure: syntax trees only.

If every path counts, the walk ends at `MAX_HOPS`. If only the set of end nodes counts, Neo4j needs no limit, because it
visits each node once; Memgraph follows every path in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atlas.adapters.stores.cypher.syntax import Clause, Match, PathPattern, Query, RelationshipPattern, Subquery, walk
from atlas.adapters.stores.sqlite.cypher.graph import type_names
from atlas.adapters.stores.sqlite.cypher.scope import ignores_repeats, mentioned, needs_until_projection

MAX_HOPS = 15
"""Maximum number of hops, as on the embedded store (`cypher.expand`)."""


@dataclass(frozen=True, slots=True)
class CappedWalk:
    """A relationship `*` or `*n..` that must end at `MAX_HOPS`."""

    edge: RelationshipPattern
    match: Match
    start: int
    """Start of the clauses that end with the MATCH."""
    end: int
    """End of the MATCH; 0 in a subquery, which cannot run alone."""

    @property
    def low(self) -> int:
        """The minimum number of hops."""
        return self.edge.hops[0] if self.edge.hops is not None else 1


def capped_walks(tree: Query, *, prunes: bool) -> list[CappedWalk]:
    """Return the walks to limit on a server that visits each node once (`prunes`) or follows every path."""
    found = list(_in_query(tree, False, True, prunes))
    for item in walk(tree):
        if isinstance(item, Subquery):
            found += _in_query(item.query, item.kind in ("exists", "pattern"), False, prunes)
    return found


def _in_query(query: Query, distinct: bool, alone: bool, prunes: bool) -> Iterator[CappedWalk]:
    for part in query.parts:
        for index, clause in enumerate(part):
            if isinstance(clause, Match):
                end = part[index + 1].at if alone else 0
                for path in clause.patterns:
                    for edge in path.relationships:
                        if _counts_paths(edge, path, clause, part[index + 1 :], distinct, prunes):
                            yield CappedWalk(edge, clause, part[0].at, end)


def _counts_paths(
    edge: RelationshipPattern,
    path: PathPattern,
    match: Match,
    following: tuple[Clause, ...],
    distinct: bool,
    prunes: bool,
) -> bool:
    """Return whether a relationship is unbounded and the query depends on how it reaches its ends."""
    if edge.hops is None or edge.hops[1] is not None or path.shortest:
        return False
    if not prunes or edge.hops[0] > 1:
        return True
    needs, projection, everything = needs_until_projection(following)
    indifferent = distinct if projection is None else ignores_repeats(projection)
    read = everything or bool(path.variable) or edge.variable in needs or edge.variable in mentioned(match.where)
    others = [other for each in match.patterns for other in each.relationships if other is not edge]
    return not indifferent or read or any(_may_share(edge, other) for other in others)


def _may_share(first: RelationshipPattern, second: RelationshipPattern) -> bool:
    left, right = type_names(first.types), type_names(second.types)
    return left is None or right is None or bool(left & right)
