"""The patterns of one MATCH as a small graph of named nodes and relationships, with all conditions as one flat list.

Property maps, inline WHERE and WHERE become conjuncts; the planner decides later which step checks which conjunct.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atlas.adapters.stores.cypher.syntax import (
    Boolean,
    Comparison,
    Expression,
    LabelExpression,
    LabelTest,
    Match,
    NodePattern,
    PathPattern,
    Property,
    RelationshipPattern,
    Variable,
)
from atlas.adapters.stores.sqlite.cypher.context import QueryContext
from atlas.adapters.stores.sqlite.cypher.graph import type_names
from atlas.adapters.stores.sqlite.cypher.scope import NameScope, mentioned

MAX_ELEMENTS = 60
"""Nodes and relationships of one MATCH; SQLite joins at most 64 tables."""
MAX_UNDIRECTED = 3
"""Undirected relationships that one SQL statement expands in both directions; others are followed one at a time."""


@dataclass(frozen=True, slots=True)
class RelationshipColumns:
    """A relationship pattern between two named nodes, in the order written."""

    name: str
    left: str
    right: str
    direction: str
    types: LabelExpression | None
    hops: tuple[int, int | None] | None
    """None: exactly one hop, bound to a single value."""
    properties: tuple[tuple[str, Expression], ...]
    """For variable length only: every relationship must have these properties."""
    shortest: str
    walked: bool
    """Followed in Python instead of joined in SQL."""


@dataclass(frozen=True, slots=True)
class PathShape:
    """A named path: the names along it, one more node than relationships."""

    name: str
    nodes: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(slots=True)
class PatternGraph:
    """The content of one MATCH."""

    nodes: list[str] = field(default_factory=list[str])
    relations: list[RelationshipColumns] = field(default_factory=list[RelationshipColumns])
    paths: list[PathShape] = field(default_factory=list[PathShape])
    conjuncts: list[Expression] = field(default_factory=list[Expression])
    introduced: set[str] = field(default_factory=set[str])
    """New names, including walked relationships and paths."""

    def relation(self, name: str) -> RelationshipColumns:
        """Return a relationship by name."""
        return next(relation for relation in self.relations if relation.name == name)

    def depends(self, expression: Expression) -> set[str]:
        """Return the new names that an expression reads."""
        return mentioned(expression) & self.introduced


def build_pattern(match: Match, scope: NameScope, context: QueryContext, predicate: bool = False) -> PatternGraph:
    """Return the pattern graph; `predicate` forbids new names. Raises QueryError for a name with two meanings."""
    graph = PatternGraph()
    for path in match.patterns:
        _add_path(graph, path, scope, context, predicate)
    if match.where is not None:
        graph.conjuncts += _split(match.where)
    if len(graph.nodes) + len(graph.relations) > MAX_ELEMENTS:
        raise context.error(
            f"a MATCH has more than {MAX_ELEMENTS} nodes and relationships", match.patterns[0].at, "split it in two"
        )
    return graph


def _split(expression: Expression) -> list[Expression]:
    if isinstance(expression, Boolean) and expression.operator == "AND":
        return [part for operand in expression.operands for part in _split(operand)]
    return [expression]


def _add_path(graph: PatternGraph, path: PathPattern, scope: NameScope, context: QueryContext, predicate: bool) -> None:
    names = [_add_node(graph, node, scope, context, predicate) for node in path.nodes]
    relations = [
        _add_relation(graph, pattern, names[i], names[i + 1], path.shortest, scope, context, predicate)
        for i, pattern in enumerate(path.relationships)
    ]
    if path.variable:
        if path.variable in scope.names or path.variable in graph.introduced:
            raise context.error(f"variable `{path.variable}` is already defined", path.at, "choose another name")
        graph.introduced.add(path.variable)
        graph.paths.append(PathShape(path.variable, tuple(names), tuple(relations)))


def _add_node(graph: PatternGraph, node: NodePattern, scope: NameScope, context: QueryContext, predicate: bool) -> str:
    name = node.variable
    variable = Variable(name, at=node.at)
    if name in scope.names:
        if scope.names[name].kind == "edge":
            raise context.error(f"variable `{name}` is a relationship, not a node", node.at)
    elif any(relation.name == name for relation in graph.relations) or any(p.name == name for p in graph.paths):
        raise context.error(f"variable `{name}` is already used for something else", node.at, "choose another name")
    elif predicate and not name.startswith(" "):
        raise context.error(
            f"variable `{name}` is not defined", node.at, "a pattern used as a predicate cannot introduce names"
        )
    else:
        graph.introduced.add(name)
    if name not in graph.nodes:
        graph.nodes.append(name)
    if node.labels is not None:
        graph.conjuncts.append(LabelTest(variable, node.labels))
    graph.conjuncts += [Comparison(Property(variable, key), (("=", value),)) for key, value in node.properties]
    if node.where is not None:
        graph.conjuncts += _split(node.where)
    return name


def _add_relation(
    graph: PatternGraph,
    pattern: RelationshipPattern,
    left: str,
    right: str,
    shortest: str,
    scope: NameScope,
    context: QueryContext,
    predicate: bool,
) -> str:
    name = pattern.variable
    variable = Variable(name, at=pattern.at)
    walked = pattern.hops is not None or bool(shortest)
    if name in scope.names:
        if walked or scope.names[name].kind == "node":
            raise context.error(f"variable `{name}` is already defined", pattern.at, "choose another name")
    elif name in graph.introduced:
        raise context.error(f"variable `{name}` is used twice in one MATCH", pattern.at, "choose another name")
    elif predicate and not name.startswith(" "):
        raise context.error(
            f"variable `{name}` is not defined", pattern.at, "a pattern used as a predicate cannot introduce names"
        )
    else:
        graph.introduced.add(name)
    undirected = sum(relation.direction == "both" and not relation.walked for relation in graph.relations)
    if pattern.direction == "both" and undirected >= MAX_UNDIRECTED and name not in scope.names:
        walked = True
    hops = pattern.hops
    if hops is not None and hops[1] is not None and hops[1] > 1000:
        raise context.error("a path has at most 1,000 hops", pattern.at)
    single = walked and hops is None
    graph.relations.append(
        RelationshipColumns(
            name,
            left,
            right,
            pattern.direction,
            pattern.types,
            hops,
            () if not walked else pattern.properties,
            shortest,
            walked,
        )
    )
    if not walked or (single and not shortest):
        graph.conjuncts += [Comparison(Property(variable, key), (("=", value),)) for key, value in pattern.properties]
    if pattern.where is not None:
        graph.conjuncts += _split(pattern.where)
    return name


def may_share(first: RelationshipColumns, second: RelationshipColumns) -> bool:
    """Return whether two relationships of one MATCH could be the same and must be kept distinct."""
    left, right = type_names(first.types), type_names(second.types)
    return left is None or right is None or bool(left & right)


def fragments(graph: PatternGraph) -> list[set[str]]:
    """Return the sets of nodes that joined (not walked) relationships connect, in order of appearance."""
    groups: list[set[str]] = [{name} for name in graph.nodes]
    for relation in graph.relations:
        if not relation.walked:
            touched = [group for group in groups if relation.left in group or relation.right in group]
            merged = set[str]().union(*touched)
            groups = [merged if group is touched[0] else group for group in groups if group not in touched[1:]]
    return groups
