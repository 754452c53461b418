"""The data folders of all projects in the user's cache: their sizes, and which belong to deleted projects.

Only folders that this installation signed count as its own and can be removed; other entries are listed, never changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atlas.runtime.process.data_folder import MARKER, cache_root, read_marker
from atlas.runtime.process.files import is_own_folder
from atlas.runtime.process.places import RUN_FOLDER


@dataclass(frozen=True, slots=True)
class CachedFolder:
    """One data folder."""

    folder: Path
    root: str
    """The project that it was created for; "" for a folder that this installation did not sign."""
    bytes_on_disk: int
    used_at: float
    """Unix time of the last write to it."""
    gone: bool
    """Whether the project's folder no longer exists."""


def cached_folders() -> list[CachedFolder]:
    """Return every folder in the cache, sorted by project root. Raises ConfigError for an unusable installation key."""
    root = cache_root()
    if not root.is_dir():
        return []
    found = [_described(folder) for folder in root.iterdir() if is_own_folder(folder) and folder.name != RUN_FOLDER]
    return sorted(found, key=lambda one: (one.root, one.folder))


@dataclass(frozen=True, slots=True)
class CachedProject:
    """A data folder of an existing project, without the sizes that take time to find out."""

    folder: Path
    root: Path
    used_at: float
    """Unix time at which a file was last added to it, replaced or removed."""


def projects_in_cache() -> list[CachedProject]:
    """Return the data folders that this installation made for projects that still exist, in no order."""
    root = cache_root()
    if not root.is_dir():
        return []
    found: list[CachedProject] = []
    for folder in root.iterdir():
        if not is_own_folder(folder) or folder.name == RUN_FOLDER:
            continue
        marker = read_marker(folder)
        if marker is not None and marker.root and os.path.isdir(marker.root):  # noqa: PTH112 no error for what is no folder
            found.append(CachedProject(folder, Path(marker.root), folder.lstat().st_mtime))
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
    sizes, times = [0], [folder.lstat().st_mtime]
    for status in _files(folder):
        sizes.append(status.st_blocks * 512)
        times.append(status.st_mtime)
    root = marker.root if marker is not None else ""
    return CachedFolder(folder, root, sum(sizes), max(times), bool(root) and not Path(root).is_dir())


def _files(folder: Path) -> Iterator[os.stat_result]:
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(place) / name).lstat()
            except FileNotFoundError:  # a running daemon replaces files
                continue
