"""A user's Cypher as it is sent to a Bolt server: nothing but the read subset, and only the visible graph.

The embedded store's parser reads it first: what that refuses never arrives at a server. The graph that queries see are
the `Symbol` nodes: nodes that are asked for without a label get it, which also lets an index find them by name, and
`labels()` forgets it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atlas.errors import QueryError
from atlas.stores.cypher.functions import AGGREGATES, FUNCTIONS
from atlas.stores.cypher.lexer import Token, located_error, tokenize
from atlas.stores.cypher.parse import parse
from atlas.stores.cypher.regex import compile_regex
from atlas.stores.cypher.scope import walk
from atlas.stores.cypher.syntax import (
    Call,
    LabelLogic,
    LabelName,
    Literal,
    Match,
    NodePattern,
    Parameter,
    Projection,
    Query,
    Subquery,
    TextTest,
    Unwind,
)

_GRAPH_FUNCTIONS = frozenset(("type", "labels", "id", "elementid", "keys", "properties", "exists"))
_EDGE_ENDS = frozenset(("-", "<", ">"))


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent, and whether its rows come in an order of their own."""

    text: str
    ordered: bool


def prepared(text: str, parameters: Mapping[str, object], *, memgraph: bool) -> Sent:
    """Return the query as it is sent to a Memgraph or to a Neo4j, which knows `(n:(A|B)&C)`.

    Raises `QueryError`, located, for everything that is not in the read subset.
    """
    try:
        tree = parse(text)
    except RecursionError as error:
        raise QueryError("the query is nested too deeply", "simplify it", 1, 1) from error
    tokens = tokenize(text).tokens
    edits = _Edits(tokens)
    for item in walk(tree):
        if isinstance(item, LabelName) and (item.name.startswith("Atlas") or item.name == "Symbol"):
            raise QueryError(f"the label {item.name} is the store's own", "see: atlas schema")
        if isinstance(item, NodePattern):
            edits.restrict(item, not memgraph)
        elif isinstance(item, Call):
            _check_function(item, text)
            _check_range(item, parameters)
            edits.call(item)
        elif isinstance(item, TextTest) and item.operator == "=~":
            _check_pattern(item, parameters)
        elif isinstance(item, Match):
            _check_variables(item, text)
        if memgraph:
            _check_wrong_answers(item)
    return Sent(edits.applied(text), _is_ordered(tree))


def _check_function(call: Call, text: str) -> None:
    if call.name not in FUNCTIONS and call.name not in AGGREGATES and call.name not in _GRAPH_FUNCTIONS:
        raise located_error(text, call.at, f"unknown function {call.name}()")


def _check_range(call: Call, parameters: Mapping[str, object]) -> None:
    """Refuse a range that the embedded store finds too long, where its ends are known before it runs."""
    ends = [_known(argument, parameters) for argument in call.arguments]
    if call.name == "range" and all(isinstance(end, int) for end in ends) and len(ends) in (2, 3):
        FUNCTIONS["range"].call(*ends)


def _check_pattern(test: TextTest, parameters: Mapping[str, object]) -> None:
    """Refuse patterns that can take for ever: a server cannot interrupt its regular expressions."""
    pattern = _known(test.argument, parameters)
    if isinstance(pattern, str):
        compile_regex(pattern)
    elif pattern is not None or not isinstance(test.argument, (Literal, Parameter)):
        raise QueryError("the pattern after =~ has to be a string or a parameter on a server", "write it out")


def _check_variables(match: Match, text: str) -> None:
    seen: set[str] = set()
    for pattern in match.patterns:
        for edge in pattern.relationships:
            if edge.variable in seen:
                raise located_error(text, edge.at, f"variable `{edge.variable}` is used twice in one MATCH")
            seen.add(edge.variable)


