"""The papers that are the source of a unit, with what else is known from them."""

from __future__ import annotations

from atlas.answers.items import Item
from atlas.core.invisible import escaped
from atlas.core.model import Direction, EdgeType, Node
from atlas.core.paper_source import PaperLinks
from atlas.core.wording import counted
from atlas.knowledge.retrieval.papers import paper_rows
from atlas.knowledge.tools.open_notes import Opened
from atlas.knowledge.tools.units import quoted_text, shown_text

MAX_UNITS = 10
"""Further units of a paper that are named."""


async def paper_items(one: Opened, node: Node, papers: PaperLinks | None) -> list[Item]:
    """Return the papers of a unit, each with its title if it is stored, and the other units from it."""
    store, uid = one.atlas.reader.store, node.row.uid
    targets = [edge.row.target for edge in await store.edges([uid], Direction.OUT, [EdgeType.SOURCE])]
    if not targets:
        return []
    rows = await paper_rows(papers, one.base.project, targets)
    others: dict[str, list[str]] = {}
    for edge in await store.edges(targets, Direction.IN, [EdgeType.SOURCE]):
        if edge.row.source != uid:
            others.setdefault(edge.row.target, []).append(escaped(edge.node.row.qualified_name))
    items: list[Item] = []
    for target, row in rows.items():
        ids = others.get(target, [])
        more = f" and {counted(len(ids) - MAX_UNITS, 'unit')} more" if len(ids) > MAX_UNITS else ""
        said = f"; also the source of {', '.join(ids[:MAX_UNITS])}{more}" if ids else ""
        title = f" {quoted_text(row.docstring)}" if row.docstring else ""
        fields = {"id": escaped(row.qualified_name), "title": shown_text(row.docstring), "units": ids[:MAX_UNITS]}
        items.append(Item(f"paper {fields['id']}{title}{said}", {name: one for name, one in fields.items() if one}))
    return items
