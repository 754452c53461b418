"""Checks of the files in a data folder before SQLite opens them: regular files of this user, no symbolic links."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from atlas.adapters.stores.sqlite.file.cloning import BASE_SUFFIX, OWN_SUFFIX
from atlas.core.errors import StoreError

SUFFIXES = ("", "-wal", "-shm", "-journal", BASE_SUFFIX, OWN_SUFFIX)
"""Suffixes of the files that are opened for a database, including the database itself."""

_HINT = "move it away, or choose another --data-dir"


def check_files(path: Path, *, owned: bool = True) -> bool:
    """Return whether the database file exists. Raises StoreError if it or one of its companion files is not ours.

    Not `owned`: it may belong to another user, as a pack does that an administrator has installed.
    """
    found = [_is_regular(path.with_name(path.name + suffix), owned=owned) for suffix in SUFFIXES]
    return found[0]


def make_private(path: Path) -> None:
    """Create an empty file that only this user can read, unless it exists; SQLite gives its log the same mode."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return


def resolved(path: Path) -> Path:
    """Return the path with links in its folder resolved: SQLite is configured not to follow links."""
    return path.parent.resolve() / path.name


def _is_regular(path: Path, *, owned: bool) -> bool:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{path} is not a regular file", _HINT)
    if owned and hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise StoreError(f"{path} belongs to another user", _HINT)
    return True
