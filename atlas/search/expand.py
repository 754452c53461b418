"""Around a node: what holds it, who calls it, whom it calls, documentation, tests, bases and overrides.

Edges come from the store in one read per direction for all nodes together; each list is cut per node and carries its
full length, so that an answer can say "3 of 118 callers".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atlas.model import Direction, Edge, EdgeType, Node
from atlas.search import Reader

HOLDING = (EdgeType.CONTAINS, EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
SHORT = 3
"""Neighbours of one kind shown beside a search hit."""
MAX_DEPTH = 8
"""Steps up from a symbol to its project: nesting deeper than this does not occur outside generated code."""


@dataclass(frozen=True, slots=True)
class Related:
    """Neighbours of one kind, best first; `total` counts those that are not listed too."""

    edges: tuple[Edge, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Around:
    """The neighbourhood of a node, by what the neighbours are to it."""

    parents: tuple[Node, ...] = ()
    """From the nearest (class or module) outwards."""
    related: Mapping[str, Related] = field(default_factory=dict[str, Related])
    """By `KINDS` key; kinds without edges are left out."""


KINDS: Mapping[str, tuple[Direction, tuple[EdgeType, ...]]] = {
    "callers": (Direction.IN, (EdgeType.CALLS,)),
    "callees": (Direction.OUT, (EdgeType.CALLS,)),
    "used_by": (Direction.IN, (EdgeType.REFERENCES, EdgeType.USES_TYPE)),
    "uses": (Direction.OUT, (EdgeType.REFERENCES, EdgeType.USES_TYPE)),
    "bases": (Direction.OUT, (EdgeType.INHERITS,)),
    "subclasses": (Direction.IN, (EdgeType.INHERITS,)),
    "overrides": (Direction.OUT, (EdgeType.OVERRIDES,)),
    "overridden_by": (Direction.IN, (EdgeType.OVERRIDES,)),
    "tests": (Direction.IN, (EdgeType.TESTS,)),
    "docs": (Direction.IN, (EdgeType.DOCUMENTS, EdgeType.AFFECTS)),
    "documents": (Direction.OUT, (EdgeType.DOCUMENTS, EdgeType.AFFECTS)),
    "imports": (Direction.OUT, (EdgeType.IMPORTS,)),
    "imported_by": (Direction.IN, (EdgeType.IMPORTS,)),
    "members": (Direction.OUT, HOLDING),
}
"""Kind of neighbour -> which end of which edges the node itself is."""
BESIDE_HITS = ("callers", "callees", "tests", "docs")


async def around_hits(reader: Reader, uids: Sequence[str]) -> dict[str, Around]:
    """Return a short neighbourhood per search hit: two edge reads and one count per kind, whatever their number."""
    if not uids:
        return {}
    related, totals = await asyncio.gather(
        _related(reader, uids, BESIDE_HITS, SHORT), _totals(reader, uids, BESIDE_HITS)
    )
    return {
        uid: Around((), {kind: Related(edges, totals[kind][uid]) for kind, edges in kinds.items()})
        for uid, kinds in related.items()
    }


async def around_node(reader: Reader, node: Node, each: int) -> Around:
    """Return the neighbourhood of one node, at most `each` neighbours per edge type, with its chain of parents."""
    uid = node.row.uid
    kinds = tuple(KINDS)
    related, totals, parents = await asyncio.gather(
        _related(reader, [uid], kinds, each), _totals(reader, [uid], kinds), parents_of(reader, uid)
    )
    listed = related.get(uid, {})
    return Around(parents, {kind: Related(listed[kind], totals[kind][uid]) for kind in kinds if kind in listed})


async def counts_around(reader: Reader, uid: str) -> tuple[tuple[str, int], ...]:
    """Return (kind, number) of a node's neighbours without reading them; kinds without any are left out."""
    totals = await _totals(reader, [uid], tuple(KINDS))
    return tuple((kind, counts[uid]) for kind, counts in totals.items() if counts[uid])


async def parents_of(reader: Reader, uid: str) -> tuple[Node, ...]:
    """Return the chain of what holds a node, nearest first: class, module, package, project."""
    chain: list[Node] = []
    seen = {uid}
    while len(chain) < MAX_DEPTH:
        edges = await reader.store.edges([uid], Direction.IN, HOLDING, 1)
        if not edges or edges[0].node.row.uid in seen:
            break
        chain.append(edges[0].node)
        uid = edges[0].node.row.uid
        seen.add(uid)
    return tuple(chain)


async def _related(
    reader: Reader, uids: Sequence[str], kinds: Sequence[str], each: int
) -> dict[str, dict[str, tuple[Edge, ...]]]:
    """Return edges by node and kind, at most `each` per node and edge type."""
    wanted = {
        direction: tuple(edge_type for kind in kinds if KINDS[kind][0] == direction for edge_type in KINDS[kind][1])
        for direction in Direction
    }
    reads = [
        (direction, reader.store.edges(uids, direction, types, len(uids) * each * len(types), each))
        for direction, types in wanted.items()
        if types
    ]
    found = await asyncio.gather(*(read for _, read in reads))
    result: dict[str, dict[str, tuple[Edge, ...]]] = {}
    for (direction, _), edges in zip(reads, found, strict=True):
        kind_of = {edge_type: kind for kind in kinds if KINDS[kind][0] == direction for edge_type in KINDS[kind][1]}
        for edge in edges:
            own = edge.row.source if direction == Direction.OUT else edge.row.target
            kind = kind_of[EdgeType(edge.row.type)]
            lists = result.setdefault(own, {})
            lists[kind] = (*lists.get(kind, ()), edge)
    return result


async def _totals(reader: Reader, uids: Sequence[str], kinds: Sequence[str]) -> dict[str, dict[str, int]]:
    counts = await asyncio.gather(*(reader.store.degrees(uids, *KINDS[kind]) for kind in kinds))
    return {kind: {uid: count.get(uid, 0) for uid in uids} for kind, count in zip(kinds, counts, strict=True)}
