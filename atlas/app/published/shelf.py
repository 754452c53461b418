"""Published indexes in a folder: `PROJECT/entries/NAME.json` and `PROJECT/bodies/SHA256`, and bodies that arrive.

The folder may be on a shared file system, the artifact of a CI job, or that of a server. A body arrives in pieces and
appears under its digest once it has it; an entry appears after its body. A reader sees a whole index or none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Protocol

from atlas.app.published.manifest import (
    MAX_BODY,
    MAX_ENTRY,
    Entry,
    PublishedIndex,
    is_digest,
    is_project,
    read_entry,
    read_manifest,
)
from atlas.core.errors import NotFound, StoreError
from atlas.runtime.process.files import make_folders, open_file, read_file

PIECE = 4 << 20
"""Bytes of a body that are read or written at once."""
KEPT = 32
"""Indexes of a project that are kept, the newest."""
MAX_PROJECTS = 1_000
MAX_LISTED = 2_000
"""Entries of one list."""
LEFT_SECONDS = 86_400
"""After this, bodies that no entry names are removed: their publisher is gone."""
_ENTRIES, _BODIES, _ARRIVING = "entries", "bodies", "arriving"
_FILE_MODE, _FOLDER_MODE = 0o666, 0o777
"""Less the umask, which so says who may read a shared folder."""


class Place(Protocol):
    """Where indexes are published: a folder, or a server that keeps one."""

    def entries(self) -> list[Entry]:
        """Return what is published for those projects that may be read."""
        ...

    def read(self, project: str, body: str, offset: int, length: int) -> bytes:
        """Return a piece of a body, at most `PIECE` bytes."""
        ...

    def write(self, project: str, body: str, offset: int, total: int, data: bytes) -> bool:
        """Store a piece of a body; return whether the body is whole now, by this or another publisher."""
        ...

    def enter(self, project: str, entry: Entry) -> None:
        """Publish an index whose body is there."""
        ...

    def close(self) -> None:
        """Close; idempotent."""
        ...


class IndexShelf:
    """A folder with published indexes. Errors of the file system raise StoreError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def projects(self) -> list[str]:
        """Return the names of projects with indexes."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder) if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failed(self._folder, error) from error
        return [name for name in names if is_project(name)][:MAX_PROJECTS]

    def entries(self, projects: Iterable[str] | None = None) -> list[Entry]:
        """Return the entries of these projects, of all by default, the newest of each first."""
        wanted = self.projects() if projects is None else projects
        listed = [self._of(project) for project in wanted]
        return [entry for one in listed for entry in (*(entry for _, entry in one[0]), *one[1])][:MAX_LISTED]

    def read(self, project: str, body: str, offset: int, length: int) -> bytes:
        """Return a piece of a body. Raises NotFound for one that is not there."""
        path = self._path(project, _BODIES, _checked(body))
        try:
            with os.fdopen(open_file(path, os.O_RDONLY, own=False), "rb") as file:
                file.seek(offset)
                return file.read(min(length, PIECE))
        except FileNotFoundError as error:
            raise NotFound("this index is no longer published") from error
        except (OSError, ValueError) as error:
            raise _failed(path, error) from error

    def write(self, project: str, body: str, offset: int, total: int, data: bytes) -> bool:
        """Store a piece; the last one makes the body appear if it has its digest. Raises StoreError."""
        done, arriving = self._path(project, _BODIES, _checked(body)), self._path(project, _ARRIVING, body)
        if not 0 < total <= MAX_BODY or offset < 0 or offset + len(data) > total:
            raise StoreError("a piece is outside of its body")
        if done.exists():
            return True
        try:
            for path in (done, arriving):
                make_folders(path.parent, _FOLDER_MODE)
            with os.fdopen(open_file(arriving, os.O_RDWR | os.O_CREAT, _FILE_MODE), "r+b") as file:
                there = os.fstat(file.fileno()).st_size
                if offset > there:
                    raise StoreError("a piece is missing before this one", "publish again")
                file.seek(offset)
                file.write(data)
                file.flush()
                if max(there, offset + len(data)) < total:
                    return False
                file.seek(0)
                is_right = hashlib.file_digest(file, "sha256").hexdigest() == body
                if is_right:
                    os.fsync(file.fileno())
            if not is_right:
                arriving.unlink(missing_ok=True)
                raise StoreError("the body does not have the digest that was announced", "publish again")
            arriving.replace(done)
        except OSError as error:
            raise _failed(arriving, error) from error
        return True

    def enter(self, project: str, entry: Entry) -> None:
        """Publish an index. Raises StoreError for an entry that is not one of this project, or without its body."""
        published = read_manifest(entry.manifest)
        if published.project != project:
            raise StoreError(f"the manifest is one of the project {published.project}, not of {project}")
        body = self._path(project, _BODIES, published.body)
        try:
            if not body.exists() or body.stat().st_size != published.packed:
                raise StoreError("the body of this index is not there", "publish again")
            path = self._path(project, _ENTRIES, f"{published.name}.json")
            make_folders(path.parent, _FOLDER_MODE)
            draft = path.with_name(f".{secrets.token_hex(8)}")
            with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "wb") as file:
                try:
                    file.write(entry.text().encode())
                    file.flush()
                    os.fsync(file.fileno())
                    draft.replace(path)
                except BaseException:  # also an interrupt: no draft may stay
                    draft.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise _failed(self._folder, error) from error
        self._limit(project)

    def close(self) -> None:
        """Nothing is open between calls."""

    def _of(self, project: str) -> tuple[list[tuple[PublishedIndex, Entry]], list[Entry]]:
        """Return the entries of a project, the newest first, and those whose manifest is none: readers say so."""
        found: list[tuple[PublishedIndex, Entry]] = []
        others: list[Entry] = []
        for path in sorted(self._path(project, _ENTRIES).glob("*.json")):
            with contextlib.suppress(OSError, StoreError):  # one that is damaged or just goes counts as missing
                entry = read_entry(read_file(path, 2 * MAX_ENTRY, own=False))
                others.append(entry)
                found.append((read_manifest(entry.manifest), entry))
                others.pop()
        return sorted(found, key=lambda one: one[0].made_at, reverse=True), others

    def _limit(self, project: str) -> None:
        """Remove what is beyond `KEPT`, and bodies that nothing names; what cannot be removed stays."""
        listed, _ = self._of(project)
        for published, _ in listed[KEPT:]:
            with contextlib.suppress(OSError):
                self._path(project, _ENTRIES, f"{published.name}.json").unlink(missing_ok=True)
        named = {published.body for published, _ in listed[:KEPT]}
        for folder in (_BODIES, _ARRIVING):
            with contextlib.suppress(OSError), closing(os.scandir(self._path(project, folder))) as files:
                for file in files:
                    is_old = time.time() - file.stat(follow_symlinks=False).st_mtime > LEFT_SECONDS
                    if file.name not in named and is_old:
                        Path(file.path).unlink()

    def _path(self, project: str, *parts: str) -> Path:
        if not is_project(project):
            raise StoreError(f"{project[:100]!r} is not the name of a project")
        return self._folder.joinpath(project, *parts)


def _checked(body: str) -> str:
    if not is_digest(body):
        raise StoreError("the name of a body is its SHA-256")
    return body


def _failed(path: Path, error: Exception) -> StoreError:
    reason = getattr(error, "strerror", None) or error
    return StoreError(f"{path} cannot be used: {reason}", "check the folder and its disk")
