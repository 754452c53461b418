"""The text of a query to its syntax tree.

Only the clauses of the read subset are implemented; every other clause of Cypher is rejected by name, so no query can
execute anything that this module does not list.
"""

from __future__ import annotations

from atlas.adapters.stores.cypher import parse_expression, parse_pattern
from atlas.adapters.stores.cypher.lexer import Cursor, Grammar, tokenize
from atlas.adapters.stores.cypher.syntax import (
    Clause,
    Expression,
    Match,
    Projection,
    Query,
    ReturnItem,
    Subquery,
    Unwind,
    Variable,
)

_READ_ONLY = "queries are read-only: use MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN, UNION"
_SCHEMA = "the schema tool lists the schema of the graph"
_UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(
        [
            "CREATE",
            "MERGE",
            "SET",
            "DELETE",
            "DETACH",
            "NODETACH",
            "REMOVE",
            "INSERT",
            "FOREACH",
            "DROP",
            "ALTER",
            "GRANT",
            "DENY",
            "REVOKE",
            "RENAME",
            "ENABLE",
            "DISABLE",
            "START",
            "STOP",
            "TERMINATE",
            "DEALLOCATE",
            "REALLOCATE",
            "DRYRUN",
            "COMMIT",
            "ROLLBACK",
            "BEGIN",
        ],
        _READ_ONLY,
    ),
    "LOAD": "files cannot be read from a query",
    "CALL": "procedures and CALL subqueries are not available; EXISTS, COUNT and COLLECT subqueries are",
    "USE": "there is one graph; filter by n.project instead",
    "SHOW": _SCHEMA,
    "EXPLAIN": "run the query itself",
    "PROFILE": "run the query itself",
    "USING": "omit the planner hint",
    "CYPHER": "omit the version prefix",
    "FINISH": "end the query with RETURN",
    "LET": "write WITH *, expression AS name",
    "FILTER": "write WITH * WHERE ..",
    "FOR": "write UNWIND list AS x",
    "GRAPH": "there is one graph",
    "ATTACH": _READ_ONLY,
    "PRAGMA": _READ_ONLY,
    "SELECT": "this is Cypher, not SQL: MATCH (n:Function) RETURN n.name",
}
_NAMED = {"LOAD": "LOAD CSV", "USING": "a USING hint", "START": "START"}


def parse(text: str) -> Query:
    """Return the syntax tree. Raises a located QueryError for malformed text and for anything outside the subset."""
    grammar = Grammar(parse_expression.parse_expression, parse_expression.parse_map, parse_subquery)
    cursor = Cursor(text, tokenize(text), grammar)
    query = _union(cursor, ends=("end",), subquery=False)
    return query


def parse_subquery(cursor: Cursor, kind: str) -> Subquery:
    """Parse `EXISTS {..}`, `COUNT {..}` or `COLLECT {..}`; the body is a query, or bare patterns with WHERE."""
    at = cursor.token.at
    cursor.enter()
    cursor.advance()
    cursor.advance()
    if cursor.at_operator("(") or (cursor.token.kind == "name" and cursor.peek()[:2] == ("operator", "=")):
        match = Match(parse_pattern.parse_patterns(cursor), False, _where(cursor))
        query = Query(((match,),), False)
    else:
        query = _union(cursor, ends=("}",), subquery=kind != "collect")
    cursor.expect_operator("}", f"to close {kind.upper()} {{")
    cursor.depth -= 1
    if kind == "collect":
        last = query.parts[0][-1]
        if not isinstance(last, Projection) or last.star or len(last.items) != 1:
            raise cursor.error("a COLLECT subquery returns exactly one column", "COLLECT { MATCH .. RETURN x }", at)
    return Subquery(kind, query, at=at)


def _union(cursor: Cursor, ends: tuple[str, ...], subquery: bool) -> Query:
    parts = [_clauses(cursor, ends, subquery)]
    modes: set[bool] = set()
    while cursor.take_word("UNION"):
        modes.add(cursor.take_word("ALL"))
        cursor.take_word("DISTINCT")
        parts.append(_clauses(cursor, ends, subquery))
    if len(modes) > 1:
        raise cursor.error("UNION and UNION ALL cannot be mixed", "use one of them throughout")
    return Query(tuple(parts), True in modes)


def _clauses(cursor: Cursor, ends: tuple[str, ...], subquery: bool) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    while True:
        clause = _clause(cursor)
        clauses.append(clause)
        if isinstance(clause, Projection) and clause.final:
            _expect_end(cursor, ends)
            return tuple(clauses)
        if subquery and cursor.at_operator(*ends):
            return tuple(clauses)
        if cursor.token.kind == "end":
            raise cursor.error("the query ends without RETURN", "add RETURN with the values to return")


