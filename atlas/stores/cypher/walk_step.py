"""One variable-length or shortest-path relation of a MATCH as a stage: from a known end along the walk, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from atlas.stores.cypher.compile_expression import compile_expression
from atlas.stores.cypher.context import Context, Evaluator
from atlas.stores.cypher.expand import MAX_HOPS, ShortestPaths, Walk, reachable, trails
from atlas.stores.cypher.graph import edge_types
from atlas.stores.cypher.pattern import Relation
from atlas.stores.cypher.scope import Scope
from atlas.stores.cypher.values import Edge, Row, equals

_SEARCHES = 16
"""Shortest-path searches kept at a time, one per start node."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """The stage appends the far node's id, if `far` is None, and the relationships (a list; one for a single hop)."""

    relation: Relation
    reverse: bool
    """Walked from the right end; the list is turned round again."""
    near: Callable[[Row], int | None]
    far: Callable[[Row], int | None] | None
    used: Callable[[Row], frozenset[Edge]]
    only_ends: bool
    """Nobody reads the relationships or counts the ways: each end once is enough."""
    exhaustive: bool
    """Conditions choose among the paths of a shortestPath."""


def compile_walk(
    step: WalkStep, scope: Scope, accept: Evaluator | None, context: Context
) -> Callable[[Iterator[Row]], Iterator[Row]]:
    """Return the stage; `accept` tests a row with the relationships appended (exhaustive shortest paths only)."""
    relation = step.relation
    hops = relation.hops or (1, 1)
    single = relation.hops is None
    make_walk = _walk_maker(step, scope, context)

    def tail(edges: tuple[Edge, ...]) -> object:
        if single:
            return edges[0]
        return list(reversed(edges)) if step.reverse else list(edges)

    def ends(row: Row, start: int, target: int | None) -> Iterator[tuple[object, int]]:
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
            yield tail(edges), node

    searches: dict[tuple[int, object], ShortestPaths] = {}

    def shortest(row: Row, start: int, target: int | None) -> Iterator[tuple[object, int]]:
        assert target is not None
        every = relation.shortest == "all"
        walk = make_walk(row)
        if accept is not None:
            yield from chosen(row, walk, start, target, every)
            return
        key = (start, walk.allowed if relation.properties else None)
        search = searches.get(key)
        if search is None:
            if len(searches) >= _SEARCHES:
                context.charge(-sum(2 * len(old.depths) for old in searches.values()))
                searches.clear()
            search = searches[key] = ShortestPaths(walk, start, hops[1])
        for edges in search.to(target, hops[0], every, context):
            yield tail(edges), target

    def chosen(row: Row, walk: Walk, start: int, target: int, every: bool) -> Iterator[tuple[object, int]]:
        assert accept is not None
        for length in range(hops[0], (MAX_HOPS if hops[1] is None else hops[1]) + 1):
            found = False
            for edges, node in trails(walk, start, (length, length), frozenset(), target, context):
                if accept((*row, tail(edges))):
                    found = True
                    yield tail(edges), node
                    if not every:
                        return
            if found:
                return

    follow = shortest if relation.shortest else ends

    def stage(rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            start = step.near(row)
            target = None if step.far is None else step.far(row)
            if start is None or (step.far is not None and target is None):
                continue
            for value, node in follow(row, start, target):
                yield (*row, value) if step.far is not None else (*row, node, value)

    return stage


def _walk_maker(step: WalkStep, scope: Scope, context: Context) -> Callable[[Row], Walk]:
    """Return the walk for a row; property maps of the relation may depend on the row."""
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
