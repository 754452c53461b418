"""The tools that write memory: observations about entities, relations, and short-term entries that expire."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.notes.note import Note, NoteRelation, Observation, read_note
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import escaped
from atlas.core.model import Filter, Label, Match
from atlas.core.short_term import ShortTermEntry
from atlas.core.threads import in_thread
from atlas.knowledge.notes.checks import check_line, check_share, check_text
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.marks import attach, with_marks
from atlas.knowledge.notes.notebook import timestamp
from atlas.knowledge.retrieval.hits import NOTE_LABELS
from atlas.knowledge.retrieval.retrieval import similar_notes
from atlas.knowledge.retrieval.similarity import vector_of
from atlas.knowledge.tools.claims import TARGET_KINDS, relation_type
from atlas.knowledge.tools.idempotency import WRITE_BUDGET, once
from atlas.knowledge.tools.memory_queries import entry_item, related_entries
from atlas.knowledge.tools.new_notes import nearness, new_entities, new_observations
from atlas.knowledge.tools.note_base import (
    Knowledge,
    NoteBase,
    NotePath,
    find_entity,
    locate,
    locate_observation,
    locked,
)
from atlas.knowledge.tools.times import moment
from atlas.knowledge.tools.units import answer, degraded, hit_items, quoted_text, score_text, shown_text, unit_item
from atlas.parsing import split_words

MAX_OBSERVATION = 20_000
"""Characters of an observation: it is one line of its entity's file."""
MAX_SHORT_TERM = 20_000
SHOWN_NAME = 80
MAX_TTL_HOURS = 24.0 * 366
SAME = 0.95
"""Cosine of the prose model from which observations say about the same."""
DEFAULT_TYPE = "topic"
DEFAULT_ENTITY = "notes"
"""Where a short-term entry is proposed to be kept if the user is unknown."""


async def remember(
    knowledge: Knowledge,
    *,
    entity: str,
    observation: str = "",
    entity_type: str = "",
    aliases: Sequence[str] = (),
    when: str = "",
    importance: float | None = None,
    attachment: str = "",
    personal: bool = False,
    idempotency_key: str = "",
) -> ItemsAnswer:
    """Append an observation to an entity, which is created if there is none of this name or alias.

    `importance` moves it in rankings, less the older it gets. `attachment`: a file that the observation describes.

    Raises ConfigError for invalid values and secrets, NotFound for an unknown id, StoreError.
    """
    base = knowledge.base(personal=personal)
    name = check_line("entity", entity)
    text = check_line("observation", observation, MAX_OBSERVATION) if observation.strip() else ""
    kind = check_line("type", entity_type) if entity_type.strip() else ""
    other_names = tuple(check_line("alias", one) for one in aliases)
    created = moment(when) if when.strip() else ""
    file = attach(base.notebook.folder.root, attachment.strip()) if attachment.strip() else None
    weight = None if importance is None else check_share("importance", importance)
    if file is not None or (weight is not None and text):
        text = with_marks(text or Path(file.path if file else "").name, weight, file)
    arguments: dict[str, object] = {"entity": name, "observation": text, "type": kind, "aliases": list(other_names)}
    # as it was given: a span such as 7d is another moment in a repeated call
    arguments["when"] = when.strip()

    async def write(observation_id: str) -> tuple[ItemsBody, list[str]]:
        notes: list[str] = []
        place, is_new = await _entity(replace(knowledge, bases=(base,)), name, kind, other_names)
        if not is_new:
            await _describe(place, kind, other_names)
        _, known = place.base.read(place.path)
        # it may have been named by an alias or its id
        groups = [ItemGroup.of("entity", [_entity_item(place, known.name)])]
        if text:
            # the vectors of observations are those of their texts with the name of the entity in front
            similar = await _similar(base, f"{known.name}: {text}", notes)
            await in_thread(base.notebook.observe, place.path, place.note_id, text, created, observation_id)
            item = Item(f"observation {observation_id}", {"id": observation_id, "created": created or timestamp()})
            others = await _namesakes(base, place, name) if is_new else []
            groups += [ItemGroup.of("observation", [item]), ItemGroup.of("similar", similar)]
            groups += [ItemGroup.of("similar_entities", others)]
        is_changed = is_new or bool(text or kind or other_names)
        verb = "created" if is_new else "added to" if is_changed else "nothing to add to"
        title = f"{verb} entity {shown_text(known.name, SHOWN_NAME)} {place.note_id}"
        action = Action("recall", {"query": name}, "what is known about it")
        status = "created" if is_new or text else "changed" if is_changed else "unchanged"
        return ItemsBody(status, title, tuple(groups), (action,)), notes

    return await once(knowledge, base, "remember", idempotency_key, arguments, "observation", write)


