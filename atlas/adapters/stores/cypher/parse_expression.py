"""Tokens to expressions, by precedence climbing.

Chains of operators of one rank become one flat node, so that a long AND or a long sum is not a deep tree.
`parse_pattern` parses patterns inside expressions, `parser` parses subqueries.
"""

from __future__ import annotations

from atlas.adapters.stores.cypher import parse_forms, parse_pattern
from atlas.adapters.stores.cypher.lexer import MAX_DEPTH, Cursor
from atlas.adapters.stores.cypher.syntax import (
    Arithmetic,
    Boolean,
    Comparison,
    Expression,
    Index,
    LabelTest,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Membership,
    NullTest,
    Parameter,
    Property,
    Slice,
    TextTest,
    Unary,
    Variable,
)

_OR, _XOR, _AND, _COMPARE, _TEST, _ADD, _MULTIPLY, _POWER = range(1, 9)
_LOGIC = {"OR": _OR, "XOR": _XOR, "AND": _AND}
_OPERATORS = {
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">="), _COMPARE),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "%"), _MULTIPLY),
    "^": _POWER,
    "=~": _TEST,
}
_TESTS = {("STARTS", "WITH"), ("ENDS", "WITH"), ("CONTAINS",), ("IN",), ("IS", "NULL"), ("IS", "NOT", "NULL")}
_RESERVED = frozenset(
    [
        "MATCH",
        "OPTIONAL",
        "WHERE",
        "RETURN",
        "WITH",
        "UNWIND",
        "ORDER",
        "SKIP",
        "LIMIT",
        "UNION",
        "AS",
        "AND",
        "OR",
        "XOR",
        "IN",
        "STARTS",
        "ENDS",
        "CONTAINS",
        "IS",
        "DISTINCT",
        "THEN",
        "WHEN",
        "ELSE",
        "BY",
        "ASC",
        "DESC",
    ]
)


def parse_expression(cursor: Cursor, bar_ends: bool = False) -> Expression:
    """Parse one expression; `bar_ends` is set inside a comprehension, where `|` is not part of a label."""
    cursor.enter()
    outer, cursor.bar_ends = cursor.bar_ends, bar_ends
    expression = _binary(cursor, _OR)
    cursor.bar_ends = outer
    cursor.depth -= 1
    return expression


def _binary(cursor: Cursor, level: int) -> Expression:
    left = _prefix(cursor)
    tests = 0
    while True:
        operator, rank, width = _next_operator(cursor)
        if rank == 0 or rank < level:
            return left
        if rank == _TEST:
            tests += 1
            if tests > MAX_DEPTH:
                raise cursor.error("too many predicates in a row")
            left = _test(cursor, left, operator, width)
        elif operator in _LOGIC:
            left = _logic(cursor, left, operator, rank)
        else:
            left = _chain(cursor, left, rank)


def _next_operator(cursor: Cursor) -> tuple[str, int, int]:
    """Return (operator, rank, number of tokens); rank 0 at the end of the expression."""
    token = cursor.token
    if token.kind == "operator":
        if token.text == "||":
            raise cursor.error("`||` is not supported", "join strings and lists with +")
        if token.text == "!" or (token.text == "=" and cursor.peek()[:2] == ("operator", "=")):
            raise cursor.error("this is not a Cypher operator", "write = and <>")
        return token.text, _OPERATORS.get(token.text, 0), 1
    if token.kind == "name":
        word = token.text.upper()
        if word in _LOGIC:
            return word, _LOGIC[word], 1
        for words in _TESTS:
            if words[0] == word and cursor.at_word(*words):
                return " ".join(words), _TEST, len(words)
        if word == "IS":
            raise cursor.unexpected("expected IS NULL or IS NOT NULL; type predicates are not supported")
    return "", 0, 0


def _logic(cursor: Cursor, left: Expression, operator: str, rank: int) -> Expression:
    operands = [left]
    while cursor.take_word(operator):
        operands.append(_binary(cursor, rank + 1))
    return Boolean(operator, tuple(operands))


def _chain(cursor: Cursor, left: Expression, rank: int) -> Expression:
    rest: list[tuple[str, Expression]] = []
    while True:
        operator, next_rank, _ = _next_operator(cursor)
        if next_rank != rank:
            break
        cursor.advance()
        rest.append((operator, _binary(cursor, rank + 1)))
    return Comparison(left, tuple(rest)) if rank == _COMPARE else Arithmetic(left, tuple(rest))


def _test(cursor: Cursor, left: Expression, operator: str, width: int) -> Expression:
    cursor.index += width
    if operator in ("IS NULL", "IS NOT NULL"):
        return NullTest(left, operator == "IS NOT NULL")
    right = _binary(cursor, _ADD)
    return Membership(left, right) if operator == "IN" else TextTest(operator, left, right)


def _prefix(cursor: Cursor) -> Expression:
    if cursor.at_word("NOT"):
        cursor.enter()
        cursor.advance()
        operand = _binary(cursor, _COMPARE)
        cursor.depth -= 1
        return Unary("NOT", operand)
    if cursor.at_operator("-") or cursor.at_operator("+"):
        cursor.enter()
        sign = cursor.advance().text
        if cursor.token.kind in ("int", "float"):
            operand = _postfix(cursor, _number(cursor, negative=sign == "-"))
        else:
            operand = Unary(sign, _prefix(cursor))
        cursor.depth -= 1
        return operand
    return _postfix(cursor, _atom(cursor))


