"""What the tools of knowledge work on: note folders with their indexes, short-term memory, and who asks.

Notes are found through the index. What this session has just written is found on disk, so writing does not wait for the
index.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from atlas.answers.evidence import NewerFiles
from atlas.code.atlas import Atlas
from atlas.code.notes.note import Note, read_note
from atlas.core.contracts import Embedder, TokenCounter
from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.core.ids import make_uid
from atlas.core.invisible import escaped
from atlas.core.language_model import LanguageModel
from atlas.core.model import Filter, Label, Match, Node
from atlas.core.paper_source import PaperLinks
from atlas.core.short_term import ShortTermMemory
from atlas.core.threads import in_thread
from atlas.knowledge.notes.folder import LOCK_PATIENCE, LOCK_POLL, busy
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.listing import notes
from atlas.knowledge.notes.notebook import Notebook
from atlas.parsing import mask_secrets, split_words

UNIT_LABELS = (Label.CLAIM, Label.DECISION)
MAX_OVERLAY = 10_000
"""Notes of this session that are found on disk without the index."""

T = TypeVar("T")
NoteStamp = tuple[int, int, int]
"""Modification time, size and inode of a file."""


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What this session has written, which the index may not know yet; bounded."""

    paths: dict[str, str] = field(default_factory=dict[str, str])
    """By id."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Ids of entities by name and alias, in lower case."""
    read: dict[str, tuple[NoteStamp, Note, str]] = field(default_factory=dict[str, "tuple[NoteStamp, Note, str]"])
    """Notes that the index lacked, with their texts, by path."""
    vectors: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Of the prose model, by text."""

    def wrote(self, note_id: str, path: str, names: Sequence[str] = ()) -> None:
        """Record a note: where it is, and what an entity is called."""
        put(self.paths, note_id, path, MAX_OVERLAY)
        for name in names:
            put(self.names, name.casefold(), note_id, MAX_OVERLAY)


def put(entries: dict[str, T], key: str, value: T, most: int) -> None:
    """Add an entry; the oldest one leaves if there are too many."""
    if key not in entries and len(entries) >= most:
        del entries[next(iter(entries))]
    entries[key] = value


@dataclass(frozen=True, slots=True)
class NoteBase:
    """A knowledge folder with its index: the project's, or the personal one."""

    project: str
    notebook: Notebook
    opened: Callable[[], Awaitable[Atlas | None]]
    """Returns the index as it is; None while there is none."""
    fresh: Callable[[], Awaitable[Atlas | None]]
    """Returns the index after newer files have been indexed, or are named in its `tree`."""
    looked: Callable[[], Awaitable[tuple[Atlas, NewerFiles | None]]]
    """Returns the index as it is, and which files are newer, None if that is unknown. Raises NotFound without one."""
    session: SessionNotes = field(default_factory=lambda: SessionNotes())
    is_personal: bool = False

    def read(self, path: str) -> tuple[bytes, Note]:
        """Return a note's file with the secrets masked, and its content. Raises NotFound and StoreError."""
        try:
            data = mask_secrets(self.notebook.folder.read(path))
        except ValueError as error:
            raise StoreError(f"{path} cannot be checked for secrets: {error}", "Split the note.") from error
        return data, read_note(data)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The context of one call. `bases` holds the project's notes first."""

    bases: tuple[NoteBase, ...]
    short_term: Callable[[], Awaitable[ShortTermMemory]]
    """Opens short-term memory at its first use. Raises StoreError, Unavailable and ConfigError."""
    emotion: Callable[[str], bytes]
    """Text -> 27 float32; b"" if no emotion is found."""
    prose: Embedder | None
    """The model of prose; None if notes get no vectors."""
    counter: TokenCounter
    model: LanguageModel | None = None
    """Judges possible contradictions; None unless the user has configured one."""
    papers: PaperLinks | None = None
    """The user's stored papers; None if what is the user's own is not served."""
    client: str = ""
    identity: str = ""
    """Name or id of the entity that describes the user."""
    ttl_hours: float = 72.0

    @property
    def own_first(self) -> tuple[NoteBase, ...]:
        """The folders in the order in which a name or id is looked up: no file of a project shadows the user's own."""
        return tuple(sorted(self.bases, key=lambda base: not base.is_personal))

    @property
    def project(self) -> NoteBase:
        """The notes of the project."""
        return self.bases[0]

    def base(self, *, personal: bool) -> NoteBase:
        """Return the notes of the project, or those of the user. Raises ConfigError if these are not served."""
        if not personal:
            return self.project
        found = next((base for base in self.bases if base.is_personal), None)
        if found is None:
            raise ConfigError(
                "personal notes are not available here",
                "Set knowledge.personal; over HTTP also knowledge.personal_over_http, with a token.",
            )
        return found


@dataclass(frozen=True, slots=True)
class NotePath:
    """Where a note stands."""

    base: NoteBase
    note_id: str
    path: str


