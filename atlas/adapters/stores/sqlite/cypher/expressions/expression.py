"""Expressions to Python functions of a row.

Names are resolved to slots here, so unknown names and functions are reported before anything runs; values are checked
when the function is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from atlas.adapters.stores.cypher.syntax import (
    Arithmetic,
    Boolean,
    Call,
    Case,
    Comparison,
    Expression,
    Index,
    LabelTest,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Membership,
    NullTest,
    Parameter,
    Property,
    Quantifier,
    Reduce,
    Slice,
    Slot,
    Subquery,
    TextTest,
    Unary,
    Variable,
)
from atlas.adapters.stores.sqlite.cypher.context import Evaluator, QueryContext, atom
from atlas.adapters.stores.sqlite.cypher.expressions import operators
from atlas.adapters.stores.sqlite.cypher.expressions.call import compile_call
from atlas.adapters.stores.sqlite.cypher.expressions.lists import (
    compile_list_comprehension,
    compile_quantifier,
    compile_reduce,
)
from atlas.adapters.stores.sqlite.cypher.graph import has_label
from atlas.adapters.stores.sqlite.cypher.meter import Items, hold, join_lists
from atlas.adapters.stores.sqlite.cypher.scope import LABEL_OF, TYPE_OF, NameScope
from atlas.adapters.stores.sqlite.cypher.values import Edge, Node, Row, compare, equals, is_list, mismatch
from atlas.parsing.cypher_regex import CypherRegex, compile_regex

_FAR = 2**62


def compile_expression(expression: Expression, scope: NameScope, context: QueryContext) -> Evaluator:
    """Return the function that computes the expression from a row of the scope."""
    return _COMPILERS[type(expression)](expression, scope, context)


def _literal(e: Literal, scope: NameScope, context: QueryContext) -> Evaluator:
    value = e.value
    return lambda row: value


def _parameter(e: Parameter, scope: NameScope, context: QueryContext) -> Evaluator:
    if e.name not in context.parameters:
        given = ", ".join(sorted(context.parameters)) or "none"
        raise context.error(f"the parameter ${e.name} is not given", e.at, f"parameters given: {given}")
    value = context.parameters[e.name]
    return lambda row: value


def _slot(e: Slot, scope: NameScope, context: QueryContext) -> Evaluator:
    index = e.index
    return lambda row: row[index]


def _variable(e: Variable, scope: NameScope, context: QueryContext) -> Evaluator:
    binding = scope.names.get(e.name)
    if binding is None:
        known = ", ".join(scope.visible()) or "none"
        raise context.error(f"variable `{e.name}` is not defined", e.at, f"variables in scope: {known}")
    slot = binding.slot
    if binding.kind == "node":
        return lambda row: None if row[slot] is None else Node(cast("int", row[slot]))
    if binding.kind == "edge":
        return lambda row: None if row[slot] is None else Edge(*cast("tuple[int, str, int, int]", row[slot : slot + 4]))
    return lambda row: row[slot]


def _property(e: Property, scope: NameScope, context: QueryContext) -> Evaluator:
    if isinstance(e.subject, Variable):
        known = atom(scope, e.subject.name, e.name)
        if known is not None:
            return known
        binding = scope.names.get(e.subject.name)
        if binding is not None and binding.slot < 0:
            return lambda row: None
    subject = compile_expression(e.subject, scope, context)
    name, graph, properties = e.name, context.graph, context.properties

    def read(row: Row) -> object:
        value = subject(row)
        if value is None:
            return None
        if isinstance(value, Node):
            return graph.node(value.id).get(name)
        return properties(value).get(name)

    return read


def _index(e: Index, scope: NameScope, context: QueryContext) -> Evaluator:
    subject, index = compile_expression(e.subject, scope, context), compile_expression(e.index, scope, context)
    return lambda row: operators.subscript(subject(row), index(row), context.properties)


def _slice(e: Slice, scope: NameScope, context: QueryContext) -> Evaluator:
    subject = compile_expression(e.subject, scope, context)
    start = compile_expression(e.start or Literal(0, "int"), scope, context)
    stop = compile_expression(e.stop or Literal(_FAR, "int"), scope, context)
    return lambda row: context.hold(operators.cut(subject(row), start(row), stop(row)))


def _unary(e: Unary, scope: NameScope, context: QueryContext) -> Evaluator:
    operand = compile_expression(e.operand, scope, context)
    if e.operator == "NOT":

        def negation(row: Row) -> object:
            value = operators.truth(operand(row))
            return None if value is None else not value

        return negation
    if e.operator == "-":
        return lambda row: operators.negate(operand(row))
    return lambda row: operators.ARITHMETIC["+"](0, operand(row))


def _boolean(e: Boolean, scope: NameScope, context: QueryContext) -> Evaluator:
    operands = [compile_expression(operand, scope, context) for operand in e.operands]
    if e.operator == "XOR":

        def exclusive(row: Row) -> bool | None:
            result: bool | None = False
            for operand in operands:
                value = operators.truth(operand(row))
                result = None if value is None or result is None else result != value
            return result

        return exclusive
    decisive = e.operator == "OR"

    def combined(row: Row) -> bool | None:
        unknown = False
        for operand in operands:
            value = operators.truth(operand(row))
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return combined


def _arithmetic(e: Arithmetic, scope: NameScope, context: QueryContext) -> Evaluator:
    first = compile_expression(e.first, scope, context)
    rest = [(operators.ARITHMETIC[sign], compile_expression(operand, scope, context)) for sign, operand in e.rest]

    guard = context.guard

    def compute(row: Row) -> object:
        value = first(row)
        for apply, operand in rest:
            left, right = value, operand(row)
            value = apply(left, right)
            if value.__class__ is str:
                value = hold(value, guard)
            elif is_list(value):
                value = join_lists(value, (left, right), guard)
        return value

    return compute


def _pairwise(operator: str, left: object, right: object, context: QueryContext) -> bool | None:
    if isinstance(left, Items):
        context.guard.look()
    if operator == "=":
        return equals(left, right)
    if operator == "<>":
        equal = equals(left, right)
        return None if equal is None else not equal
    return compare(operator, left, right)


def _comparison(e: Comparison, scope: NameScope, context: QueryContext) -> Evaluator:
    first = compile_expression(e.first, scope, context)
    rest = [(operator, compile_expression(operand, scope, context)) for operator, operand in e.rest]
    if len(rest) == 1:
        operator, second = rest[0]
        return lambda row: _pairwise(operator, first(row), second(row), context)

    def chain(row: Row) -> bool | None:
        result: bool | None = True
        left = first(row)
        for operator, operand in rest:
            right = operand(row)
            holds = _pairwise(operator, left, right, context)
            if holds is False:
                return False
            result = None if holds is None else result
            left = right
        return result

    return chain


def _membership(e: Membership, scope: NameScope, context: QueryContext) -> Evaluator:
    element, collection = (
        compile_expression(e.element, scope, context),
        compile_expression(e.collection, scope, context),
    )

    def member(row: Row) -> bool | None:
        context.tick()
        items = collection(row)
        if isinstance(items, Items):
            context.guard.look()
        return operators.member(element(row), items)

    return member


def _null_test(e: NullTest, scope: NameScope, context: QueryContext) -> Evaluator:
    operand, negated = compile_expression(e.operand, scope, context), e.negated
    return lambda row: (operand(row) is None) != negated


def _label_test(e: LabelTest, scope: NameScope, context: QueryContext) -> Evaluator:
    if isinstance(e.operand, Variable):
        for part in (LABEL_OF, TYPE_OF):
            known = atom(scope, e.operand.name, part)
            if known is not None:
                return lambda row: None if (label := known(row)) is None else has_label(e.labels, cast("str", label))
    operand = compile_expression(e.operand, scope, context)

    def test(row: Row) -> bool | None:
        value = operand(row)
        if value is None:
            return None
        if isinstance(value, Node):
            return has_label(e.labels, cast("str", context.graph.node(value.id)["label"]))
        if isinstance(value, Edge):
            return has_label(e.labels, value.type)
        raise mismatch("Node or Relationship", value)

    return test


def _list_literal(e: ListLiteral, scope: NameScope, context: QueryContext) -> Evaluator:
    items = [compile_expression(item, scope, context) for item in e.items]
    return lambda row: context.hold([item(row) for item in items])


def _map_literal(e: MapLiteral, scope: NameScope, context: QueryContext) -> Evaluator:
    entries = [(key, compile_expression(value, scope, context)) for key, value in e.entries]
    return lambda row: context.hold({key: value(row) for key, value in entries})


def _case(e: Case, scope: NameScope, context: QueryContext) -> Evaluator:
    branches = [
        (compile_expression(condition, scope, context), compile_expression(value, scope, context))
        for condition, value in e.branches
    ]
    otherwise = compile_expression(e.otherwise, scope, context)
    subject = None if e.subject is None else compile_expression(e.subject, scope, context)

    def choose(row: Row) -> object:
        tested = None if subject is None else subject(row)
        for condition, value in branches:
            given = condition(row)
            if equals(tested, given) if subject is not None else operators.truth(given):
                return value(row)
        return otherwise(row)

    return choose


def _map_projection(e: MapProjection, scope: NameScope, context: QueryContext) -> Evaluator:
    subject = compile_expression(e.subject, scope, context)
    entries = [(key, None if key == "*" else compile_expression(value, scope, context)) for key, value in e.entries]

    def build(row: Row) -> object:
        value = subject(row)
        if value is None:
            return None
        result: dict[str, object] = {}
        for key, entry in entries:
            result.update(context.properties(value) if entry is None else {key: entry(row)})
        return context.hold(result)

    return build


def _text_test(e: TextTest, scope: NameScope, context: QueryContext) -> Evaluator:
    """Return whether the test holds; null unless both operands are strings. Caches the last regular expression."""
    subject, argument = compile_expression(e.subject, scope, context), compile_expression(e.argument, scope, context)
    if e.operator != "=~":
        return lambda row: operators.text_test(e.operator, subject(row), argument(row))
    compiled: dict[str, CypherRegex] = {}

    def matches(row: Row) -> bool | None:
        text, pattern = subject(row), argument(row)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return None
        if pattern not in compiled:
            for old in compiled.values():
                context.guard.release(old.memory)
            compiled.clear()
            regex = compile_regex(pattern)
            context.charge(regex.memory)
            compiled[pattern] = regex
        return compiled[pattern].fullmatch(text, context.guard.look)

    return matches


def _subquery(e: Subquery, scope: NameScope, context: QueryContext) -> Evaluator:
    return context.compile_subquery(e, scope)


def _with_inner(compile_outer: Callable[..., Evaluator]) -> Callable[[Any, NameScope, QueryContext], Evaluator]:
    """Return the compiler of an expression whose module receives the compiler for nested expressions as a parameter."""
    return lambda e, scope, context: compile_outer(e, scope, context, partial(compile_expression, context=context))


_COMPILERS: dict[type, Callable[..., Evaluator]] = {
    Literal: _literal,
    Parameter: _parameter,
    Variable: _variable,
    Slot: _slot,
    Property: _property,
    Index: _index,
    Slice: _slice,
    Unary: _unary,
    Boolean: _boolean,
    Arithmetic: _arithmetic,
    Comparison: _comparison,
    TextTest: _text_test,
    Membership: _membership,
    NullTest: _null_test,
    LabelTest: _label_test,
    ListLiteral: _list_literal,
    MapLiteral: _map_literal,
    Case: _case,
    Call: _with_inner(compile_call),
    ListComprehension: _with_inner(compile_list_comprehension),
    Quantifier: _with_inner(compile_quantifier),
    Reduce: _with_inner(compile_reduce),
    MapProjection: _map_projection,
    Subquery: _subquery,
}
