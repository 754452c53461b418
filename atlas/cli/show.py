"""Answers on a terminal: tables, trees and highlighted source. In a pipe, commands print their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text
from rich.tree import Tree

from atlas.answers.answer import Answer
from atlas.answers.cells import cell
from atlas.answers.evidence import evidence_head, evidence_tail, where
from atlas.cli import output
from atlas.cli.daemon.status_view import status_parts
from atlas.code.tools.citations import NOTE_KINDS, parents_line, shown_name
from atlas.code.tools.cypher_answers import SchemaAnswer, TableAnswer, schema_groups
from atlas.code.tools.relation_answer import OTHER_PACKAGES, RelationAnswer, relation_head
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.state.health import HealthAnswer
from atlas.code.tools.state.report import StatusAnswer
from atlas.code.tools.symbol.symbol_answers import ContextAnswer, NodeAnswer, lookup_lines
from atlas.code.tools.symbol.symbol_lines import (
    TITLES,
    beside_line,
    neighbour_line,
    related_line,
    section_title,
    source_lines,
)
from atlas.code.tools.symbol.symbols import NeighbourSection, Symbol, SymbolHit
from atlas.core.invisible import quoted
from atlas.core.wording import counted

STATE_STYLES = {"ok": "green", "warning": "yellow", "missing": "yellow", "degraded": "yellow", "broken": "red"}


def print_answer(answer: Answer) -> None:
    """Print an answer on a terminal."""
    console = output.console()
    for part in _parts(answer):
        console.print(part)
    _print_evidence(console, answer)


def _parts(answer: Answer) -> Iterable[RenderableType]:
    """Return what a terminal shows: of an answer without a form of its own, the lines of its text."""
    parts = _PARTS.get(type(answer))
    return parts(answer) if parts is not None else [_text(line) for line in answer.lines()]


def _print_evidence(console: Console, answer: Answer) -> None:
    for line in evidence_tail(answer.evidence, output.CURSOR_OPTION):
        console.print(_text(line, "yellow" if line.startswith("stale") else "dim"))
    console.print(_text(evidence_head(answer.evidence), "dim"))


def _text(text: str, style: str = "") -> Text:
    return Text(output.plain(text), style)


def _headline(symbol: Symbol) -> Text:
    place = _text(symbol.place, "cyan") if symbol.place else Text()
    return Text.assemble(_text(shown_name(symbol), "bold"), "  ", _text(symbol.kind, "magenta"), "  ", place)


def _search(answer: SearchAnswer) -> Iterable[RenderableType]:
    return [_hit(hit) for hit in answer.hits] or [Text("no hits", "yellow")]


def _hit(hit: SymbolHit) -> RenderableType:
    tree = Tree(Text.assemble(f"{hit.rank}. ", _headline(hit.symbol)), guide_style="dim")
    if hit.symbol.kind in NOTE_KINDS:
        tree.add(_text(quoted(hit.symbol.name)))
    elif hit.symbol.signature:
        tree.add(_text(hit.symbol.signature))
    if hit.marks:
        tree.add(_text(hit.marks, "yellow" if "suspect" in hit.marks else "dim"))
    if hit.symbol.summary:
        tree.add(_text(hit.symbol.summary, "italic"))
    for line in source_lines(hit.lines):
        tree.add(_text(line, "dim"))
    if hit.same_file:
        tree.add(_text(beside_line(hit), "dim"))
    for near in hit.near:
        tree.add(_text(near, "dim"))
    return tree


def _relation(answer: RelationAnswer) -> Iterable[RenderableType]:
    yield from (_text(line, "bold") for line in relation_head(answer))
    for group in answer.files:
        yield _text(group.path or OTHER_PACKAGES, "cyan")
        yield from (_text(f"  {related_line(symbol)}") for symbol in group.symbols)


def _node(answer: NodeAnswer) -> Iterable[RenderableType]:
    yield from (_text(line) for line in lookup_lines(answer.lookup, where(answer.evidence)))
    node = answer.node
    if node is None:
        return
    yield _headline(node.symbol)
    if node.symbol.signature:
        yield _code(node.symbol.signature, node.symbol.place)
    lines = f"lines {node.start_line}-{node.end_line}" if node.start_line else ""
    flags = {"exported": node.exported, "test": node.is_test, "generated": node.is_generated}
    traits = [node.label, node.language, lines, *node.modifiers, *(name for name, is_set in flags.items() if is_set)]
    yield _text(", ".join(trait for trait in traits if trait), "dim")
    if node.marks:
        yield _text(node.marks)
    if node.degrees:
        yield _text("; ".join(f"{TITLES.get(kind, kind)} {count}" for kind, count in node.degrees))
    if node.docstring:
        yield _text(node.docstring, "italic")


def _context(answer: ContextAnswer) -> Iterable[RenderableType]:
    yield from (_text(line) for line in lookup_lines(answer.lookup, where(answer.evidence)))
    symbol = answer.symbol
    if symbol is None:
        return
    yield _headline(symbol)
    if answer.marks:
        yield _text(answer.marks)
    if answer.parents:
        yield _text(f"in {parents_line(answer.parents)}", "dim")
    if answer.source is not None:
        yield _code(answer.source.text, symbol.place, answer.source.start_line)
    else:
        yield Group(_code(symbol.signature, symbol.place), _text(answer.docstring, "italic"))
    if answer.notes:
        tree = Tree(_text("notes", "bold"), guide_style="dim")
        for line in (line for note in answer.notes for line in note):
            tree.add(_text(line.strip(), "yellow" if line.startswith("  suspect") else ""))
        yield tree
    for section in answer.sections:
        yield _section(section)


def _section(section: NeighbourSection) -> Tree:
    tree = Tree(_text(section_title(section), "bold"), guide_style="dim")
    for neighbour in section.neighbours:
        tree.add(_text(neighbour_line(neighbour)))
    return tree


def _code(text: str, place: str, first_line: int = 0) -> RenderableType:
    path = place.rpartition(":")[0]
    lexer = Syntax.guess_lexer(path, text) if path else "text"
    return Syntax(output.plain(text), lexer, line_numbers=bool(first_line), start_line=first_line or 1, word_wrap=False)


def _table(answer: TableAnswer) -> Iterable[RenderableType]:
    rows = ([cell(value) for value in row] for row in answer.rows)
    return [output.table(answer.columns, rows), _text(counted(len(answer.rows), "row"), "dim")]


def _schema(answer: SchemaAnswer) -> Iterable[RenderableType]:
    for title, entries in schema_groups(answer):
        rows = [(each.name, each.count if each.count >= 0 else "", each.description) for each in entries]
        yield output.table((title, "", ""), rows)


def _health(answer: HealthAnswer) -> Iterable[RenderableType]:
    for check in answer.checks:
        state = _text(f"{check.state:<8}", STATE_STYLES[check.state])
        yield Text.assemble(state, _text(f"{check.name:<10}", "bold"), _text(check.detail))
        if check.fix:
            yield _text(f"{'':<18}-> {check.fix}", "yellow")
    yield _text(f"health: {answer.state}", STATE_STYLES[answer.state])


_PARTS: Mapping[type[Answer], Callable[[Any], Iterable[RenderableType]]] = {
    SearchAnswer: _search,
    RelationAnswer: _relation,
    NodeAnswer: _node,
    ContextAnswer: _context,
    TableAnswer: _table,
    StatusAnswer: status_parts,
    SchemaAnswer: _schema,
    HealthAnswer: _health,
}
"""Answers with a form of their own on a terminal."""