async def locate(knowledge: Knowledge, note_id: str) -> NotePath:
    """Return the file of a claim, decision or entity by id. Raises NotFound, ConfigError for other texts."""
    wanted = note_id.strip()
    if not is_id(wanted) or wanted[0] not in "cde":
        raise ConfigError(f"{note_id[:80]!r} is no id of a note", "Ids look like c-01JD2V9Q7K4M8N3P5R6S7T8V9A.")
    for base in knowledge.own_first:
        path = base.session.paths.get(wanted)
        if path is not None and _holds(base, path, wanted):
            return NotePath(base, wanted, path)
    for asks_again in (False, True):
        for base in knowledge.own_first:
            atlas = await (base.fresh() if asks_again else base.opened())
            found = await atlas.reader.store.symbols([make_uid(base.project, wanted)]) if atlas is not None else []
            if found and _holds(base, found[0].row.path, wanted):
                return NotePath(base, wanted, found[0].row.path)

    def is_it(note: Note) -> bool:
        return note.id == wanted

    for base in knowledge.own_first:
        if await base.opened() is None:
            place = await in_thread(_in_files, base, wanted, is_it)
            if place is not None:
                return place
    raise NotFound(f"no note {wanted}", "list_propositions and list_entities name the notes there are.")


def _in_files(base: NoteBase, text: str, is_meant: Callable[[Note], bool]) -> NotePath | None:
    """Return the first note with a text that is meant, where there is no index that knows it; None if there is none."""
    found = notes(base.notebook.folder, text=text)
    return next((NotePath(base, one.note.id, one.path) for one in found if is_meant(one.note)), None)


async def locate_observation(knowledge: Knowledge, observation_id: str) -> tuple[NotePath, str]:
    """Return the entity of an observation, and the observation's id. Raises NotFound."""

    def has_it(note: Note) -> bool:
        return any(one.id == observation_id for one in note.observations)

    for base in knowledge.own_first:
        atlas = await base.fresh()
        if atlas is None:
            place = await in_thread(_in_files, base, observation_id, has_it)
            if place is not None:
                return place, observation_id
            continue
        found = await atlas.reader.store.symbols([make_uid(base.project, observation_id)])
        if found:
            _, note = base.read(found[0].row.path)
            return NotePath(base, note.id, found[0].row.path), observation_id
    raise NotFound(f"no observation {escaped(observation_id)}", "recall shows ids of observations.")


async def find_entity(knowledge: Knowledge, name: str) -> NotePath | None:
    """Return the entity of this id, name or alias (in this order, case ignored); None if there is none."""
    if is_id(name.strip()):
        return await locate(knowledge, name)
    folded = name.casefold()

    def is_called(note: Note) -> bool:
        return note.kind == "entity" and folded in (one.casefold() for one in (note.name, *note.aliases))

    for base in knowledge.own_first:
        if (place := _on_disk(base, name) or _of_session(base, name)) is not None:
            return place
        atlas = await base.opened()
        if atlas is None:
            place = await in_thread(_in_files, base, name, is_called)
            if place is not None:
                return place
            continue
        where = Filter(project=base.project, labels=(Label.ENTITY,))
        nodes = await atlas.reader.store.find(name, Match.PREFIX, where, 50)
        hits = await atlas.reader.store.search_text(split_words(name), where, 20)
        nodes += await atlas.reader.store.symbols([hit.uid for hit in hits])
        named = [node for node in nodes if node.row.name.casefold() == folded]
        aliased = [node for node in nodes if folded in (alias.casefold() for alias in aliases_of(node))]
        for node in (*named, *aliased):
            if _holds(base, node.row.path, node.row.qualified_name):
                return NotePath(base, node.row.qualified_name, node.row.path)
    return None


def _on_disk(base: NoteBase, name: str) -> NotePath | None:
    """Return the entity of this name whose file is called after it, which an index may not know yet."""
    for path in base.notebook.folder.named("entities", name):
        try:
            _, note = base.read(path)
        except NotFound:
            continue
        if note.kind == "entity" and note.name.casefold() == name.casefold():
            return NotePath(base, note.id, path)
    return None


def _of_session(base: NoteBase, name: str) -> NotePath | None:
    """Return the entity to which this session has given this name."""
    note_id = base.session.names.get(name.casefold(), "")
    path = base.session.paths.get(note_id, "")
    return NotePath(base, note_id, path) if path and _holds(base, path, note_id) else None


def _holds(base: NoteBase, path: str, note_id: str) -> bool:
    try:
        return base.read(path)[1].id == note_id
    except NotFound:
        return False


@asynccontextmanager
async def locked(base: NoteBase, name: str, kind: str) -> AsyncGenerator[None]:
    """Hold a lock of a note folder. Raises WriterBusy after `LOCK_PATIENCE` seconds.

    Waits on the event loop: waiting threads would take every thread that the holder needs to finish.
    """
    end = time.monotonic() + LOCK_PATIENCE
    while (lock := base.notebook.folder.try_lock(name, kind)) is None:
        if time.monotonic() > end:
            raise busy(name)
        await asyncio.sleep(LOCK_POLL)
    try:
        yield
    finally:
        lock.close()


def properties_of(node: Node) -> dict[str, Any]:
    """Return the properties of a note."""
    return cast("dict[str, Any]", json.loads(node.row.properties)) if node.row.properties else {}


def aliases_of(node: Node) -> Sequence[str]:
    """Return the aliases of an entity."""
    return cast("list[str]", properties_of(node).get("aliases", []))
