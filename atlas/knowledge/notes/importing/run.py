"""Write what an import adds. A second import of the same files adds nothing; an interrupted one can be repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from atlas.code.notes.note import KINDS, NoteRelation, read_note
from atlas.core.errors import ConfigError, StoreError
from atlas.core.wording import counted
from atlas.knowledge.notes import requests
from atlas.knowledge.notes.checks import MAX_OBSERVATIONS, MAX_RELATIONS
from atlas.knowledge.notes.documents import observation_line
from atlas.knowledge.notes.front_matter import Value, with_line, with_values
from atlas.knowledge.notes.importing.items import ImportReport, NoteItem, ObservationItem, RelationItem, SourcePlace
from atlas.knowledge.notes.importing.pages import with_known_targets
from atlas.knowledge.notes.importing.plan import NoteChange, Plan, make_plan
from atlas.knowledge.notes.importing.sources import read_sources
from atlas.knowledge.notes.notebook import SUBFOLDERS, Notebook, timestamp

WRITERS = 8
"""Notes that are written at once: the disk makes several of them durable in about the time of one."""
Progress = Callable[[int, int], None]


def import_notes(
    book: Notebook,
    paths: Sequence[Path],
    kind: str = "",
    origin: str = "",
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files and folders into a knowledge folder, and report what was added and what was not.

    `kind` is that of Markdown files and units that do not say it; `origin` tells sources apart whose ids could be
    equal. `progress` is called with the number of notes written and of all. With `dry_run` nothing is written.

    Raises ConfigError for wrong arguments, StoreError if the folder cannot be written; then the notes before are there.
    """
    if kind and kind not in KINDS:
        raise ConfigError(f"unknown kind {kind!r}", f"Use one of: {', '.join(KINDS)}.")
    report = ImportReport(dry_run)
    plan = make_plan(book.folder, read_sources(paths, kind, report), origin, report)
    writer = _NoteWriter(book, plan, f"{origin}:" if origin else "", report)
    try:
        _write_all(writer, list(plan.changes.values()), progress)
        writer.record_keys()
    except StoreError as error:
        written = f"written: {writer.written} of {counted(len(plan.changes), 'note')}"
        raise StoreError(f"{error.message}; {written}", "Then import again: nothing is added twice.") from error
    report.added = {kind: count for kind, count in report.added.items() if count}
    report.problems.sort(key=lambda one: (one.place.file, one.place.line))
    return report


