"""The neighbourhood of a node: what holds it, who calls it, whom it calls, documentation, tests, bases and overrides.

Edges come from the store in one read per direction for all nodes together, one after the other: such reads are shorter
than it takes to run them at once. Each list is cut per node and carries its full length ("3 of 118 callers").
"""

from __future__ import annotations

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
class Neighbourhood:
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


async def around_hits(reader: Reader, uids: Sequence[str]) -> dict[str, Neighbourhood]:
    """Return a short neighbourhood per search hit: two edge reads, and two counts when a list was cut."""
    related = await _related(reader, uids, BESIDE_HITS, SHORT) if uids else {}
    return {uid: Neighbourhood((), kinds) for uid, kinds in related.items()}


async def around_node(reader: Reader, node: Node, each: int) -> Neighbourhood:
    """Return the neighbourhood of one node, at most `each` neighbours per edge type, with its chain of parents."""
    uid = node.row.uid
    kinds = tuple(KINDS)
    related, parents = await _related(reader, [uid], kinds, each), await parents_of(reader, uid)
    listed = related.get(uid, {})
    return Neighbourhood(parents, {kind: listed[kind] for kind in kinds if kind in listed})


async def counts_around(reader: Reader, uid: str) -> tuple[tuple[str, int], ...]:
    """Return (kind, number) of a node's neighbours without reading them; kinds without any are left out."""
    totals = (await _totals(reader, {end: [uid] for end in Direction}, tuple(KINDS))).get(uid, {})
    return tuple((kind, totals[kind]) for kind in KINDS if kind in totals)


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
) -> dict[str, dict[str, Related]]:
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
            kind: Related(tuple(edges), max(len(edges), totals.get(uid, {}).get(kind, 0)))
            for kind, edges in own.items()
        }
        for uid, own in lists.items()
    }


def _cut(lists: Mapping[str, Mapping[str, Sequence[Edge]]], each: int) -> dict[Direction, list[str]]:
    """Return the nodes with a list that may have been cut, by the end that they are in it."""
    cut: dict[Direction, list[str]] = {}
    for uid, own in lists.items():
        for end in {KINDS[kind][0] for kind, edges in own.items() if len(edges) >= each}:
            cut.setdefault(end, []).append(uid)
    return cut


async def _totals(
    reader: Reader, uids: Mapping[Direction, Sequence[str]], kinds: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return counts by node and kind, for each end of the nodes wanted there; what has no neighbours is left out."""
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
    """Return which kind an edge type stands for, by the end that the node itself is."""
    found: dict[Direction, dict[EdgeType, str]] = {}
    for kind in kinds:
        end, types = KINDS[kind]
        found.setdefault(end, {}).update(dict.fromkeys(types, kind))
    return found
