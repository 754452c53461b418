"""The names at one point of a query: the row layout, and the columns that a MATCH prefetched.

Also the walks over the syntax tree that planning needs: names mentioned, aggregates contained, and what later clauses
read of each entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

from atlas.adapters.stores.cypher.syntax import (
    Call,
    Clause,
    Expression,
    ListComprehension,
    Projection,
    Property,
    Quantifier,
    Reduce,
    Subquery,
    Variable,
    walk,
)
from atlas.adapters.stores.sqlite.cypher.expressions.functions import AGGREGATES

WHOLE, TYPE_OF, LABEL_OF = "#whole", "#type", "#label"


@dataclass(frozen=True, slots=True)
class Binding:
    """The location of a name's value in the row.

    `kind` is value, node (a raw id), edge (four raw columns from `slot`) or mark (1 for an entity that is only tested
    for existence). An entity of which only single properties are read has no slot: its `slot` is -1.
    """

    kind: str
    slot: int
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class NameScope:
    """Names in scope. The first `base` slots of a row belong to the outer query and stay in every row."""

    names: Mapping[str, Binding] = field(default_factory=dict[str, Binding])
    atoms: Mapping[tuple[str, str], tuple[int, str]] = field(default_factory=dict[tuple[str, str], tuple[int, str]])
    """(name, property) -> (slot, column kind) of prefetched columns."""
    width: int = 0
    base: int = 0
    outer: Mapping[str, Binding] = field(default_factory=dict[str, Binding])

    def with_value(self, name: str) -> NameScope:
        """Return the scope with one more slot, a value with this name."""
        names = {**self.names, name: Binding("value", self.width)}
        atoms = {key: place for key, place in self.atoms.items() if key[0] != name}
        return replace(self, names=names, atoms=atoms, width=self.width + 1)

    def enter(self) -> NameScope:
        """Return the initial scope of a subquery."""
        return replace(self, base=self.width, outer=dict(self.names))

    def visible(self) -> list[str]:
        """Return the names that `*` expands to, sorted."""
        return sorted(name for name in self.names if not name.startswith(" ") and name not in self.outer)


def mentioned(tree: object) -> set[str]:
    """Return all variable names in the tree, including those that a comprehension introduces."""
    return {node.name for node in walk(tree) if isinstance(node, Variable)} | {
        name for node in walk(tree) if (name := getattr(node, "variable", None)) and isinstance(name, str)
    }


def aggregates(tree: object) -> list[Call]:
    """Return the distinct aggregate calls of an expression, except those inside subqueries."""
    found: list[Call] = []
    for node in walk(tree, subqueries=False):
        if isinstance(node, Call) and node.name in AGGREGATES and node not in found:
            found.append(node)
    return found


def substitute(tree: Expression, mapping: Mapping[Expression, Expression]) -> Expression:
    """Return the expression with every occurrence of a key replaced, respecting names that comprehensions shadow."""
    return cast("Expression", _substitute(tree, mapping))


def _substitute(tree: object, mapping: Mapping[Expression, Expression]) -> object:
    if isinstance(tree, tuple):
        return tuple(_substitute(item, mapping) for item in cast("tuple[object, ...]", tree))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    known = mapping.get(cast("Expression", tree))
    if known is not None:
        return known
    hidden: set[str] = set()
    if isinstance(tree, (ListComprehension, Quantifier)):
        hidden = {tree.variable}
    elif isinstance(tree, Reduce):
        hidden = {tree.variable, tree.accumulator}
    inner = {key: slot for key, slot in mapping.items() if not hidden & mentioned(key)} if hidden else mapping
    changed: dict[str, Any] = {}
    for part in fields(tree):
        value: object = getattr(tree, part.name)
        if isinstance(value, tuple) or is_dataclass(value):
            changed[part.name] = _substitute(
                cast("object", value), mapping if part.name in ("source", "initial") else inner
            )
    return replace(tree, **changed) if changed else tree


Needs = dict[str, set[str]]
"""Name -> the properties, `#type`, `#label` or `#whole` that are read."""


def add_needs(needs: Needs, tree: object) -> None:
    """Record the properties that the tree reads of each name; a name inside a subquery is read as a whole."""
    stack: list[object] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(cast("tuple[object, ...]", item))
        elif isinstance(item, Property) and isinstance(item.subject, Variable):
            needs.setdefault(item.subject.name, set()).add(item.name)
        elif isinstance(item, Call) and (name := _sole_variable(item)) and item.name in _PARTS:
            needs.setdefault(name, set()).add(_PARTS[item.name])
        elif isinstance(item, Variable):
            needs.setdefault(item.name, set()).add(WHOLE)
        elif isinstance(item, Subquery):
            for name in mentioned(item):
                needs.setdefault(name, set()).add(WHOLE)
        elif is_dataclass(item):
            stack.extend(getattr(item, part.name) for part in fields(item))


_PARTS = {"type": TYPE_OF, "labels": LABEL_OF, "id": "uid", "elementid": "uid", "count": "#count"}


def _sole_variable(call: Call) -> str:
    if len(call.arguments) == 1 and isinstance(call.arguments[0], Variable) and not call.distinct:
        return call.arguments[0].name
    return ""


_INDIFFERENT = frozenset(("min", "max"))


def ignores_repeats(projection: Projection) -> bool:
    """Return whether a projection ignores duplicate rows."""
    calls = [call for item in projection.items for call in aggregates(item.expression)]
    calls += [call for expression, _ in projection.order for call in aggregates(expression)]
    if calls:
        return all(call.name in _INDIFFERENT or call.distinct for call in calls)
    return projection.distinct


def needs_until_projection(clauses: Iterable[Clause]) -> tuple[Needs, Projection | None, bool]:
    """Return the reads of the clauses up to the next projection, that projection, and whether it reads every name."""
    needs: Needs = {}
    for clause in clauses:
        if isinstance(clause, Projection):
            for part in (clause.items, clause.order, clause.where):
                add_needs(needs, part)
            return needs, clause, clause.star
        add_needs(needs, clause)
        for name in mentioned(clause):
            needs.setdefault(name, set()).add(WHOLE)
    return needs, None, False
