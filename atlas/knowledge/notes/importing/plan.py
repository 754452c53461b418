"""Give every imported item its id: a known one if it was imported before, else a new one with the time of its creation.

A note keeps the id that it had in its source as `imported_from`. Entities are found by their names and aliases, too, so
that observations join the entity that is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from atlas.code.notes.note import CLAIM_RELATIONS, read_note, text_of
from atlas.core.errors import ConfigError
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.ids import PastIds, is_id
from atlas.knowledge.notes.importing.items import (
    ImportReport,
    Item,
    KeyItem,
    NoteItem,
    ObservationItem,
    ObservationsItem,
    RelationItem,
    unix_time,
)
from atlas.knowledge.notes.importing.pages import raw_value
from atlas.knowledge.notes.listing import notes
from atlas.knowledge.notes.notebook import timestamp

ORIGIN_KEY = "imported_from"
_NAMED = ("symbol", "file", "package", "route")


@dataclass(slots=True)
class NoteChange:
    """What is to be written into one note: a new one with `item`, else one that is there."""

    note_id: str
    item: NoteItem | None = None
    observations: dict[str, ObservationItem] = field(default_factory=dict[str, ObservationItem])
    """By text."""
    relations: dict[tuple[str, str], RelationItem] = field(default_factory=dict[tuple[str, str], RelationItem])
    """By type and target, which is an id or a named thing."""


@dataclass(slots=True)
class Plan:
    """All changes by the id of the note, and the idempotency keys with the ids that they stand for."""

    changes: dict[str, NoteChange] = field(default_factory=dict[str, NoteChange])
    keys: list[tuple[KeyItem, str]] = field(default_factory=list[tuple[KeyItem, str]])
    paths: dict[str, str] = field(default_factory=dict[str, str])
    """Paths of the notes that are there, by id."""
    origins: dict[str, str] = field(default_factory=dict[str, str])
    """Ids by the id in the source, of notes that are there and of planned ones."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Ids of entities by name and alias in lower case."""
    ids: PastIds = field(default_factory=PastIds)
    """Ids follow the order of reading, so that the turns of a conversation stay next to each other."""

    def known_targets(self, prefix: str) -> dict[str, str]:
        """Return the ids by the bare ids of one source."""
        return {name.removeprefix(prefix): note_id for name, note_id in self.origins.items() if name.startswith(prefix)}


def make_plan(folder: KnowledgeFolder, items: Iterable[Item], origin: str, report: ImportReport) -> Plan:
    """Return what an import writes; items that cannot be placed go to the report.

    `origin` names the source if its ids could equal those of another one, "" if not. Raises StoreError for a knowledge
    folder that cannot be read.
    """
    plan = _known(folder)
    prefix = f"{origin}:" if origin else ""
    later: list[ObservationsItem | RelationItem | KeyItem] = []
    for item in items:
        if isinstance(item, NoteItem):
            _add_note(plan, folder, item, prefix, report)
        else:
            later.append(item)
    for item in later:
        if isinstance(item, ObservationsItem):
            if item.entity.casefold() not in plan.names:
                if not item.creates:
                    report.refuse(item.place, f"no entity {item.entity!r}", "Import its row, too.")
                    continue
                new = NoteItem(item.place, "entity", item.entity, item.entity, "", {"name": item.entity})
                _add_note(plan, folder, new, prefix, report)
            entity = plan.names[item.entity.casefold()]
            _add_observations(plan, _change(plan, entity), item.observations, report)
        elif isinstance(item, RelationItem):
            _add_relation(plan, item, prefix, report)
        elif (note_id := plan.origins.get(prefix + item.foreign)) is not None:
            plan.keys.append((item, note_id))
        else:
            report.refuse(item.place, f"the key is for {item.foreign!r}, which is not imported", "Import it, too.")
    return plan


def _known(folder: KnowledgeFolder) -> Plan:
    plan = Plan()
    for found in notes(folder):
        note = found.note
        plan.paths.setdefault(note.id, found.path)
        if origin := raw_value(found.data, note, ORIGIN_KEY):
            plan.origins.setdefault(origin, note.id)
        if note.kind == "entity":
            for name in (note.name, *note.aliases):
                plan.names.setdefault(name.casefold(), note.id)
    return plan