async def relate(knowledge: Knowledge, *, entity: str, relation: str, other: str) -> ItemsAnswer:
    """Relate an entity to another one, to a unit or to code; entities that are missing are created.

    Raises NotFound for an unknown id or symbol, ConfigError for invalid values.
    """
    notes: list[str] = []
    name, target = check_line("entity", entity), check_line("other", other, 1000)
    kind = relation_type(relation)
    place, is_new = await _entity(knowledge, name, "", ())
    to, said = await _target(knowledge, place, target, notes)
    if to == place.note_id:
        raise ConfigError("an entity cannot be related to itself", "Name two different entities.")
    added = await in_thread(place.base.notebook.relate, place.path, place.note_id, NoteRelation(kind, to))
    line = f"{shown_text(name, SHOWN_NAME)} {kind} {escaped(said)}"
    item = Item(line, {"from": place.note_id, "to": to, "type": kind})
    created = f"; entity {place.note_id} is new" if is_new else ""
    title = f"the relation is stored{created}" if added else "the entity has this relation already"
    action = Action("get_entity", {"entity": place.note_id}, "all relations of this entity")
    body = ItemsBody("created" if added else "unchanged", title, (ItemGroup.of("relation", [item]),), (action,))
    return await answer(knowledge, "relate", body, WRITE_BUDGET, notes)


async def remember_shortterm(knowledge: Knowledge, *, content: str, ttl: float | None = None) -> ItemsAnswer:
    """Keep an entry for `ttl` hours and show related memories, by meaning and by emotion.

    Raises ConfigError for an invalid time to live and secrets, Unavailable and StoreError if it cannot be kept.
    """
    text = check_text("content", content, MAX_SHORT_TERM)
    if ttl is not None and not 0 < ttl <= MAX_TTL_HOURS:
        given = str(ttl) if abs(ttl) < MAX_TTL_HOURS else "more"
        raise ConfigError(f"ttl must be more than 0 and at most {MAX_TTL_HOURS:g} hours, not {given}", "Default: 72.")
    hours = knowledge.ttl_hours if ttl is None else float(ttl)
    now = time.time()
    meaning = await knowledge.prose.embed_query(text) if knowledge.prose is not None else b""
    note_id = knowledge.project.notebook.ids.new("short_term")
    entry = ShortTermEntry(note_id, text, now, now + hours * 3600, knowledge.client, meaning, knowledge.emotion(text))
    memory = await knowledge.short_term()
    notes: list[str] = []
    groups, atlas = await related_entries(knowledge, await memory.entries(), entry, notes)
    await memory.put(entry)
    kept = ItemGroup.of("entry", [entry_item(entry, now)])
    # what is remembered about the user belongs to the user's own notes, never into files of the project
    own = knowledge.identity if any(base.is_personal for base in knowledge.bases) else ""
    to: dict[str, object] = {"entity": own, "personal": True} if own else {"entity": DEFAULT_ENTITY}
    action = Action("promote", {"id": note_id, **to}, "keep it as an observation about this or another entity")
    body = ItemsBody(
        "created", f"kept for {hours:g} hour{'' if hours == 1 else 's'} as {note_id}", (kept, *groups), (action,)
    )
    return await answer(knowledge, "remember_shortterm", body, WRITE_BUDGET, notes, atlas)


