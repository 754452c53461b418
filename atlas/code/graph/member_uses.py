"""Uses of a type through its members: `Mail.send(x)` uses `Mail`, though its edge leads to `send`. Reads the graph."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.name_lines import NameLine
from atlas.code.graph.relation import RelatedSymbol
from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Node

MAX_EDGES = 2_000
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_USING = (EdgeType.CALLS, EdgeType.REFERENCES)


async def used_through_members(reader: Reader, node: Node, lines: Sequence[NameLine]) -> list[RelatedSymbol]:
    """Return what uses members of a type in lines that name the type, each with these lines. Raises store errors."""
    held = await reader.store.edges([node.row.uid], Direction.OUT, _HOLDS, MAX_EDGES)
    inside = {edge.row.target for edge in held}
    edges = await reader.store.edges(sorted(inside), Direction.IN, _USING, MAX_EDGES) if inside else []
    named = {(each.path, each.line) for each in lines}
    found: dict[str, tuple[Edge, set[int]]] = {}
    for edge in edges:
        at = {line for line in edge.row.lines if (edge.node.row.path, line) in named}
        if at and edge.node.row.uid not in inside:
            found.setdefault(edge.node.row.uid, (edge, set()))[1].update(at)
    return [
        RelatedSymbol(edge.node, edge.node.row.path, tuple(sorted(at)), edge.row.strategy, edge.row.confidence)
        for edge, at in found.values()
    ]
