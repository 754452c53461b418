"""The joined part of a MATCH as one SQL statement per incoming row: conditions first, then the required columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from atlas.adapters.stores.cypher.syntax import Expression, Variable
from atlas.adapters.stores.sqlite.cypher.context import QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.expressions.sql_pattern import LABEL_RANK, Bound, SqlPattern
from atlas.adapters.stores.sqlite.cypher.graph import EDGE_COLUMNS, LABEL, NODE_COLUMNS, TYPE, Column
from atlas.adapters.stores.sqlite.cypher.pattern import PatternGraph, RelationshipColumns
from atlas.adapters.stores.sqlite.cypher.pushdown import Pushdown
from atlas.adapters.stores.sqlite.cypher.scope import LABEL_OF, TYPE_OF, WHOLE, Binding, NameScope, Needs
from atlas.adapters.stores.sqlite.cypher.values import Edge, Node, Row, mismatch
from atlas.adapters.stores.sqlite.rows import select

_VISIBLE = "WITH visible AS MATERIALIZED (SELECT id FROM node) "


@dataclass(slots=True)
class JoinStep:
    """One statement (a UNION ALL over the readings of undirected relationships), before its columns are selected."""

    nodes: list[str]
    relations: list[RelationshipColumns]
    variants: list[SqlPattern]
    bound: Bound
    left_over: list[Expression]
    """Conditions that SQL does not check."""
    context: QueryContext
    scans: bool
    """The statement will read all rows of a large part of the graph."""

    def finish(
        self, scope: NameScope, needs: Needs, optional: bool
    ) -> tuple[Callable[[Iterator[Row]], Iterator[Row]], NameScope]:
        """Return the stage, and the scope with one slot per column in `needs`."""
        columns: list[Callable[[SqlPattern], str]] = []
        names, atoms = dict(scope.names), dict(scope.atoms)
        for name in self.nodes:
            fresh = name not in scope.names
            wanted = needs.get(name, set[str]())
            if fresh:
                whole = WHOLE in wanted
                names[name] = Binding("node", scope.width + len(columns) if whole else -1, optional)
                if whole:
                    columns.append(_identity(name))
                elif "#count" in wanted and optional:
                    names[name] = Binding("mark", scope.width + len(columns))
                    columns.append(_mark)
            for part in sorted(wanted):
                column = LABEL if part == LABEL_OF else NODE_COLUMNS.get(part)
                # Columns of a bound node, read in an OPTIONAL MATCH, would be null where nothing matches.
                if column is not None and (name, part) not in atoms and (fresh or not optional):
                    atoms[name, part] = (scope.width + len(columns), column.kind)
                    columns.append(_column(name, part))
        for relation in self.relations:
            if relation.name in scope.names:
                continue
            wanted = needs.get(relation.name, set[str]())
            whole = WHOLE in wanted
            names[relation.name] = Binding("edge", scope.width + len(columns) if whole else -1, optional)
            if "#count" in wanted and optional and not whole:
                names[relation.name] = Binding("mark", scope.width + len(columns))
                columns.append(_mark)
            if whole:
                columns += [_key(relation.name, part) for part in ("source", "type", "target", "line")]
            for part in sorted(wanted):
                column: Column | None = TYPE if part == TYPE_OF else EDGE_COLUMNS.get(part)
                if column is not None:
                    atoms[relation.name, part] = (scope.width + len(columns), column.kind)
                    columns.append(_column(relation.name, part))
        width = scope.width + max(len(columns), 1)
        chosen = [[column(variant) for column in columns] for variant in self.variants]
        bare = False
        if self.scans:
            bare = any([v.skip_bare_nodes(texts) for v, texts in zip(self.variants, chosen, strict=True)])
        selects = [v.select(texts) for v, texts in zip(self.variants, chosen, strict=True)]
        sql = _VISIBLE * bare + " UNION ALL ".join(selects)
        return self._stage(sql, scope.width == 0), replace(scope, names=names, atoms=atoms, width=width)

    def _stage(self, sql: str, alone: bool) -> Callable[[Iterator[Row]], Iterator[Row]]:
        connection, bound = self.context.graph.connection, self.bound

        def stage(rows: Iterator[Row]) -> Iterator[Row]:
            for row in rows:
                values = bound.values(row)
                if alone:
                    yield from select(connection, sql, values)
                else:
                    for found in select(connection, sql, values):
                        yield (*row, *found)

        return stage


def compile_join(
    nodes: list[str],
    relations: list[RelationshipColumns],
    pattern: PatternGraph,
    scope: NameScope,
    ranks: dict[str, float],
    conjuncts: list[Expression],
    context: QueryContext,
    exhausts: bool,
) -> JoinStep:
    """Return the step with every condition that SQL can check; nodes and relationships in `scope` come from the row."""
    bound = Bound()
    introduced = pattern.introduced - set(scope.names)
    undirected = [relation for relation in relations if relation.direction == "both"]
    variants: list[SqlPattern] = []
    accepted: list[Expression] = []
    for directions in product(("out", "in"), repeat=len(undirected)):
        turned = dict(zip((relation.name for relation in undirected), directions, strict=True))
        variant = SqlPattern(bound)
        for name in nodes:
            if name in scope.names:
                variant.ids[name] = bound.add(_given_node(name, scope, context))
        directed = [replace(r, direction=turned.get(r.name, r.direction)) for r in relations]
        variant.join(nodes, directed, ranks)
        for relation in relations:
            if turned.get(relation.name) == "in":
                alias = variant.edges[relation.name]
                variant.conditions.append(f"{alias}.source <> {alias}.target")
            if relation.name in scope.names:
                _fix_edge(variant, relation, scope, context)
        push = Pushdown(variant, scope, context, introduced)
        accepted = []
        for conjunct in conjuncts:
            if pattern.depends(conjunct) <= set(nodes) | {r.name for r in relations} | set(scope.names):
                condition = push.translate(conjunct)
                if condition is not None:
                    accepted.append(conjunct)
                    variant.conditions.append(condition)
        variants.append(variant)
    for name in nodes:
        for variant in variants:
            # A bound node without a relationship in this part must still be a node, not null.
            if name in scope.names and not relations:
                variant.conditions.append(f"{variant.ids[name]} IS NOT NULL")
    left_over = [conjunct for conjunct in conjuncts if conjunct not in accepted]
    scans = exhausts and min(ranks[name] for name in nodes) >= LABEL_RANK
    return JoinStep(nodes, relations, variants, bound, left_over, context, scans)


def _given_node(name: str, scope: NameScope, context: QueryContext) -> Callable[[Row], object]:
    read = compile_expression(Variable(name), scope, context)

    def identity(row: Row) -> object:
        value = read(row)
        if value is not None and not isinstance(value, Node):
            raise mismatch("Node", value)
        return value.id if value is not None else None

    return identity


def _fix_edge(variant: SqlPattern, relation: RelationshipColumns, scope: NameScope, context: QueryContext) -> None:
    """Require the matched relationship to be the bound one."""
    read = compile_expression(Variable(relation.name), scope, context)

    def part(name: str) -> Callable[[Row], object]:
        def value(row: Row) -> object:
            edge = read(row)
            if edge is not None and not isinstance(edge, Edge):
                raise mismatch("Relationship", edge)
            return None if edge is None else getattr(edge, name)

        return value

    alias = variant.edges[relation.name]
    for name in ("source", "type", "target", "line"):
        variant.conditions.append(f"{alias}.{name} = {variant.bound.add(part(name))}")


def _mark(_: SqlPattern) -> str:
    return "1"


def _identity(name: str) -> Callable[[SqlPattern], str]:
    return lambda variant: variant.ids[name]


def _key(name: str, part: str) -> Callable[[SqlPattern], str]:
    return lambda variant: f"{variant.edges[name]}.{part}"


def _column(name: str, part: str) -> Callable[[SqlPattern], str]:
    def read(variant: SqlPattern) -> str:
        place = variant.column(name, part)
        assert place is not None
        return place[1].sql.format(place[0])

    return read
