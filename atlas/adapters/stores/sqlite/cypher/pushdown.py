"""Conditions of a MATCH as SQL where SQL decides exactly as Cypher does; all others stay in Python.

A condition at the top level only has to be true for the same rows, so it may confuse null and false (`exact` is False).
Below NOT it may not, and only conditions that preserve the difference are translated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from atlas.adapters.stores.cypher.syntax import (
    Boolean,
    Call,
    Comparison,
    Expression,
    LabelTest,
    Literal,
    Match,
    Membership,
    NullTest,
    Parameter,
    Property,
    Subquery,
    TextTest,
    Unary,
    Variable,
)
from atlas.adapters.stores.sqlite.cypher.context import QueryContext
from atlas.adapters.stores.sqlite.cypher.expressions.expression import compile_expression
from atlas.adapters.stores.sqlite.cypher.expressions.sql_pattern import Source, SqlPattern
from atlas.adapters.stores.sqlite.cypher.graph import Column, label_sql
from atlas.adapters.stores.sqlite.cypher.pattern import build_pattern
from atlas.adapters.stores.sqlite.cypher.scope import LABEL_OF, TYPE_OF, Binding, NameScope, mentioned
from atlas.adapters.stores.sqlite.cypher.values import Row, as_list, is_list, mismatch

_KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int, float), "float": (int, float), "bool": (bool,)}
_NODE = Binding("node", -1)


@dataclass(slots=True)
class Pushdown:
    """Translates conditions on the entities of one statement; `scope` describes the incoming row."""

    sql: SqlPattern
    scope: NameScope
    context: QueryContext
    introduced: set[str]
    """Names introduced by the statement's MATCH: an expression that reads none of them is constant per incoming row."""

    def translate(self, expression: Expression, exact: bool = False) -> str | None:
        """Return SQL over the statement's tables, or None if the condition must be checked in Python."""
        mark = len(self.sql.bound.sources)
        condition = self._translate(expression, exact)
        if condition is None:
            del self.sql.bound.sources[mark:]
        return condition

    def _translate(self, expression: Expression, exact: bool) -> str | None:
        if isinstance(expression, Boolean) and expression.operator in ("AND", "OR"):
            parts = [self.translate(operand, exact) for operand in expression.operands]
            found = [part for part in parts if part is not None]
            return f"({f' {expression.operator} '.join(found)})" if len(found) == len(parts) else None
        if isinstance(expression, Unary) and expression.operator == "NOT":
            inner = self.translate(expression.operand, True)
            return None if inner is None else f"NOT ({inner})"
        if isinstance(expression, Comparison) and len(expression.rest) == 1:
            operator, right = expression.rest[0]
            return self._comparison(expression.first, operator, right, exact)
        if isinstance(expression, Membership):
            return self._membership(expression, exact)
        if isinstance(expression, TextTest):
            return self._text_test(expression, exact)
        if isinstance(expression, NullTest):
            place = self._place(expression.operand)
            return None if place is None else f"{self._read(place)} IS {'NOT ' if expression.negated else ''}NULL"
        if isinstance(expression, LabelTest):
            return self._label_test(expression)
        if isinstance(expression, Subquery):
            return self._exists(expression)
        if isinstance(expression, Property):
            place = self._place(expression)
            return self._read(place) if place is not None and place[1].kind == "bool" else None
        return None

    def _place(self, expression: Expression) -> tuple[str, Column, str] | None:
        """Return (alias, column, property) if the expression is a column of the statement."""
        if isinstance(expression, Property) and isinstance(expression.subject, Variable):
            name, part = expression.subject.name, expression.name
        elif (
            isinstance(expression, Call)
            and expression.name in ("type", "elementid", "id")
            and len(expression.arguments) == 1
            and isinstance(expression.arguments[0], Variable)
        ):
            name = expression.arguments[0].name
            part = TYPE_OF if expression.name == "type" else "uid"
        else:
            return None
        if not (name in self.introduced and self.sql.knows(name)) or part.startswith("_"):
            return None
        place = self.sql.column(name, part)
        return None if place is None else (*place, part)

    def _read(self, place: tuple[str, Column, str]) -> str:
        return place[1].sql.format(place[0])

    def _constant(self, expression: Expression) -> Source | None:
        """Return the value as a function of the incoming row; None if it depends on the statement's own names."""
        if mentioned(expression) & self.introduced:
            return None
        return compile_expression(expression, self.scope, self.context)

    def _comparison(self, left: Expression, operator: str, right: Expression, exact: bool) -> str | None:
        first, second = self._place(left), self._place(right)
        if first is None and second is None:
            return self._same_entity(left, operator, right)
        if first is not None and second is not None:
            same = first[1].kind == second[1].kind and first[1].kind in ("str", "int", "float")
            return f"{self._read(first)} {operator} {self._read(second)}" if same else None
        if first is None:
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
            return self._comparison(right, flipped, left, exact)
        kinds = _KINDS.get(first[1].kind)
        if kinds is None or (first[1].kind == "bool" and operator not in ("=", "<>")):
            return None
        if (exact or operator == "<>") and not _has_type(right, kinds, self.context):
            return None
        value = self._constant(right)
        if value is None:
            return None
        bound = self.sql.bound.add(_only(value, kinds))
        if not exact and operator == "=":
            return self._equality(first, bound)
        return f"{self._read(first)} {operator} {bound}"

    def _equality(self, place: tuple[str, Column, str], bound: str) -> str:
        """Return an equality at the top level, written so that an index finds the node."""
        alias, column, part = place
        if part == "name":
            return f"({alias}.name = {bound} COLLATE NOCASE AND {alias}.name = {bound})"
        if part == "uid":
            return f"{alias}.id = (SELECT id FROM symbol_id WHERE uid = {bound})"
        if part == "qualified_name":
            # uid = "<project>:<qualified name>" (atlas.core.ids), and uids are indexed
            found = f"SELECT s.id FROM project AS p CROSS JOIN symbol_id AS s ON s.uid = p.name || ':' || {bound}"
            return f"({alias}.id IN ({found}) AND {alias}.qualified_name = {bound})"
        if part == "project":
            return self._through_file(alias, f"project = (SELECT id FROM project WHERE name = {bound})")
        if column.file_column:
            return self._through_file(alias, f"{column.file_column} = {bound}")
        return f"{self._read(place)} = {bound}"

    def _through_file(self, alias: str, condition: str) -> str:
        return f"{alias}.file IN (SELECT file.id FROM file WHERE {condition})"

    def _same_entity(self, left: Expression, operator: str, right: Expression) -> str | None:
        if operator not in ("=", "<>") or not (isinstance(left, Variable) and isinstance(right, Variable)):
            return None
        for variable in (left, right):
            if variable.name not in self.introduced:
                return None
        first, second = self.sql.identity(left.name), self.sql.identity(right.name)
        return None if first is None or second is None else f"{first} {operator} {second}"

    def _membership(self, expression: Membership, exact: bool) -> str | None:
        place = self._place(expression.element)
        if place is None:
            return self._label_membership(expression)
        kinds = _KINDS.get(place[1].kind)
        if exact or kinds is None or place[1].kind == "bool":
            return None
        value = self._constant(expression.collection)
        if value is None:
            return None
        bound = self.sql.bound.add(_json_list(value, kinds))
        items = f"(SELECT value FROM json_each({bound}))"
        alias, column, part = place
        if not exact and part == "name":
            return f"({alias}.name COLLATE NOCASE IN {items} AND {alias}.name IN {items})"
        if not exact and part == "uid":
            return f"{alias}.id IN (SELECT id FROM symbol_id WHERE uid IN {items})"
        if not exact and column.file_column:
            return self._through_file(alias, f"{column.file_column} IN {items}")
        return f"{self._read(place)} IN {items}"

    def _label_membership(self, expression: Membership) -> str | None:
        """Translate `'Class' IN labels(n)`."""
        call = expression.collection
        if not (isinstance(call, Call) and call.name == "labels" and isinstance(expression.element, Literal)):
            return None
        argument = call.arguments[0] if len(call.arguments) == 1 else None
        if (
            not isinstance(argument, Variable)
            or argument.name not in self.introduced
            or expression.element.kind != "string"
        ):
            return None
        place = self.sql.column(argument.name, LABEL_OF) if self.sql.knows(argument.name) else None
        return None if place is None else f"{place[0]}.label = {self.sql.bound.constant(expression.element.value)}"

    def _text_test(self, expression: TextTest, exact: bool) -> str | None:
        place = self._place(expression.subject)
        if place is None or place[1].kind != "str" or expression.operator == "=~":
            return None
        if exact and not _has_type(expression.argument, (str,), self.context):
            return None
        value = self._constant(expression.argument)
        if value is None:
            return None
        bound = self.sql.bound.add(_only(value, (str,)))
        length = "" if expression.operator == "CONTAINS" else self.sql.bound.add(_length(value))
        alias, column, part = place
        through_file = not exact and bool(column.file_column)
        subject = column.file_column if through_file else self._read(place)
        condition = {
            "CONTAINS": f"instr({subject}, {bound}) > 0",
            "STARTS WITH": f"substr({subject}, 1, {length}) = {bound}",
            "ENDS WITH": f"(({length} = 0 AND {subject} IS NOT NULL) OR substr({subject}, -{length}) = {bound})",
        }[expression.operator]
        if through_file:
            return self._through_file(alias, condition)
        if not exact and part == "name" and expression.operator == "STARTS WITH":
            stop = self.sql.bound.add(_after(value))
            folded = f"{alias}.name >= {bound} COLLATE NOCASE AND {alias}.name < {stop} COLLATE NOCASE"
            return f"({folded} AND {condition})"
        return condition

    def _label_test(self, expression: LabelTest) -> str | None:
        if not isinstance(expression.operand, Variable) or expression.operand.name not in self.introduced:
            return None
        name = expression.operand.name
        if not self.sql.knows(name):
            return None
        place = self.sql.column(name, LABEL_OF) or self.sql.column(name, TYPE_OF)
        if place is None:
            return None
        values: list[str] = []
        column = place[1].sql.format(place[0])
        # `+` prevents SQLite from preferring the label index to a better one.
        free = name not in self.sql.reach and name in self.sql.nodes
        return self.sql.spell(label_sql(expression.labels, column if free else f"+{column}", values), values)

    def _exists(self, expression: Subquery) -> str | None:
        """Return a pattern predicate, or EXISTS with one MATCH of joined relationships, as a nested SELECT."""
        clauses = expression.query.parts[0]
        if expression.kind not in ("pattern", "exists") or len(clauses) != 1 or len(expression.query.parts) != 1:
            return None
        match = clauses[0]
        if not isinstance(match, Match) or match.optional:
            return None
        known = {**self.scope.names, **{name: _NODE for name in self.introduced}}
        pattern = build_pattern(match, NameScope(known), self.context, expression.kind == "pattern")
        if pattern.paths or any(relation.walked or relation.direction == "both" for relation in pattern.relations):
            return None
        if any(name in known and self.sql.identity(name) is None for name in pattern.nodes):
            return None
        if any(relation.name in known for relation in pattern.relations):
            return None
        nested = SqlPattern(self.sql.bound, prefix=f"{self.sql.prefix}x", outer=self.sql)
        nested.join(pattern.nodes, pattern.relations, {})
        inner = Pushdown(nested, self.scope, self.context, self.introduced | pattern.introduced)
        for conjunct in pattern.conjuncts:
            condition = inner.translate(conjunct)
            if condition is None:
                return None
            nested.conditions.append(condition)
        return f"EXISTS ({nested.select(['1'])})"


def _is(value: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)) and value == value


def _has_type(expression: Expression, kinds: tuple[type, ...], context: QueryContext) -> bool:
    """Return whether the expression is a constant that is known before running to have one of the types."""
    if isinstance(expression, Literal):
        return _is(expression.value, kinds)
    return isinstance(expression, Parameter) and _is(context.parameters.get(expression.name), kinds)


def _only(value: Source, kinds: tuple[type, ...]) -> Source:
    """Convert values of other types to null, which satisfies no comparison."""

    def source(row: Row) -> object:
        given = value(row)
        return given if _is(given, kinds) else None

    return source


def _length(value: Source) -> Source:
    return lambda row: len(text) if isinstance(text := value(row), str) else None


def _after(value: Source) -> Source:
    return lambda row: text + "\U0010ffff" if isinstance(text := value(row), str) else None


def _json_list(value: Source, kinds: tuple[type, ...]) -> Source:
    def source(row: Row) -> str:
        items = value(row)
        if items is None:
            return "[]"
        if not is_list(items):
            raise mismatch("List", items)
        return json.dumps([item for item in as_list(items) if _is(item, kinds)])

    return source
