"""Claims and decisions on disk that the index does not have yet, read without waiting for it.

To index one new note of 30,000 takes a second of the processor, to read it a millisecond. So what is compared with all
units (a new claim, a check for contradictions) is compared with the index as it is and with these.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from atlas.code.atlas import Atlas
from atlas.code.notes.note import Note, Observation, text_of
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError, NotFound
from atlas.core.ids import make_uid
from atlas.core.model import Label, Node, NodeRow
from atlas.core.threads import in_thread
from atlas.knowledge.retrieval.hits import HIDDEN_STATUSES
from atlas.knowledge.tools.note_base import NoteBase, NoteStamp, put
from atlas.parsing import cosines

MOST = 100
"""New files that are read; for more, the index is brought up to date first."""
LAST_OBSERVATIONS = 50
"""Of a newer entity; earlier ones are in the index as a rule."""
MAX_READ = 1_000
"""Notes and vectors that a session keeps."""
_LABELS = {"claim": Label.CLAIM, "decision": Label.DECISION}


async def latest(base: NoteBase) -> tuple[Atlas | None, tuple[Node, ...]]:
    """Return the index, None without one, and the units that it lacks.

    What is newer besides a few new notes without relations (code, a changed note) is indexed first.
    """
    try:
        atlas, newer = await base.looked()
    except NotFound:
        return await base.fresh(), ()
    if newer is None or not newer.paths:
        return atlas, ()
    is_few = len(newer.new) <= MOST and not (newer.changed or newer.deleted)
    found = await in_thread(_read, base, newer.new) if is_few else None
    return (atlas, found) if found is not None else (await base.fresh(), ())


async def new_entities(base: NoteBase) -> tuple[Atlas | None, tuple[tuple[str, Note], ...]]:
    """Return the index, and the entities with their paths whose files are newer, as they are on disk."""
    try:
        atlas, newer = await base.looked()
    except NotFound:
        return await base.fresh(), ()
    paths = (*newer.new, *newer.changed) if newer is not None else ()
    if len(paths) > MOST:
        return await base.fresh(), ()
    return atlas, await in_thread(_entities, base, paths)


async def new_observations(
    base: NoteBase, atlas: Atlas, entities: Sequence[tuple[str, Note]]
) -> list[tuple[str, Note, Observation]]:
    """Return the last observations of these entities that the index lacks, with entity and path."""
    last = [(path, note, one) for path, note in entities for one in note.observations[-LAST_OBSERVATIONS:]]
    known = await atlas.reader.store.symbols([make_uid(base.project, one.id) for _, _, one in last])
    ids = {node.row.qualified_name for node in known}
    return [each for each in last if each[2].id not in ids]


async def nearness(base: NoteBase, reader: Reader, vector: bytes, texts: Sequence[str]) -> list[float]:
    """Return the cosine of each text with a vector of the prose model; 0 without a model."""
    embedder, known = reader.prose_embedder, base.session.vectors
    if embedder is None or not any(vector) or not texts:
        return [0.0] * len(texts)
    for text in texts:
        if text not in known:
            put(known, text, await embedder.embed_query(text), MAX_READ)
    return list(cosines(vector, [known[text] for text in texts]))


def _read(base: NoteBase, paths: Sequence[str]) -> tuple[Node, ...] | None:
    """Return the units of new files that are not hidden; None if one of the files has to be indexed first."""
    found: list[Node] = []
    folder = f"{base.notebook.folder.path}/" if base.notebook.folder.path else ""
    for path in paths:
        if not (path.startswith(folder) and path.endswith(".md")):
            return None
        try:
            note, text = _note(base, path)
        except NotFound:
            continue
        except AtlasError:
            return None
        if note.relations or not note.id:
            return None
        if note.kind in _LABELS and note.status not in HIDDEN_STATUSES:
            found.append(_node(base.project, path, note, text))
    return tuple(found)


def _entities(base: NoteBase, paths: Sequence[str]) -> tuple[tuple[str, Note], ...]:
    found: list[tuple[str, Note]] = []
    for path in paths:
        with suppress(AtlasError):
            note, _ = _note(base, path)
            if note.kind == "entity" and note.id:
                found.append((path, note))
    return tuple(found)


def _note(base: NoteBase, path: str) -> tuple[Note, str]:
    """Return a note and its text, read once for each version of its file."""
    try:
        status = (Path(base.notebook.folder.root) / path).lstat()
    except OSError as error:
        raise NotFound(f"{path} is gone") from error
    stamp: NoteStamp = (status.st_mtime_ns, status.st_size, status.st_ino)
    known = base.session.read.get(path)
    if known is None or known[0] != stamp:
        data, note = base.read(path)
        known = stamp, note, text_of(data, note)
        put(base.session.read, path, known, MAX_READ)
    return known[1:]


def _node(project: str, path: str, note: Note, text: str) -> Node:
    values = {"status": note.status, "confidence": note.confidence, "source": note.source, "created": note.created}
    values |= {"updated": note.updated, "client": note.client, "agent": note.agent}
    row = NodeRow(
        uid=make_uid(project, note.id),
        label=_LABELS[note.kind],
        kind=note.kind,
        name=text.split("\n", 1)[0],
        qualified_name=note.id,
        path=path,
        docstring=text,
        properties=json.dumps({name: value for name, value in values.items() if value != ""}),
    )
    return Node(project, row)