def _expect_end(cursor: Cursor, ends: tuple[str, ...]) -> None:
    if "end" in ends and cursor.take_operator(";") and cursor.token.kind != "end":
        raise cursor.error("only one statement can run at a time", "send one statement at a time")
    closed = cursor.token.kind == "end" if "end" in ends else cursor.at_operator(*ends)
    if closed or cursor.at_word("UNION"):
        return
    _refuse(cursor)
    raise cursor.unexpected("expected the end of the query after RETURN")


def _clause(cursor: Cursor) -> Clause:
    if cursor.at_word("MATCH") or cursor.at_word("OPTIONAL", "MATCH"):
        return _match(cursor)
    at = cursor.token.at
    if cursor.take_word("UNWIND"):
        source = parse_expression.parse_expression(cursor)
        cursor.expect_word("AS", "and a name after UNWIND ..")
        return Unwind(source, cursor.expect_name("a name after AS"), at=at)
    if cursor.at_word("WITH") or cursor.at_word("RETURN"):
        return _projection(cursor)
    _refuse(cursor)
    raise cursor.unexpected("expected a clause (MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN)")


def _refuse(cursor: Cursor) -> None:
    token = cursor.token
    word = token.text.upper() if token.kind == "name" else ""
    if word == "OPTIONAL" and cursor.peek().text.upper() == "CALL":
        word = "CALL"
    if word in _UNSUPPORTED:
        raise cursor.error(f"{_NAMED.get(word, word)} is not supported", _UNSUPPORTED[word])


def _match(cursor: Cursor) -> Match:
    at = cursor.token.at
    optional = cursor.take_word("OPTIONAL")
    cursor.advance()
    for mode in ("REPEATABLE", "DIFFERENT"):
        if cursor.at_word(mode):
            raise cursor.error(f"the match mode {mode} is not supported", "leave it out")
    patterns = parse_pattern.parse_patterns(cursor)
    _refuse_hint(cursor)
    where = _where(cursor)
    return Match(patterns, optional, where, at=at)


def _refuse_hint(cursor: Cursor) -> None:
    if cursor.at_word("USING"):
        _refuse(cursor)


def _where(cursor: Cursor) -> Expression | None:
    return parse_expression.parse_expression(cursor) if cursor.take_word("WHERE") else None


def _projection(cursor: Cursor) -> Projection:
    at = cursor.token.at
    final = cursor.advance().text.upper() == "RETURN"
    distinct = cursor.take_word("DISTINCT")
    star = cursor.take_operator("*")
    items: list[ReturnItem] = []
    if not star or cursor.take_operator(","):
        items.append(_item(cursor, final))
        while cursor.take_operator(","):
            items.append(_item(cursor, final))
    order = _order(cursor)
    skip = parse_expression.parse_expression(cursor) if cursor.take_word("SKIP") or cursor.take_word("OFFSET") else None
    limit = parse_expression.parse_expression(cursor) if cursor.take_word("LIMIT") else None
    where = None if final else _where(cursor)
    if final and cursor.at_word("WHERE"):
        raise cursor.error("WHERE cannot follow RETURN", "put it before: WITH .. WHERE .. RETURN ..")
    return Projection(tuple(items), star, distinct, order, skip, limit, where, final, at=at)


def _item(cursor: Cursor, final: bool) -> ReturnItem:
    start = cursor.token.at
    expression = parse_expression.parse_expression(cursor)
    written = cursor.text[start : cursor.tokens[cursor.index - 1].end]
    if cursor.take_word("AS"):
        return ReturnItem(expression, cursor.expect_name("a name after AS"), at=start)
    if isinstance(expression, Variable):
        return ReturnItem(expression, expression.name, at=start)
    if not final:
        raise cursor.error("an expression in WITH needs a name", "write WITH expression AS name", start)
    return ReturnItem(expression, written, at=start)


def _order(cursor: Cursor) -> tuple[tuple[Expression, bool], ...]:
    if not cursor.take_word("ORDER"):
        return ()
    cursor.expect_word("BY", "after ORDER")
    keys: list[tuple[Expression, bool]] = []
    while True:
        expression = parse_expression.parse_expression(cursor)
        descending = cursor.take_word("DESC") or cursor.take_word("DESCENDING")
        if not descending and not cursor.take_word("ASC"):
            cursor.take_word("ASCENDING")
        keys.append((expression, descending))
        if not cursor.take_operator(","):
            return tuple(keys)
