"""The neighbourhood of a node: parents, callers, callees, documentation, tests, bases and overrides.

The edges of all nodes come from one read per direction. The reads run one after the other, because running them
concurrently costs more than it saves. Each list is cut per node and carries its full length ("3 of 118 callers").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Node

HOLDING = (EdgeType.CONTAINS, EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
NEAR_HITS = 20
"""Neighbours of one kind that are read for a search hit; those that have words of the question are shown."""
MAX_DEPTH = 8
"""Maximum number of steps from a symbol up to its project: deeper nesting occurs only in generated code."""


@dataclass(frozen=True, slots=True)
class RelatedNodes:
    """Neighbours of one kind, best first; `total` includes those that are not listed."""

    edges: tuple[Edge, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The neighbourhood of a node, grouped by the role of the neighbours."""

    parents: tuple[Node, ...] = ()
    """From the nearest (class or module) outwards."""
    related: Mapping[str, RelatedNodes] = field(default_factory=dict[str, RelatedNodes])
    """By `KINDS` key; kinds without edges are omitted."""


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
    "routes": (Direction.OUT, (EdgeType.HANDLES_ROUTE,)),
    "events": (Direction.OUT, (EdgeType.HANDLES_EVENT,)),
    "emits": (Direction.OUT, (EdgeType.EMITS_EVENT,)),
    "handlers": (Direction.IN, (EdgeType.HANDLES_ROUTE, EdgeType.HANDLES_EVENT)),
    "emitters": (Direction.IN, (EdgeType.EMITS_EVENT,)),
    "clients": (Direction.IN, (EdgeType.CALLS_ROUTE,)),
    "requests": (Direction.OUT, (EdgeType.CALLS_ROUTE,)),
    "readers": (Direction.IN, (EdgeType.READS_ENV,)),
    "setters": (Direction.IN, (EdgeType.SETS_ENV,)),
    "variables": (Direction.OUT, (EdgeType.READS_ENV, EdgeType.SETS_ENV)),
    "docs": (Direction.IN, (EdgeType.DOCUMENTS, EdgeType.AFFECTS)),
    "documents": (Direction.OUT, (EdgeType.DOCUMENTS, EdgeType.AFFECTS)),
    "sources": (Direction.OUT, (EdgeType.SOURCE,)),
    "source_of": (Direction.IN, (EdgeType.SOURCE,)),
    "imports": (Direction.OUT, (EdgeType.IMPORTS,)),
    "imported_by": (Direction.IN, (EdgeType.IMPORTS,)),
    "members": (Direction.OUT, HOLDING),
}
"""Kind of neighbour -> the end and the types of the edges at the node itself."""
CALLS = ("callers", "callees")


async def around_hits(reader: Reader, uids: Sequence[str]) -> dict[str, list[tuple[str, Edge]]]:
    """Return kind and edge of callers and callees of search hits, by uid: two edge reads."""
    found: dict[str, list[tuple[str, Edge]]] = {}
    for kind in CALLS if uids else ():
        end, types = KINDS[kind]
        for edge in await reader.store.edges(uids, end, types, len(uids) * NEAR_HITS, NEAR_HITS):
            own = edge.row.source if end == Direction.OUT else edge.row.target
            found.setdefault(own, []).append((kind, edge))
    return found


async def around_node(reader: Reader, node: Node, each: int) -> Neighbourhood:
    """Return the neighbourhood of one node with its chain of parents, at most `each` neighbours per edge type."""
    uid = node.row.uid
    kinds = tuple(KINDS)
    related, parents = await _related(reader, [uid], kinds, each), await parents_of(reader, uid)
    listed = related.get(uid, {})
    return Neighbourhood(parents, {kind: listed[kind] for kind in kinds if kind in listed})


async def counts_around(reader: Reader, uid: str) -> tuple[tuple[str, int], ...]:
    """Return (kind, count) of a node's neighbours without reading them; kinds without neighbours are omitted."""
    totals = (await _totals(reader, {end: [uid] for end in Direction}, tuple(KINDS))).get(uid, {})
    return tuple((kind, totals[kind]) for kind in KINDS if kind in totals)


async def parents_of(reader: Reader, uid: str) -> tuple[Node, ...]:
    """Return the chain of containers of a node, nearest first: class, module, package, project."""
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
) -> dict[str, dict[str, RelatedNodes]]:
    """Return neighbours by node and kind, at most `each` per edge type; only lists that were cut are counted."""
    lists: dict[str, dict[str, list[Edge]]] = {}
    for end, kind_of in _kinds_by_end(kinds).items():
        most = len(uids) * each * len(kind_of)
        for edge in await reader.store.edges(uids, end, tuple(kind_of), most, each):
            own = edge.row.source if end == Direction.OUT else edge.row.target
            lists.setdefault(own, {}).setdefault(kind_of[EdgeType(edge.row.type)], []).append(edge)
    totals = await _totals(reader, _cut(lists, each), kinds)
    return {
        uid: {
            kind: RelatedNodes(tuple(edges), max(len(edges), totals.get(uid, {}).get(kind, 0)))
            for kind, edges in own.items()
        }
        for uid, own in lists.items()
    }


def _cut(lists: Mapping[str, Mapping[str, Sequence[Edge]]], each: int) -> dict[Direction, list[str]]:
    """Return the nodes with a list that may have been cut, grouped by the node's end of the edges."""
    cut: dict[Direction, list[str]] = {}
    for uid, own in lists.items():
        for end in {KINDS[kind][0] for kind, edges in own.items() if len(edges) >= each}:
            cut.setdefault(end, []).append(uid)
    return cut


async def _totals(
    reader: Reader, uids: Mapping[Direction, Sequence[str]], kinds: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return counts by node and kind, for the requested nodes of each end; nodes without neighbours are omitted."""
    totals: dict[str, dict[str, int]] = {}
    for end, kind_of in _kinds_by_end(kinds).items():
        wanted = uids.get(end)
        if not wanted:
            continue
        for uid, counts in (await reader.store.degrees(wanted, end, tuple(kind_of))).items():
            own = totals.setdefault(uid, {})
            for edge_type, count in counts.items():
                kind = kind_of[EdgeType(edge_type)]
                own[kind] = own.get(kind, 0) + count
    return totals


def _kinds_by_end(kinds: Sequence[str]) -> dict[Direction, dict[EdgeType, str]]:
    """Return the kind of each edge type, grouped by the node's end of the edges."""
    found: dict[Direction, dict[EdgeType, str]] = {}
    for kind in kinds:
        end, types = KINDS[kind]
        found.setdefault(end, {}).update(dict.fromkeys(types, kind))
    return found