def _add_note(plan: Plan, folder: KnowledgeFolder, item: NoteItem, prefix: str, report: ImportReport) -> None:
    if item.native:
        _add_native(plan, folder, item, report)
        return
    origin = prefix + (item.foreign or _fingerprint(item))
    known = plan.origins.get(origin)
    if known is None and item.kind == "entity":
        known = plan.names.get(str(item.values["name"]).casefold())
    if known is not None:
        _join(plan, folder, known, item, report)
        return
    note_id = plan.ids.at(item.kind, unix_time(item.created))
    item.values[ORIGIN_KEY] = origin
    plan.origins[origin] = note_id
    if item.kind == "entity":
        for name in (item.values["name"], *_strings(item.values.get("aliases"))):
            plan.names.setdefault(str(name).casefold(), note_id)
    plan.changes[note_id] = change = NoteChange(note_id, item)
    report.add(item.kind)
    _add_observations(plan, change, item.observations, report)


def _add_native(plan: Plan, folder: KnowledgeFolder, item: NoteItem, report: ImportReport) -> None:
    """Plan to write one of our own notes, unless it is there."""
    if item.native in plan.changes:
        report.refuse(item.place, f"{item.native} is there twice", "Remove one of them.")
    elif item.native not in plan.paths:
        plan.changes[item.native] = NoteChange(item.native, item)
        plan.origins.setdefault(item.native, item.native)
        if item.kind == "entity":
            plan.names.setdefault(item.title.casefold(), item.native)
        report.add(item.kind)
    elif folder.read(plan.paths[item.native]) == item.data:
        report.found()
    else:
        where = plan.paths[item.native]
        report.refuse(item.place, f"{item.native} is there with another content ({where})", "Merge them by hand.")


def _join(plan: Plan, folder: KnowledgeFolder, known: str, item: NoteItem, report: ImportReport) -> None:
    """Plan what an entity lacks; any other note that is there stays as it is."""
    if item.observations:
        _add_observations(plan, _change(plan, known), item.observations, report)
        return
    planned = plan.changes[known].item if known in plan.changes else None
    if planned is not None:
        text = planned.text
    else:
        data = folder.read(plan.paths[known])
        text = text_of(data, read_note(data))
    if not item.text or " ".join(text.split()) == " ".join(item.text.split()):
        report.found()
        return
    where = str(planned.place) if planned else plan.paths[known]
    report.refuse(
        item.place,
        f"{item.foreign!r} is there with another text ({where}), which is kept",
        "Update that note, or give --origin if these are the ids of another source.",
    )


def _add_observations(plan: Plan, change: NoteChange, found: Iterable[ObservationItem], report: ImportReport) -> None:
    for one in found:
        if one.text in change.observations:
            report.found()
        else:
            created = one.created or timestamp()
            note_id = plan.ids.at("observation", unix_time(created))
            change.observations[one.text] = replace(one, created=created, note_id=note_id)


def _add_relation(plan: Plan, item: RelationItem, prefix: str, report: ImportReport) -> None:
    try:
        source, target = (_end(plan, end, item, prefix) for end in (item.source, item.target))
        if source not in plan.paths and source not in plan.changes:
            raise ConfigError(f"no note {source}", "A relation is written in the file of its source.")
    except ConfigError as error:
        report.refuse(item.place, error)
        return
    relation = item.type.lower() if item.type.lower() in CLAIM_RELATIONS else item.type
    relations = _change(plan, source).relations
    if (relation, target) in relations:
        report.found()
    else:
        relations[relation, target] = item


def _end(plan: Plan, name: str, item: RelationItem, prefix: str) -> str:
    """Return the id, or the named thing, that an end of a relation is."""
    by_origin, by_name = plan.origins.get(prefix + name), plan.names.get(name.casefold())
    found = (by_name or by_origin) if item.among == "entity" else (by_origin or by_name)
    if found is not None:
        return found
    kind, _, rest = name.partition(":")
    if is_id(name) or (kind in _NAMED and rest.strip()):
        return name
    what = "entity" if item.among == "entity" else "unit"
    raise ConfigError(f"no {what} {name!r}: the relation is not imported", "Import its row, too.")


def _change(plan: Plan, note_id: str) -> NoteChange:
    return plan.changes.setdefault(note_id, NoteChange(note_id))


def _fingerprint(item: NoteItem) -> str:
    """Return a stable id for a row without one."""
    return f"text-{hashlib.sha256(' '.join(item.text.split()).encode()).hexdigest()[:16]}"


def _strings(value: Value | None) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
