"""WITH and RETURN to a function over rows: columns, grouping, DISTINCT, ORDER BY, SKIP, LIMIT and WHERE.

Without DISTINCT and aggregates, ORDER BY and WHERE see the incoming names as well as the new ones; otherwise they see
only the projected names. The slots of an outer query (`scope.base`) stay at the front of every row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from sys import getsizeof
from typing import TypeAlias

from atlas.adapters.stores.cypher.syntax import Call, Expression, Literal, Projection, ReturnItem, Slot, Variable
from atlas.adapters.stores.sqlite.cypher.aggregate import Accumulator, make_accumulator
from atlas.adapters.stores.sqlite.cypher.context import Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.expressions.operators import truth
from atlas.adapters.stores.sqlite.cypher.meter import ENTRY, POINTER, key_bytes
from atlas.adapters.stores.sqlite.cypher.scope import Binding, NameScope, aggregates, substitute
from atlas.adapters.stores.sqlite.cypher.sorter import Sorter
from atlas.adapters.stores.sqlite.cypher.values import Row, group_key
from atlas.core.errors import QueryError

Rows: TypeAlias = Iterator[Row]
_CHUNK = 4_000
_MAX_COUNTED = 20_000_000
"""Bytes of rows that are counted before they are grouped."""
_GROUP, _AGGREGATE = 200, 60
"""Bytes of a group and of each of its aggregates."""


def compile_projection(
    projection: Projection, scope: NameScope, context: QueryContext, countable: bool, most: int | None = None
) -> tuple[Callable[[Rows], Rows], NameScope, list[str]]:
    """Return the stage, the scope of its rows and the column names.

    `countable`: incoming rows are plain database values, so equal rows may be counted before they are grouped. `most`:
    the maximum number of rows that are read.
    """
    items = _items(projection, scope, context)
    names = [item.name for item in items]
    after = replace(
        scope,
        names={**scope.outer, **{name: Binding("value", scope.base + i) for i, name in enumerate(names)}},
        atoms={},
        width=scope.base + len(names),
    )
    skip = _bound(projection.skip, "SKIP", context) or 0
    limit = _bound(projection.limit, "LIMIT", context)
    keyed = any(aggregates(item.expression) for item in items)
    if keyed:
        produce, order_scope, mapping = _grouping(items, projection, scope, context, countable)
    elif projection.distinct:
        produce, order_scope, mapping = _distinct(items, scope, after, context)
    else:
        produce, order_scope, mapping = _plain(items, scope, context)
    if keyed and projection.distinct:
        produce = _unique(produce, scope.base, len(items), context)
    order = _order(projection, order_scope, mapping, keyed or projection.distinct, context)
    where = None
    if projection.where is not None:
        where = compile_expression(substitute(projection.where, mapping), order_scope, context)
    cut = len(items)
    base = scope.base
    read = most if where is None and limit is None else limit
    keep = None if read is None else skip + read

    def stage(rows: Rows) -> Rows:
        pairs = produce(rows)
        if order:
            pairs = _sorted(pairs, order, keep, context)
        for row in islice(pairs, skip, None if limit is None else skip + limit):
            if where is None or truth(where(row)) is True:
                yield (*row[:base], *row[len(row) - cut :]) if base or len(row) != cut else row

    return stage, after, names


def _items(projection: Projection, scope: NameScope, context: QueryContext) -> list[ReturnItem]:
    items = [ReturnItem(Variable(name), name) for name in scope.visible()] if projection.star else []
    if projection.star and not items and not projection.items:
        raise context.error("`*` has nothing to return: no variables are in scope", projection.at)
    items += projection.items
    names = [item.name for item in items]
    for item in items:
        if names.count(item.name) > 1:
            raise context.error(f"two columns are called `{item.name}`", item.at, "rename one with AS")
    return items


def _bound(expression: Expression | None, clause: str, context: QueryContext) -> int | None:
    if expression is None:
        return None
    value = compile_expression(expression, NameScope(), context)(())
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise QueryError(f"{clause} takes a non-negative integer", "for example: LIMIT 10")
    return value


Produce: TypeAlias = Callable[[Rows], Rows]
"""Yields rows that end with the projected values and begin with the values that ORDER BY and WHERE may read."""
_Mapping: TypeAlias = dict[Expression, Expression]


def _plain(items: list[ReturnItem], scope: NameScope, context: QueryContext) -> tuple[Produce, NameScope, _Mapping]:
    outputs = [compile_expression(item.expression, scope, context) for item in items]
    names = dict(scope.names)
    atoms = dict(scope.atoms)
    for index, item in enumerate(items):
        names[item.name] = Binding("value", scope.width + index)
        if not (isinstance(item.expression, Variable) and item.expression.name == item.name):
            atoms = {key: place for key, place in atoms.items() if key[0] != item.name}
    extended = replace(scope, names=names, atoms=atoms, width=scope.width + len(items))

    def produce(rows: Rows) -> Rows:
        for row in rows:
            context.tick()
            yield (*row, *[output(row) for output in outputs])

    return produce, extended, {}


def _distinct(
    items: list[ReturnItem], scope: NameScope, after: NameScope, context: QueryContext
) -> tuple[Produce, NameScope, _Mapping]:
    outputs = [compile_expression(item.expression, scope, context) for item in items]
    base = scope.base

    def produce(rows: Rows) -> Rows:
        for row in rows:
            context.tick()
            yield (*row[:base], *[output(row) for output in outputs])

    mapping: _Mapping = {item.expression: Slot(base + i) for i, item in enumerate(items)}
    return _unique(produce, base, len(items), context), after, mapping


def _unique(produce: Produce, base: int, count: int, context: QueryContext) -> Produce:
    def unique(rows: Rows) -> Rows:
        seen: set[tuple[object, ...]] = set()
        held = 0
        for row in produce(rows):
            values = (*row[len(row) - count :], *row[:base])
            key = tuple([group_key(value) for value in values])
            if key not in seen:
                size = key_bytes(values)
                context.charge(size)
                held += size
                seen.add(key)
                yield row
        context.charge(-held)

    return unique


def _grouping(
    items: list[ReturnItem], projection: Projection, scope: NameScope, context: QueryContext, countable: bool
) -> tuple[Produce, NameScope, _Mapping]:
    """Rows consist of the base, group keys, aggregates and projected values."""
    keys = [item.expression for item in items if not aggregates(item.expression)]
    calls: list[Call] = []
    for tree in (*(item.expression for item in items), *(expression for expression, _ in projection.order)):
        calls += [call for call in aggregates(tree) if call not in calls]
    base = scope.base
    mapping: _Mapping = {key: Slot(base + i) for i, key in enumerate(keys)}
    mapping |= {call: Slot(base + len(keys) + i) for i, call in enumerate(calls)}
    grouped = NameScope(dict(scope.outer), {}, base + len(keys) + len(calls), base, scope.outer)
    outputs = [_final(item, mapping, grouped, scope, context) for item in items]
    group = _AggregateGroup(
        [compile_expression(key, scope, context) for key in keys],
        [_aggregate(call, scope, context) for call in calls],
        base,
        context,
    )

    def produce(rows: Rows) -> Rows:
        weighted = _counted(rows, context) if countable else ((row, 1) for row in rows)
        for row in group.rows(weighted):
            yield (*row, *[output(row) for output in outputs])

    names = {**scope.outer, **{item.name: Binding("value", grouped.width + i) for i, item in enumerate(items)}}
    return produce, replace(grouped, names=names, width=grouped.width + len(items)), mapping


def _final(
    item: ReturnItem, mapping: _Mapping, grouped: NameScope, scope: NameScope, context: QueryContext
) -> Evaluator:
    expression = substitute(item.expression, mapping)
    try:
        return compile_expression(expression, grouped, context)
    except QueryError as error:
        if "is not defined" in error.message and not aggregates(expression):
            raise context.error(
                f"`{item.name}` mixes an aggregate with a value that is not grouped by",
                item.at,
                "project the value as its own column first",
            ) from error
        raise


@dataclass(frozen=True, slots=True)
class _Aggregate:
    make: Callable[[], Accumulator]
    value: Evaluator


def _aggregate(call: Call, scope: NameScope, context: QueryContext) -> _Aggregate:
    arguments = 2 if call.name.startswith("percentile") else 1
    if call.star and call.name != "count":
        raise context.error(f"{call.name}(*) does not exist", call.at, "only count takes *")
    if not call.star and len(call.arguments) != arguments:
        raise context.error(f"{call.name}() takes {arguments} argument(s), {len(call.arguments)} given", call.at)
    if any(aggregates(argument) for argument in call.arguments):
        raise context.error("aggregates cannot be nested", call.at, "aggregate in WITH first")
    share = 0.0
    if arguments == 2:
        given = compile_expression(call.arguments[1], NameScope(), context)(())
        if not isinstance(given, (int, float)) or isinstance(given, bool) or not 0 <= given <= 1:
            raise context.error("a percentile is between 0.0 and 1.0", call.at)
        share = float(given)
    counted = Literal(True, "bool") if _counts_all(call, scope) else call.arguments[0]
    value = compile_expression(counted, scope, context)
    return _Aggregate(lambda: make_accumulator(call.name, call.distinct, context.guard, share), value)


def _counts_all(call: Call, scope: NameScope) -> bool:
    """Return whether the call is `count(*)`, or `count(n)` of an entity that cannot be null and has no columns read."""
    if call.star:
        return True
    argument = call.arguments[0]
    if call.name != "count" or call.distinct or not isinstance(argument, Variable):
        return False
    binding = scope.names.get(argument.name)
    return binding is not None and binding.kind != "value" and not binding.nullable


@dataclass(slots=True)
class _AggregateGroup:
    keys: list[Evaluator]
    calls: list[_Aggregate]
    base: int
    context: QueryContext

    def rows(self, weighted: Iterable[tuple[Row, int]]) -> Rows:
        groups: dict[tuple[object, ...], tuple[list[object], list[Accumulator]]] = {}
        outer: Row = ()
        for row, weight in weighted:
            self.context.tick()
            outer = row[: self.base]
            values = [key(row) for key in self.keys]
            identity = tuple([group_key(value) for value in values])
            group = groups.get(identity)
            if group is None:
                self.context.charge(_GROUP + _AGGREGATE * len(self.calls) + key_bytes(values))
                group = groups[identity] = (values, [call.make() for call in self.calls])
            for call, accumulator in zip(self.calls, group[1], strict=True):
                value = call.value(row)
                if value is not None:
                    accumulator.add(value, weight)
        if not groups and not self.keys:
            groups[()] = ([], [call.make() for call in self.calls])
        for values, accumulators in groups.values():
            yield (*outer, *values, *[accumulator.result() for accumulator in accumulators])


def _counted(rows: Rows, context: QueryContext) -> Iterator[tuple[Row, int]]:
    """Yield (row, count), combining equal rows as far as memory allows, in order of first appearance."""
    counter: Counter[Row] = Counter()
    held = known = 0
    while chunk := list(islice(rows, _CHUNK)):
        counter.update(chunk)
        width = ENTRY + POINTER * len(chunk[0])
        fresh = chain.from_iterable(islice(counter, known, None))
        size = width * (len(counter) - known) + sum(map(getsizeof, fresh))
        context.charge(size)
        held, known = held + size, len(counter)
        if held > _MAX_COUNTED:
            yield from counter.items()
            context.charge(-held)
            counter.clear()
            held = known = 0
    yield from counter.items()
    context.charge(-held)


def _order(
    projection: Projection, scope: NameScope, mapping: _Mapping, closed: bool, context: QueryContext
) -> list[tuple[Evaluator, bool]]:
    keys: list[tuple[Evaluator, bool]] = []
    for expression, descending in projection.order:
        aliased = isinstance(expression, Variable) and expression.name in scope.names
        tree = expression if aliased else substitute(expression, mapping)
        if closed and aggregates(tree):
            raise context.error(
                "ORDER BY uses an aggregate that is not grouped here", projection.at, "return it as a column"
            )
        keys.append((compile_expression(tree, scope, context), descending))
    return keys


def _sorted(rows: Rows, order: list[tuple[Evaluator, bool]], keep: int | None, context: QueryContext) -> Iterator[Row]:
    """Sort stably, nulls last if ascending; with `keep`, rows beyond that number are dropped early."""
    sorter = Sorter([descending for _, descending in order], keep, context.guard)
    for row in rows:
        sorter.add([key(row) for key, _ in order], row)
    return sorter.rows()
