"""A knowledge folder on disk: new notes and changes are written atomically and durably, one writer per note at a time.

Reads need no lock: a file is replaced as a whole. Locks live in the data folder, because the knowledge folder belongs
to version control. Nothing is written through a symbolic link, and names in notes never become paths unchecked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from atlas.core.errors import ConfigError, NotFound, StoreError, WriterBusy
from atlas.core.invisible import normal_form
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.checks import MAX_FILE
from atlas.runtime.process.files import make_private_folder, read_file
from atlas.runtime.process.lock import LockFile

LOCK_PATIENCE = 30.0
"""Seconds to wait for other writers of the same note: each holds the lock for milliseconds, but many may wait."""
LOCK_POLL = 0.005
_MAX_SLUG = 60
_MAX_PATH = 1000
_PATH = lazy_regex(r"(?:[^\W_][\w .+-]{0,79}/){0,16}[^\W_][\w .+-]{0,79}\.md")
"""Paths that a note may be given: no hidden names, no separators of other systems, no control characters."""
ENTITIES = "entities"
MERGE_RULES = b"# Keep the observations that both branches have appended.\n*.md merge=union\n"
"""For git, written with the folder of entities: two appended lines would be a conflict. Claims have no such rule,
because a union of two front matters can be wrong where a conflict is seen."""
_LOCKS = 256
"""Lock files; notes share them by a hash of their path, so that their number stays bounded."""


def busy(name: str) -> WriterBusy:
    """Return the error of a lock that others hold for longer than `LOCK_PATIENCE`."""
    return WriterBusy(f"another process is writing {name}", "Try again.")


class KnowledgeFolder:
    """The notes below one folder. Safe for threads and processes."""

    def __init__(self, root: Path, folder: str, data_dir: Path) -> None:
        """`folder` is relative to `root`, "." for the root itself; locks are kept in `data_dir`.

        Raises ConfigError for a folder that is not inside the root.
        """
        parts = Path(folder).parts
        if Path(folder).is_absolute() or ".." in parts:
            raise ConfigError(f"the knowledge folder {folder!r} is not inside the project", "Set knowledge.folder.")
        self._root, self._parts, self._data_dir = root, parts, data_dir

    @property
    def root(self) -> Path:
        """The folder that paths of notes are relative to."""
        return self._root

    @property
    def path(self) -> str:
        """The folder relative to the root, "" for the root itself."""
        return "/".join(self._parts)

    def create(self, subfolder: str, name: str, note_id: str, data: bytes) -> str:
        """Write a new note and return its path relative to the root. Existing files are never replaced.

        `name` is any text; the file is called after it. Raises StoreError if the folder cannot be written, ConfigError
        for a note that is too large.
        """
        _check_size(f"the note {name!r:.80}", data)
        parts = (*self._parts, *Path(subfolder).parts)
        with _as_store_error(self._root.joinpath(*parts)):
            folder = self._made(parts)
            for stem in (slug(name) or note_id.lower(), f"{slug(name)}-{note_id[-6:].lower()}", note_id.lower()):
                if _write_new(folder / f"{stem}.md", data):
                    return "/".join((*parts, f"{stem}.md"))
        raise StoreError(f"three files that a note could be called after exist in {folder}", "Rename one of them.")

    def place(self, path: str, data: bytes) -> bool:
        """Write a new note at a path below the folder; return False if a file exists there.

        Raises ConfigError for a path that no note can have or a note that is too large, StoreError if the folder cannot
        be written.
        """
        _check_size(path, data)
        if len(path) > _MAX_PATH or not _PATH.fullmatch(path):
            raise ConfigError(f"{path!r:.200} is no path of a note", "For example: claims/2026/attention.md")
        parts = (*self._parts, *path.split("/"))
        with _as_store_error(self._root.joinpath(*parts)):
            return _write_new(self._made(parts[:-1]) / parts[-1], data)

    def named(self, subfolder: str, name: str) -> list[str]:
        """Return the paths of the notes in a subfolder whose files are called after `name`, as `create` calls them."""
        stem, parts = slug(name), (*self._parts, *Path(subfolder).parts)
        if not stem:
            return []
        folder = self._root.joinpath(*parts)
        first = folder / f"{stem}.md"
        with suppress(OSError):
            others = sorted(folder.glob(f"{stem}-??????.md")) if first.is_file() else ()
            return ["/".join((*parts, file.name)) for file in (first, *others) if file.is_file()]
        return []

    def read(self, path: str) -> bytes:
        """Return the bytes of a note. Raises NotFound, and StoreError if it cannot be read."""
        with _as_store_error(self._root / path):
            return read_file(self._file(path), MAX_FILE, own=False)

    def change(self, path: str, edit: Callable[[bytes], bytes]) -> bytes:
        """Replace a note with `edit` of its current bytes, as the only writer; return the new bytes.

        Raises NotFound for a missing note, WriterBusy when another writer holds it for long, StoreError when it cannot
        be written, and what `edit` raises; then the file stays as it is.
        """
        file = self._file(path)
        with self.locked(path), _as_store_error(file):
            old = read_file(file, MAX_FILE, own=False)
            new = edit(old)
            _check_size(path, new)
            if new != old:
                _replace(file, new)
        return new

    @contextmanager
    def locked(self, name: str, kind: str = "note") -> Generator[None]:
        """Hold the lock of a note, or of a name of another kind. Raises WriterBusy after `LOCK_PATIENCE` seconds.

        Locks of one kind share files, so a holder may only take a further lock of another kind.
        """
        end = time.monotonic() + LOCK_PATIENCE
        while (lock := self.try_lock(name, kind)) is None:
            if time.monotonic() > end:
                raise busy(name)
            time.sleep(LOCK_POLL)
        try:
            yield
        finally:
            lock.close()

    def try_lock(self, name: str, kind: str) -> LockFile | None:
        """Return the lock that `locked` holds, None while another writer holds it; never waits. Raises StoreError."""
        folder = self._data_dir / "note-locks"
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % _LOCKS
        with _as_store_error(folder):
            make_private_folder(folder)
            lock = LockFile.open(folder / f"{kind}-{number}.lock")
            if lock.try_lock():
                return lock
            lock.close()
        return None

    def _file(self, path: str) -> Path:
        parts = Path(path).parts
        is_inside = parts[: len(self._parts)] == self._parts and ".." not in parts and not Path(path).is_absolute()
        if not is_inside or not path.endswith(".md"):
            raise NotFound(f"{path} is not a note of this folder", "Name a note by its id.")
        folder = self._root
        for part in parts[:-1]:
            folder /= part
            if folder.is_symlink():
                raise StoreError(f"{folder} is a symbolic link", "Notes are only written to real folders.")
        return self._root / path

    def _made(self, parts: tuple[str, ...]) -> Path:
        """Create the folders below the root that are missing, and check that none is a link."""
        folder = self._root
        has_entities = folder.joinpath(*self._parts, ENTITIES).exists()
        for part in parts:
            folder /= part
            folder.mkdir(exist_ok=True)
            if folder.is_symlink():
                raise StoreError(f"{folder} is a symbolic link", "Notes are only written to real folders.")
        if self._parts and not has_entities and parts == (*self._parts, ENTITIES):
            with suppress(OSError):  # notes do not depend on it
                _write_new(folder / ".gitattributes", MERGE_RULES)
        return folder


def _check_size(name: str, data: bytes) -> None:
    if len(data) > MAX_FILE:
        raise ConfigError(f"{name} would have {len(data)} bytes, at most {MAX_FILE} are allowed", "Split it.")


def slug(text: str) -> str:
    """Return letters and digits of a text in lower case without accents, joined by hyphens; bounded, so a file name."""
    plain = "".join(one for one in normal_form(text.casefold(), "NFKD") if not unicodedata.combining(one))
    stem = ""
    for word in re.findall(r"[^\W_]+", normal_form(plain)):
        longer = f"{stem}-{word}" if stem else word
        if len(longer) > _MAX_SLUG or len(longer.encode()) > 2 * _MAX_SLUG:
            break
        stem = longer
    return stem


def _draft(file: Path, data: bytes) -> Path:
    """Write a hidden file next to `file`, on disk when this returns."""
    draft = file.with_name(f".{file.stem}.{os.getpid()}-{secrets.token_hex(4)}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o644)
    with os.fdopen(descriptor, "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    return draft


def _write_new(file: Path, data: bytes) -> bool:
    """Create a file whole; return False if one exists."""
    draft = _draft(file, data)
    try:
        os.link(draft, file)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(file.parent)
    return True


def _replace(file: Path, data: bytes) -> None:
    draft = _draft(file, data)
    try:
        draft.chmod(file.stat().st_mode & 0o777)
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name durable; file systems without this are left to their own schedule."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _as_store_error(place: Path) -> Generator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"{place} does not exist", "It may have been moved: index again.") from error
    except OSError as error:
        raise StoreError(
            f"cannot write {place}: {error}", "Check permissions and free space; nothing was lost."
        ) from error
