"""The syntax tree of the read subset of openCypher, which the parser builds and all later stages read.

Nodes are frozen and compare by meaning: equality ignores `at` (offset in the text, for errors), so that a repeated
grouping key is recognised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TypeAlias, cast


def position() -> int:
    """Return the declaration of an offset field that is ignored by equality."""
    return field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `kind` is the name of its type, so that 1, 1.0 and true stay distinct."""

    value: bool | int | float | str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`."""

    name: str
    at: int = position()


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that a pattern, WITH, UNWIND or comprehension introduces."""

    name: str
    at: int = position()


@dataclass(frozen=True, slots=True)
class Slot:
    """A value that is already computed and stored in the row (only the projection creates these)."""

    index: int


@dataclass(frozen=True, slots=True)
class Property:
    """`subject.name`."""

    subject: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`subject[index]`."""

    subject: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    """`subject[start..stop]`; either end may be missing."""

    subject: Expression
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class Unary:
    """`NOT x`, `-x`, `+x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Boolean:
    """`AND`, `OR` or `XOR` of two or more operands."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A left-associative chain of operators of one rank: `first (operator operand)*`."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b <= c`: every adjacent pair holds."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class TextTest:
    """`STARTS WITH`, `ENDS WITH`, `CONTAINS` or `=~`."""

    operator: str
    subject: Expression
    argument: Expression


@dataclass(frozen=True, slots=True)
class Membership:
    """`element IN collection`."""

    element: Expression
    collection: Expression


@dataclass(frozen=True, slots=True)
class NullTest:
    """`IS NULL`, or `IS NOT NULL` when negated."""

    operand: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class LabelTest:
    """`n:Label` or `r:TYPE` as a predicate."""

    operand: Expression
    labels: LabelExpression


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """`{key: value}`."""

    entries: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE [subject] WHEN .. THEN .. ELSE .. END`."""

    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; `name` is lower case, `star` is `count(*)`."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False
    at: int = position()


@dataclass(frozen=True, slots=True)
class ListComprehension:
    """`[variable IN source WHERE where | result]`."""

    variable: str
    source: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`all|any|none|single(variable IN source WHERE where)`."""

    kind: str
    variable: str
    source: Expression
    where: Expression


@dataclass(frozen=True, slots=True)
class Reduce:
    """`reduce(accumulator = initial, variable IN source | body)`."""

    accumulator: str
    initial: Expression
    variable: str
    source: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class MapProjection:
    """`n {.*, .name, key: value}`; an entry with key "*" means all properties."""

    subject: Variable
    entries: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Subquery:
    """`EXISTS { .. }`, `COUNT { .. }`, `COLLECT { .. }`, pattern predicates and pattern comprehensions.

    `kind` is exists, pattern (a predicate that may not introduce names), count or collect; the query may read the
    variables of the outer query.
    """

    kind: str
    query: Query
    at: int = position()


@dataclass(frozen=True, slots=True)
class LabelName:
    """One label or relationship type."""

    name: str


@dataclass(frozen=True, slots=True)
class LabelLogic:
    """`&` (and), `|` (or), `!` (not, one operand) and `%` (any, no operand) over labels."""

    operator: str
    operands: tuple[LabelExpression, ...]


@dataclass(frozen=True, slots=True)
class NodePattern:
    """`(variable:Labels {properties} WHERE where)`; `variable` is always set, anonymous ones start with a space."""

    variable: str
    labels: LabelExpression | None
    properties: tuple[tuple[str, Expression], ...]
    where: Expression | None
    at: int = position()


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    """`-[variable:TYPES *low..high {properties} WHERE where]->`.

    `direction` is out, in or both. `hops` is None for exactly one relationship that binds a single value, else (low,
    high), where a high of None means the maximum depth.
    """

    variable: str
    types: LabelExpression | None
    properties: tuple[tuple[str, Expression], ...]
    where: Expression | None
    direction: str
    hops: tuple[int, int | None] | None
    at: int = position()


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A chain of nodes and the relationships between them. `shortest` is "", "one" or "all"; `variable` may be ""."""

    variable: str
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    shortest: str
    at: int = position()


