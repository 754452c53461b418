"""Files of a repository, opened without following links: every part of the path below the folder must be real.

A symbolic link, FIFO, device or socket anywhere below the folder raises OSError, as a missing file does.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_below(folder: Path, path: str) -> int:
    """Return a descriptor of a regular file below a folder. Raises OSError."""
    *parents, name = path.split("/")
    at = _open_folder(folder, parents)
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            raise OSError(errno.EPERM, "not a regular file", path)
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def read_below(folder: Path, path: str, limit: int) -> bytes:
    """Return the content of a regular file below a folder. Raises OSError, EFBIG for more than `limit` bytes."""
    with os.fdopen(open_below(folder, path), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def list_below(folder: Path, path: str) -> list[str]:
    """Return the names in a folder below a folder, sorted. Raises OSError."""
    at = _open_folder(folder, path.split("/") if path else [])
    try:
        return sorted(os.listdir(at))  # noqa: PTH208 a descriptor, not a path
    finally:
        os.close(at)


def _open_folder(folder: Path, parents: list[str]) -> int:
    """Return a descriptor of a folder below a folder; `.` and `..` are refused."""
    at = os.open(folder, _FOLDER)
    for name in parents:
        try:
            if name in ("", ".", ".."):
                raise OSError(errno.EPERM, "not a plain path", "/".join(parents))
            below = os.open(name, _FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at
