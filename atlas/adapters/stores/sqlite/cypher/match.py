"""MATCH to a function over rows: joined parts run as SQL, variable-length parts are walked in Python.

Conditions are checked as soon as their names are bound. OPTIONAL MATCH keeps a row without matches once, with nulls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from atlas.adapters.stores.cypher.syntax import Expression, Match
from atlas.adapters.stores.sqlite.cypher.context import Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.expressions.operators import truth
from atlas.adapters.stores.sqlite.cypher.join_step import compile_join
from atlas.adapters.stores.sqlite.cypher.pattern import (
    PathShape,
    PatternGraph,
    RelationshipColumns,
    build_pattern,
    fragments,
    may_share,
)
from atlas.adapters.stores.sqlite.cypher.rank import node_ranks
from atlas.adapters.stores.sqlite.cypher.scope import WHOLE, Binding, NameScope, Needs, add_needs
from atlas.adapters.stores.sqlite.cypher.values import Edge, Node, Path, Row, is_list, mismatch
from atlas.adapters.stores.sqlite.cypher.walk_step import WalkStep, compile_walk

Rows: TypeAlias = Iterator[Row]
Stage: TypeAlias = Callable[[Rows], Rows]
"""A lazy stage of the pipeline: rows in, rows out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the clauses after a MATCH use its rows."""

    needs: Needs
    everything: bool
    """All names are read (`*`)."""
    distinct: bool
    """Only the set of rows matters, not their multiplicity."""
    exhausts: bool
    """All rows are consumed before the first result."""


def compile_match(
    match: Match, scope: NameScope, reading: Reading, context: QueryContext, predicate: bool = False
) -> tuple[Stage, NameScope]:
    """Return the stage and the scope of its rows: the incoming row followed by the columns of the match."""
    pattern = build_pattern(match, scope, context, predicate)
    plan = _Plan(pattern, scope, reading, context, match.optional)
    steps = plan.steps()
    added = plan.scope.width - scope.width

    def stage(rows: Rows) -> Rows:
        for row in rows:
            found = False
            matched: Rows = iter((row,))
            for step in steps:
                matched = step(matched)
            for result in matched:
                found = True
                yield result
            if match.optional and not found:
                yield (*row, *(None,) * added)

    if not match.optional and len(steps) == 1:
        return steps[0], plan.scope
    return stage, plan.scope


class _Plan:
    """Builds the steps of one MATCH; `scope` grows with each step."""

    def __init__(
        self, pattern: PatternGraph, scope: NameScope, reading: Reading, context: QueryContext, optional: bool
    ) -> None:
        self.pattern, self.incoming, self.reading, self.context = pattern, scope, reading, context
        self.scope = scope
        self.optional = optional
        self.pending = list(pattern.conjuncts)
        self.known = {name for name in pattern.nodes if name in scope.names}
        self.done: list[RelationshipColumns] = []
        self.open_parts: list[set[str]] = []
        self.needs = self._needs()

    def _needs(self) -> Needs:
        """Return by name the properties that later clauses, walks, paths and uniqueness read, without SQL's checks."""
        needs: Needs = {name: set(parts) for name, parts in self.reading.needs.items()}
        if self.reading.everything:
            for name in self.pattern.introduced:
                if not name.startswith(" "):
                    needs.setdefault(name, set()).add(WHOLE)
        for path in self.pattern.paths:
            if self.reading.everything or path.name in needs or self._mentioned(path.name):
                for name in (*path.nodes, *path.relations):
                    needs.setdefault(name, set()).add(WHOLE)
        walked = [relation for relation in self.pattern.relations if relation.walked]
        for relation in walked:
            for name in (relation.left, relation.right):
                needs.setdefault(name, set()).add(WHOLE)
            for other in self.pattern.relations:
                if other is not relation and may_share(other, relation):
                    needs.setdefault(other.name, set()).add(WHOLE)
        return needs

    def _mentioned(self, name: str) -> bool:
        return any(name in self.pattern.depends(conjunct) for conjunct in self.pending)

    def steps(self) -> list[Stage]:
        """Return the steps in order; afterwards `scope` is the scope of the match's rows."""
        ranks = node_ranks(self.pattern, self.incoming, self.context)
        stages: list[Stage] = []
        open_parts = self.open_parts = fragments(self.pattern)
        walks = [relation for relation in self.pattern.relations if relation.walked]
        if not walks:
            open_parts = self.open_parts = [set(self.pattern.nodes)]
        while open_parts or walks:
            ready = [walk for walk in walks if self._is_ready(walk, open_parts, ranks)]
            if ready:
                walks.remove(ready[0])
                stages += self._walk(ready[0])
                continue
            part = min(open_parts, key=lambda names: min(ranks[name] for name in names))
            touching = [p for p in open_parts if p & self.known]
            if touching:
                part = touching[0]
            open_parts.remove(part)
            stages += self._join(part, ranks)
        for path in self.pattern.paths:
            if path.name in self.needs or self.reading.everything or self._mentioned(path.name):
                stages.append(self._path(path))
                stages += self._filters()
        return stages

    def _is_ready(self, walk: RelationshipColumns, open_parts: list[set[str]], ranks: dict[str, float]) -> bool:
        """Return whether one end is bound and the other is neither bound nor cheap to find on its own."""
        known = [
            name in self.known and not any(name in part for part in open_parts) for name in (walk.left, walk.right)
        ]
        if all(known):
            return True
        if not any(known) or walk.shortest:
            return False
        far = walk.right if known[0] else walk.left
        part = next((part for part in open_parts if far in part), {far})
        return far not in self.known and min(ranks[name] for name in part) >= 4.0

    def _join(self, names: set[str], ranks: dict[str, float]) -> list[Stage]:
        nodes = [name for name in self.pattern.nodes if name in names]
        relations = [r for r in self.pattern.relations if not r.walked and r.left in names]
        if self._is_settled(nodes, relations):
            return []
        # Names of this match that earlier steps have bound count as incoming here.
        exhausts = self.reading.exhausts and not self.incoming.width
        step = compile_join(nodes, relations, self.pattern, self.scope, ranks, self.pending, self.context, exhausts)
        self.pending = step.left_over
        for conjunct in self.pending:
            add_needs(self.needs, conjunct)
        stage, self.scope = step.finish(self.scope, self.needs, self.optional)
        self.known |= names
        stages = [stage]
        earlier = [r for r in self.done if r.walked]
        self.done += relations
        for relation in relations:
            clashes = [other for other in earlier if may_share(relation, other)]
            if clashes:
                stages.append(self._apart(relation, clashes))
        return stages + self._filters()

    def _is_settled(self, nodes: list[str], relations: list[RelationshipColumns]) -> bool:
        """Return whether the part is a single node that a walk has already found and that nothing else refers to."""
        return not relations and all(
            name in self.known
            and name not in self.incoming.names
            and self.needs.get(name, set[str]()) <= {WHOLE}
            and not self._mentioned(name)
            for name in nodes
        )

    def _walk(self, relation: RelationshipColumns) -> list[Stage]:
        exhaustive: list[Expression] = []
        if relation.shortest:
            paths = {path.name for path in self.pattern.paths if relation.name in path.relations} | {relation.name}
            exhaustive = [c for c in self.pending if self.pattern.depends(c) & paths]
        others = [r for r in self.done if may_share(r, relation)]
        needed = relation.name in self.needs or any(relation.name in path.relations for path in self.pattern.paths)
        needed = needed or self.reading.everything or self._mentioned(relation.name)
        crowded = any(r is not relation and may_share(r, relation) for r in self.pattern.relations)
        only_ends = self.reading.distinct and not needed and not crowded
        reverse = relation.left not in self.known
        near, far = (relation.right, relation.left) if reverse else (relation.left, relation.right)
        step = WalkStep(
            relation=relation,
            reverse=reverse,
            near=self._identity(near),
            far=self._identity(far) if far in self.known else None,
            used=self._used(others),
            only_ends=only_ends and not relation.shortest,
            exhaustive=bool(exhaustive),
        )
        base = self.scope
        if step.far is None:
            names = {**self.scope.names, far: Binding("node", self.scope.width, self.optional)}
            self.scope = replace(self.scope, names=names, width=self.scope.width + 1)
            self.known.add(far)
        self.scope = self.scope.with_value(relation.name)
        self.done.append(relation)
        accept: Evaluator | None = None
        if exhaustive:
            accept = self._accept(relation, exhaustive)
        return [compile_walk(step, base, accept, self.context), *self._filters()]

    def _accept(self, relation: RelationshipColumns, conjuncts: list[Expression]) -> Evaluator:
        """Return the conditions on a shortest path, which select among paths instead of filtering the shortest one."""
        scope = self.scope
        shapes = [path for path in self.pattern.paths if relation.name in path.relations]
        builders = [self._path_builder(path) for path in shapes]
        for path in shapes:
            scope = scope.with_value(path.name)
        tests = [compile_expression(conjunct, scope, self.context) for conjunct in conjuncts]
        self.pending = [conjunct for conjunct in self.pending if conjunct not in conjuncts]

        def accept(row: Row) -> bool:
            full = (*row, *(build(row) for build in builders))
            return all(truth(test(full)) is True for test in tests)

        return accept

    def _filters(self) -> list[Stage]:
        """Return the filters for the conditions whose names are all bound now."""
        in_reach = set(self.scope.names).difference(*self.open_parts)
        ready = [c for c in self.pending if self.pattern.depends(c) <= in_reach]
        self.pending = [c for c in self.pending if c not in ready]
        if not ready:
            return []
        tests = [compile_expression(conjunct, self.scope, self.context) for conjunct in ready]

        def keep(rows: Rows) -> Rows:
            for row in rows:
                self.context.tick()
                if all(truth(test(row)) is True for test in tests):
                    yield row

        return [keep]

    def _identity(self, name: str) -> Callable[[Row], int | None]:
        return node_identity(name, self.scope)

    def _edges(self, relation: RelationshipColumns) -> Callable[[Row], Iterable[Edge]]:
        binding = self.scope.names[relation.name]
        slot = binding.slot
        if binding.kind == "edge":
            return lambda row: (Edge(*cast("tuple[int, str, int, int]", row[slot : slot + 4])),)

        def edges(row: Row) -> Iterable[Edge]:
            value = row[slot]
            return cast("list[Edge]", value) if is_list(value) else (cast("Edge", value),)

        return edges

    def _used(self, relations: list[RelationshipColumns]) -> Callable[[Row], frozenset[Edge]]:
        readers = [self._edges(relation) for relation in relations]
        return lambda row: frozenset(edge for read in readers for edge in read(row))

    def _apart(self, relation: RelationshipColumns, others: list[RelationshipColumns]) -> Stage:
        own, used = self._edges(relation), self._used(others)
        return lambda rows: (row for row in rows if used(row).isdisjoint(own(row)))

    def _path(self, path: PathShape) -> Stage:
        build = self._path_builder(path)
        self.scope = self.scope.with_value(path.name)
        return lambda rows: ((*row, build(row)) for row in rows)

    def _path_builder(self, path: PathShape) -> Callable[[Row], Path]:
        start = self._identity(path.nodes[0])
        edges = [self._edges(self.pattern.relation(name)) for name in path.relations]

        def build(row: Row) -> Path:
            nodes, passed = [cast("int", start(row))], list[Edge]()
            for read in edges:
                for edge in read(row):
                    passed.append(edge)
                    nodes.append(edge.target if edge.source == nodes[-1] else edge.source)
            return Path(tuple(nodes), tuple(passed))

        return build


def node_identity(name: str, scope: NameScope) -> Callable[[Row], int | None]:
    """Return the function that reads a node's id from a row; null gives None, other values than nodes raise."""
    binding = scope.names[name]
    slot = binding.slot
    if binding.kind == "node":
        return lambda row: cast("int | None", row[slot])

    def identity(row: Row) -> int | None:
        value = row[slot]
        if value is None:
            return None
        if not isinstance(value, Node):
            raise mismatch("Node", value)
        return value.id

    return identity
