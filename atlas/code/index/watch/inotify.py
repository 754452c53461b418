"""Watches on single folders through inotify (Linux): ignored folders cost nothing.

Input is the kernel's event queue, output paths relative to the root. The scan decides which folders are watched. A new
folder is watched before it is reported, so files created in between are not missed. ADR 0010 compares this with
libraries.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from atlas.code.index.watch.git_rules import rule_files

CREATE: Final = 0x100
DELETE: Final = 0x200
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
ENDED: Final = 0x400 | 0x800 | 0x2000
"""The watched folder itself was deleted, moved or unmounted."""
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
IS_FOLDER: Final = 0x40000000
WATCHED: Final = CREATE | DELETE | MOVED_FROM | MOVED_TO | 0x2 | 0x4 | 0x8 | 0x400 | 0x800
"""Also IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_DELETE_SELF and IN_MOVE_SELF; neither opening nor reading a file."""
FLAGS: Final = 0x01000000 | 0x02000000 | 0x04000000
"""IN_ONLYDIR, IN_DONT_FOLLOW and IN_EXCL_UNLINK: folders only, no symbolic links, no unlinked files."""
EVENT: Final = struct.Struct("iIII")
BUFFER: Final = 1 << 16
BUFFERS: Final = 16
"""Buffers read in one turn of the event loop."""
EXHAUSTED: Final = (errno.ENOSPC, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


@dataclass(frozen=True, slots=True)
class HeldWatches:
    """What a process that rests needs to notice the next change of a tree; see `runtime.process.resting`."""

    root: str
    device: int = 0
    inode: int = 0
    queue: int = -1
    """Descriptor of the kernel's queue, which nothing reads now; -1 if the root is gone."""
    rules: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Watch descriptor of a folder with rules -> the names in it that count."""
    ignored: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Watch descriptor of another folder -> names in it that the index itself writes."""


class EventSink(Protocol):
    """Receives the events of a source."""

    def changed(self, path: str) -> None:
        """Record that something at this path, or below it for a folder, may have changed."""

    def missed(self, reason: str) -> None:
        """Record that anything may have changed."""

    def check_root(self) -> None:
        """Record that the root may have been moved, deleted or replaced."""

    def failed(self, reason: str) -> None:
        """Record that the source reports no further events."""


class Inotify:
    """An inotify queue. Raises OSError with the kernel's error number."""

    def __init__(self) -> None:
        import ctypes  # 3 ms, and a command that checks a tree once watches nothing

        self._library = ctypes.CDLL(None, use_errno=True)
        self._last_error = ctypes.get_errno
        self._flags = ctypes.c_uint32(WATCHED | FLAGS)
        self.descriptor: int = self._checked(self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, path: str) -> int:
        """Watch a folder; return its watch descriptor, which identifies the folder even after it moves."""
        return self._checked(self._library.inotify_add_watch(self.descriptor, os.fsencode(path), self._flags))

    def remove(self, number: int) -> None:
        """Remove a watch; no error if the kernel has already removed it."""
        self._library.inotify_rm_watch(self.descriptor, number)

    def read(self) -> Iterator[tuple[int, int, str]]:
        """Yield queued events: watch descriptor, mask, name in the folder ("" for the folder itself)."""
        for _ in range(BUFFERS):
            try:
                data = os.read(self.descriptor, BUFFER)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = EVENT.unpack_from(data, at)
                at += EVENT.size + length
                yield number, mask, os.fsdecode(data[at - length : at].rstrip(b"\0"))

    def close(self) -> None:
        """End all watches."""
        os.close(self.descriptor)

    def _checked(self, result: int) -> int:
        if result < 0:
            number = self._last_error()
            raise OSError(number, os.strerror(number))
        return result


