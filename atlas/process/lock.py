"""One writer per data directory: a file lock that the operating system takes back however the process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from atlas.errors import StoreError, WriterBusy
from atlas.process.data_folder import make_folder
from atlas.process.files import open_file

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


LOCK_FILE = "writer.lock"
_LOCKED_BYTE = 1 << 20
"""Windows locks a byte range against reading too; far behind the pid, so that the pid can be read."""


class WriterLock:
    """Held from construction to `release`. The file holds the writer's pid and is never removed: that would race."""

    def __init__(self, data_dir: Path, name: str = LOCK_FILE) -> None:
        """Raise `WriterBusy` with the holder's pid when another one has it, `StoreError` when it cannot be had."""
        path = data_dir / name
        try:
            self._descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StoreError(f"cannot write to {data_dir}: {error}", "check the permissions of the folder") from error
        try:
            _lock(self._descriptor)
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())
        except (BlockingIOError, PermissionError) as error:
            holder = self._holder()
            os.close(self._descriptor)
            raise WriterBusy(
                f"{holder} is writing to the index in {data_dir}", "wait until it has finished, or stop it"
            ) from error
        except OSError as error:
            os.close(self._descriptor)
            raise StoreError(f"cannot lock {path}: {error}", "free disk space or choose another --data-dir") from error

    def release(self) -> None:
        """Let the next writer in; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _holder(self) -> str:
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        pid = os.read(self._descriptor, 32).decode("ascii", "replace").strip()
        return f"process {pid}" if pid else "another process"


def lock_folder(data_dir: Path) -> WriterLock:
    """Create the data directory and become its writer.

    Raises `WriterBusy`, `StoreError` for a bad folder and `ConfigError` for a file.
    """
    try:
        make_folder(data_dir)
    except OSError as error:
        raise StoreError(f"cannot make {data_dir}: {error}", "check its permissions, or choose another one") from error
    return WriterLock(data_dir)
