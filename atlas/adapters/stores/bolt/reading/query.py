"""A user's Cypher as sent to a Bolt server: restricted to the read-only subset and the visible graph.

The parser of the embedded store checks it first, so rejected queries never reach a server. Queries see `Symbol` nodes
only: node patterns without a label get it, which also enables the index on names, and `labels()` hides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atlas.adapters.stores.bolt.reading.depth import MAX_HOPS, capped_walks
from atlas.adapters.stores.bolt.reading.query_edits import TextEdits
from atlas.adapters.stores.cypher.lexer import located_error, tokenize
from atlas.adapters.stores.cypher.parser import parse
from atlas.adapters.stores.cypher.project_scope import PROJECT, first_nodes, names_project
from atlas.adapters.stores.cypher.syntax import (
    Call,
    LabelName,
    Literal,
    Match,
    NodePattern,
    Parameter,
    Projection,
    Query,
    Subquery,
    TextTest,
    Unwind,
    walk,
)
from atlas.adapters.stores.sqlite.cypher.expressions.functions import AGGREGATES, FUNCTIONS
from atlas.adapters.stores.sqlite.cypher.scope import mentioned
from atlas.core.errors import QueryError
from atlas.parsing.cypher_regex import compile_regex

_GRAPH_FUNCTIONS = frozenset(("type", "labels", "id", "elementid", "keys", "properties", "exists"))


@dataclass(frozen=True, slots=True)
class SentQuery:
    """A query as sent, and whether it orders its rows."""

    text: str
    ordered: bool
    beyond: tuple[str, ...]
    """Queries that return a row if there are paths longer than the limit on `*` allows."""


SCOPE = "atlas_project"
"""Parameter with the project that a restricted query sees."""


def prepared(text: str, parameters: Mapping[str, object], *, memgraph: bool, scoped: bool = False) -> SentQuery:
    """Return the query as sent to Memgraph, or to Neo4j, which supports `(n:(A|B)&C)`.

    `scoped`: it sees only the project in the parameter `SCOPE`, unless it reads the property `project` itself.

    Raises `QueryError` with a position for everything outside the read-only subset.
    """
    try:
        tree = parse(text)
    except RecursionError as error:
        raise QueryError("the query is nested too deeply", "simplify it", 1, 1) from error
    tokens = tokenize(text)
    edits = TextEdits(tokens)
    for item in walk(tree):
        if isinstance(item, LabelName) and (item.name.startswith("Atlas") or item.name == "Symbol"):
            raise QueryError(f"the label {item.name} is internal to the store", "see: atlas schema")
        if isinstance(item, NodePattern):
            edits.restrict(item, not memgraph)
        elif isinstance(item, Call):
            _check_function(item, text)
            _check_range(item, parameters)
            edits.call(item)
        elif isinstance(item, TextTest) and item.operator == "=~":
            _check_pattern(item, parameters)
        elif isinstance(item, Match):
            _check_variables(item, text)
            if memgraph:
                _use_breadth_first(item, edits)
        if memgraph:
            _check_wrong_answers(item)
    if scoped and not names_project(tree):
        for node in first_nodes(tree):
            edits.require(node, PROJECT, f"${SCOPE}")
    walks = capped_walks(tree, prunes=not memgraph)
    for each in walks:
        edits.cap(each.edge, each.low, MAX_HOPS)
    beyond = [edits.beyond(text, each, MAX_HOPS + 1) for each in walks if each.end]
    return SentQuery(edits.applied(text), _is_ordered(tree), tuple(beyond))


def _check_function(call: Call, text: str) -> None:
    if call.name not in FUNCTIONS and call.name not in AGGREGATES and call.name not in _GRAPH_FUNCTIONS:
        raise located_error(text, call.at, f"unknown function {call.name}()")


def _check_range(call: Call, parameters: Mapping[str, object]) -> None:
    """Reject a hop range that the embedded store finds too long, where its bounds are known before it runs."""
    ends = [_known(argument, parameters) for argument in call.arguments]
    if call.name == "range" and all(isinstance(end, int) for end in ends) and len(ends) in (2, 3):
        FUNCTIONS["range"].call(*ends)


def _check_pattern(test: TextTest, parameters: Mapping[str, object]) -> None:
    """Reject regular expressions with unbounded cost: a server cannot interrupt them."""
    pattern = _known(test.argument, parameters)
    if isinstance(pattern, str):
        compile_regex(pattern)
    elif pattern is not None or not isinstance(test.argument, (Literal, Parameter)):
        raise QueryError("the pattern after =~ must be a string or a parameter on a server", "write it as a string")


def _check_variables(match: Match, text: str) -> None:
    seen: set[str] = set()
    for pattern in match.patterns:
        for edge in pattern.relationships:
            if edge.variable in seen:
                raise located_error(text, edge.at, f"variable `{edge.variable}` is used twice in one MATCH")
            seen.add(edge.variable)


def _use_breadth_first(match: Match, edits: TextEdits) -> None:
    """Rewrite shortestPath for Memgraph; reject forms that need its filter, which runs after the search."""
    for path in match.patterns:
        if not path.shortest:
            continue
        edge = path.relationships[0]
        if path.shortest == "all":
            raise QueryError("allShortestPaths is not supported on Memgraph", "use shortestPath, or *1..n")
        if edge.hops is None or edge.hops[0] != 1 or edge.properties or edge.variable in mentioned(match.where):
            raise QueryError(
                "Memgraph finds shortest paths of at least one hop and without conditions on their relationships only",
                "write p = shortestPath((a)-[:TYPE*..5]->(b))",
            )
        if path.variable and path.variable in mentioned(match.where):
            raise QueryError(
                "Memgraph tests only the one path that it found, not longer ones",
                "write p = (a)-[:TYPE*1..5]->(b) WHERE .. RETURN p ORDER BY length(p) LIMIT 1",
            )
        edits.breadth_first(path)


def _check_wrong_answers(item: object) -> None:
    """Reject constructs for which Memgraph 3.12 returns wrong results. It reports unsupported syntax itself."""
    if isinstance(item, Projection):
        late = [*(expression for expression, _ in item.order), *([item.where] if item.where is not None else [])]
        if any(isinstance(part, Subquery) and part.kind == "collect" for value in late for part in walk(value)):
            raise QueryError(
                "Memgraph gives wrong results for a pattern comprehension in ORDER BY and after WITH .. WHERE",
                "make it a column first: WITH n, [..] AS found",
            )
    if isinstance(item, Subquery) and item.kind == "exists":
        last = item.query.parts[0][-1]
        counts = isinstance(last, Projection) and any(
            isinstance(part, Call) and part.name in AGGREGATES for column in last.items for part in walk(column)
        )
        if isinstance(last, Projection) and (counts or last.limit is not None or last.skip is not None):
            raise QueryError("Memgraph ignores LIMIT, SKIP and aggregates in EXISTS", "count outside of it")


def _known(expression: object, parameters: Mapping[str, object]) -> object:
    if isinstance(expression, Literal):
        return expression.value
    return parameters.get(expression.name) if isinstance(expression, Parameter) else None


def _is_ordered(tree: Query) -> bool:
    return any(isinstance(node, Unwind) or (isinstance(node, Projection) and bool(node.order)) for node in walk(tree))