def _write_all(writer: _NoteWriter, changes: Sequence[NoteChange], progress: Progress | None) -> None:
    """Write all notes. Raises what the first one raises; those that have not begun are then left out."""
    with ThreadPoolExecutor(WRITERS, "import") as pool:
        try:
            for done, _ in enumerate(pool.map(writer.write, changes), 1):
                if progress is not None:
                    progress(done, len(changes))
        except BaseException:  # also an interrupt
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class _NoteWriter:
    """Writes single notes; safe for threads."""

    def __init__(self, book: Notebook, plan: Plan, prefix: str, report: ImportReport) -> None:
        self._book, self._plan, self._report = book, plan, report
        self._targets = plan.known_targets(prefix)
        self._guard = Lock()
        self.written = 0

    def write(self, change: NoteChange) -> None:
        """Write one note; what it cannot take goes to the report."""
        try:
            if change.item is None:
                self._extend(change)
            elif change.item.data:
                self._copy(change, change.item)
            else:
                self._create(change, change.item)
            self._counted()
        except ConfigError as error:
            place = change.item.place if change.item else SourcePlace(self._plan.paths[change.note_id], 1)
            self._report.refuse(place, error)
            if change.item is not None:
                self._report.add(change.item.kind, -1)

    def _counted(self) -> None:
        with self._guard:
            self.written += 1

    def record_keys(self) -> None:
        """Record the idempotency keys, so that a repeated call with one of them finds its note."""
        for item, note_id in self._plan.keys:
            answer = _answer(note_id, self._plan.paths.get(note_id, ""))
            if self._report.dry_run or requests.record(self._book.data_dir, item.key, note_id, answer):
                self._report.add("key")
            else:
                self._report.found()

    def _create(self, change: NoteChange, item: NoteItem) -> None:
        """Write a note that was a row."""
        observations = self._fitting(list(change.observations.values()), 0, item.place)
        relations = self._related(change, ())
        values: dict[str, Value] = {**item.values}
        if relations:
            values["relations"] = [_relation_values(change, key) for key in relations]
        body = "\n\n".join(part for part in (item.text, "\n".join(map(self._line, observations))) if part)
        if not self._report.dry_run:
            created = item.created or timestamp()
            path = self._book.add(item.kind, change.note_id, values, body, item.title, created)
            self._plan.paths[change.note_id] = path
        self._count(len(observations), len(relations))

    def _copy(self, change: NoteChange, item: NoteItem) -> None:
        """Write a note that was a file, then what other rows say about it."""
        data = item.data
        if not item.native:
            note = read_note(data)
            created = note.created or item.created or timestamp()
            author = {"client": note.client or self._book.client, "agent": note.agent or self._book.agent}
            front: dict[str, Value] = {"id": change.note_id, "kind": item.kind, **item.values, "created": created}
            data = with_values(data, note, {**front, "author": author} if any(author.values()) else front)
            data = with_known_targets(data, read_note(data), self._targets)
            for problem in read_note(data).problems:
                place = SourcePlace(item.place.file, problem.line)
                self._report.refuse(place, f"imported with a problem: {problem.message}", "Correct the note.")
        if self._report.dry_run:
            path = ""
        elif item.path and self._book.folder.place(item.path, data):
            path = "/".join(part for part in (self._book.folder.path, item.path) if part)
        else:
            note = read_note(data)
            year = "" if item.kind == "entity" else f"/{(note.created or timestamp())[:4]}"
            path = self._book.folder.create(f"{SUBFOLDERS[item.kind]}{year}", item.title, change.note_id, data)
        self._plan.paths[change.note_id] = path
        self._extend(change, data)

    def _extend(self, change: NoteChange, data: bytes | None = None) -> None:
        """Add observations and relations to a note that is there."""
        if not change.observations and not change.relations:
            return
        path = self._plan.paths[change.note_id]
        note = read_note(self._book.folder.read(path) if data is None else data)
        place = change.item.place if change.item else SourcePlace(path, 1)
        texts = {" ".join(one.text.split()) for one in note.observations}
        new = [one for text, one in change.observations.items() if text not in texts]
        self._report.found(len(change.observations) - len(new))
        new = self._fitting(new, len(note.observations), place)
        relations = self._related(change, [(one.type, one.to) for one in note.relations])
        if new and not self._report.dry_run:
            lines = "\n".join(map(self._line, new))
            self._book.folder.change(path, lambda old: with_line(old, lines))
        self._count(len(new), sum(self._relate(path, change, key) for key in relations))

    def _relate(self, path: str, change: NoteChange, key: tuple[str, str]) -> bool:
        """Add one relation to a note that is there; return whether it has it now."""
        one = change.relations[key]
        relation = NoteRelation(*key, one.reasoning, one.confidence, one.created or timestamp())
        try:
            if not self._report.dry_run:
                self._book.relate(path, change.note_id, relation)
        except ConfigError as error:
            self._report.refuse(one.place, error)
            return False
        return True

    def _fitting(self, found: list[ObservationItem], there: int, place: SourcePlace) -> list[ObservationItem]:
        """Return the observations that an entity has room for; the others go to the report."""
        room = max(0, MAX_OBSERVATIONS - there)
        for one in found[room:]:
            self._report.refuse(place, f"too many observations: {one.text[:60]!r}", "Split the entity.")
        return found[:room]

    def _related(self, change: NoteChange, there: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the relations that a note lacks and has room for."""
        new = [key for key in change.relations if key not in there]
        self._report.found(len(change.relations) - len(new))
        room = max(0, MAX_RELATIONS - len(there))
        for key in new[room:]:
            place = change.relations[key].place
            self._report.refuse(place, f"{change.note_id} has {MAX_RELATIONS} relations", "Relate another note.")
        return new[:room]

    def _count(self, observations: int, relations: int) -> None:
        self._report.add("observation", observations)
        self._report.add("relation", relations)

    def _line(self, one: ObservationItem) -> str:
        return observation_line(one.note_id, one.created, one.text, self._book.client)


def _relation_values(change: NoteChange, key: tuple[str, str]) -> dict[str, Value]:
    one: RelationItem = change.relations[key]
    return {
        "type": key[0],
        "to": key[1],
        "reasoning": one.reasoning,
        "confidence": one.confidence,
        "created": one.created or timestamp(),
    }


def _answer(note_id: str, path: str) -> dict[str, Any]:
    """Return the stored answer of a call that has written a note, in the form of `tools.knowledge.body`."""
    line = f"{note_id} in {path}"
    group = {"name": "unit", "total": 1, "items": [[line, {"id": note_id, "path": path}]]}
    title = f"{note_id} was imported with this key"
    return {"status": "created", "title": title, "groups": [group], "actions": []}
