"""Tokens to patterns: nodes, relationships, label expressions, shortestPath, and patterns used as expressions."""

from __future__ import annotations

from atlas.adapters.stores.cypher.lexer import Cursor
from atlas.adapters.stores.cypher.syntax import (
    Expression,
    LabelExpression,
    LabelLogic,
    LabelName,
    Match,
    NodePattern,
    PathPattern,
    Projection,
    Query,
    RelationshipPattern,
    ReturnItem,
    Subquery,
)

_SELECTORS = ("SHORTEST", "ALL", "ANY")
_QUANTIFIED = "write a variable-length relationship: (a)-[:TYPE*1..3]->(b)"


def parse_patterns(cursor: Cursor) -> tuple[PathPattern, ...]:
    """Parse comma-separated path patterns."""
    patterns = [_path(cursor)]
    while cursor.take_operator(","):
        patterns.append(_path(cursor))
    return tuple(patterns)


def _path(cursor: Cursor) -> PathPattern:
    at = cursor.token.at
    variable = ""
    if cursor.token.kind in ("name", "quoted") and cursor.peek()[:2] == ("operator", "="):
        variable = cursor.advance().text
        cursor.advance()
    for selector in _SELECTORS:
        if cursor.at_word(selector):
            raise cursor.error(
                f"the path selector {selector} is not supported", "write p = shortestPath((a)-[*..5]->(b))"
            )
    word = cursor.token.text.lower() if cursor.token.kind == "name" else ""
    if word not in ("shortestpath", "allshortestpaths"):
        nodes, relationships = _chain(cursor)
        return PathPattern(variable, nodes, relationships, "", at=at)
    cursor.advance()
    cursor.expect_operator("(", f"after {word}")
    nodes, relationships = _chain(cursor)
    cursor.expect_operator(")", f"to close {word}(")
    if len(relationships) != 1:
        raise cursor.error(
            "shortestPath takes a pattern with exactly one relationship", "shortestPath((a)-[*..5]->(b))", at
        )
    hops = relationships[0].hops
    if hops is not None and hops[0] > 1:
        raise cursor.error("shortestPath takes a minimum length of 0 or 1", "shortestPath((a)-[*..5]->(b))", at)
    return PathPattern(variable, nodes, relationships, "one" if word == "shortestpath" else "all", at=at)


def _chain(cursor: Cursor) -> tuple[tuple[NodePattern, ...], tuple[RelationshipPattern, ...]]:
    nodes = [_node(cursor)]
    relationships: list[RelationshipPattern] = []
    while cursor.at_operator("-") or cursor.at_operator("<", "-"):
        relationships.append(_relationship(cursor))
        if cursor.at_operator("+") or cursor.at_operator("*") or cursor.at_operator("{"):
            raise cursor.error("quantified relationships are not supported", _QUANTIFIED)
        nodes.append(_node(cursor))
    return tuple(nodes), tuple(relationships)


def _node(cursor: Cursor) -> NodePattern:
    at = cursor.token.at
    cursor.expect_operator("(", "to open a node pattern")
    if cursor.at_operator("("):
        raise cursor.error("quantified and parenthesised path patterns are not supported", _QUANTIFIED)
    variable = _optional_name(cursor)
    labels = parse_labels(cursor, bar_joins=True) if cursor.take_operator(":") else None
    properties = _properties(cursor)
    where = cursor.grammar.expression(cursor) if cursor.take_word("WHERE") else None
    if cursor.at_operator("-") or cursor.at_operator("<"):
        raise cursor.error("quantified and parenthesised path patterns are not supported", _QUANTIFIED)
    cursor.expect_operator(")", "to close the node pattern")
    return NodePattern(variable, labels, properties, where, at=at)


def _relationship(cursor: Cursor) -> RelationshipPattern:
    at = cursor.token.at
    to_left = cursor.take_operator("<")
    cursor.expect_operator("-", "in a relationship pattern")
    variable, labels, properties, where, hops = "", None, (), None, None
    if cursor.take_operator("["):
        variable = _optional_name(cursor)
        labels = parse_labels(cursor, bar_joins=True) if cursor.take_operator(":") else None
        hops = _hops(cursor) if cursor.take_operator("*") else None
        properties = _properties(cursor)
        where = cursor.grammar.expression(cursor) if cursor.take_word("WHERE") else None
        if where is not None and hops is not None:
            raise cursor.error(
                "WHERE inside a variable-length relationship is not supported", "use all(r IN rs WHERE ..)", at
            )
        cursor.expect_operator("]", "to close the relationship pattern")
    cursor.expect_operator("-", "in a relationship pattern")
    to_right = cursor.take_operator(">")
    direction = "both" if to_left == to_right else ("in" if to_left else "out")
    return RelationshipPattern(variable or cursor.new_name(), labels, properties, where, direction, hops, at=at)


def _optional_name(cursor: Cursor) -> str:
    if cursor.token.kind == "quoted" or (cursor.token.kind == "name" and not _is_inline_where(cursor)):
        return cursor.advance().text
    return cursor.new_name()


