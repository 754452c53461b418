"""Choice of the start node of a MATCH: each node's rank by the best index for its conditions; lower is better."""

from __future__ import annotations

from atlas.adapters.stores.cypher.syntax import (
    Comparison,
    Expression,
    LabelTest,
    Membership,
    Property,
    TextTest,
    Variable,
)
from atlas.adapters.stores.sqlite.cypher.context import QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.sql_pattern import LABEL_RANK
from atlas.adapters.stores.sqlite.cypher.graph import type_names
from atlas.adapters.stores.sqlite.cypher.pattern import PatternGraph
from atlas.adapters.stores.sqlite.cypher.scope import NameScope
from atlas.adapters.stores.sqlite.rows import value

_EQUAL = {"uid": 1.0, "qualified_name": 1.5, "name": 2.0, "path": 3.0}
_COUNTED = 20_000


def node_ranks(pattern: PatternGraph, scope: NameScope, context: QueryContext) -> dict[str, float]:
    """Return each node's rank: 0 bound, 1-4 by name or path, 5-6 by label (rare first), 9 by a full scan."""
    ranks = {name: 0.0 if name in scope.names else 9.0 for name in pattern.nodes}
    labels: dict[str, frozenset[str]] = {}
    for conjunct in pattern.conjuncts:
        if isinstance(conjunct, LabelTest) and isinstance(conjunct.operand, Variable):
            names = type_names(conjunct.labels)
            if names is not None and conjunct.operand.name in ranks:
                labels[conjunct.operand.name] = names
            continue
        found = _anchor(conjunct, pattern)
        if found is not None and found[0] in ranks:
            ranks[found[0]] = min(ranks[found[0]], found[1])
    for name, choices in labels.items():
        if ranks[name] > LABEL_RANK:
            share = 0.0 if len(pattern.nodes) == 1 else min(_count(choices, context) / _COUNTED, 1.0)
            ranks[name] = LABEL_RANK + share
    return ranks


def _anchor(conjunct: Expression, pattern: PatternGraph) -> tuple[str, float] | None:
    if isinstance(conjunct, Comparison) and len(conjunct.rest) == 1 and conjunct.rest[0][0] == "=":
        for subject, value in ((conjunct.first, conjunct.rest[0][1]), (conjunct.rest[0][1], conjunct.first)):
            if (place := _place(subject)) and not pattern.depends(value):
                return place[0], _EQUAL.get(place[1], 9.0)
    if (
        isinstance(conjunct, Membership)
        and (place := _place(conjunct.element))
        and not pattern.depends(conjunct.collection)
    ):
        return (place[0], _EQUAL[place[1]] + 0.7) if place[1] in ("uid", "name", "path") else None
    if (
        isinstance(conjunct, TextTest)
        and (place := _place(conjunct.subject))
        and not pattern.depends(conjunct.argument)
    ):
        if conjunct.operator == "STARTS WITH" and place[1] in ("name", "path"):
            return place[0], 4.0
        return place[0], 7.0
    return None


def _place(expression: Expression) -> tuple[str, str] | None:
    if isinstance(expression, Property) and isinstance(expression.subject, Variable):
        return expression.subject.name, expression.name
    return None


def _count(labels: frozenset[str], context: QueryContext) -> int:
    sql = "SELECT count(*) FROM (SELECT 1 FROM node WHERE label = ? LIMIT ?)"
    return sum(value(context.graph.connection, sql, (label, _COUNTED)) for label in labels)
