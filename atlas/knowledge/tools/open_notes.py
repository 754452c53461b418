"""The note folders of a call with their open indexes, and notes in them by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.atlas import Atlas
from atlas.core.errors import AtlasError
from atlas.core.ids import make_uid
from atlas.core.model import Label, Node
from atlas.core.threads import in_thread
from atlas.core.wording import counted
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.listing import EntryKind, entries
from atlas.knowledge.tools.new_notes import latest
from atlas.knowledge.tools.note_base import Knowledge, NoteBase

NOT_READ = "not read: "
"""Begins the notes of an answer on what it could not look at: without a hit it is unknown, not none."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A note folder with its open index."""

    base: NoteBase
    atlas: Atlas
    new: tuple[Node, ...] = ()
    """Units on disk that the index lacks, see `new_notes`."""


async def opened_bases(knowledge: Knowledge, notes: list[str], *, reads_new: bool = False) -> list[Opened]:
    """Return the folders that have an index, the project's first; one with notes that cannot be read becomes a note.

    With `reads_new`, a few new units are read instead of indexed first.
    """
    found: list[Opened] = []
    for base in knowledge.bases:
        try:
            atlas, new = await latest(base) if reads_new else (await base.fresh(), ())
        except AtlasError as error:
            notes.append(f"{NOT_READ}the notes of {base.project}: {error.message}")
            continue
        if atlas is None:
            notes.extend(await in_thread(_without_index, base))
            continue
        found.append(Opened(base, atlas, new))
        if base.is_personal:
            notes.extend(atlas.tree.notes)
    return found


def _without_index(base: NoteBase) -> list[str]:
    """Return a note on the files that only an index would find; none for a folder without files."""
    try:
        count = sum(one.kind is EntryKind.NOTE for one in entries(base.notebook.folder))
    except AtlasError as error:
        return [f"{NOT_READ}the notes of {base.project}: {error.message}"]
    what = f"{counted(count, 'note')} of {base.project}, which has no index yet: run `atlas index`"
    return [f"{NOT_READ}{what}"] if count else []


def project_atlas(opened: Sequence[Opened]) -> Atlas | None:
    """Return the index of the project."""
    return next((one.atlas for one in opened if not one.base.is_personal), None)


async def find_unit(opened: Sequence[Opened], name: str) -> tuple[Opened, Node] | None:
    """Return the note of an id, or the decision record of a qualified name or uid; the user's own first."""
    for one in sorted(opened, key=lambda one: not one.base.is_personal):
        if (new := next((node for node in one.new if node.row.qualified_name == name), None)) is not None:
            return one, new
        candidates = [make_uid(one.base.project, name), name]
        for node in await one.atlas.reader.store.symbols(candidates):
            is_note = is_id(name.split("@", 1)[0].split(".", 1)[0]) and node.row.properties
            if is_note or node.row.label == Label.ADR:
                return one, node
    return None