def _postfix(cursor: Cursor, subject: Expression) -> Expression:
    for _ in range(MAX_DEPTH):
        if cursor.take_operator("."):
            subject = Property(subject, cursor.expect_name("a property name after `.`"))
        elif cursor.at_operator("["):
            subject = _index(cursor, subject)
        elif cursor.at_operator(":") and isinstance(subject, Variable):
            cursor.advance()
            subject = LabelTest(subject, parse_pattern.parse_labels(cursor, bar_joins=not cursor.bar_ends))
        elif cursor.at_operator("{") and isinstance(subject, Variable):
            subject = _map_projection(cursor, subject)
        else:
            return subject
    raise cursor.error("too many `.` and `[..]` in a row")


def _index(cursor: Cursor, subject: Expression) -> Expression:
    cursor.advance()
    start = None if cursor.at_operator("..") else parse_expression(cursor)
    if not cursor.take_operator(".."):
        cursor.expect_operator("]", "after the index")
        assert start is not None
        return Index(subject, start)
    stop = None if cursor.at_operator("]") else parse_expression(cursor)
    cursor.expect_operator("]", "after the slice")
    return Slice(subject, start, stop)


def _map_projection(cursor: Cursor, subject: Variable) -> Expression:
    cursor.advance()
    entries: list[tuple[str, Expression]] = []
    while not cursor.at_operator("}"):
        if cursor.take_operator("."):
            if cursor.take_operator("*"):
                entries.append(("*", subject))
            else:
                name = cursor.expect_name("a property name after `.`")
                entries.append((name, Property(subject, name)))
        else:
            at = cursor.token.at
            name = cursor.expect_name("a key, .property or .*")
            value = parse_expression(cursor) if cursor.take_operator(":") else Variable(name, at=at)
            entries.append((name, value))
        if not cursor.take_operator(","):
            break
    cursor.expect_operator("}", "at the end of the map projection")
    return MapProjection(subject, tuple(entries))


def _atom(cursor: Cursor) -> Expression:
    token = cursor.token
    if token.kind in ("int", "float"):
        return _number(cursor, negative=False)
    if token.kind == "string":
        return Literal(cursor.advance().text, "string")
    if token.kind == "parameter":
        return Parameter(cursor.advance().text, at=token.at)
    if token.kind == "quoted":
        return Variable(cursor.advance().text, at=token.at)
    if token.kind == "name":
        return _word(cursor)
    if cursor.at_operator("["):
        return _bracket(cursor)
    if cursor.at_operator("{"):
        return MapLiteral(parse_map(cursor))
    if cursor.at_operator("("):
        if parse_pattern.looks_like_pattern(cursor):
            return parse_pattern.parse_pattern_predicate(cursor)
        cursor.advance()
        inner = parse_expression(cursor)
        cursor.expect_operator(")", "to close the parenthesis")
        return inner
    raise cursor.unexpected("expected an expression")


def _number(cursor: Cursor, negative: bool) -> Literal:
    token = cursor.advance()
    if token.kind == "float":
        return Literal(-float(token.text) if negative else float(token.text), "float")
    base = {"0x": 16, "0o": 8}.get(token.text[:2].lower(), 10)
    if len(token.text) > 40:
        raise cursor.error("this integer is too large", "use at most 64 bits", token.at)
    value = int(token.text, base) * (-1 if negative else 1)
    if not -(2**63) <= value < 2**63:
        raise cursor.error("this integer is too large", "use at most 64 bits", token.at)
    return Literal(value, "int")


def _word(cursor: Cursor) -> Expression:
    token = cursor.token
    word = token.text.upper()
    following = cursor.peek()
    opens = following.text if following.kind == "operator" else ""
    if word in ("TRUE", "FALSE", "NULL") and opens not in ("(",):
        cursor.advance()
        return Literal({"TRUE": True, "FALSE": False, "NULL": None}[word], "null" if word == "NULL" else "bool")
    if word == "CASE" and opens not in (".", ",", ")", "]"):
        return parse_forms.parse_case(cursor)
    if word in ("EXISTS", "COUNT", "COLLECT") and opens == "{":
        return cursor.grammar.subquery(cursor, word.lower())
    if opens == "(" or (opens == "." and parse_forms.is_call(cursor)):
        return parse_forms.parse_call(cursor)
    if word in _RESERVED:
        raise cursor.unexpected("expected an expression")
    cursor.advance()
    return Variable(token.text, at=token.at)


def _bracket(cursor: Cursor) -> Expression:
    if parse_pattern.looks_like_pattern_comprehension(cursor):
        return parse_pattern.parse_pattern_comprehension(cursor)
    cursor.advance()
    following = cursor.peek()
    if cursor.token.kind in ("name", "quoted") and following.kind == "name" and following.text.upper() == "IN":
        return parse_forms.parse_list_comprehension(cursor)
    items: list[Expression] = []
    while not cursor.at_operator("]"):
        items.append(parse_expression(cursor))
        if not cursor.take_operator(","):
            break
    cursor.expect_operator("]", "to close the list")
    return ListLiteral(tuple(items))


def parse_map(cursor: Cursor) -> tuple[tuple[str, Expression], ...]:
    """Parse `{key: expression, ..}`."""
    cursor.expect_operator("{", "to open the map")
    entries: list[tuple[str, Expression]] = []
    while not cursor.at_operator("}"):
        key = cursor.expect_name("a key")
        cursor.expect_operator(":", "after the key")
        entries.append((key, parse_expression(cursor)))
        if not cursor.take_operator(","):
            break
    cursor.expect_operator("}", "to close the map")
    return tuple(entries)
