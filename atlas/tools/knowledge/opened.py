"""The note folders of a session with their open indexes, up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.api import Atlas
from atlas.errors import AtlasError
from atlas.tools.knowledge.note_base import Knowledge, NoteBase


@dataclass(frozen=True, slots=True)
class Opened:
    """A note folder with its open index."""

    base: NoteBase
    atlas: Atlas


async def opened_bases(knowledge: Knowledge, notes: list[str]) -> list[Opened]:
    """Return the folders that have an index, the project's first; a missing one becomes a note."""
    found: list[Opened] = []
    for base in knowledge.bases:
        try:
            atlas = await base.fresh()
        except AtlasError as error:
            notes.append(f"{base.project}: {error.message}")
            continue
        if atlas is not None:
            found.append(Opened(base, atlas))
            if base.is_personal:
                notes.extend(atlas.tree.notes)
    return found


def project_atlas(opened: Sequence[Opened]) -> Atlas | None:
    """Return the index of the project."""
    return next((one.atlas for one in opened if not one.base.is_personal), None)
