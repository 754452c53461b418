"""The card of a subject as lines: its definition, then one line for each relation with the number and first places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from atlas.code.graph.cards import CardSection, SubjectCard
from atlas.code.tools.citations import hit_name, local_name, symbol_of
from atlas.code.tools.symbol.symbol_lines import TITLES, candidate_line
from atlas.core.model import Edge, Label

CARD_TOKENS = 250
"""Of all cards of an answer."""
MOST_LINES = 3
"""Lines of one edge that are listed."""
MOST_CANDIDATES = 5


def card_lines(cards: Sequence[SubjectCard], count: Callable[[str], int], budget: int = CARD_TOKENS) -> tuple[str, ...]:
    """Return the lines of all cards within a budget of tokens; the definitions always."""
    lines: list[str] = []
    left = budget
    for number, card in enumerate(cards):
        own = list(_lines(card))
        share = left // (len(cards) - number)
        for position, line in enumerate(own):
            price = count(line) + 1
            if position and price > share:
                break
            lines.append(line)
            share, left = share - price, left - price
    return tuple(lines)


def _lines(card: SubjectCard) -> Iterator[str]:
    subject = card.subject
    if subject.total > 1:
        shown = subject.targets[:MOST_CANDIDATES]
        names = "; ".join(candidate_line(replace(symbol_of(each.node.row), signature="")) for each in shown)
        more = f"; and {subject.total - len(shown)} more" if subject.total > len(shown) else ""
        yield f"{subject.total} symbols are called `{subject.written.name}`: {names}{more}"
        return
    symbol = replace(symbol_of(card.node.row), signature="")
    yield f"{hit_name(symbol)} {symbol.place}"
    yield from (f"  {_section(card, each)}" for each in card.sections)
    yield from (f"  {note}" for note in card.notes)


def _section(card: SubjectCard, section: CardSection) -> str:
    path = card.node.row.path
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
    return f"{name}{at}"
