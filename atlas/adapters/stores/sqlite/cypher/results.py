"""Rows of a finished query as plain values: nodes and relationships as mappings, paths as lists of both."""

from __future__ import annotations

from collections.abc import Iterator

from atlas.adapters.stores.cypher.syntax import Projection, Query, Unwind, walk
from atlas.adapters.stores.sqlite.cypher.graph import Graph
from atlas.adapters.stores.sqlite.cypher.guard import Guard
from atlas.adapters.stores.sqlite.cypher.meter import check_weight, weigh
from atlas.adapters.stores.sqlite.cypher.values import (
    Edge,
    Node,
    Path,
    Row,
    as_list,
    as_map,
    is_list,
    is_map,
    order_key,
)
from atlas.core.errors import QueryError

MAX_CELL = 10_000
"""Maximum number of items of a list in a result; longer lists are cut and the table is marked as truncated."""
MAX_RESULT = 16_000_000
"""Maximum number of bytes of a result as plain values; the largest answer of a tool shows a tenth of that."""
MAX_NESTING = 50
"""Maximum nesting of lists and maps; readers of the result have limits of their own."""


def collect_rows(
    rows: Iterator[Row], tree: Query, graph: Graph, limit: int, guard: Guard
) -> tuple[tuple[Row, ...], bool]:
    """Return at most `limit` rows as plain values, and whether anything was cut. Raises QueryError over a limit.

    Rows are sorted by value unless the query orders (ORDER BY) or enumerates (UNWIND) them.
    """
    writer = _CountedValues(graph, guard)
    found: list[Row] = []
    truncated = False
    for row in rows:
        if len(found) >= limit:
            truncated = True
            break
        for value in row:
            check_weight(weigh(value))
        found.append(tuple(writer.plain(value, 0) for value in row))
    if not is_ordered(tree):
        found.sort(key=lambda row: _row_key(row, guard))
    return tuple(found), truncated or writer.cut


def is_ordered(tree: Query) -> bool:
    """Return whether a query orders or enumerates its rows."""
    return any(isinstance(node, Unwind) or (isinstance(node, Projection) and bool(node.order)) for node in walk(tree))


def _row_key(row: Row, guard: Guard) -> list[tuple[object, ...]]:
    guard.look()
    return [order_key(value) for value in row]


class Size:
    """Counts the bytes of a result while it is written; raises QueryError above `MAX_RESULT`."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, value: object) -> None:
        """Count a scalar, or a list or map without its content."""
        self._bytes += value.__sizeof__() + 8
        if self._bytes > MAX_RESULT:
            raise QueryError(
                f"the result has more than {MAX_RESULT // 1_000_000} MB", "return fewer columns, rows or items"
            )


def check_nesting(depth: int) -> None:
    """Raise QueryError for a value that is nested too deeply to be written."""
    if depth > MAX_NESTING:
        raise QueryError(
            f"a result is nested more than {MAX_NESTING} levels deep", "return the inner values as columns"
        )


class _CountedValues:
    """Converts values and counts their size."""

    def __init__(self, graph: Graph, guard: Guard) -> None:
        self.graph, self.guard = graph, guard
        self.size, self.cut = Size(), False

    def plain(self, value: object, depth: int) -> object:
        self.guard.tick()
        if is_list(value):
            check_nesting(depth)
            items = as_list(value)
            self.cut = self.cut or len(items) > MAX_CELL
            self.size.add(items)
            return [self.plain(item, depth + 1) for item in items[:MAX_CELL]]
        if is_map(value):
            check_nesting(depth)
            self.size.add(value)
            return {str(key): self.plain(entry, depth + 1) for key, entry in as_map(value).items()}
        if isinstance(value, Node):
            return self.node(value.id)
        if isinstance(value, Edge):
            return self.edge(value)
        if isinstance(value, Path):
            return {
                "nodes": [self.node(identity) for identity in value.nodes],
                "edges": [self.edge(edge) for edge in value.edges],
            }
        self.size.add(value)
        return str(value) if isinstance(value, str) else value

    def node(self, identity: int) -> object:
        properties = dict(self.graph.node(identity))
        return self.plain({"_label": properties.pop("label", ""), **properties}, 0)

    def edge(self, edge: Edge) -> object:
        ends = {
            "_type": edge.type,
            "_source": self.graph.node(edge.source).get("uid"),
            "_target": self.graph.node(edge.target).get("uid"),
        }
        return self.plain({**ends, **self.graph.edge(edge)}, 0)
