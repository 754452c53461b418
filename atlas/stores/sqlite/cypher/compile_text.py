"""STARTS WITH, ENDS WITH, CONTAINS and =~ as functions of a row."""

from __future__ import annotations

from atlas.cypher.regex import CypherRegex, compile_regex
from atlas.cypher.syntax import TextTest
from atlas.stores.sqlite.cypher import operators
from atlas.stores.sqlite.cypher.context import Compile, Context, Evaluator
from atlas.stores.sqlite.cypher.scope import Scope
from atlas.stores.sqlite.cypher.values import Row


def compile_text_test(e: TextTest, scope: Scope, context: Context, compile_: Compile) -> Evaluator:
    """Return whether the test holds; null unless both operands are strings. Caches the last regular expression."""
    subject, argument = compile_(e.subject, scope), compile_(e.argument, scope)
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
