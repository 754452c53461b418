"""Edits of a query's text by token offsets; everything else stays as written. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.adapters.stores.bolt.reading.depth import CappedWalk
from atlas.adapters.stores.cypher.lexer import Token
from atlas.adapters.stores.cypher.syntax import (
    Call,
    LabelLogic,
    LabelName,
    NodePattern,
    PathPattern,
    RelationshipPattern,
)

_EDGE_ENDS = frozenset(("-", "<", ">"))


class TextEdits:
    """Insertions and removals by offset; the rest of the text stays as written."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._places = {token.at: index for index, token in enumerate(tokens)}
        self._inserts: dict[int, list[str]] = {}
        self._removed: list[tuple[int, int]] = []
        self._hops: dict[int, int] = {}
        """Offset of the hop range of each relationship, by the offset of the relationship."""

    def restrict(self, node: NodePattern, joins_labels: bool) -> None:
        """Bind a node pattern to the visible graph; the far end of an edge is part of it already."""
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

    def require(self, node: NodePattern, name: str, value: str) -> None:
        """Add a property to a node pattern; after `restrict`, which writes at the same places."""
        opening = self._places[node.at]
        closing = self._closing(opening)
        if node.properties:
            brace = next(at for at in range(opening, closing) if self._tokens[at].text == "{")
            self._insert(self._tokens[brace].end, f"{name}: {value}, ")
            return
        last = closing - 1
        if node.where is not None:
            last = self._where(opening, closing) - 1
        self._insert(self._tokens[last].end, f" {{{name}: {value}}}")

    def _where(self, opening: int, closing: int) -> int:
        """Return the token WHERE of a node pattern: a label of that name follows `:`, `|`, `&` or `!`."""
        places = range(opening + 1, closing)
        words = (at for at in places if self._tokens[at].kind == "name" and self._tokens[at].text.upper() == "WHERE")
        return next(at for at in words if self._tokens[at - 1].text not in (":", "|", "&", "!"))

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

    def cap(self, edge: RelationshipPattern, low: int, high: int) -> None:
        """Write the hop range of a relationship with `*`."""
        star, end = self._star(edge)
        self._removed.append((self._tokens[star].end, self._tokens[end].end))
        self._insert(self._tokens[star].end, f"{low}..{high}")
        self._hops[edge.at] = self._tokens[star].end

    def breadth_first(self, path: PathPattern) -> None:
        """`shortestPath((a)-[:T*..5]->(b))` in Memgraph's form: `(a)-[:T *BFS ..5]->(b)`."""
        edge = path.relationships[0]
        opening = self._places[path.nodes[0].at] - 1
        for place in (opening, self._closing(opening)):
            self._removed.append((self._tokens[place].at, self._tokens[place].end))
        self._removed.append((self._tokens[opening - 1].at, self._tokens[opening - 1].end))
        star, end = self._star(edge)
        self._removed.append((self._tokens[star].at, self._tokens[end].end))
        high = edge.hops[1] if edge.hops is not None else 1
        self._insert(self._tokens[star].at, " *BFS" if high is None else f" *BFS ..{high}")

    def applied(self, text: str) -> str:
        """Return the text with all edits applied."""
        return self._between(text, 0, len(text), self._inserts, self._removed)

    def beyond(self, text: str, walk: CappedWalk, hops: int) -> str:
        """Return a query that has a row if a limited walk could continue to `hops` hops."""
        inserts = {**self._inserts, self._hops[walk.edge.at]: [f"{hops}..{hops}"]}
        removed = list(self._removed)
        if walk.match.optional:
            token = self._tokens[self._places[walk.match.at]]
            removed.append((token.at, token.end))
        return f"{self._between(text, walk.start, walk.end, inserts, removed).rstrip()} RETURN 1 LIMIT 1"

    def _between(
        self, text: str, start: int, end: int, inserts: Mapping[int, list[str]], removed: Sequence[tuple[int, int]]
    ) -> str:
        parts: list[str] = []
        at = start
        ends = dict(removed)
        for place in sorted(place for place in {*inserts, *ends} if start <= place <= end):
            parts += [text[at:place], *inserts.get(place, ())]
            at = ends.get(place, place)
        return "".join([*parts, text[at:end]])

    def _star(self, edge: RelationshipPattern) -> tuple[int, int]:
        """Return the tokens with which the hop range of a relationship begins and ends."""
        star = self._places[edge.at]
        while self._tokens[star].text != "*":
            star += 1
        end = star
        while self._tokens[end + 1].kind == "int" or self._tokens[end + 1].text == "..":
            end += 1
        return star, end

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
