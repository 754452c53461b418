"""Rows of a finished query as plain values: nodes and relationships as mappings, paths as lists of both."""

from __future__ import annotations

from collections.abc import Iterator

from atlas.errors import QueryError
from atlas.stores.cypher.graph import Graph
from atlas.stores.cypher.guard import Guard
from atlas.stores.cypher.scope import walk
from atlas.stores.cypher.syntax import Projection, Query, Unwind
from atlas.stores.cypher.values import Edge, Node, Path, Row, as_list, as_map, is_list, is_map, order_key

MAX_CELL = 10_000
"""Items of one list in a result; a longer one is cut and the table marked as truncated."""
MAX_RESULT = 50_000_000
"""Characters of all strings of a result."""


def collect_rows(
    rows: Iterator[Row], tree: Query, graph: Graph, limit: int, guard: Guard
) -> tuple[tuple[Row, ...], bool]:
    """Return at most `limit` rows as plain values, and whether anything was cut.

    Sorted by value unless the query orders (ORDER BY) or enumerates (UNWIND) itself.
    """
    writer = _Writer(graph, guard)
    found: list[Row] = []
    truncated = False
    for row in rows:
        if len(found) >= limit:
            truncated = True
            break
        found.append(tuple(writer.plain(value) for value in row))
    if not _is_ordered(tree):
        found.sort(key=lambda row: [order_key(value) for value in row])
    return tuple(found), truncated or writer.cut


def _is_ordered(tree: Query) -> bool:
    return any(isinstance(node, Unwind) or (isinstance(node, Projection) and bool(node.order)) for node in walk(tree))


class _Writer:
    """Converts values and counts their size."""

    def __init__(self, graph: Graph, guard: Guard) -> None:
        self.graph, self.guard = graph, guard
        self.size, self.cut = 0, False

    def plain(self, value: object) -> object:
        self.guard.tick()
        if isinstance(value, str):
            self.size += len(value)
            if self.size > MAX_RESULT:
                raise QueryError("the result is too large", "return fewer columns or rows")
            return value
        if is_list(value):
            items = as_list(value)
            self.cut = self.cut or len(items) > MAX_CELL
            return [self.plain(item) for item in items[:MAX_CELL]]
        if is_map(value):
            return {key: self.plain(entry) for key, entry in as_map(value).items()}
        if isinstance(value, Node):
            return self.node(value.id)
        if isinstance(value, Edge):
            return self.edge(value)
        if isinstance(value, Path):
            return {
                "nodes": [self.node(identity) for identity in value.nodes],
                "edges": [self.edge(edge) for edge in value.edges],
            }
        return value

    def node(self, identity: int) -> object:
        return self.plain(self.graph.node(identity))

    def edge(self, edge: Edge) -> object:
        ends = {
            "_type": edge.type,
            "_source": self.graph.node(edge.source).get("uid"),
            "_target": self.graph.node(edge.target).get("uid"),
        }
        return {**ends, **self.graph.edge(edge)}
