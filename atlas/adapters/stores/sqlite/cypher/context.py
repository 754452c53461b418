"""State shared by compiling and running one query: text, parameters, the graph, and the resource limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from atlas.adapters.stores.cypher.lexer import located_error
from atlas.adapters.stores.cypher.syntax import Expression, Subquery
from atlas.adapters.stores.sqlite.cypher.graph import Graph, decode
from atlas.adapters.stores.sqlite.cypher.guard import Guard
from atlas.adapters.stores.sqlite.cypher.meter import hold
from atlas.adapters.stores.sqlite.cypher.scope import NameScope
from atlas.adapters.stores.sqlite.cypher.values import Edge, Node, Row, as_map, is_map, mismatch
from atlas.core.errors import QueryError

Evaluator: TypeAlias = Callable[[Row], object]
Compile: TypeAlias = Callable[[Expression, NameScope], Evaluator]


@dataclass(slots=True)
class QueryContext:
    """State shared by compiling and running one query."""

    text: str
    parameters: Mapping[str, object]
    graph: Graph
    guard: Guard
    """Called once per unit of Python work (`tick`) and with the bytes in use (`charge`)."""
    compile_subquery: Callable[[Subquery, NameScope], Evaluator]

    def tick(self) -> None:
        """Count a unit of Python work; raises after the deadline."""
        self.guard.tick()

    def charge(self, size: int) -> None:
        """Count bytes in use (negative: freed); raises above the limit."""
        self.guard.charge(size)

    def hold(self, value: object) -> object:
        """Return a new value, counted until it is freed."""
        return hold(value, self.guard)

    def error(self, message: str, at: int, hint: str = "") -> QueryError:
        """Return a located error."""
        return located_error(self.text, at, message, hint)

    def properties(self, value: object) -> Mapping[str, object]:
        """Return the properties of an entity or map."""
        if isinstance(value, Node):
            return dict(self.graph.node(value.id))
        if isinstance(value, Edge):
            return self.graph.edge(value)
        if is_map(value):
            return as_map(value)
        raise mismatch("Node, Relationship or Map", value)


def atom(scope: NameScope, name: str, part: str) -> Evaluator | None:
    """Return the reader of a column that a MATCH prefetched, None if there is none."""
    place = scope.atoms.get((name, part))
    if place is None:
        return None
    slot, kind = place
    if kind in ("bool", "list", "ints", "json"):
        return lambda row: decode(row[slot], kind)
    return lambda row: row[slot]
