"""Expressions that bind a name to each item of a list: comprehensions, all/any/none/single and reduce."""

from __future__ import annotations

from collections.abc import Iterator

from atlas.adapters.stores.cypher.syntax import ListComprehension, Quantifier, Reduce
from atlas.adapters.stores.sqlite.cypher.context import Compile, Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions import operators
from atlas.adapters.stores.sqlite.cypher.meter import ListBuilder
from atlas.adapters.stores.sqlite.cypher.scope import NameScope
from atlas.adapters.stores.sqlite.cypher.values import Row, as_list, is_list, mismatch


def _items(value: object, context: QueryContext) -> Iterator[object]:
    if not is_list(value):
        raise mismatch("List", value)
    for item in as_list(value):
        context.tick()
        yield item


def compile_list_comprehension(
    e: ListComprehension, scope: NameScope, context: QueryContext, compile_: Compile
) -> Evaluator:
    """Return the list of results for the items that satisfy WHERE."""
    source, inner = compile_(e.source, scope), scope.with_value(e.variable)
    where = None if e.where is None else compile_(e.where, inner)
    result = None if e.result is None else compile_(e.result, inner)

    def build(row: Row) -> object:
        items = source(row)
        if items is None:
            return None
        kept = (item for item in _items(items, context) if where is None or operators.truth(where((*row, item))))
        built = ListBuilder(context.guard)
        for item in kept:
            built.add(item if result is None else result((*row, item)))
        return built.finished()

    return build


def compile_quantifier(e: Quantifier, scope: NameScope, context: QueryContext, compile_: Compile) -> Evaluator:
    """Return whether all, any, none or exactly one of the items satisfy WHERE; null if that is undetermined."""
    source = compile_(e.source, scope)
    where = compile_(e.where, scope.with_value(e.variable))

    def decide(row: Row) -> bool | None:
        items = source(row)
        if items is None:
            return None
        results = [operators.truth(where((*row, item))) for item in _items(items, context)]
        true, unknown = results.count(True), None in results
        if e.kind == "all":
            return False if False in results else (None if unknown else True)
        if e.kind == "single":
            return False if true > 1 else (None if unknown else true == 1)
        found = True if true else (None if unknown else False)
        return found if e.kind == "any" or found is None else not found

    return decide


def compile_reduce(e: Reduce, scope: NameScope, context: QueryContext, compile_: Compile) -> Evaluator:
    """Return the accumulator after the last item."""
    source, initial = compile_(e.source, scope), compile_(e.initial, scope)
    body = compile_(e.body, scope.with_value(e.accumulator).with_value(e.variable))

    def fold(row: Row) -> object:
        items, total = source(row), initial(row)
        if items is None:
            return None
        for item in _items(items, context):
            total = body((*row, total, item))
        return total

    return fold