async def forget(knowledge: Knowledge, *, note_id: str) -> ItemsAnswer:
    """Delete an observation or a short-term entry. Raises NotFound, and ConfigError for other notes."""
    wanted = check_line("id", note_id)
    if wanted.startswith("s-"):
        memory = await knowledge.short_term()
        if not await memory.delete(wanted):
            raise NotFound(f"no short-term memory {shown_text(wanted, 80)}", "It may have expired.")
        body = ItemsBody("changed", f"{wanted} is deleted")
        return await answer(knowledge, "forget", body, WRITE_BUDGET)
    if is_id(wanted) and wanted[0] in "cd":
        raise ConfigError(f"{wanted} is a claim or decision", "retract_unit withdraws it and keeps its history.")
    if is_id(wanted) and wanted[0] == "e":
        place = await locate(knowledge, wanted)
        raise ConfigError(f"{wanted} is an entity", f"Forget its observations, or delete the file {place.path}.")
    place, observation_id = await locate_observation(knowledge, wanted)
    _, note = place.base.read(place.path)
    text = next((one.text for one in note.observations if one.id == observation_id), "")
    gone = await in_thread(place.base.notebook.forget, place.path, place.note_id, observation_id)
    fields = {"id": gone.id, "entity": place.note_id, "text": shown_text(text)}
    item = Item(f"observation {quoted_text(text)}", fields)
    body = ItemsBody("changed", f"{gone.id} is deleted from {place.path}", (ItemGroup.of("deleted", [item]),))
    return await answer(knowledge, "forget", body, WRITE_BUDGET)


