"""The card of a subject as lines: its definition, then one line for each relation with the number and first places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from atlas.code.graph.cards import CardSection, SubjectCard
from atlas.code.lines.plain_values import PlainValue
from atlas.code.tools.citations import hit_name, local_name, symbol_of
from atlas.code.tools.symbol.name_lines import is_head, name_lines
from atlas.code.tools.symbol.symbol_lines import TITLES
from atlas.core.invisible import escaped
from atlas.core.model import Edge, Label, NodeRow

CARD_TOKENS = 300
"""Of all cards of an answer."""
MOST_LINES = 3
"""Lines of one edge that are listed."""
MOST_CANDIDATES = 12
VALUE_CHARACTERS = 40


def card_lines(cards: Sequence[SubjectCard], count: Callable[[str], int], budget: int = CARD_TOKENS) -> tuple[str, ...]:
    """Return the lines of all cards within a budget of tokens; the definitions always."""
    lines: list[str] = []
    left = budget
    for number, card in enumerate(cards):
        share = left // (len(cards) - number)
        for position, line in enumerate(_lines(card)):
            price = count(line) + 1
            if position and price > share:
                break
            lines.append(line)
            share, left = share - price, left - price
        if is_head(lines[-1]):
            lines.pop()
    return tuple(lines)


def value_lines(values: Sequence[PlainValue]) -> tuple[str, ...]:
    """Return the lines whose value a question may ask for, under a heading; () without any."""
    said = (" ".join(filter(None, (f"  {each.path}:{each.line}", each.inside))) + f": {each.text}" for each in values)
    return ("values that may be meant:", *map(escaped, said)) if values else ()


def _lines(card: SubjectCard) -> Iterator[str]:
    subject = card.subject
    if subject is None:
        said = name_lines(card.name, card.text, is_symbol=False)
        yield from (next(said, ""), *(f"  {note}" for note in card.notes), *said) if card.notes else said
        return
    if subject.total > 1:
        shown = [each.node.row for each in subject.targets[:MOST_CANDIDATES]]
        files: dict[str, list[str]] = {}
        for row in shown:
            files.setdefault(row.path, []).append(f"{local_name(row)} {row.line}{_value(row)}")
        names = "; ".join(f"{path}: {', '.join(names)}" for path, names in files.items())
        more = f"; and {subject.total - len(shown)} more" if subject.total > len(shown) else ""
        yield f"{subject.total} symbols are called `{card.name}`: {names}{more}"
        yield from name_lines(card.name, card.text, is_symbol=True)
        return
    node = subject.targets[0].node
    symbol = replace(symbol_of(node.row), signature="")
    yield f"{hit_name(symbol)} {symbol.place}{_value(node.row)}"
    yield from (f"  {_section(node.row.path, each)}" for each in card.sections)
    yield from (f"  {note}" for note in card.notes)
    yield from name_lines(card.name, card.text, is_symbol=True)


def _value(row: NodeRow) -> str:
    """Return what a value is set to where it is defined: ` = False`."""
    _, equals, value = row.signature.partition("=") if row.label == Label.VALUE else ("", "", "")
    return f" = {value.strip()[:VALUE_CHARACTERS]}" if equals else ""


def _section(path: str, section: CardSection) -> str:
    files: dict[str, list[str]] = {}
    for edge in section.edges:
        at = edge.node.row.path
        files.setdefault("" if at == path else at, []).append(_edge(edge, section))
    listed = "; ".join(f"{at}: {', '.join(names)}" if at else ", ".join(names) for at, names in files.items())
    left = section.total - len(section.edges)
    return f"{TITLES[section.kind]} {section.total}: {listed}{f' +{left}' if left > 0 else ''}"


def _edge(edge: Edge, section: CardSection) -> str:
    row = edge.node.row
    lines = edge.row.lines if section.is_inward and edge.row.lines else (row.line or row.start_line,)
    name = (
        row.name
        if row.label in (Label.ROUTE, Label.DOC_SECTION)
        else local_name(row)
        if row.path
        else row.qualified_name
    )
    more = "..." if len(lines) > MOST_LINES else ""
    at = f" {','.join(map(str, lines[:MOST_LINES]))}{more}" if row.path and lines[0] else ""
    return f"{name}{at}{'' if section.is_inward else _value(row)}"
