"""Units that are similar to a new text, or may contradict it: in the index, and among those that it lacks."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.answers.items import Item
from atlas.code.atlas import Atlas
from atlas.code.reader import Reader
from atlas.core.model import Node
from atlas.knowledge.retrieval.contradiction import Clash
from atlas.knowledge.retrieval.hits import NoteHit
from atlas.knowledge.retrieval.retrieval import clashing_hits, clashing_notes, similar_notes
from atlas.knowledge.retrieval.similarity import vector_of
from atlas.knowledge.tools.new_notes import nearness
from atlas.knowledge.tools.note_base import UNIT_LABELS, NoteBase
from atlas.knowledge.tools.units import degraded, hit_items, quoted_text, shown_text, uid_of

SIMILAR = 0.85
"""Cosine of the prose model from which units count as similar."""
SHOWN = 5


async def relatives(
    base: NoteBase, atlas: Atlas | None, new: Sequence[Node], text: str, note_id: str, notes: list[str]
) -> tuple[list[Item], list[Item]]:
    """Return units that are similar to a text, and those whose words clash with it; `new`: those not indexed yet."""
    if atlas is None:
        notes.append("there is no index yet: similar units and contradictions are not known")
        return [], []
    reader, own = atlas.reader, uid_of(base, note_id)
    new = [node for node in new if node.row.uid != own]
    similar = await degraded(similar_notes(reader, text, UNIT_LABELS, SHOWN, SIMILAR), notes, "similar units", [])
    found = await new_hits(base, reader, text, new)
    similar = [hit for hit in (*similar, *found) if hit.node.row.uid != own]
    similar = sorted((hit for hit in similar if hit.score >= SIMILAR), key=lambda hit: -hit.score)[:SHOWN]
    clashes = await degraded(clashing_notes(reader, text, UNIT_LABELS, SHOWN, own), notes, "contradictions", [])
    clashes = [*clashes, *clashing_hits(text, found)][:SHOWN]
    return await hit_items(reader, similar), await clash_items(reader, clashes)


async def new_hits(base: NoteBase, reader: Reader, text: str, new: Sequence[Node]) -> list[NoteHit]:
    """Return new units as hits of a text; the score is the cosine."""
    scores = await nearness(base, reader, await vector_of(reader, text), [node.row.docstring for node in new])
    return [NoteHit(node, score, (f"meaning {score:.2f}",), score) for node, score in zip(new, scores, strict=True)]


def _clash_text(found: Clash) -> str:
    return f"{found.kind}: {quoted_text(found.one, 80)} / {quoted_text(found.other, 80)}"


def _clash_words(found: Clash) -> list[str]:
    return [shown_text(found.one, 80), shown_text(found.other, 80)]


async def clash_items(reader: Reader, clashes: Sequence[tuple[NoteHit, Clash]]) -> list[Item]:
    """Return possible contradictions with the words that clash."""
    items = await hit_items(reader, [hit for hit, _ in clashes])
    return [
        Item(
            f"{item.line}; {_clash_text(clash)}",
            {**item.data, "clash": clash.kind, "words": _clash_words(clash)},
        )
        for item, (_, clash) in zip(items, clashes, strict=True)
    ]
