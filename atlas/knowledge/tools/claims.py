"""The tools that write claims and decisions. Each writes one file; the index follows before the next read."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.atlas import Atlas
from atlas.code.notes.anchors import anchor_states, target_uid
from atlas.code.notes.note import CLAIM_RELATIONS, Anchor, NoteRelation
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import escaped
from atlas.core.model import Direction, EdgeType
from atlas.core.threads import in_thread
from atlas.knowledge.notes.checks import check_line, check_share, check_status, check_text
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.notebook import anchor_item
from atlas.knowledge.retrieval.papers import titled_source
from atlas.knowledge.tools.idempotency import WRITE_BUDGET, once
from atlas.knowledge.tools.new_notes import latest
from atlas.knowledge.tools.note_base import Knowledge, NotePath, locate
from atlas.knowledge.tools.related_notes import relatives
from atlas.knowledge.tools.units import answer, quoted_text, shown_text, uid_of

DEFAULT_CONFIDENCE = {"claim": 0.8, "decision": 1.0}
MAX_SOURCE = 2000
MAX_IMPLIES = 200
"""Implied claims that are followed to see whether a relation closes a cycle."""
NEAR_RELATION = 0.8
"""Similarity (difflib) from which a relation counts as a typing error of one of those of claims."""
TARGET_KINDS = ("symbol:", "file:", "package:", "route:")


async def ingest_hypothesis(
    knowledge: Knowledge,
    *,
    hypothesis: str,
    source: str = "",
    confidence: float | None = None,
    about: Sequence[str] = (),
    kind: str = "claim",
    personal: bool = False,
    idempotency_key: str = "",
) -> ItemsAnswer:
    """Write a claim or a decision and show units that are similar or may contradict it.

    Raises ConfigError for invalid values and secrets, NotFound for an unknown symbol in `about`, StoreError.
    """
    text = check_text("hypothesis", hypothesis)
    base = knowledge.base(personal=personal)
    certainty = DEFAULT_CONFIDENCE[kind] if confidence is None else check_share("confidence", confidence)
    cited = await _cited(knowledge, source)
    arguments = {"hypothesis": text, "source": cited, "confidence": certainty, "about": list(about), "kind": kind}

    async def write(note_id: str) -> tuple[ItemsBody, list[str]]:
        notes: list[str] = []
        title = text.split("\n", 1)[0]
        atlas, new = await latest(base)
        anchors = await anchors_of(atlas, about, notes)
        similar, clashing = await relatives(base, atlas, new, text, note_id, notes)
        values: dict[str, Value] = {
            "confidence": certainty,
            "status": "proposed" if kind == "claim" else "accepted",
            "source": cited,
            "about": [anchor_item(one) for one in anchors],
        }
        # an earlier call with this key may have been killed between its note and its answer
        path = await in_thread(base.notebook.find_new, kind, note_id, title) if idempotency_key else ""
        path = path or await in_thread(base.notebook.add, kind, note_id, values, text, title)
        base.session.wrote(note_id, path)
        unit = {"id": note_id, "path": path, "confidence": certainty, "kind": kind}
        groups = (
            ItemGroup.of("unit", [Item(f"{kind} {note_id} in {path}", unit)]),
            ItemGroup.of("similar", similar),
            ItemGroup.of("possible_contradictions", clashing),
        )
        said = f"{kind} {note_id} is stored{_alike(similar, clashing)}"
        return ItemsBody("created", said, groups, tuple(_follow_ups(note_id, similar, clashing))), notes

    return await once(knowledge, base, "ingest_hypothesis", idempotency_key, arguments, kind, write)


async def connect_propositions(
    knowledge: Knowledge,
    *,
    source_id: str,
    to: str,
    relation: str,
    reasoning: str = "",
    confidence: float = 1.0,
    idempotency_key: str = "",
) -> ItemsAnswer:
    """Relate a unit to another one, or to code. A target that is not there is kept, and shown as dangling.

    Raises NotFound for an unknown `from`, ConfigError for invalid values and a unit that is related to itself.
    """
    place = await locate(knowledge, source_id)
    kind = relation_type(relation)
    target = check_line("to", to, 1000)
    if not is_id(target) and not target.startswith(TARGET_KINDS):
        raise ConfigError(
            f"{shown_text(target, 80)!r} is no id of a note", "Give an id, or symbol:NAME, file:PATH, package:NAME."
        )
    if target == place.note_id:
        raise ConfigError(f"{target} cannot be related to itself", "Name two different units.")
    reason = check_line("reasoning", reasoning, 10_000) if reasoning.strip() else ""
    stated = NoteRelation(kind, target, reason, check_share("confidence", confidence))
    arguments = {"from": place.note_id, "to": target, "relation": kind, "reasoning": reason, "c": stated.confidence}

    async def write(_: str) -> tuple[ItemsBody, list[str]]:
        notes = await _doubts(knowledge, place, stated)
        is_new = await in_thread(place.base.notebook.relate, place.path, place.note_id, stated)
        line = f"{place.note_id} {kind} {escaped(target)}{f'; reason: {quoted_text(reason)}' if reason else ''}"
        fields: dict[str, Any] = {
            "from": place.note_id,
            "to": escaped(target),
            "type": kind,
            "confidence": stated.confidence,
        }
        if reason:
            fields["reasoning"] = shown_text(reason)
        action = Action("get_unit", {"id": place.note_id}, "all relations of this unit")
        title = "the relation is stored" if is_new else "the unit has this relation already; nothing was written"
        group = ItemGroup.of("relation", [Item(line, fields)])
        return ItemsBody("created" if is_new else "unchanged", title, (group,), (action,)), notes

    return await once(knowledge, place.base, "connect_propositions", idempotency_key, arguments, "claim", write)


async def update_unit(
    knowledge: Knowledge,
    *,
    unit_id: str,
    text: str = "",
    confidence: float | None = None,
    status: str = "",
    source: str = "",
    about: Sequence[str] = (),
    reaffirm: bool = False,
) -> ItemsAnswer:
    """Amend a unit. Its history is that of its file. `reaffirm` renews the digests of what it is about.

    Raises NotFound for an unknown unit, ConfigError for invalid values or nothing to change.
    """
    place = await locate(knowledge, unit_id)
    values: dict[str, Value] = {}
    if confidence is not None:
        values["confidence"] = check_share("confidence", confidence)
    if status:
        values["status"] = check_status(status)
        if status in ("retracted", "superseded"):
            raise ConfigError(f"update_unit does not set {status}", "retract_unit does, with the reason.")
    if cited := await _cited(knowledge, source):
        values["source"] = cited
    body = check_text("text", text) if text.strip() else ""
    if body and place.note_id[0] == "e":
        raise ConfigError(
            f"{place.note_id} is an entity: its text is its observations", "remember adds one, forget removes one."
        )
    if not (values or body or about or reaffirm):
        raise ConfigError("nothing to change", "Give text, confidence, status, source, about or reaffirm.")
    notes: list[str] = []
    book = place.base.notebook
    atlas = await place.base.fresh() if about or reaffirm else None
    anchors = await anchors_of(atlas, about, notes)
    renewed = await _renewed(place, atlas, notes) if reaffirm else {}
    if renewed:
        await in_thread(book.reaffirm, place.path, place.note_id, renewed)
    for anchor in anchors:
        await in_thread(book.anchor, place.path, place.note_id, anchor)
    if values or body:
        await in_thread(book.update, place.path, place.note_id, values, body)
    changed = [*values, *(["text"] if body else []), *(f"anchor {one.target}" for one in (*anchors, *renewed.values()))]
    item = Item(f"{place.note_id} in {place.path}", {"id": place.note_id, "path": place.path, "changed": changed})
    nothing = "nothing to renew: what it is about is gone" if notes else "nothing to renew: it is about nothing"
    title = f"changed {shown_text(', '.join(changed))}" if changed else nothing
    found = ItemsBody("changed" if changed else "unchanged", title, (ItemGroup.of("unit", [item]),), _look_at(place))
    return await answer(knowledge, "update_unit", found, WRITE_BUDGET, notes, atlas)


async def retract_unit(knowledge: Knowledge, *, unit_id: str, reason: str, superseded_by: str = "") -> ItemsAnswer:
    """Mark a unit as retracted, or as superseded by another one. Nothing is deleted.

    Raises NotFound for an unknown unit or successor.
    """
    place = await locate(knowledge, unit_id)
    if place.note_id[0] == "e":
        raise ConfigError(f"{place.note_id} is an entity", f"Forget its observations, or delete the file {place.path}.")
    why = check_line("reason", reason, 10_000)
    status, is_new = "superseded" if superseded_by else "retracted", False
    if superseded_by:
        successor = await locate(knowledge, superseded_by)
        if successor.note_id == place.note_id or successor.base is not place.base:
            raise ConfigError("a unit is superseded by another one of the same folder", "Name its successor.")
        relation = NoteRelation("supersedes", place.note_id, why)
        is_new = await in_thread(successor.base.notebook.relate, successor.path, successor.note_id, relation)
    _, before = place.base.read(place.path)
    if not is_new and before.status in (status, "superseded"):
        body = ItemsBody("unchanged", f"{place.note_id} is {before.status} already")
        return await answer(knowledge, "retract_unit", body, WRITE_BUDGET)
    values: dict[str, Value] = {"status": status, "reason": why}
    await in_thread(place.base.notebook.update, place.path, place.note_id, values)
    item = Item(f"{place.note_id} in {place.path}", {"id": place.note_id, "path": place.path, "status": status})
    body = ItemsBody("changed", f"{place.note_id} is {status}", (ItemGroup.of("unit", [item]),), _look_at(place))
    return await answer(knowledge, "retract_unit", body, WRITE_BUDGET)


async def anchors_of(atlas: Atlas | None, about: Sequence[str], notes: list[str]) -> list[Anchor]:
    """Return what a unit is about, with digests. Raises NotFound for names that are not in the index."""
    if not about:
        return []
    if atlas is None:
        notes.append("there is no index: what the unit is about has no digests, so changes of it are not noticed")
        return [_unchecked(one) for one in about]
    from atlas.knowledge.retrieval.resolve_anchor import resolve_anchor  # slow to import, and few claims need it

    found = [await resolve_anchor(atlas.reader, check_line("about", one, 1000)) for one in about]
    return list({(one.kind, one.target): one for one in found}.values())


async def _cited(knowledge: Knowledge, source: str) -> str:
    """Return a source as it is written: on one line, with the titles of its papers as far as they are stored."""
    return await titled_source(knowledge.papers, check_line("source", source, MAX_SOURCE)) if source.strip() else ""


def relation_type(relation: str) -> str:
    """Return the type as it is stored: those of claims in lower case, others in capitals with underscores."""
    name = check_line("relation", relation)
    if name.lower() in CLAIM_RELATIONS:
        return name.lower()
    if near := difflib.get_close_matches(name.lower(), CLAIM_RELATIONS, 1, NEAR_RELATION):
        raise ConfigError(
            f"relation {shown_text(name, 80)!r} is almost {near[0]!r}",
            f"Write {near[0]}, or a word that is less like it.",
        )
    kind = "_".join(name.upper().replace("-", " ").split())
    if not kind.replace("_", "").isalnum():
        raise ConfigError(
            f"relation {shown_text(name, 80)!r} has other characters than letters and digits",
            f"Use one of {', '.join(CLAIM_RELATIONS)}, or a word such as OWNS.",
        )
    return kind


def _unchecked(text: str) -> Anchor:
    name = check_line("about", text, 1000)
    kind = next((one for one in TARGET_KINDS if name.startswith(one)), "")
    return Anchor(kind.rstrip(":") or "symbol", name.removeprefix(kind))


async def _renewed(place: NotePath, atlas: Atlas | None, notes: list[str]) -> dict[Anchor, Anchor]:
    """Return the anchors of a unit with those of the code as it is now; what is gone stays as it is, with a note."""
    if atlas is None:
        notes.append("there is no index: nothing can be reaffirmed")
        return {}
    from atlas.knowledge.retrieval.resolve_anchor import resolve_anchor

    _, note = place.base.read(place.path)
    uid = uid_of(place.base, place.note_id)
    states = (await anchor_states(atlas.reader, [uid])).get(uid, ())
    moved = {(state.kind, state.target): state.moved_to for state in states if state.moved_to}
    found: dict[Anchor, Anchor] = {}
    for anchor in note.about:
        target = moved.get((anchor.kind, anchor.target), anchor.target)
        try:
            found[anchor] = await resolve_anchor(atlas.reader, f"{anchor.kind}:{target}")
        except (NotFound, ConfigError) as error:
            notes.append(f"{shown_text(anchor.target, 200)} cannot be reaffirmed: {error.message}")
    return found


def _alike(similar: Sequence[Item], clashing: Sequence[Item]) -> str:
    found = [
        f"{len(similar)} similar" if similar else "",
        f"{len(clashing)} that may contradict it" if clashing else "",
    ]
    text = ", ".join(filter(None, found))
    return f"; {text}" if text else ""


def _follow_ups(note_id: str, similar: Sequence[Item], clashing: Sequence[Item]) -> list[Action]:
    actions = [
        Action(
            "connect_propositions",
            {"from": note_id, "to": item.data["id"], "relation": "contradicts"},
            "if they do contradict each other",
        )
        for item in clashing[:2]
    ]
    actions += [
        Action(
            "connect_propositions",
            {"from": note_id, "to": item.data["id"], "relation": "supports"},
            "if one is evidence for the other; retract_unit if they say the same",
        )
        for item in similar[:3]
    ]
    return actions or [Action("find_contradictions", {"claim": note_id}, "units about the same, to relate it to")]


def _look_at(place: NotePath) -> tuple[Action, ...]:
    return (Action("get_unit", {"id": place.note_id}, "read it again"),)


async def _doubts(knowledge: Knowledge, place: NotePath, stated: NoteRelation) -> list[str]:
    """Return what is odd about a relation: a missing target, a cycle of implies, support and refutation at once."""
    notes: list[str] = []
    if stated.to.startswith(TARGET_KINDS):
        return await _unknown_target(place, stated.to)
    try:
        other = await locate(knowledge, stated.to)
    except (NotFound, ConfigError):
        return ["the target is not there: the relation is kept, and takes effect when it appears"]
    if other.base is not place.base:
        raise ConfigError("the units are in different folders: personal and project", "Relate units of one folder.")
    _, note = place.base.read(place.path)
    types = {one.type for one in note.relations if one.to == stated.to} | {stated.type}
    if {"supports", "refutes"} <= types or {"supports", "contradicts"} <= types:
        notes.append(f"the unit now both supports and {'refutes' if 'refutes' in types else 'contradicts'} {stated.to}")
    if stated.type == "implies" and await _implies(place, stated.to):
        notes.append("this closes a cycle of implies: the units imply each other")
    return notes


async def _unknown_target(place: NotePath, target: str) -> list[str]:
    """Return a note if code is not in the index by exactly this name: its relation would not take effect."""
    kind, _, name = target.partition(":")
    atlas = await place.base.fresh()
    if atlas is None:
        return ["there is no index of this code: the relation is kept, and takes effect when there is"]
    if await atlas.reader.store.symbols([target_uid(place.base.project, Anchor(kind, name))]):
        return []
    return ["the target is not in the index under this name: the relation is kept, and takes effect when it appears"]


async def _implies(place: NotePath, start: str) -> bool:
    """Return whether `start` implies the unit of `place`, directly or not, as far as the index knows."""
    atlas = await place.base.opened()
    if atlas is None:
        return False
    goal, seen, frontier = uid_of(place.base, place.note_id), set[str](), [uid_of(place.base, start)]
    while frontier and len(seen) < MAX_IMPLIES:
        seen.update(frontier)
        edges = await atlas.reader.store.edges(frontier, Direction.OUT, [EdgeType.IMPLIES], limit=MAX_IMPLIES)
        frontier = list({edge.row.target for edge in edges} - seen)
        if goal in frontier:
            return True
    return False
