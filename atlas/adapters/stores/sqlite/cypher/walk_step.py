"""A variable-length or shortest-path relationship of a MATCH as a stage: follows it from a bound end, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from atlas.adapters.stores.sqlite.cypher.context import Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expand import MAX_HOPS, ShortestPaths, Walk, reachable, trails
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.graph import edge_types
from atlas.adapters.stores.sqlite.cypher.pattern import RelationshipColumns
from atlas.adapters.stores.sqlite.cypher.scope import NameScope
from atlas.adapters.stores.sqlite.cypher.values import Edge, Row, equals

_SEARCHES = 16
"""Shortest-path searches cached at a time, one per start node."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """Appends the far node's id, if `far` is None, and the relationships (a list; one for a single hop)."""

    relation: RelationshipColumns
    reverse: bool
    """Walked from the right end; the resulting list is reversed."""
    near: Callable[[Row], int | None]
    far: Callable[[Row], int | None] | None
    used: Callable[[Row], frozenset[Edge]]
    only_ends: bool
    """The query reads neither the relationships nor the number of paths: each end once is enough."""
    exhaustive: bool
    """Conditions select among the paths of a shortestPath."""


_Follow: TypeAlias = Callable[[Row, int, "int | None"], Iterator[tuple[object, int]]]
"""Maps a row, the near node and the far node (if bound) to the appended values: relationships, far node."""


def compile_walk(
    step: WalkStep, scope: NameScope, accept: Evaluator | None, context: QueryContext
) -> Callable[[Iterator[Row]], Iterator[Row]]:
    """Return the stage; `accept` tests a row with the relationships appended (exhaustive shortest paths only)."""
    make_walk = _walk_maker(step, scope, context)
    if not step.relation.shortest:
        follow = _ends(step, make_walk, context)
    elif accept is None:
        follow = _shortest(step, make_walk, context)
    else:
        follow = _shortest_accepted(step, make_walk, accept, context)

    def stage(rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            start = step.near(row)
            target = None if step.far is None else step.far(row)
            if start is None or (step.far is not None and target is None):
                continue
            for value, node in follow(row, start, target):
                yield (*row, value) if step.far is not None else (*row, node, value)

    return stage


def _ends(step: WalkStep, make_walk: Callable[[Row], Walk], context: QueryContext) -> _Follow:
    hops = step.relation.hops or (1, 1)

    def follow(row: Row, start: int, target: int | None) -> Iterator[tuple[object, int]]:
        walk = make_walk(row)
        if step.only_ends and hops[0] <= 1:
            for node in reachable(walk, start, hops, context):
                if target is None:
                    yield None, node
                elif node == target:
                    yield None, node
                    break
            return
        for edges, node in trails(walk, start, hops, step.used(row), target, context):
            yield _tail(step, edges), node

    return follow


def _shortest(step: WalkStep, make_walk: Callable[[Row], Walk], context: QueryContext) -> _Follow:
    low, high = step.relation.hops or (1, 1)
    every = step.relation.shortest == "all"
    searches: dict[tuple[int, object], ShortestPaths] = {}

    def follow(row: Row, start: int, target: int | None) -> Iterator[tuple[object, int]]:
        assert target is not None
        walk = make_walk(row)
        key = (start, walk.allowed if step.relation.properties else None)
        search = searches.get(key)
        if search is None:
            if len(searches) >= _SEARCHES:
                context.charge(-sum(old.held for old in searches.values()))
                searches.clear()
            search = searches[key] = ShortestPaths(walk, start, high)
        for edges in search.to(target, low, every, context):
            yield _tail(step, edges), target

    return follow


def _shortest_accepted(
    step: WalkStep, make_walk: Callable[[Row], Walk], accept: Evaluator, context: QueryContext
) -> _Follow:
    """Follow paths of increasing length until the conditions accept some of one length."""
    low, high = step.relation.hops or (1, 1)
    every = step.relation.shortest == "all"

    def follow(row: Row, start: int, target: int | None) -> Iterator[tuple[object, int]]:
        assert target is not None
        walk = make_walk(row)
        for length in range(low, (MAX_HOPS if high is None else high) + 1):
            found = False
            for edges, node in trails(walk, start, (length, length), frozenset(), target, context):
                if accept((*row, _tail(step, edges))):
                    found = True
                    yield _tail(step, edges), node
                    if not every:
                        return
            if found:
                return

    return follow


def _tail(step: WalkStep, edges: tuple[Edge, ...]) -> object:
    if step.relation.hops is None:
        return edges[0]
    return list(reversed(edges)) if step.reverse else list(edges)


def _walk_maker(step: WalkStep, scope: NameScope, context: QueryContext) -> Callable[[Row], Walk]:
    """Return the walk for a row; property maps of the relationship may depend on the row."""
    relation = step.relation
    types = edge_types(relation.types)
    wanted = [(key, compile_expression(value, scope, context)) for key, value in relation.properties]

    def make(row: Row) -> Walk:
        values = [(key, value(row)) for key, value in wanted]

        def allowed(edge: Edge) -> bool:
            record = context.graph.edge(edge)
            return all(equals(record.get(key), value) is True for key, value in values)

        walk = Walk(relation.direction, types, allowed if values else None)
        return walk.reverse() if step.reverse else walk

    return make