def _check_wrong_answers(item: object) -> None:
    """Refuse what Memgraph 3.12 answers wrongly without a word; what it does not know it says itself."""
    if isinstance(item, Projection):
        late = [*(expression for expression, _ in item.order), *([item.where] if item.where is not None else [])]
        if any(isinstance(part, Subquery) and part.kind == "collect" for value in late for part in walk(value)):
            raise QueryError(
                "Memgraph gives wrong results for a pattern comprehension in ORDER BY and after WITH .. WHERE",
                "make it a column first: WITH n, [..] AS found",
            )
    if isinstance(item, Subquery) and item.kind == "exists":
        last = item.query.parts[0][-1]
        counts = isinstance(last, Projection) and any(
            isinstance(part, Call) and part.name in AGGREGATES for column in last.items for part in walk(column)
        )
        if isinstance(last, Projection) and (counts or last.limit is not None or last.skip is not None):
            raise QueryError("Memgraph ignores LIMIT, SKIP and aggregates in EXISTS", "count outside of it")


def _known(expression: object, parameters: Mapping[str, object]) -> object:
    if isinstance(expression, Literal):
        return expression.value
    return parameters.get(expression.name) if isinstance(expression, Parameter) else None


def _is_ordered(tree: Query) -> bool:
    return any(isinstance(node, Unwind) or (isinstance(node, Projection) and bool(node.order)) for node in walk(tree))


class _Edits:
    """Insertions and removals by offset; the rest of the text stays as it was written."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._places = {token.at: index for index, token in enumerate(tokens)}
        self._inserts: dict[int, list[str]] = {}
        self._removed: list[tuple[int, int]] = []

    def restrict(self, node: NodePattern, joins_labels: bool) -> None:
        """Bind a node pattern to the visible graph; the far end of an edge is there anyway."""
        index = self._places[node.at] + 1
        named = self._tokens[index].kind in ("name", "quoted") and not node.variable.startswith(" ")
        if named:
            index += 1
        if node.labels is None:
            if named or node.properties or node.where is not None or not self._at_edge(node.at):
                self._insert(self._tokens[index - 1].end, ":Symbol")
        elif isinstance(node.labels, LabelName):
            self._insert(self._tokens[index + 1].end, ":Symbol")
        elif joins_labels:
            self._join(index, node.labels)

    def call(self, call: Call) -> None:
        """`labels(n)` without the common label; `id(n)` and `elementId(n)` are the uid."""
        if call.name not in ("labels", "id", "elementid") or call.star:
            return
        name = self._tokens[self._places[call.at]]
        end = self._tokens[self._closing(self._places[call.at] + 1)].end
        if call.name == "labels":
            self._insert(name.at, "[atlas_label IN ")
            self._insert(end, " WHERE atlas_label <> 'Symbol']")
        else:
            self._removed.append((name.at, name.end))
            self._insert(end, ".uid")

    def applied(self, text: str) -> str:
        """Return the text with all edits."""
        parts: list[str] = []
        at = 0
        removed = dict(self._removed)
        for place in sorted({*self._inserts, *removed}):
            parts += [text[at:place], *self._inserts.get(place, ())]
            at = removed.get(place, place)
        return "".join([*parts, text[at:]])

    def _insert(self, at: int, text: str) -> None:
        self._inserts.setdefault(at, []).append(text)

    def _at_edge(self, at: int) -> bool:
        opening = self._places[at]
        after = self._tokens[self._closing(opening) + 1]
        before = self._tokens[opening - 1] if opening else self._tokens[-1]
        return after.text in _EDGE_ENDS or before.text in _EDGE_ENDS

    def _join(self, colon: int, labels: LabelLogic) -> None:
        """Add the common label to `:A|B` or `:A:B`, whose tokens begin at the colon."""
        last, depth, colons = colon, 0, False
        while True:
            token = self._tokens[last + 1]
            depth += (token.text == "(") - (token.text == ")")
            word = token.kind == "name" and token.text.upper() == "WHERE" and self._tokens[last].kind != "operator"
            if depth < 0 or token.text == "{" or word:
                break
            last += 1
            colons = colons or token.text == ":"
        if colons:
            self._insert(self._tokens[last].end, ":Symbol")
        else:
            self._insert(self._tokens[colon].end, "(")
            self._insert(self._tokens[last].end, ")&Symbol")

    def _closing(self, opening: int) -> int:
        depth = 0
        for index in range(opening, len(self._tokens)):
            if self._tokens[index].kind == "operator":
                depth += (self._tokens[index].text == "(") - (self._tokens[index].text == ")")
            if depth == 0:
                return index
        raise AssertionError("the parser has seen the closing parenthesis")
