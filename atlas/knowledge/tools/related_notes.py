"""Units that are similar to a new text, or may contradict it: in the index, and among those of this session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atlas.answers.items import Item
from atlas.code.atlas import Atlas
from atlas.code.reader import Reader
from atlas.knowledge.retrieval.contradiction import Clash, clash, statement
from atlas.knowledge.retrieval.hits import NoteHit
from atlas.knowledge.retrieval.retrieval import clashing_notes, similar_notes
from atlas.knowledge.tools.note_base import UNIT_LABELS, NoteBase
from atlas.knowledge.tools.units import degraded, hit_items, quoted_text, score_text, shown_text, uid_of
from atlas.parsing import cosines

SIMILAR = 0.85
"""Cosine of the prose model from which units count as similar."""
SHOWN = 5


async def relatives(
    base: NoteBase, atlas: Atlas | None, text: str, note_id: str, notes: list[str]
) -> tuple[list[Item], list[Item]]:
    """Return units that are similar to a text, and those whose words clash with it."""
    if atlas is None:
        notes.append("there is no index yet: similar units and contradictions are not known")
        return [], []
    reader, own = atlas.reader, uid_of(base, note_id)
    unknown = await _not_indexed(base, atlas, note_id)
    similar = await degraded(similar_notes(reader, text, UNIT_LABELS, SHOWN, SIMILAR), notes, "similar units", [])
    similar = [hit for hit in similar if hit.node.row.uid != own]
    items = [*await hit_items(reader, similar), *await _similar_new(reader, text, unknown)][:SHOWN]
    clashes = await degraded(clashing_notes(reader, text, UNIT_LABELS, SHOWN, own), notes, "contradictions", [])
    return items, [*await clash_items(reader, clashes), *_clashing_new(text, unknown)][:SHOWN]


async def _not_indexed(base: NoteBase, atlas: Atlas, note_id: str) -> dict[str, str]:
    """Return the texts of this session's units that the index does not know yet, by id."""
    texts = base.session.texts
    known = await atlas.reader.store.symbols([uid_of(base, one) for one in texts])
    for node in known:
        texts.pop(node.row.qualified_name, None)
    return {one: text for one, text in texts.items() if one != note_id}


async def _similar_new(reader: Reader, text: str, unknown: Mapping[str, str]) -> list[Item]:
    if reader.prose_embedder is None or not unknown:
        return []
    mine = await reader.prose_embedder.embed_query(text)
    theirs = [await reader.prose_embedder.embed_query(one) for one in unknown.values()]
    return [
        _new_item(one, said, score_text(near, ()), score=round(near, 4))
        for (one, said), near in zip(unknown.items(), cosines(mine, theirs), strict=True)
        if near >= SIMILAR
    ]


def _clashing_new(text: str, unknown: Mapping[str, str]) -> list[Item]:
    mine, items = statement(text), list[Item]()
    for one, said in unknown.items():
        found = clash(mine, statement(said))
        if found is not None:
            items.append(_new_item(one, said, _clash_text(found), clash=found.kind, words=_clash_words(found)))
    return items


def _new_item(note_id: str, said: str, reason: str, **more: Any) -> Item:
    kind = "decision" if note_id[0] == "d" else "claim"
    line = f"{kind} {quoted_text(said)} {note_id}, written in this session; {reason}"
    return Item(line, {"id": note_id, "text": shown_text(said), **more})


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
