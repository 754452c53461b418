"""The answers about one symbol: its details, or its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure, where, without_empty
from atlas.code.tools.citations import parents_line
from atlas.code.tools.symbol.symbol_lines import (
    candidate_line,
    neighbour_line,
    node_degrees,
    node_traits,
    section_lines,
    symbol_line,
)
from atlas.code.tools.symbol.symbols import Lookup, NeighbourSection, NodeDetail, SourceLines, Symbol


@dataclass(frozen=True, slots=True)
class NodeAnswer(Answer):
    """Answer of get_node; `node` is None unless the name was found."""

    cites: ClassVar[bool] = True

    tool: str
    lookup: Lookup
    node: NodeDetail | None
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield what a lookup found, or the details."""
        yield from lookup_lines(self.lookup, where(self.evidence))
        node = self.node
        if node is None:
            return
        yield f"uid {node.symbol.uid}"
        if node.symbol.place:
            yield f"place {node.symbol.place}, digest {node.symbol.digest}"
        if node.symbol.signature:
            yield node.symbol.signature
        yield node_traits(node)
        if node.marks:
            yield node.marks
        if node.degrees:
            yield f"neighbours: {node_degrees(node)}"
        if node.docstring:
            yield node.docstring

    def content(self) -> Structure:
        """Return the result of the lookup and the details."""
        return without_empty({**_lookup(self.lookup), **self._detail()})

    def _detail(self) -> Structure:
        node = self.node
        if node is None:
            return {}
        detail: Structure = {
            **{key: value for key, value in _symbol(node.symbol).items() if key != "kind"},  # in the traits
            "signature": node.symbol.signature,
            "traits": node_traits(node),
            "marks": node.marks,
            "degrees": node_degrees(node),
            "docstring": _lines(node.docstring),
        }
        return {"node": without_empty(detail)}

    def emptied(self) -> Self:
        """Return the result of the lookup."""
        return replace(self, node=None)

    def result(self) -> AnswerOutcome:
        """Return whether the name means one symbol."""
        return _result(self.lookup)


@dataclass(frozen=True, slots=True)
class ContextAnswer(Answer):
    """Answer of get_context: a node, its enclosing nodes, source and neighbours; `symbol` is None unless found."""

    cites: ClassVar[bool] = True

    tool: str
    lookup: Lookup
    symbol: Symbol | None
    docstring: str
    parents: tuple[Symbol, ...]
    source: SourceLines | None
    sections: tuple[NeighbourSection, ...]
    evidence: Evidence
    notes: tuple[tuple[str, ...], ...] = ()
    """Notes and decisions about the node, one or two lines each: quoted data, and what makes it suspect."""
    marks: str = ""
    """Of a node that is a note: status, author, age, and what makes it suspect."""

    def lines(self) -> Iterator[str]:
        """Yield what a lookup found, or the context."""
        yield from lookup_lines(self.lookup, where(self.evidence))
        if self.symbol is None:
            return
        yield symbol_line(self.symbol)
        if self.marks:
            yield self.marks
        if self.parents:
            yield f"in {parents_line(self.parents)}"
        if self.source is None and self.symbol.signature:
            yield self.symbol.signature
        if self.source is None and self.docstring:
            yield self.docstring
        if self.source is not None:
            yield f"source, lines {self.source.start_line}-{self.source.end_line} of {self.source.last_line}:"
            yield self.source.text
        if self.notes:
            yield "notes:"
            yield from (f"  {line}" for note in self.notes for line in note)
        for section in self.sections:
            yield from section_lines(section)

    def content(self) -> Structure:
        """Return the result of the lookup and the context."""
        return without_empty({**_lookup(self.lookup), **self._context()})

    def _context(self) -> Structure:
        if self.symbol is None:
            return {}
        symbol = {**_symbol(self.symbol), "marks": self.marks}
        source: Structure = {}
        if self.source is not None:
            span = f"{self.source.start_line}-{self.source.end_line} of {self.source.last_line}"
            source = {"lines": span, "text": self.source.text.split("\n")}  # escaped line ends cost more
        else:
            symbol |= {"signature": self.symbol.signature, "docstring": _lines(self.docstring)}
        return {
            "node": without_empty(symbol),
            "in": parents_line(self.parents),
            "source": source,
            "notes": [line for note in self.notes for line in note],
            "edges": _sections(self.sections),
        }

    def emptied(self) -> Self:
        """Return the result of the lookup."""
        return replace(self, symbol=None, parents=(), source=None, sections=())

    def result(self) -> AnswerOutcome:
        """Return whether the name means one symbol."""
        return _result(self.lookup)


def lookup_lines(lookup: Lookup, within: str = "") -> Iterator[str]:
    """Yield the result of a lookup that did not identify exactly one node; `within` names where it was looked for."""
    if lookup.outcome == "ambiguous":
        yield f"`{lookup.name}` is ambiguous; ask again with one of these places, or with path or label:"
        yield from (f"- {candidate_line(candidate)}" for candidate in lookup.candidates)
    if lookup.outcome == "not_found":
        yield f"`{lookup.name}` not found{within}"
        for line in lookup.diagnosis:
            yield f"- {line}"
        if lookup.near:
            yield "similar names:"
        yield from (f"- {candidate_line(symbol)}" for symbol in lookup.near)


def _lookup(lookup: Lookup) -> Structure:
    return {
        "outcome": lookup.outcome,
        "candidates": [candidate_line(symbol) for symbol in lookup.candidates],
        "near": [candidate_line(symbol) for symbol in lookup.near],
        "diagnosis": list(lookup.diagnosis),
    }


def _result(lookup: Lookup) -> AnswerOutcome:
    is_missing = lookup.outcome != "found"
    return AnswerOutcome(lookup.outcome == "not_found", is_missing, is_missing, (lookup.name,))


def _symbol(symbol: Symbol) -> Structure:
    return {"uid": symbol.uid, "kind": symbol.kind, "place": symbol.place, "digest": symbol.digest}


def _sections(sections: Iterable[NeighbourSection]) -> Structure:
    """Return the lines of the text by kind of neighbour; `withheld` counts those that are not listed."""
    return {section.kind: [neighbour_line(each) for each in section.neighbours] for section in sections}


def _lines(text: str) -> str | list[str]:
    """Return a text as its lines, because escaped line ends cost more; a single line as it is."""
    lines = text.splitlines()
    return lines if len(lines) > 1 else text