@dataclass(frozen=True, slots=True)
class Match:
    """`[OPTIONAL] MATCH patterns WHERE where`."""

    patterns: tuple[PathPattern, ...]
    optional: bool
    where: Expression | None
    at: int = position()


@dataclass(frozen=True, slots=True)
class Unwind:
    """`UNWIND source AS variable`."""

    source: Expression
    variable: str
    at: int = position()


@dataclass(frozen=True, slots=True)
class ReturnItem:
    """One column of WITH or RETURN."""

    expression: Expression
    name: str
    at: int = position()


@dataclass(frozen=True, slots=True)
class Projection:
    """`WITH` or `RETURN`: columns, then DISTINCT, ORDER BY, SKIP, LIMIT, then WHERE."""

    items: tuple[ReturnItem, ...]
    star: bool
    distinct: bool
    order: tuple[tuple[Expression, bool], ...]
    """(expression, descending) each."""
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    final: bool
    """True for RETURN."""
    at: int = position()


@dataclass(frozen=True, slots=True)
class Query:
    """One or more clause sequences joined by UNION [ALL]; only subqueries may end without a RETURN."""

    parts: tuple[tuple[Clause, ...], ...]
    union_all: bool


Value: TypeAlias = Literal | Parameter | Variable | Slot | Property | Index | Slice | Call | Case | Subquery
Operation: TypeAlias = Unary | Boolean | Arithmetic | Comparison | TextTest | Membership | NullTest | LabelTest
Collection: TypeAlias = ListLiteral | MapLiteral | MapProjection | ListComprehension | Quantifier | Reduce
Expression: TypeAlias = Value | Operation | Collection
LabelExpression: TypeAlias = LabelName | LabelLogic
Clause: TypeAlias = Match | Unwind | Projection


def walk(tree: object, subqueries: bool = True) -> Iterator[object]:
    """Yield every node of a syntax tree (or of a tuple of trees), parents first."""
    stack: list[object] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(cast("tuple[object, ...]", item)))
        elif is_dataclass(item):
            yield item
            if subqueries or not isinstance(item, Subquery):
                stack.extend(getattr(item, part.name) for part in reversed(fields(item)))


@dataclass(frozen=True, slots=True)
class NamedProperty:
    """A property of a node or relationship that a query names, with the labels or types that its pattern requires."""

    name: str
    of_edge: bool
    labels: frozenset[str]
    """Empty if the pattern does not say."""


def named_properties(query: Query) -> Iterator[NamedProperty]:
    """Yield the properties that a query reads of the nodes and relationships of its patterns, each time."""
    known: dict[str, tuple[bool, frozenset[str]]] = {}
    for item in walk(query):
        if isinstance(item, NodePattern | RelationshipPattern):
            of_edge = isinstance(item, RelationshipPattern)
            labels = _required(item.types if isinstance(item, RelationshipPattern) else item.labels)
            yield from (NamedProperty(name, of_edge, labels) for name, _ in item.properties)
            if item.variable not in known or labels:
                known[item.variable] = of_edge, labels
    for item in walk(query):
        if isinstance(item, Property) and isinstance(item.subject, Variable) and item.subject.name in known:
            yield NamedProperty(item.name, *known[item.subject.name])


def named_labels(query: Query) -> Iterator[tuple[str, bool]]:
    """Yield the labels that a query names anywhere, and the types, which are marked, of its patterns."""
    types = {
        id(name)
        for item in walk(query)
        if isinstance(item, RelationshipPattern) and item.types is not None
        for name in walk(item.types)
    }
    yield from ((item.name, id(item) in types) for item in walk(query) if isinstance(item, LabelName))


def _required(expression: LabelExpression | None) -> frozenset[str]:
    """Return the labels of which an entity has one, empty if that cannot be said."""
    if isinstance(expression, LabelName):
        return frozenset((expression.name,))
    if isinstance(expression, LabelLogic) and expression.operator == "|":
        parts = [_required(operand) for operand in expression.operands]
        return frozenset[str]().union(*parts) if all(parts) else frozenset()
    return frozenset()
