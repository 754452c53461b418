"""Which paths other users of the machine can change: programs and their settings are not taken from such places.

Input is a path, output the part of it that somebody else can replace. This module does not know what is there.
"""

from __future__ import annotations

import errno
import os
import stat
from functools import lru_cache
from pathlib import Path

MAX_LINKS = 40
ADMINISTRATORS = frozenset(("root", "wheel", "admin", "sudo"))
"""Groups whose members can become root anyway; Homebrew's folders belong to `admin`."""


def foreign_part(path: Path) -> Path | None:
    """Return the first part of an absolute path that another user than root can replace or write, None if none can.

    Links are followed, and what they lead to is checked as well. A folder with the sticky bit may be passed, but not be
    the end of the path, nor that of the parts that exist. Raises OSError for circles of links and unreadable folders.
    """
    at, pending, links = Path(path.anchor), list(reversed(path.parts[1:])), 0
    status = at.lstat()
    while not _is_foreign(status, is_end=not pending):
        if not pending:
            return None
        name = pending.pop()
        if name == "..":
            at = at.parent
            status = at.lstat()
            continue
        try:
            status = (at / name).lstat()
        except FileNotFoundError:
            return at if _is_foreign(status, is_end=True) else None
        at /= name
        if stat.S_ISLNK(status.st_mode) and _is_trusted(status.st_uid):
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            target = at.readlink()
            at = Path(target.anchor) if target.is_absolute() else at.parent
            pending.extend(reversed(target.parts[1:] if target.is_absolute() else target.parts))
            status = at.lstat()
    return at


def _is_foreign(status: os.stat_result, *, is_end: bool) -> bool:
    if not _is_trusted(status.st_uid):
        return True
    mode = status.st_mode
    is_open = bool(mode & stat.S_IWOTH) or bool(mode & stat.S_IWGRP and _has_others(status.st_gid))
    is_sticky = stat.S_ISDIR(mode) and bool(mode & stat.S_ISVTX)
    return is_open and (is_end or not is_sticky)


def _is_trusted(owner: int) -> bool:
    return owner in (0, os.geteuid())


@lru_cache
def _has_others(group: int) -> bool:
    """Return whether a group has members besides this user and administrators; groups of one user are usual."""
    import grp
    import pwd

    try:
        entry = grp.getgrgid(group)
    except KeyError:
        return True
    if group == 0 or entry.gr_name in ADMINISTRATORS:
        return False
    trusted = {0, os.geteuid()}
    own = {one.pw_name for one in pwd.getpwall() if one.pw_uid in trusted}
    return bool(set(entry.gr_mem) - own) or any(
        one.pw_gid == group and one.pw_uid not in trusted for one in pwd.getpwall()
    )
