"""Function calls: checks names and numbers of arguments, and compiles the functions that read the graph."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import cast

from atlas.adapters.stores.cypher.syntax import Call, Index, NullTest, Property, Subquery, Variable
from atlas.adapters.stores.sqlite.cypher.context import Compile, Evaluator, QueryContext, atom
from atlas.adapters.stores.sqlite.cypher.expressions.functions import AGGREGATES, FUNCTIONS, GRAPH_FUNCTIONS, Function
from atlas.adapters.stores.sqlite.cypher.meter import hold
from atlas.adapters.stores.sqlite.cypher.scope import LABEL_OF, TYPE_OF, NameScope
from atlas.adapters.stores.sqlite.cypher.values import Edge, Node, Row, mismatch
from atlas.core.errors import QueryError

_PREFETCHED = {"type": TYPE_OF, "labels": LABEL_OF, "id": "uid", "elementid": "uid"}


def compile_call(call: Call, scope: NameScope, context: QueryContext, compile_: Compile) -> Evaluator:
    """Compile a call to a function of a row.

    Raises a located QueryError for unknown names, wrong arity and misplaced aggregates.
    """
    if call.name in AGGREGATES:
        raise context.error(
            f"{call.name}() cannot be used here", call.at, "aggregate in WITH or RETURN, then use the result"
        )
    if call.star or call.distinct:
        raise context.error(f"{call.name}() takes no {'*' if call.star else 'DISTINCT'}", call.at)
    if call.name in GRAPH_FUNCTIONS:
        _check_arity(call, 1, 1, context)
        return _graph_call(call, scope, context, compile_)
    function = FUNCTIONS.get(call.name)
    if function is None:
        raise _unknown(call, context)
    _check_arity(call, function.low, function.high, context)
    _reject_pattern(call, context)
    return _plain_call(function, [compile_(argument, scope) for argument in call.arguments], context)


def _plain_call(function: Function, arguments: list[Evaluator], context: QueryContext) -> Evaluator:
    apply, guard = function.call, context.guard
    if len(arguments) == 1 and function.nulls:
        only = arguments[0]
        return lambda row: None if (value := only(row)) is None else hold(apply(value), guard)

    def call(row: Row) -> object:
        values = [argument(row) for argument in arguments]
        return None if function.nulls and None in values else hold(apply(*values), guard)

    return call


def _check_arity(call: Call, low: int, high: int, context: QueryContext) -> None:
    if not low <= len(call.arguments) <= high:
        expected = str(low) if low == high else f"{low} to {high}"
        raise context.error(f"{call.name}() takes {expected} argument(s), {len(call.arguments)} given", call.at)


def _unknown(call: Call, context: QueryContext) -> QueryError:
    near = get_close_matches(call.name, [*FUNCTIONS, *AGGREGATES, *GRAPH_FUNCTIONS], n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "see the list of functions in the documentation"
    return context.error(f"unknown function {call.name}()", call.at, hint)


def _reject_pattern(call: Call, context: QueryContext) -> None:
    if any(isinstance(argument, Subquery) and argument.kind == "pattern" for argument in call.arguments):
        raise context.error(f"{call.name}() does not take a pattern", call.at, "write COUNT { (a)-->(b) }")


def _graph_call(call: Call, scope: NameScope, context: QueryContext, compile_: Compile) -> Evaluator:
    argument = call.arguments[0]
    if call.name == "exists":
        if isinstance(argument, Subquery):
            return compile_(argument, scope)
        if isinstance(argument, (Property, Index)):
            return compile_(NullTest(argument, True), scope)
        raise context.error("exists() takes a property or a pattern", call.at, "write EXISTS { MATCH .. }")
    if isinstance(argument, Variable) and call.name in _PREFETCHED:
        known = atom(scope, argument.name, _PREFETCHED[call.name])
        if known is not None and call.name == "labels":
            return lambda row: None if (label := known(row)) is None else [label]
        if known is not None:
            return known
    value = compile_(argument, scope)
    read = _reader(call.name, context)
    return lambda row: None if (entity := value(row)) is None else read(entity)


def _reader(name: str, context: QueryContext) -> Callable[[object], object]:
    graph = context.graph

    def identity(value: object) -> object:
        if isinstance(value, Node):
            return graph.node(value.id).get("uid")
        if isinstance(value, Edge):
            ends = (graph.node(value.source).get("uid"), graph.node(value.target).get("uid"))
            return f"{ends[0]}-[{value.type}@{value.line}]->{ends[1]}"
        raise mismatch("Node or Relationship", value)

    def type_of(value: object) -> object:
        if not isinstance(value, Edge):
            raise mismatch("Relationship", value)
        return value.type

    def labels(value: object) -> object:
        if not isinstance(value, Node):
            raise mismatch("Node", value)
        return [cast("str", graph.node(value.id)["label"])]

    def keys(value: object) -> object:
        return context.hold(list(context.properties(value)))

    def properties(value: object) -> object:
        return context.hold(dict(context.properties(value)))

    return {
        "id": identity,
        "elementid": identity,
        "type": type_of,
        "labels": labels,
        "keys": keys,
        "properties": properties,
    }[name]
