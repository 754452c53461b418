"""A syntax tree to one function over rows: chained clauses, concatenated unions, subqueries in their own scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from atlas.adapters.stores.cypher.syntax import Clause, Match, Projection, Query, Subquery, Unwind
from atlas.adapters.stores.sqlite.cypher.context import Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.match import Reading, compile_match
from atlas.adapters.stores.sqlite.cypher.meter import ListBuilder, key_bytes
from atlas.adapters.stores.sqlite.cypher.project import compile_projection
from atlas.adapters.stores.sqlite.cypher.scope import NameScope, aggregates, ignores_repeats, needs_until_projection
from atlas.adapters.stores.sqlite.cypher.values import Row, as_list, group_key, is_list
from atlas.core.errors import QueryError

Rows: TypeAlias = Iterator[Row]
Stage: TypeAlias = Callable[[Rows], Rows]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A runnable query: `start` maps outer rows to result rows, `columns` names their last values."""

    start: Stage
    columns: tuple[str, ...]


def compile_query(
    query: Query,
    scope: NameScope,
    context: QueryContext,
    distinct: bool = False,
    predicate: bool = False,
    most: int | None = None,
) -> Compiled:
    """Compile all parts. Raises QueryError.

    `distinct`: the caller only checks whether rows exist; `most`: it reads at most this many rows.
    """
    most = most if len(query.parts) == 1 else None
    parts = [_compile_part(part, scope, context, distinct, predicate, most) for part in query.parts]
    for part in parts[1:]:
        if part.columns != parts[0].columns:
            columns = f"{', '.join(parts[0].columns)} / {', '.join(part.columns)}"
            raise QueryError(
                f"the parts of a UNION return different columns: {columns}",
                "give them the same names, in the same order, with AS",
            )
    if len(parts) == 1:
        return parts[0]
    width = len(parts[0].columns)

    def union(rows: Rows) -> Rows:
        incoming = list(rows)
        seen: set[tuple[object, ...]] = set()
        for part in parts:
            for row in part.start(iter(incoming)):
                if not query.union_all:
                    key = tuple(group_key(value) for value in row[len(row) - width :])
                    if key in seen:
                        continue
                    context.charge(key_bytes(row[len(row) - width :]))
                    seen.add(key)
                yield row

    return Compiled(union, parts[0].columns)


def _compile_part(
    clauses: tuple[Clause, ...],
    scope: NameScope,
    context: QueryContext,
    distinct: bool,
    predicate: bool,
    most: int | None,
) -> Compiled:
    stages: list[Stage] = []
    columns: tuple[str, ...] = ()
    for index, clause in enumerate(clauses):
        if isinstance(clause, Match):
            needs, projection, everything = needs_until_projection(clauses[index + 1 :])
            repeats = distinct if projection is None else ignores_repeats(projection)
            reading = Reading(needs, everything, repeats, projection is not None and _reads_all(projection))
            stage, scope = compile_match(clause, scope, reading, context, predicate)
        elif isinstance(clause, Unwind):
            stage, scope = _unwind(clause, scope, context)
        else:
            countable = scope.base == 0 and _is_plain(scope)
            last = index == len(clauses) - 1
            stage, scope, names = compile_projection(clause, scope, context, countable, most if last else None)
            columns = tuple(names)
        stages.append(stage)

    def start(rows: Rows) -> Rows:
        for stage in stages:
            rows = stage(rows)
        return rows

    return Compiled(start, columns)


def _is_plain(scope: NameScope) -> bool:
    """Return whether rows hold only database values, which are hashable and unequal whenever they differ."""
    return all(binding.kind != "value" for binding in scope.names.values())


def _reads_all(projection: Projection) -> bool:
    """Return whether a projection consumes all rows before it yields the first."""
    return bool(projection.order) or any(aggregates(item.expression) for item in projection.items)


def _unwind(clause: Unwind, scope: NameScope, context: QueryContext) -> tuple[Stage, NameScope]:
    if clause.variable in scope.names:
        raise QueryError(f"variable `{clause.variable}` is already defined", "choose another name after AS")
    source = compile_expression(clause.source, scope, context)

    def stage(rows: Rows) -> Rows:
        for row in rows:
            value = source(row)
            if value is None:
                continue
            for item in as_list(value) if is_list(value) else [value]:
                context.tick()
                yield (*row, item)

    return stage, scope.with_value(clause.variable)


def compile_subquery(subquery: Subquery, scope: NameScope, context: QueryContext) -> Evaluator:
    """Return EXISTS, COUNT or COLLECT (and patterns used as expressions) as a function of a row."""
    exists = subquery.kind in ("exists", "pattern")
    inner = replace(scope.enter())
    compiled = compile_query(subquery.query, inner, context, distinct=exists, predicate=subquery.kind == "pattern")
    start = compiled.start
    if exists:
        return lambda row: next(start(iter((row,))), None) is not None
    if subquery.kind == "count":
        return lambda row: sum(1 for _ in start(iter((row,))))

    def collect(row: Row) -> list[object]:
        items = ListBuilder(context.guard)
        for found in start(iter((row,))):
            items.add(found[-1])
        return items.finished()

    return collect