async def promote(knowledge: Knowledge, *, note_id: str, entity: str, personal: bool = False) -> ItemsAnswer:
    """Turn a short-term entry into an observation with its time; the entry is deleted then. Raises NotFound."""
    memory = await knowledge.short_term()
    entry = next((one for one in await memory.entries() if one.id == note_id), None)
    if entry is None:
        raise NotFound(
            f"no short-term memory {shown_text(note_id, 80)}", "It may have expired: recall shows those left."
        )
    base = replace(knowledge, bases=(knowledge.base(personal=personal),))
    name = check_line("entity", entity)
    place, is_new = await _entity(base, name, "", ())
    created = datetime.fromtimestamp(entry.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = check_line("content", entry.content, MAX_OBSERVATION)
    # the id follows from that of the entry, so a repeated call after a kill adds nothing
    observed = await in_thread(
        place.base.notebook.observe, place.path, place.note_id, text, created, f"o-{entry.id.removeprefix('s-')}"
    )
    await memory.delete(entry.id)
    item = Item(
        f"observation {observed.id} of {shown_text(name, SHOWN_NAME)} {place.note_id}",
        {"id": observed.id, "entity": place.note_id},
    )
    title = f"{entry.id} is an observation now{'; the entity is new' if is_new else ''}"
    body = ItemsBody("created", title, (ItemGroup.of("observation", [item]),))
    return await answer(knowledge, "promote", body, WRITE_BUDGET)


async def _entity(knowledge: Knowledge, name: str, kind: str, aliases: Sequence[str]) -> tuple[NotePath, bool]:
    """Return the entity of a name, and whether it is new. Two writers of one name get the same entity."""
    place = await find_entity(knowledge, name)
    if place is not None:
        return place, False
    base = knowledge.project
    # another session may have given an entity this name as an alias
    _, newer = await new_entities(base)
    named = (each for each in newer if name.casefold() in (one.casefold() for one in each[1].aliases))
    if (alias := next(named, None)) is not None:
        return NotePath(base, alias[1].id, alias[0]), False
    async with locked(base, name.casefold(), "entity"):
        place = await find_entity(knowledge, name)
        if place is not None:
            return place, False
        note_id = base.notebook.ids.new("entity")
        values: dict[str, Value] = {"name": name, "type": kind or DEFAULT_TYPE, "aliases": list(aliases)}
        path = await in_thread(base.notebook.add, "entity", note_id, values, "", name)
    base.session.wrote(note_id, path, (name, *aliases))
    return NotePath(base, note_id, path), True


async def _describe(place: NotePath, kind: str, aliases: Sequence[str]) -> None:
    """Give an entity a type and further aliases."""
    # what is written again must be what the file says, secrets included
    note = read_note(place.base.notebook.folder.read(place.path))
    values: dict[str, Value] = {}
    if kind and kind != note.type:
        values["type"] = kind
    if new := _new_names(note, aliases):
        values["aliases"] = [*note.aliases, *new]
    if values:
        await in_thread(place.base.notebook.update, place.path, place.note_id, values)
        place.base.session.wrote(place.note_id, place.path, new)


def _new_names(note: Note, aliases: Sequence[str]) -> list[str]:
    known = {note.name.casefold(), *(one.casefold() for one in note.aliases)}
    return [one for one in dict.fromkeys(aliases) if one.casefold() not in known]


def _entity_item(place: NotePath, name: str) -> Item:
    return Item(
        f"{shown_text(name, SHOWN_NAME)} {place.note_id} in {place.path}",
        {"id": place.note_id, "name": escaped(name), "path": place.path},
    )


async def _namesakes(base: NoteBase, place: NotePath, name: str) -> list[Item]:
    """Return entities whose names share a word with that of a new one: it may be one of them, misspelt."""
    atlas = await base.opened()
    if atlas is None:
        return []
    where = Filter(project=base.project, labels=(Label.ENTITY,))
    hits = await atlas.reader.store.search_text(split_words(name), where, 10)
    nodes = await atlas.reader.store.symbols([hit.uid for hit in hits])
    words = set(split_words(name))
    alike = [
        node for node in nodes if words & set(split_words(node.row.name)) and node.row.qualified_name != place.note_id
    ]
    return [unit_item(node) for node in alike[:3]]


async def _similar(base: NoteBase, text: str, notes: list[str]) -> list[Item]:
    """Return observations that say about the same, also those that the index does not have yet."""
    atlas, entities = await new_entities(base)
    if atlas is None:
        return []
    found = await degraded(similar_notes(atlas.reader, text, (Label.OBSERVATION,), 3, SAME), notes, "similar", [])
    new = await new_observations(base, atlas, entities)
    texts = [f"{note.name}: {one.text}" for _, note, one in new]
    near = await nearness(base, atlas.reader, await vector_of(atlas.reader, text), texts)
    more = [
        Item(f"observation {quoted_text(one.text)} {one.id}; {score_text(score, ())}", _fields(one, score))
        for (_, _, one), score in zip(new, near, strict=True)
        if score >= SAME
    ]
    return [*await hit_items(atlas.reader, found), *more][:3]


def _fields(one: Observation, score: float) -> dict[str, Any]:
    return {"id": one.id, "kind": "observation", "text": shown_text(one.text), "score": round(score, 4)}


async def _symbol_meant(place: NotePath, name: str) -> list[str]:
    """Return a note if the index has a symbol of a new entity's name: it may be meant."""
    atlas = await place.base.opened() if not place.base.is_personal else None
    if atlas is None:
        return []
    found = await atlas.reader.store.find(name, Match.EXACT, Filter(project=place.base.project), 2)
    names = [node.row.qualified_name for node in found if node.row.label not in NOTE_LABELS]
    if not names:
        return []
    return [f"the index has {escaped(names[0])}: symbol:{escaped(names[0])} relates to the symbol instead"]


async def _target(knowledge: Knowledge, place: NotePath, target: str, notes: list[str]) -> tuple[str, str]:
    """Return the target of a relation as it is written, and for people. Raises NotFound for an unknown id or symbol."""
    if is_id(target):
        other = await locate(knowledge, target)
        return other.note_id, other.note_id
    if target.startswith(TARGET_KINDS):
        atlas = await place.base.fresh()
        if atlas is None or place.base.is_personal:
            notes.append("there is no index of this code: the name is stored as it is")
            return target, target
        from atlas.knowledge.retrieval.resolve_anchor import resolve_anchor  # slow to import, and few relations need it

        anchor = await resolve_anchor(atlas.reader, target)
        return f"{anchor.kind}:{anchor.target}", f"{anchor.kind} {anchor.target}"
    found, is_new = await _entity(replace(knowledge, bases=(place.base,)), target, "", ())
    if is_new:
        notes.append(f"entity {shown_text(target, SHOWN_NAME)} {found.note_id} is new")
        notes.extend(await _symbol_meant(place, target))
    return found.note_id, f"{target} {found.note_id}"
