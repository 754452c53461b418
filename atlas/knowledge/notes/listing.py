"""Walk a knowledge folder: which files it holds, and its notes one after the other, in the order of their paths.

Nothing is kept in memory but the names of the open folders, so that a folder of any size can be read. Links and special
files are named and never followed. These functions need no index. What they yield may be shown: a secret in a committed
note is masked, with length and lines kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from atlas._parser import mask_secrets
from atlas.code.notes.note import Note, read_note, text_of
from atlas.core.errors import NotFound, StoreError
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.checks import MAX_FILE
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.runtime.process.files import read_file

MAX_DEPTH = 64
"""Folders below each other; deeper ones are named and not read."""
DRAFT = lazy_regex(r"\..*\.\d+-[0-9a-f]{8}\.draft", re.DOTALL)
"""Names of the files that a writer replaces a note with."""


class EntryKind(StrEnum):
    """What a file of a knowledge folder is."""

    NOTE = "note"
    README = "readme"
    """A `README.md`: a note only if it has front matter."""
    DRAFT = "draft"
    LINK = "link"
    SPECIAL = "special"
    """Neither file nor folder: a FIFO, a socket, a device."""
    ENDING = "ending"
    """Markdown whose name does not end in `.md`, so that nothing reads it."""
    TOO_LARGE = "too large"
    UNCHECKED = "has too many places that may hold a secret"
    TOO_DEEP = "too deep"
    UNREADABLE = "unreadable"


OTHER_ENDINGS = (".markdown", ".mdown", ".mkd", ".mdx", ".MD")
"""Of Markdown files that are not read as notes."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file, or a folder that is not read. `path` is relative to the root; `modified` in Unix seconds."""

    path: str
    kind: EntryKind
    modified: float = 0.0
    is_masked: bool = False
    """Its text has a secret, which was masked."""


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note with its file, whose secrets are masked. `path` is relative to the root."""

    path: str
    data: bytes
    note: Note

    @property
    def text(self) -> str:
        """The body without surrounding blank lines."""
        return text_of(self.data, self.note)


def entries(folder: KnowledgeFolder) -> Iterator[ListedFile]:
    """Yield the entries of a folder, sorted by name in each folder; nothing if the folder does not exist.

    Other files than `*.md` and hidden ones are left out, except drafts. Raises StoreError if the folder itself is a
    link or no folder.
    """
    top = folder.root / folder.path
    if top.is_symlink():
        raise StoreError(f"{top} is a symbolic link", "Notes are only read from real folders.")
    if not top.exists():
        return
    if not top.is_dir():
        raise StoreError(f"{top} is not a folder", "Move the file away, or set knowledge.folder.")
    yield from _below(str(top), folder.path, 0)


def files(folder: KnowledgeFolder) -> Iterator[tuple[ListedFile, bytes]]:
    """Yield what `raw_files` does with the secrets masked, as in the index. Raises as `entries`."""
    for entry, data in raw_files(folder):
        try:
            masked = mask_secrets(data)
            yield replace(entry, is_masked=masked != data), masked
        except ValueError:
            yield ListedFile(entry.path, EntryKind.UNCHECKED), b""


def raw_files(folder: KnowledgeFolder) -> Iterator[tuple[ListedFile, bytes]]:
    """Yield the entries of a folder with the bytes of those that may be notes, b"" for others. Raises as `entries`."""
    root = str(folder.root)
    for entry in entries(folder):
        if entry.kind not in (EntryKind.NOTE, EntryKind.README):
            yield entry, b""
            continue
        try:
            # the walk has checked the folders above
            yield entry, read_file(Path(root, entry.path), MAX_FILE, own=False)
        except FileNotFoundError:
            continue
        except OSError:
            yield ListedFile(entry.path, EntryKind.UNREADABLE), b""


def notes(folder: KnowledgeFolder, kind: str = "", status: str = "", text: str = "") -> Iterator[FoundNote]:
    """Yield the files that are notes and pass the filters; `text` is looked for in all of a file, without case.

    Raises as `entries`.
    """
    wanted = text.casefold()
    for entry, data in files(folder):
        if not data or (wanted and wanted not in data.decode("utf-8", "replace").casefold()):
            continue
        note = read_note(data)
        if note.id and note.kind and kind in ("", note.kind) and status in ("", note.status):
            yield FoundNote(entry.path, data, note)


def find_note(folder: KnowledgeFolder, name: str) -> FoundNote:
    """Return the note with an id, a path, or the name of an entity. Raises NotFound, with names that are near."""
    near: list[str] = []
    folded = name.casefold().strip()
    by_name: FoundNote | None = None
    for found in notes(folder):
        if found.note.id == name.strip() or found.path == name.strip():
            return found
        names = {one.casefold() for one in (found.note.name, *found.note.aliases)}
        if folded in names and by_name is None:
            by_name = found
        elif len(near) < 5 and folded and any(folded in one for one in names):
            near.append(found.note.id)
    if by_name is None:
        raise NotFound(f"no note {name!r}", "`atlas notes list` shows the ids.", near)
    return by_name


def _below(folder: str, path: str, depth: int) -> Iterator[ListedFile]:
    """Yield the entries of one folder, whose path is relative to the root."""
    prefix = f"{path}/" if path else ""
    try:
        with os.scandir(folder) as found:
            ordered = sorted(found, key=lambda one: one.name)
    except OSError:
        yield ListedFile(f"{prefix}", EntryKind.UNREADABLE)
        return
    for one in ordered:
        place = f"{prefix}{one.name}"
        if DRAFT.fullmatch(one.name):
            if (status := _status(one)) is not None:
                yield ListedFile(place, EntryKind.DRAFT, status.st_mtime)
        elif one.name.startswith("."):
            continue
        elif one.is_symlink():
            yield ListedFile(place, EntryKind.LINK)
        elif one.is_dir(follow_symlinks=False):
            if depth == MAX_DEPTH:
                yield ListedFile(f"{place}/", EntryKind.TOO_DEEP)
            else:
                yield from _below(one.path, place, depth + 1)
        elif one.name.endswith(OTHER_ENDINGS):
            yield ListedFile(place, EntryKind.ENDING)
        elif one.name.endswith(".md") and (status := _status(one)) is not None:
            yield ListedFile(place, _kind(one, status), status.st_mtime)


def _kind(one: os.DirEntry[str], status: os.stat_result) -> EntryKind:
    if not one.is_file(follow_symlinks=False):
        return EntryKind.SPECIAL
    if status.st_size > MAX_FILE:
        return EntryKind.TOO_LARGE
    return EntryKind.README if one.name.lower().startswith("readme.") else EntryKind.NOTE


def _status(one: os.DirEntry[str]) -> os.stat_result | None:
    """Return the metadata of an entry, None if it has been removed."""
    try:
        return one.stat(follow_symlinks=False)
    except OSError:
        return None
