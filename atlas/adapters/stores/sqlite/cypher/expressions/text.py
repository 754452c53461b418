"""STARTS WITH, ENDS WITH, CONTAINS and =~ as functions of a row."""

from __future__ import annotations

from atlas.adapters.stores.cypher.syntax import TextTest
from atlas.adapters.stores.sqlite.cypher.context import Compile, Evaluator, QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions import operators
from atlas.adapters.stores.sqlite.cypher.scope import NameScope
from atlas.adapters.stores.sqlite.cypher.values import Row
from atlas.parsing.cypher_regex import CypherRegex, compile_regex


def compile_text_test(e: TextTest, scope: NameScope, context: QueryContext, compile_: Compile) -> Evaluator:
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
