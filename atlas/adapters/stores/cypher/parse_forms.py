"""Tokens to expressions with special syntax: calls, quantifiers, reduce, CASE, list comprehensions."""

from __future__ import annotations

from atlas.adapters.stores.cypher.lexer import Cursor
from atlas.adapters.stores.cypher.syntax import Call, Case, Expression, ListComprehension, Literal, Quantifier, Reduce

_QUANTIFIERS = frozenset(("all", "any", "none", "single"))


def is_call(cursor: Cursor) -> bool:
    """Return whether the next tokens are a dotted name followed by arguments."""
    offset = 1
    while cursor.peek(offset)[:2] == ("operator", ".") and cursor.peek(offset + 1).kind == "name":
        offset += 2
    return cursor.peek(offset)[:2] == ("operator", "(")


def parse_call(cursor: Cursor) -> Expression:
    """Parse `name(arguments)`, quantifiers and reduce."""
    at = cursor.token.at
    name = cursor.advance().text.lower()
    while cursor.take_operator("."):
        name += "." + cursor.expect_name("a function name").lower()
    if name in ("shortestpath", "allshortestpaths"):
        raise cursor.error(
            f"{name} as an expression is not supported", "write MATCH p = shortestPath((a)-[*..5]->(b))", at
        )
    cursor.expect_operator("(", "after the function name")
    if name in _QUANTIFIERS:
        return _quantifier(cursor, name)
    if name == "reduce":
        return _reduce(cursor)
    if cursor.take_operator("*"):
        cursor.expect_operator(")", "after `*`")
        return Call(name, (), star=True, at=at)
    distinct = cursor.take_word("DISTINCT")
    arguments: list[Expression] = []
    while not cursor.at_operator(")"):
        arguments.append(cursor.grammar.expression(cursor))
        if not cursor.take_operator(","):
            break
    cursor.expect_operator(")", f"after the arguments of {name}()")
    return Call(name, tuple(arguments), distinct=distinct, at=at)


def _quantifier(cursor: Cursor, kind: str) -> Expression:
    variable = cursor.expect_name(f"a variable in {kind}(x IN list WHERE ..)")
    cursor.expect_word("IN", f"in {kind}(x IN list WHERE ..)")
    source = cursor.grammar.expression(cursor)
    cursor.expect_word("WHERE", f"in {kind}(x IN list WHERE ..)")
    where = cursor.grammar.expression(cursor)
    cursor.expect_operator(")", f"after {kind}(")
    return Quantifier(kind, variable, source, where)


def _reduce(cursor: Cursor) -> Expression:
    accumulator = cursor.expect_name("a variable in reduce(total = 0, x IN list | ..)")
    cursor.expect_operator("=", "in reduce(total = 0, x IN list | ..)")
    initial = cursor.grammar.expression(cursor)
    cursor.expect_operator(",", "in reduce(total = 0, x IN list | ..)")
    variable = cursor.expect_name("a variable in reduce(total = 0, x IN list | ..)")
    cursor.expect_word("IN", "in reduce(total = 0, x IN list | ..)")
    source = cursor.grammar.expression(cursor, bar_ends=True)
    cursor.expect_operator("|", "in reduce(total = 0, x IN list | ..)")
    body = cursor.grammar.expression(cursor)
    cursor.expect_operator(")", "after reduce(")
    return Reduce(accumulator, initial, variable, source, body)


def parse_case(cursor: Cursor) -> Expression:
    """Parse `CASE .. END`."""
    cursor.advance()
    subject = None if cursor.at_word("WHEN") else cursor.grammar.expression(cursor)
    branches: list[tuple[Expression, Expression]] = []
    while cursor.take_word("WHEN"):
        condition = cursor.grammar.expression(cursor)
        cursor.expect_word("THEN", "after WHEN")
        branches.append((condition, cursor.grammar.expression(cursor)))
    if not branches:
        raise cursor.unexpected("expected WHEN after CASE")
    otherwise = cursor.grammar.expression(cursor) if cursor.take_word("ELSE") else Literal(None, "null")
    cursor.expect_word("END", "to close CASE")
    return Case(subject, tuple(branches), otherwise)


def parse_list_comprehension(cursor: Cursor) -> Expression:
    """Parse the rest of `[x IN list WHERE .. | ..]` after `[`."""
    variable = cursor.advance().text
    cursor.advance()
    source = cursor.grammar.expression(cursor, bar_ends=True)
    where = cursor.grammar.expression(cursor, bar_ends=True) if cursor.take_word("WHERE") else None
    result = cursor.grammar.expression(cursor) if cursor.take_operator("|") else None
    cursor.expect_operator("]", "to close the list comprehension")
    return ListComprehension(variable, source, where, result)
