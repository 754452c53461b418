"""What compiling and running one query share: text, parameters, the graph, and the guards against running away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from atlas.errors import QueryError
from atlas.stores.cypher.graph import Graph, decode
from atlas.stores.cypher.lexer import located_error
from atlas.stores.cypher.scope import Scope
from atlas.stores.cypher.syntax import Expression, Subquery
from atlas.stores.cypher.values import Edge, Node, Row, as_map, is_map, mismatch

Evaluator: TypeAlias = Callable[[Row], object]
Compile: TypeAlias = Callable[[Expression, Scope], Evaluator]


@dataclass(slots=True)
class Context:
    """What compiling and running one query share."""

    text: str
    parameters: Mapping[str, object]
    graph: Graph
    tick: Callable[[], None]
    """Called once per unit of work in Python; raises when the time is up."""
    charge: Callable[[int], None]
    """Called with the number of values that are retained; raises when there are too many."""
    note_cut: Callable[[], None]
    """Called when the depth cap hid a longer path."""
    compile_subquery: Callable[[Subquery, Scope], Evaluator]

    def error(self, message: str, at: int, hint: str = "") -> QueryError:
        """Return a located error."""
        return located_error(self.text, at, message, hint)

    def properties(self, value: object) -> Mapping[str, object]:
        """Return the properties of an entity or map; `_label` is not one of them."""
        if isinstance(value, Node):
            return {name: entry for name, entry in self.graph.node(value.id).items() if name != "_label"}
        if isinstance(value, Edge):
            return self.graph.edge(value)
        if is_map(value):
            return as_map(value)
        raise mismatch("Node, Relationship or Map", value)


def atom(scope: Scope, name: str, part: str) -> Evaluator | None:
    """Return the read of a column that a MATCH fetched ahead, None if it did not."""
    place = scope.atoms.get((name, part))
    if place is None:
        return None
    slot, kind = place
    if kind in ("bool", "list"):
        return lambda row: decode(row[slot], kind)
    return lambda row: row[slot]
