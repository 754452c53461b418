"""The verbs that change notes: each writes one file and returns what stands in it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from atlas.code.notes.note import Anchor, Note, NoteRelation, Observation, read_note
from atlas.core.errors import ConfigError, NotFound
from atlas.knowledge.notes.checks import MAX_OBSERVATIONS, MAX_RELATIONS
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.front_matter import (
    Value,
    item_at,
    new_file,
    with_body,
    with_item,
    with_line,
    with_values,
    without,
)
from atlas.knowledge.notes.ids import IdSource

SUBFOLDERS = {"claim": "claims", "decision": "decisions", "entity": "entities"}


@dataclass(frozen=True, slots=True)
class Notebook:
    """A knowledge folder and who writes in it."""

    folder: KnowledgeFolder
    ids: IdSource
    data_dir: Path
    """Where idempotency keys and locks are kept."""
    client: str = ""
    """Name and version of the MCP client, `cli` for a person at the terminal."""
    agent: str = ""

    def add(
        self, kind: str, note_id: str, values: Mapping[str, Value], body: str, title: str, created: str = ""
    ) -> str:
        """Write a new note and return its path; the file is called after `title`. `created` is now if empty.

        Raises StoreError if it cannot be written, ConfigError if it is too large.
        """
        created = created or timestamp()
        author = {"client": self.client, "agent": self.agent}
        front: dict[str, Value] = {"id": note_id, "kind": kind, **values, "created": created}
        if any(author.values()):
            front["author"] = author
        place = SUBFOLDERS[kind] if kind == "entity" else f"{SUBFOLDERS[kind]}/{created[:4]}"
        return self.folder.create(place, title, note_id, new_file(front, body))

    def find_new(self, kind: str, note_id: str, title: str) -> str:
        """Return the path of a note that `add` was asked to write, "" if it was not written."""
        year = datetime.now(UTC).year
        years = ("",) if kind == "entity" else (f"/{year}", f"/{year - 1}")
        for place in (f"{SUBFOLDERS[kind]}{one}" for one in years):
            for path in (*self.folder.named(place, title), *self.folder.named(place, note_id)):
                with suppress(NotFound):
                    if read_note(self.folder.read(path)).id == note_id:
                        return path
        return ""

    def relate(self, path: str, note_id: str, relation: NoteRelation) -> bool:
        """Add a relation to a note; return False, and leave the file, if it has one of this type to this target.

        Raises NotFound if the note is not in this file, ConfigError for a note that cannot be edited.
        """
        added = False

        def edit(data: bytes) -> bytes:
            nonlocal added
            note = _expected(data, note_id, path)
            if any((one.type, one.to) == (relation.type, relation.to) for one in note.relations):
                return data
            if len(note.relations) >= MAX_RELATIONS:
                raise ConfigError(f"{note_id} has {MAX_RELATIONS} relations already", "Relate a more specific note.")
            added = True
            item: dict[str, Value] = {
                "type": relation.type,
                "to": relation.to,
                "reasoning": relation.reasoning,
                "confidence": relation.confidence,
                "created": relation.created or timestamp(),
            }
            return with_item(data, note, "relations", item)

        self.folder.change(path, edit)
        return added

    def update(self, path: str, note_id: str, values: Mapping[str, Value], body: str = "") -> Note:
        """Set top-level keys and, unless empty, the body; records the time in `updated`. Raises as `relate`."""

        def edit(data: bytes) -> bytes:
            note = _expected(data, note_id, path)
            changed = with_values(data, note, {**values, "updated": timestamp()})
            return with_body(changed, read_note(changed), body) if body else changed

        return read_note(self.folder.change(path, edit))

    def anchor(self, path: str, note_id: str, anchor: Anchor) -> Note:
        """Add an anchor, or replace the one of the same target. Raises as `relate`."""

        def edit(data: bytes) -> bytes:
            note = _expected(data, note_id, path)
            same = next((one for one in note.about if (one.kind, one.target) == (anchor.kind, anchor.target)), None)
            if same is None and len(note.about) >= MAX_RELATIONS:
                raise ConfigError(f"{note_id} has {MAX_RELATIONS} anchors already", "Write a more specific note.")
            return _with_anchor(data, note, same, anchor)

        return read_note(self.folder.change(path, edit))

    def reaffirm(self, path: str, note_id: str, renewed: Mapping[Anchor, Anchor]) -> Note:
        """Replace anchors, old -> new, because the note still holds; records the time in `updated`.

        Anchors that are no longer in the note are left out. Raises as `relate`.
        """

        def edit(data: bytes) -> bytes:
            note = _expected(data, note_id, path)
            for old, new in renewed.items():
                same = next((one for one in note.about if (one.kind, one.target) == (old.kind, old.target)), None)
                if same is not None:
                    data = _with_anchor(data, note, same, new)
                    note = read_note(data)
            return with_values(data, note, {"updated": timestamp()})

        return read_note(self.folder.change(path, edit))

    def observe(self, path: str, entity_id: str, text: str, created: str = "", observation_id: str = "") -> Observation:
        """Append an observation to an entity, unless it has one with this id. `text` is one line.

        `created` is now if empty. Raises as `relate`.
        """
        new_id = observation_id or self.ids.new("observation")
        found = Observation(new_id, created or timestamp(), text, self.client)

        def edit(data: bytes) -> bytes:
            observations = _expected(data, entity_id, path).observations
            if any(one.id == new_id for one in observations):
                return data
            if len(observations) >= MAX_OBSERVATIONS:
                raise ConfigError(f"{entity_id} has {MAX_OBSERVATIONS} observations already", "Forget old ones.")
            # a text that ends like this would name its own author
            is_forged = text.endswith(")") and "(client:" in text
            author = self.client or ("unknown" if is_forged else "")
            client = f" (client: {author})" if author else ""
            return with_line(data, f"- {found.created} [{found.id}] {text}{client}")

        self.folder.change(path, edit)
        return found

    def forget(self, path: str, entity_id: str, observation_id: str) -> Observation:
        """Remove an observation and return it. Raises NotFound if it is not there, and as `relate`."""
        removed: list[Observation] = []

        def edit(data: bytes) -> bytes:
            note = _expected(data, entity_id, path)
            removed[:] = [one for one in note.observations if one.id == observation_id]
            if not removed:
                raise NotFound(f"no observation {observation_id} in {path}", "It may have been removed already.")
            return without(data, removed[0].start, removed[0].end)

        self.folder.change(path, edit)
        return removed[0]


def _with_anchor(data: bytes, note: Note, old: Anchor | None, new: Anchor) -> bytes:
    # items that cannot be read are in the file, but not in `note.about`: the line tells which item it is
    position = item_at(data, note, "about", old.at) if old is not None else None
    return with_item(data, note, "about", anchor_item(new), position)


def anchor_item(anchor: Anchor) -> dict[str, Value]:
    """Return the value of an anchor in the front matter."""
    item: dict[str, Value] = {anchor.kind: anchor.target}
    for name in ("signature", "body", "docstring", "path", "commit"):
        item[name] = str(getattr(anchor, name))
    if anchor.line:
        item["line"] = anchor.line
    return item


def timestamp() -> str:
    """Return the current time as in front matter: RFC 3339, UTC, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _expected(data: bytes, note_id: str, path: str) -> Note:
    note = read_note(data)
    if note.id != note_id:
        raise NotFound(f"{path} does not hold {note_id}", "The file was moved or edited: ask again.")
    return note
