"""The data folders of all projects in the user's cache: their sizes, which belong to deleted projects, and limits.

Only folders that this installation signed count as its own and can be removed; other entries are listed, never changed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import AtlasError
from atlas.runtime.process.data_folder import MARKER, cache_root, read_marker
from atlas.runtime.process.files import is_own_folder
from atlas.runtime.process.lock import WriterLock
from atlas.runtime.process.places import EMBEDDINGS_FOLDER, RUN_FOLDER

DAY = 86_400
_OF_ALL = (RUN_FOLDER, EMBEDDINGS_FOLDER)
"""Folders in the cache that belong to no project."""
_OF_READERS = ("-shm", "-wal", ".lock")
"""Endings of files that change when somebody only looks into an index, or asks whether it is in use."""


@dataclass(frozen=True, slots=True)
class CachedFolder:
    """One data folder."""

    folder: Path
    root: str
    """The project that it was created for; "" for a folder that this installation did not sign."""
    bytes_on_disk: int
    used_at: float
    """Unix time of the last write to it, or of the last process that opened the index."""
    gone: bool
    """Whether the project's folder no longer exists."""

    @property
    def is_deleted(self) -> bool:
        """Whether the project's folder is gone although the one around it has entries: its volume is mounted."""
        parent = Path(self.root).parent
        try:
            return self.gone and any(parent.iterdir())
        except OSError:
            return False


def cached_folders() -> list[CachedFolder]:
    """Return every folder in the cache, sorted by project root. Raises ConfigError for an unusable installation key."""
    root = cache_root()
    if not root.is_dir():
        return []
    found = [_described(folder) for folder in root.iterdir() if is_own_folder(folder) and folder.name not in _OF_ALL]
    return sorted(found, key=lambda one: (one.root, one.folder))


def shared_vectors() -> int:
    """Return the bytes of the vectors that servers made for all projects."""
    return sum(status.st_blocks * 512 for _, status in _files(cache_root() / EMBEDDINGS_FOLDER))


def note_use(folder: Path) -> None:
    """Record that a data folder is in use now: reading an index writes nothing else."""
    with contextlib.suppress(OSError):
        os.utime(folder / MARKER, follow_symlinks=False)


def beyond_limits(folders: Sequence[CachedFolder], max_days: int, max_bytes: int, now: float) -> list[CachedFolder]:
    """Return the folders that were not used for so long, and those of least recent use above a size; 0 = no limit."""
    own = sorted((one for one in folders if one.root), key=lambda one: one.used_at, reverse=True)
    chosen: list[CachedFolder] = []
    size = 0
    for one in own:
        is_old = bool(max_days) and one.used_at < now - max_days * DAY
        if is_old or (max_bytes and size + one.bytes_on_disk > max_bytes):
            chosen.append(one)
        else:
            size += one.bytes_on_disk
    return chosen


def prune_cache(keep: Path, max_days: int, max_bytes: int) -> list[CachedFolder]:
    """Remove the folders of deleted projects and those beyond the limits; return them. Others' failures are skipped.

    Folders that are written to stay, and so does `keep`, whatever its size.
    """
    folders = [one for one in cached_folders() if one.folder != keep]
    chosen = [one for one in folders if one.root and one.is_deleted]
    rest = [one for one in folders if one not in chosen]
    chosen += beyond_limits(rest, max_days, max_bytes, time.time())
    return [one for one in chosen if _remove_unused(one.folder)]


def _remove_unused(folder: Path) -> bool:
    from atlas.runtime.process.daemon import find_running

    try:
        if find_running(folder) is not None:
            return False
        lock = WriterLock(folder)
    except AtlasError:
        return False
    try:
        remove_folder(folder)
    except (OSError, ValueError):
        return False
    finally:
        lock.release()
    return True


@dataclass(frozen=True, slots=True)
class CachedProject:
    """A data folder of an existing project, without the sizes that take time to find out."""

    folder: Path
    root: Path
    used_at: float
    """Unix time at which a process last opened its index."""


def projects_in_cache() -> list[CachedProject]:
    """Return the data folders that this installation made for projects that still exist, in no order."""
    root = cache_root()
    if not root.is_dir():
        return []
    found: list[CachedProject] = []
    for folder in root.iterdir():
        if not is_own_folder(folder) or folder.name in _OF_ALL:
            continue
        marker = read_marker(folder)
        if marker is not None and marker.root and os.path.isdir(marker.root):  # noqa: PTH112 no error for what is no folder
            found.append(CachedProject(folder, Path(marker.root), (folder / MARKER).lstat().st_mtime))
    return found


def remove_folder(folder: Path) -> None:
    """Delete a data folder in the cache, its marker last, so that an interrupted removal can be repeated.

    Raises OSError, and ValueError for a folder outside the cache or without this installation's signature.
    """
    if folder.parent != cache_root() or read_marker(folder) is None:
        raise ValueError(f"{folder} is not a data folder of this installation")
    for entry in folder.iterdir():
        if entry.name == MARKER:
            continue
        if is_own_folder(entry):
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.rmtree(folder)


def _described(folder: Path) -> CachedFolder:
    marker = read_marker(folder)
    sizes, times = [0], [0.0]
    for name, status in _files(folder):
        sizes.append(status.st_blocks * 512 // max(status.st_nlink, 1))  # several indexes may have one file below them
        if not name.endswith(_OF_READERS):
            times.append(status.st_mtime)
    root = marker.root if marker is not None else ""
    used_at = max(times) or folder.lstat().st_mtime
    return CachedFolder(folder, root, sum(sizes), used_at, bool(root) and not Path(root).is_dir())


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                yield name, (Path(place) / name).lstat()
            except FileNotFoundError:  # a running daemon replaces files
                continue
