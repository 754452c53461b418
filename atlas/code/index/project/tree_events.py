"""Names that changed below a root since the last look, from the kernel's queue: no `stat` of each file of a large tree.

Linux and local file systems only; elsewhere, and where the kernel has too few watches, `open_events` returns None. The
kernel queues an event before the system call that caused it returns, so a look misses no change that was made before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from atlas.code.index.watch.inotify import (
    CREATE,
    DELETE,
    ENDED,
    IGNORED,
    IS_FOLDER,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOW,
    Inotify,
)

MANY_FILES = 1_000
"""A `stat` of each file of a smaller tree takes less than 3 ms: no watches are set for it."""
MAX_FOLDERS = 8_192
LEFT_TO_OTHERS = 8
"""A tree takes at most an eighth of the watches of one user (`fs.inotify.max_user_watches`): editors need them, too."""
VERIFY_SECONDS = 60.0
"""Each file is looked at again after this time: a write through a memory map or another hard link causes no event."""
EARLY_SECONDS = VERIFY_SECONDS / 2
"""The same in the background, where no call waits for it."""
MAX_NAMES = 500
"""Changed names that are looked at one by one."""
_LOCAL = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "tmpfs", "overlay"))


class TreeEvents:
    """The events of the folders of one tree. Use from one thread at a time; close with `close`."""

    def __init__(self, root: str, folders: Iterable[str]) -> None:
        """Watch these folders, relative to the root, which is "". Raises OSError if one of them cannot be watched."""
        self._queue = Inotify()
        self._folders: dict[int, str] = {}
        self._began = time.monotonic()
        self._is_early = False
        try:
            for folder in {"", *folders}:
                self._folders[self._queue.add(f"{root}/{folder}")] = folder
        except BaseException:
            self._queue.close()
            raise

    @property
    def is_due(self) -> bool:
        """Whether each file is to be looked at again."""
        return self._is_early or time.monotonic() - self._began > VERIFY_SECONDS

    def verify_early(self) -> None:
        """Have each file looked at again by the next check, unless that was done a moment ago."""
        self._is_early = time.monotonic() - self._began > EARLY_SECONDS

    def changed(self) -> set[str] | None:
        """Return the names that changed since the last call; None if unknown, as after changes of folders."""
        found: set[str] = set()
        is_certain = is_read = True
        while is_read and is_certain:
            is_read = False
            for number, mask, name in self._queue.read():
                is_read = True
                folder = self._folders.get(number)
                is_certain &= folder is not None and bool(name) and not mask & (OVERFLOW | ENDED | IGNORED)
                is_certain &= not (mask & IS_FOLDER and mask & (CREATE | DELETE | MOVED_FROM | MOVED_TO))
                if folder is not None and name:
                    found.add(f"{folder}/{name}" if folder else name)
            is_certain &= len(found) <= MAX_NAMES
        return found if is_certain else None

    def close(self) -> None:
        """End all watches."""
        self._queue.close()


def open_events(root: Path, folders: Iterable[str], files: int) -> TreeEvents | None:
    """Return the events of a tree from now on; None if it is small, not local, or cannot be watched."""
    folders = list(folders)
    if sys.platform != "linux" or files < MANY_FILES or len(folders) > _most_folders() or not _is_local(root):
        return None
    try:
        return TreeEvents(str(root), folders)
    except (OSError, ValueError, AttributeError):
        return None


def _most_folders() -> int:
    try:
        watches = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return min(MAX_FOLDERS, watches // LEFT_TO_OTHERS)


def _is_local(root: Path) -> bool:
    """Return whether no other host can change the tree: the file systems of the root and of all mounts below it."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    mounts = [(line.split()[4].replace("\\040", " "), line.partition(" - ")[2].split()[0]) for line in lines]
    above = [(len(at), kind) for at, kind in mounts if at == "/" or root.is_relative_to(at)]
    kinds = {max(above)[1]} if above else {""}
    return kinds | {kind for at, kind in mounts if Path(at).is_relative_to(root)} <= _LOCAL
