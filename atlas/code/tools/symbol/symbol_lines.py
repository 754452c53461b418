"""Symbols and their edges as lines of text, one line each: the same in text, structured content and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atlas.code.tools.citations import hit_name, shown_name
from atlas.code.tools.symbol.symbols import (
    Neighbour,
    NeighbourSection,
    NodeDetail,
    RelatedLine,
    SourceLine,
    Symbol,
    SymbolHit,
)

TITLES = {
    "callers": "called by",
    "callees": "calls",
    "used_by": "used by",
    "uses": "uses",
    "bases": "inherits",
    "subclasses": "inherited by",
    "overrides": "overrides",
    "overridden_by": "overridden by",
    "tests": "tested by",
    "routes": "handles",
    "events": "handles",
    "emits": "emits",
    "handlers": "handled by",
    "emitters": "emitted by",
    "clients": "called by URL",
    "requests": "calls routes",
    "readers": "read by",
    "setters": "set by",
    "variables": "reads or sets variables",
    "docs": "documented in",
    "documents": "documents",
    "sources": "source",
    "source_of": "source of",
    "imports": "imports",
    "imported_by": "imported by",
    "members": "members",
}
"""How a section of neighbours is called in text, by its kind."""


def source_lines(lines: Sequence[SourceLine]) -> Iterator[str]:
    """Yield `number: text`; without the number where a line follows the one before."""
    previous = -1
    for line in lines:
        yield f"  {line.text}" if line.line == previous + 1 else f"{line.line}: {line.text}"
        previous = line.line


def beside_line(hit: SymbolHit) -> str:
    """Return `also: name line, name line` for the weaker hits of a hit's file, or ""."""
    return f"also: {', '.join(hit.same_file)}" if hit.same_file else ""


def related_line(symbol: RelatedLine) -> str:
    """Return name, lines, how it was found and how sure that is."""
    lines = f" {','.join(map(str, symbol.lines))}" if symbol.lines else ""
    how = f" ({symbol.strategy} {symbol.confidence:.2f})" if symbol.strategy else ""
    level = f" [{symbol.depth}]" if symbol.depth not in (0, 1) else ""
    through = f" through {symbol.through}" if symbol.through else ""
    detail = f": {symbol.detail}" if symbol.detail else ""
    return f"{symbol.name}{lines}{how}{level}{through}{detail}"


def symbol_line(symbol: Symbol) -> str:
    """Return kind, name, place and digest on one line."""
    name = "" if symbol.qualified_name == symbol.place.rpartition(":")[0] else f"{shown_name(symbol)} "
    digest = f" #{symbol.digest}" if symbol.digest else ""
    return f"{symbol.kind} {name}{symbol.place}{digest}"


def neighbour_line(neighbour: Neighbour) -> str:
    """Return name, place of the evidence, strategy and confidence."""
    place = neighbour.at or neighbour.place
    how = "" if neighbour.strategy in ("", "structure") else f" ({neighbour.strategy} {neighbour.confidence:.2f})"
    return f"{neighbour.uid.partition(':')[2]} {place}{how}"


def section_title(section: NeighbourSection) -> str:
    """Return `called by (3 of 118)`, or `called by` if all are listed."""
    title = TITLES.get(section.kind, section.kind)
    shown = len(section.neighbours)
    return title if shown == section.total else f"{title} ({shown} of {section.total})"


def section_lines(section: NeighbourSection) -> Iterator[str]:
    """Yield a section of a context: its title and one line per neighbour."""
    yield f"{section_title(section)}:"
    for neighbour in section.neighbours:
        yield f"  {neighbour_line(neighbour)}"


def candidate_line(symbol: Symbol) -> str:
    """Return kind, qualified name, signature after the name and place: any of name and place identify the symbol."""
    return f"{hit_name(symbol, is_qualified=True)} {symbol.place}".rstrip()


def node_traits(node: NodeDetail) -> str:
    """Return kind, language, lines and modifiers of a node on one line."""
    traits = [
        node.symbol.kind,
        node.language,
        f"lines {node.start_line}-{node.end_line}" if node.start_line else "",
        *node.modifiers,
        "exported" if node.exported else "private",
        "test" if node.is_test else "",
        "generated" if node.is_generated else "",
    ]
    return ", ".join(trait for trait in traits if trait)


def node_degrees(node: NodeDetail) -> str:
    """Return `called by 3; calls 5`."""
    return "; ".join(f"{TITLES[kind]} {count}" for kind, count in node.degrees)
