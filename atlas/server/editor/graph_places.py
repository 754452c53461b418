"""What the graph has at a position of a file, and which places refer to it.

A word leads to a definition if an edge of the graph leads there from its line; a word without an edge leads nowhere:
equal names are no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.atlas import Atlas
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node

SYMBOLS = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE)
REFERENCES = (
    EdgeType.CALLS,
    EdgeType.REFERENCES,
    EdgeType.IMPORTS,
    EdgeType.USES_TYPE,
    EdgeType.INHERITS,
    EdgeType.DOCUMENTS,
)
"""Edges whose lines name their target."""

MAX_NODES = 20_000
"""Nodes of one file."""
MAX_EDGES = 50_000
MAX_SYMBOLS = 200
"""Symbols that a search of the workspace lists."""


@dataclass(frozen=True, slots=True)
class PlacedSymbol:
    """A symbol that a position means, and the edge that leads to it; None where it is defined."""

    node: Node
    edge: Edge | None = None


async def nodes_of_file(atlas: Atlas, project: str, path: str) -> list[Node]:
    """Return all nodes of a file in the order of their lines."""
    nodes = await atlas.reader.store.find(path, Match.PATH, Filter(project=project), MAX_NODES)
    return sorted(nodes, key=lambda one: (one.row.start_line, -one.row.end_line))


async def hits_at(atlas: Atlas, nodes: Sequence[Node], line: int, word: str) -> list[PlacedSymbol]:
    """Return what a word on a line of a file means: what it defines, else where edges of the line lead."""
    defined = [
        PlacedSymbol(one) for one in nodes if one.row.label in SYMBOLS and (one.row.line, one.row.name) == (line, word)
    ]
    if defined or not word:
        return defined
    around = [one.row.uid for one in nodes if not one.row.start_line or one.row.start_line <= line <= one.row.end_line]
    edges = await atlas.reader.store.edges(around, Direction.OUT, REFERENCES, MAX_EDGES)
    found: dict[str, PlacedSymbol] = {}
    for edge in edges:
        if line in edge.row.lines and edge.node.row.name.rpartition(".")[2] == word:
            known = found.get(edge.node.row.uid)
            if known is None or known.edge is None or known.edge.row.confidence < edge.row.confidence:
                found[edge.node.row.uid] = PlacedSymbol(edge.node, edge)
    return sorted(found.values(), key=lambda one: (-(one.edge.row.confidence if one.edge else 1), one.node.row.uid))


async def references_to(atlas: Atlas, uids: Sequence[str]) -> list[tuple[str, int]]:
    """Return path and line of each evidence of the edges that refer to symbols, in this order."""
    places = await atlas.reader.store.edge_lines(uids, REFERENCES, 0.0, MAX_EDGES)
    return sorted((path, line) for path, line in places if path)


async def calls_of(atlas: Atlas, uid: str, direction: Direction) -> list[Edge]:
    """Return the calls that lead to a symbol, or from it."""
    return await atlas.reader.store.edges([uid], direction, [EdgeType.CALLS], MAX_EDGES)


async def symbols_named(atlas: Atlas, project: str, query: str) -> list[Node]:
    """Return the symbols whose name begins with a text, or whose qualified name ends with it."""
    where = Filter(project=project, labels=SYMBOLS)
    found = await atlas.reader.store.find(query, Match.SUFFIX, where, MAX_SYMBOLS) if query else []
    more = await atlas.reader.store.find(query, Match.PREFIX, where, MAX_SYMBOLS) if query else []
    return list({one.row.uid: one for one in (*found, *more)}.values())[:MAX_SYMBOLS]
