"""The page of a symbol: callers, source with links, callees; and, asked for by tabs, its impact and its history.

All of it is what `get_context`, `impact` and `hybrid_search` answer. A list shows `LISTED` neighbours at once, and what
the answer itself leaves out has a page of its own: the same relation as a question.
"""

from __future__ import annotations

from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.symbol.symbol_answers import ContextAnswer, NodeAnswer
from atlas.code.tools.symbol.symbols import Neighbour, NeighbourSection
from atlas.core.errors import NotFound
from atlas.core.model import NodeRow
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.source import code_lines, links_in

TOKEN_BUDGET = 40_000
"""Of a symbol's context: 400 neighbours of each kind."""
REPORT_BUDGET = 12_000
LISTED = 50
"""Neighbours of one kind on a page."""
SOURCE_LINES = 300
"""Lines of source on a page."""
LEFT, RIGHT = ("callers", "tests", "used_by"), ("callees", "uses")
"""Kinds beside the source; others stand below it."""
RELATION_OF = {
    "callers": "callers", "callees": "callees", "used_by": "usages", "uses": "uses", "bases": "bases",
    "subclasses": "subclasses", "overrides": "overrides", "overridden_by": "overridden", "tests": "tests",
    "docs": "docs", "imports": "imports", "imported_by": "importers", "members": "members",
}  # fmt: skip
"""Kind of neighbour -> the relation that lists all of them."""
VIEWS = {"": "Source", "impact": "If you change this", "history": "Why is this here"}


@dataclass(frozen=True, slots=True)
class ListedNeighbours:
    """One page of a section."""

    kind: str
    total: int
    shown: tuple[Neighbour, ...]
    start: int
    known: int
    """Neighbours that the answer has; the others are asked for as a relation."""

    @property
    def next(self) -> int:
        """Where the next page begins, 0 for none."""
        end = self.start + len(self.shown)
        return end if end < self.known else 0

    @property
    def relation(self) -> str:
        """The relation that lists all of them, with every line and depth; "" for kinds that are none."""
        return RELATION_OF.get(self.kind, "")


async def symbol_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page shows. Raises NotFound without a name, else AtlasError as the tools do."""
    name, view = given.text("name"), given.text("view")
    if not name:
        raise NotFound("no symbol is named", "Search for one.")
    if view in ("impact", "history"):
        return await _report(ask, given, name, view)
    answer = await ask("get_context", name=name, token_budget=TOKEN_BUDGET)
    assert isinstance(answer, ContextAnswer)
    values: dict[str, object] = {"title": name, "given": given, "views": VIEWS, "view": "", "evidence": answer.evidence}
    values |= {"lookup": answer.lookup, "symbol": answer.symbol, "answer": answer}
    symbol = answer.symbol
    if symbol is None:
        return values
    path, lines, span = symbol.place.rpartition(":")[0], [], (0, 0)
    if answer.source is not None:
        text, first = answer.source.text.split("\n"), answer.source.start_line
        start = min(max(given.number("line") - first, 0), max(len(text) - 1, 0)) // SOURCE_LINES * SOURCE_LINES
        shown = text[start : start + SOURCE_LINES]
        span = (first + start, first + start + len(shown) - 1)
        links = await links_in(reader, symbol.uid.partition(":")[0], path, *span)
        row = (await reader.store.symbols([symbol.uid]))[0].row
        if not start:
            shown[0] = f"{await _indentation(reader, row)}{shown[0]}"
        lines = code_lines("\n".join(shown), row.language, span[0], links, "\n".join(text[:start]))
    sections = {section.kind: _listed(section, given) for section in answer.sections}
    return {
        **values,
        "title": symbol.name,
        "path": path,
        "code": lines,
        "span": span,
        "left": [sections[kind] for kind in LEFT if kind in sections],
        "right": [sections[kind] for kind in RIGHT if kind in sections],
        "below": [one for kind, one in sections.items() if kind not in (*LEFT, *RIGHT)],
        "lists_calls": symbol.kind in ("function", "method", "constructor", "class"),
    }


def _listed(section: NeighbourSection, given: Given) -> ListedNeighbours:
    known = section.neighbours
    start = given.number("from") if given.text("list") == section.kind else 0
    start = start if start < len(known) else 0
    return ListedNeighbours(section.kind, section.total, known[start : start + LISTED], start, len(known))


async def _indentation(reader: Reader, row: NodeRow) -> str:
    """Return what stands before a definition on its line, if that is white space."""
    content = (await reader.store.content(reader.project, [row.path])).get(row.path, b"")
    before = content[content.rfind(b"\n", 0, row.start_byte) + 1 : row.start_byte].decode("utf-8", "replace")
    return before if before.isspace() else ""


async def _report(ask: Asker, given: Given, name: str, view: str) -> dict[str, object]:
    found = await ask("get_node", name=name, token_budget=REPORT_BUDGET)
    assert isinstance(found, NodeAnswer)
    uid = found.node.symbol.uid if found.node is not None else name
    if view == "impact":
        depth = {"depth": given.number("depth", 8)} if given.number("depth") else {}
        answer = await ask("impact", name=uid, token_budget=REPORT_BUDGET, **depth)
    else:
        answer = await ask(
            "hybrid_search", query=f"history of {uid}", relation="history", of=uid, token_budget=REPORT_BUDGET
        )
    return {
        "title": found.node.symbol.name if found.node is not None else name,
        "given": given,
        "views": VIEWS,
        "view": view,
        "lookup": found.lookup,
        "symbol": found.node.symbol if found.node is not None else None,
        "answer": answer,
        "report": answer.report if isinstance(answer, ReportAnswer) else None,
        "text": answer.render(),
        "evidence": answer.evidence,
    }
