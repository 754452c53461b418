"""Notes about code on every store: which there are, and whether they still hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from atlas.code.notes.about import notes_about, notes_about_gone
from atlas.code.notes.anchors import AnchorCondition, anchor_states
from atlas.core.contracts import Store
from atlas.core.model import NodeRow
from atlas.knowledge.retrieval.resolve_anchor import resolve_anchor
from atlas.knowledge.retrieval.review import review
from tests.conformance.rows import PROJECT, edge, gone, node, unit
from tests.surfaces.shop import open_shop

ID = "c-01JD2V9Q7K4M8N3P5R6S7T8V9A"
RECORD = b"# 1. Tables\n\n* Status: Accepted\n\nSee `a.one`.\n"


def note(about: str) -> bytes:
    return f"---\nid: {ID}\nkind: claim\nstatus: disputed\nabout:\n{about}---\nIt is slow.\n".encode()


async def test_notes_about_code(store: Store) -> None:
    one, two = (node(f"a.{name}", text=name)._replace(docstring_digest="") for name in ("one", "two"))
    claim = node(ID, "n.md", label="Claim")._replace(properties=json.dumps({"status": "disputed", "confidence": 0.5}))
    about = edge(ID, "a.one", "ABOUT", line=6)._replace(strategy="anchor")
    records = [node("adr/1.md", "adr/1.md", label="ADR"), node("adr/1.md#1", "adr/1.md", label="DocSection")]
    text = note(f"  - {{symbol: a.one, signature: {one.signature_digest}, body: {one.body_digest}, path: a.py}}\n")
    await store.apply(
        [
            unit("a.py", [one, two]),
            unit("n.md", [claim], [about], content=text, language="note"),
            unit("adr/1.md", records, [edge("adr/1.md#1", "a.one", "AFFECTS", line=5)], content=RECORD),
        ]
    )
    reader = replace(open_shop(store, Path("/somewhere")).reader, project=PROJECT)
    found = await notes_about(reader, [one.uid, two.uid])
    assert [(each.node.row.label, each.at, each.status) for each in found] == [
        ("ADR", "adr/1.md:5", "accepted"),
        ("Claim", "n.md:6", "disputed"),
    ]
    assert [state.state for state in found[1].states] == [AnchorCondition.FRESH]
    assert (await resolve_anchor(reader, "a.one")).body == one.body_digest

    async def state_with(*rows: NodeRow) -> tuple[AnchorCondition, tuple[str, ...], str]:
        await store.apply([unit("a.py", rows)])
        [state] = (await anchor_states(reader, [claim.uid]))[claim.uid]
        return state.state, state.changed, state.at

    changed = one._replace(body_digest="0" * 16)
    assert (await state_with(changed, two))[:2] == (AnchorCondition.CHANGED, ("body",))
    assert await state_with(two) == (AnchorCondition.GONE, (), "")
    renamed = node("a.three")._replace(body_digest=one.body_digest, start_line=4, end_line=9, line=4)
    assert await state_with(renamed, two) == (AnchorCondition.MOVED, (), "a.py:4")
    assert [each.node.row.uid for each in await notes_about_gone(reader, PROJECT, [("a.py", "one")])] == [claim.uid]
    reviewed = await review(reader)
    assert [each.node.row.uid for each in reviewed.suspects] == [claim.uid]
    await store.apply([gone("n.md")])
    assert await notes_about_gone(reader, PROJECT, [("a.py", "one")]) == ()
