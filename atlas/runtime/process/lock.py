"""File locks: one writer per data folder, one daemon per data folder.

The operating system releases a lock when the process that holds it ends, however it ends. The content of a lock file is
a message for people and other processes; only the lock itself says whether it is held. Lock files are never
removed: a process that waits for the removed file and one that creates a new file would both get a lock.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Self

from atlas.core.errors import StoreError, WriterBusy
from atlas.runtime.process.data_folder import make_folder
from atlas.runtime.process.files import open_file

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        del shared  # Windows locks a byte range for one process; only the writer lock is used there
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


LOCK_FILE = "writer.lock"
_LOCKED_BYTE = 1 << 20
"""Windows refuses reads of a locked byte range, so the locked byte lies far behind the content."""


class LockFile:
    """An open lock file and, after a successful `try_lock`, the lock on it. Close with `close`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    @classmethod
    def open(cls, path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Self:
        """Open a lock file without following links and without locking it. Raises OSError as `open_file` does."""
        return cls(path, open_file(path, flags))

    def try_lock(self, *, shared: bool = False) -> bool:
        """Take the lock and return whether that succeeded; never waits.

        A shared lock conflicts with an exclusive one only, so processes that ask whether the lock is held do not
        see each other. Raises OSError on a file system without locks.
        """
        return _try_lock(self._descriptor, shared=shared)

    def read(self, limit: int) -> bytes:
        """Return the content, at most `limit` bytes of it."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.read(self._descriptor, limit)

    def write(self, content: bytes) -> None:
        """Overwrite the content in place. Spaces replace what was longer, so a reader never finds the file empty."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, content.ljust(os.fstat(self._descriptor).st_size))

    def clear(self) -> None:
        """Remove the content."""
        os.ftruncate(self._descriptor, 0)

    def is_current(self) -> bool:
        """Return whether the path still leads to this file; its folder may have been removed."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._descriptor))
        except OSError:
            return False

    def fileno(self) -> int:
        """Return the descriptor. A process that inherits it shares the lock, and keeps it when this one closes it."""
        return self._descriptor

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._descriptor < 0

    def close(self) -> None:
        """Close the file, which releases the lock; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class WriterLock:
    """The right to write to a folder, from construction to `release`. The file holds the writer's process id."""

    def __init__(self, data_dir: Path, name: str = LOCK_FILE) -> None:
        """Take the lock. Raises WriterBusy with the holder's process id, and StoreError when locking is impossible."""
        path = data_dir / name
        try:
            self._file = LockFile.open(path)
        except OSError as error:
            raise StoreError(f"cannot write to {data_dir}: {error}", "check the permissions of the folder") from error
        try:
            if not self._file.try_lock():
                raise WriterBusy(
                    f"{self._holder()} is writing to the index in {data_dir}", "wait until it has finished, or stop it"
                )
            self._file.clear()
            self._file.write(f"{os.getpid()}\n".encode())
        except OSError as error:
            self._file.close()
            raise StoreError(f"cannot lock {path}: {error}", "free disk space or choose another --data-dir") from error
        except WriterBusy:
            self._file.close()
            raise

    def release(self) -> None:
        """Release the lock; idempotent."""
        self._file.close()

    def _holder(self) -> str:
        pid = self._file.read(32).decode("ascii", "replace").strip()
        return f"process {pid}" if pid else "another process"


def lock_folder(data_dir: Path) -> WriterLock:
    """Create the data folder if needed and take its writer lock.

    Raises WriterBusy, StoreError for a folder that cannot be used, and ConfigError for a file in its place.
    """
    try:
        make_folder(data_dir)
    except OSError as error:
        raise StoreError(
            f"cannot create {data_dir}: {error}", "check its permissions, or choose another folder with --data-dir"
        ) from error
    return WriterLock(data_dir)


def has_writer(folder: Path) -> bool:
    """Return whether a process writes to the index in a folder. Raises StoreError if its lock cannot be used."""
    try:
        WriterLock(folder).release()
    except WriterBusy:
        return True
    return False