def _is_inline_where(cursor: Cursor) -> bool:
    """Return whether WHERE starts a condition, as in `(WHERE n.x)`, and is not a variable, as in `(where)`."""
    return cursor.at_word("WHERE") and cursor.peek().kind in ("name", "quoted", "int", "string", "parameter")


def _properties(cursor: Cursor) -> tuple[tuple[str, Expression], ...]:
    if cursor.token.kind == "parameter":
        raise cursor.error("a parameter as property map is not supported in MATCH", "name each property: {name: $name}")
    return cursor.grammar.map(cursor) if cursor.at_operator("{") else ()


def _hops(cursor: Cursor) -> tuple[int, int | None]:
    low = _count(cursor)
    if cursor.take_operator(".."):
        return (1 if low is None else low), _count(cursor)
    return (1, None) if low is None else (low, low)


def _count(cursor: Cursor) -> int | None:
    if cursor.token.kind != "int":
        if cursor.token.kind in ("parameter", "float"):
            raise cursor.unexpected("expected a whole number of hops")
        return None
    token = cursor.advance()
    if not token.text.isdigit() or len(token.text) > 9:
        raise cursor.error("expected a whole number of hops", "", token.at)
    return int(token.text)


def parse_labels(cursor: Cursor, bar_joins: bool) -> LabelExpression:
    """Parse a label expression after its first colon: `A|B`, `A&!B`, `%`, `(A|B)&C`, and the older `A:B`, `A|:B`."""
    cursor.enter()
    alternatives = [_label_conjunction(cursor)]
    while bar_joins and cursor.take_operator("|"):
        cursor.take_operator(":")
        alternatives.append(_label_conjunction(cursor))
    cursor.depth -= 1
    return alternatives[0] if len(alternatives) == 1 else LabelLogic("|", tuple(alternatives))


def _label_conjunction(cursor: Cursor) -> LabelExpression:
    terms = [_label(cursor)]
    while cursor.take_operator("&") or cursor.take_operator(":"):
        terms.append(_label(cursor))
    return terms[0] if len(terms) == 1 else LabelLogic("&", tuple(terms))


def _label(cursor: Cursor) -> LabelExpression:
    if cursor.token.kind == "parameter":
        raise cursor.error("dynamic labels and types are not supported", "write the label itself")
    if cursor.take_operator("!"):
        cursor.enter()
        operand = _label(cursor)
        cursor.depth -= 1
        return LabelLogic("!", (operand,))
    if cursor.take_operator("%"):
        return LabelLogic("%", ())
    if cursor.take_operator("("):
        inner = parse_labels(cursor, bar_joins=True)
        cursor.expect_operator(")", "to close the label expression")
        return inner
    return LabelName(cursor.expect_name("a label or relationship type"))


def looks_like_pattern(cursor: Cursor) -> bool:
    """Return whether the next parenthesis opens a node that a relationship follows."""
    first, inner = cursor.peek(1), cursor.peek(2)
    is_node = first[:2] in {("operator", ")"), ("operator", ":"), ("operator", "{")} or (
        first.kind in ("name", "quoted") and inner.kind == "operator" and inner.text in (")", ":", "{")
    )
    if not is_node:
        return False
    offset, depth = 1, 1
    while depth:
        token = cursor.peek(offset)
        if token.kind == "end":
            return False
        if token.kind == "operator":
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        offset += 1
    after = [cursor.peek(offset + i).text if cursor.peek(offset + i).kind == "operator" else "" for i in range(3)]
    return (after[0] == "-" and after[1] in ("-", "[")) or (after[:2] == ["<", "-"] and after[2] in ("-", "["))


def parse_pattern_predicate(cursor: Cursor) -> Subquery:
    """Parse `(a)-[:X]->(b)` in the place of a boolean."""
    at = cursor.token.at
    nodes, relationships = _chain(cursor)
    match = Match((PathPattern("", nodes, relationships, "", at=at),), False, None)
    return Subquery("pattern", Query(((match,),), False), at=at)


def looks_like_pattern_comprehension(cursor: Cursor) -> bool:
    """Return whether the next bracket opens `[(a)-->(b) | ..]` or `[p = (a)-->(b) | ..]`."""
    start = cursor.index
    cursor.advance()
    if cursor.token.kind in ("name", "quoted") and cursor.peek()[:2] == ("operator", "="):
        cursor.index += 2
    found = cursor.at_operator("(") and looks_like_pattern(cursor)
    cursor.index = start
    return found


def parse_pattern_comprehension(cursor: Cursor) -> Subquery:
    """Parse `[p = (a)-->(b) WHERE .. | expression]` as a COLLECT subquery."""
    at = cursor.token.at
    cursor.advance()
    path = _path(cursor)
    where = cursor.grammar.expression(cursor, bar_ends=True) if cursor.take_word("WHERE") else None
    cursor.expect_operator("|", "and the value of the pattern comprehension")
    value = cursor.grammar.expression(cursor)
    cursor.expect_operator("]", "to close the pattern comprehension")
    item = ReturnItem(value, "value", at=at)
    collected = Projection((item,), False, False, (), None, None, None, True, at=at)
    return Subquery("collect", Query(((Match((path,), False, where), collected),), False), at=at)