class FolderWatch:
    """Watches the folders of a project, and the few folders outside it that hold ignore rules. Mutable.

    Raises OSError when the kernel has no inotify instance or too few watches left.
    """

    def __init__(
        self,
        root: str,
        folders: Iterable[str],
        sink: EventSink,
        concerns: Callable[[str], bool],
        loop: asyncio.AbstractEventLoop,
        own_rules: str = "",
    ) -> None:
        """`own_rules`: a file with rules, which may lie in a folder that a scan does not enter."""
        self._root, self._sink, self._concerns, self._loop = root, sink, concerns, loop
        self._inotify: Inotify | None = Inotify()
        self._own_rules = own_rules
        self._numbers: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._below: dict[str, set[str]] = {}
        """Folder -> its subfolders that are watched or contain watched folders."""
        self._rules: dict[int, dict[str, str]] = {}
        """Watch descriptor of a folder with rules -> file name -> path that is reported for the file."""
        try:
            self._watch_rules()
            for folder in {"", *folders}:
                self._add(folder)
        except BaseException:  # also a cancellation: the descriptor has no other owner
            self.close()
            raise
        loop.add_reader(self._inotify.descriptor, self._drain)

    @property
    def watches(self) -> int:
        """Number of watches set."""
        return len(self._paths) + len(self._rules)

    def on_scanned(self, only: Sequence[str] | None, folders: Sequence[str]) -> list[str]:
        """Watch the folders that a scan found and stop watching the others; return the topmost new ones.

        Raises OSError when there are too few watches.
        """
        found = set(folders)
        known = set(self._numbers) if only is None else {old for path in only for old in self._tree(path)}
        for gone in sorted(known - found - {""}, reverse=True):
            self._remove(gone)
        added = {folder for folder in sorted(found - self._numbers.keys()) if self._add(folder)}
        return sorted(folder for folder in added if folder.rpartition("/")[0] not in added or folder == "")

    def hold(self, own: Iterable[str]) -> HeldWatches:
        """Leave events in the kernel's queue from now on, until `resume`; `own`: paths that the index writes.

        The queue has a second descriptor, which the caller closes: with it the watches outlive this object.
        """
        assert self._inotify is not None
        self._loop.remove_reader(self._inotify.descriptor)
        status = Path(self._root).stat()
        ignored: dict[int, list[str]] = {}
        for path in own:
            folder, _, name = path.rstrip("/").rpartition("/")
            if (number := self._numbers.get(folder)) is not None:
                ignored.setdefault(number, []).append(name)
        rules = {number: list(names) for number, names in self._rules.items()}
        queue = os.dup(self._inotify.descriptor)
        return HeldWatches(self._root, status.st_dev, status.st_ino, queue, rules, ignored)

    def resume(self) -> None:
        """Read events again, those that wait first."""
        if self._inotify is not None:
            self._loop.add_reader(self._inotify.descriptor, self._drain)

    def close(self) -> None:
        """Remove all watches; no events follow."""
        if self._inotify is not None:
            self._loop.remove_reader(self._inotify.descriptor)
            self._inotify.close()
            self._inotify = None

    def _drain(self) -> None:
        overflowed = False
        try:
            for number, mask, name in self._inotify.read() if self._inotify is not None else ():
                overflowed |= bool(mask & OVERFLOW)
                self._take(number, mask, name)
                if self._inotify is None:
                    return
            if overflowed:
                self._renew()
        except OSError as error:
            self._sink.failed(reason_of(error))

    def _take(self, number: int, mask: int, name: str) -> None:
        if number in self._rules:
            self._take_rule(number, mask, name)
        elif number in self._paths:
            self._take_entry(number, mask, name)

    def _take_rule(self, number: int, mask: int, name: str) -> None:
        path = self._rules[number].get(name)
        if mask & IGNORED:
            del self._rules[number]
        elif path is not None:
            self._watch_rules()
            self._sink.changed(path)

    def _take_entry(self, number: int, mask: int, name: str) -> None:
        folder = self._paths[number]
        if not name:
            if mask & IGNORED:
                self._remove(folder)
            if folder == "" and mask & (ENDED | IGNORED):
                self._sink.check_root()
            elif mask & (ENDED | IGNORED):
                self._sink.changed(folder)
            return
        path = f"{folder}/{name}" if folder else name
        if mask & IS_FOLDER and mask & (CREATE | DELETE | MOVED_FROM | MOVED_TO):
            # The watched folder of this name was replaced or is gone.
            for gone in self._tree(path):
                self._remove(gone)
            if mask & (CREATE | MOVED_TO) and self._concerns(path):
                self._add(path)
        if path == ".git" or self._own_rules.startswith(f"{path}/"):
            self._watch_rules()
        self._sink.changed(path)

    def _renew(self) -> None:
        """Set all watches again after an overflow: a folder may have been replaced by another one of the same name."""
        for folder in sorted(self._numbers, reverse=True):
            if not self._add(folder):
                self._remove(folder)
        self._watch_rules()
        self._sink.missed("overflow")

    def _add(self, folder: str) -> bool:
        """Watch a folder; return False if the path is not a folder or cannot be read."""
        if self._inotify is None:
            return False
        try:
            number = self._inotify.add(f"{self._root}/{folder}")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and (error.errno in EXHAUSTED or folder == ""):
                raise
            return False
        former, old = self._paths.get(number), self._numbers.get(folder)
        if former is not None and former != folder:
            # The folder moved here from another path.
            del self._numbers[former]
        if old is not None and old != number:
            # This path belonged to another folder.
            del self._paths[old]
            self._inotify.remove(old)
        self._numbers[folder], self._paths[number] = number, folder
        while folder:
            parent = folder.rpartition("/")[0]
            siblings = self._below.setdefault(parent, set())
            if folder in siblings:
                break
            siblings.add(folder)
            folder = parent
        return True

    def _remove(self, folder: str) -> None:
        number = self._numbers.pop(folder, None)
        if number is not None:
            del self._paths[number]
            if self._inotify is not None:
                self._inotify.remove(number)
        if not self._below.get(folder):
            self._below.pop(folder, None)
            self._below.get(folder.rpartition("/")[0], set()).discard(folder)

    def _tree(self, folder: str) -> list[str]:
        """Return the watched folders at and below a path, subfolders first."""
        found, open_folders = [folder], [folder]
        while open_folders:
            inner = self._below.get(open_folders.pop(), ())
            open_folders += inner
            found += inner
        return [path for path in reversed(found) if path in self._numbers]

    def _watch_rules(self) -> None:
        if self._inotify is None:
            return
        for folder, names in rule_files(Path(self._root), self._own_rules).items():
            try:
                number = self._inotify.add(str(folder))
            except OSError as error:
                if error.errno in EXHAUSTED:
                    raise
                continue
            if number not in self._paths:
                self._rules[number] = names


def reason_of(error: OSError) -> str:
    """Return a message that names the limit that was reached and where it is set."""
    if error.errno == errno.ENOSPC:
        return "too few inotify watches (fs.inotify.max_user_watches)"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many open files or inotify queues (ulimit -n, fs.inotify.max_user_instances)"
    return f"the kernel refuses watches: {error.strerror or error}"
