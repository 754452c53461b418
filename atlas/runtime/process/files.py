"""Safe access to the files of Code Atlas itself: nothing planted in their place is read, written or waited for.

Input is a path, output a descriptor or bytes. A link, a FIFO, a device, or a file of another user raises OSError before
it is opened. This module does not know what the files are for.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from atlas.runtime.process import places

MAX_BYTES = 1 << 20
"""Largest file that `read_file` reads unless the caller passes another limit."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_USES_FOLDERS = os.open in os.supports_dir_fd


def open_file(path: Path, flags: int, mode: int = 0o600, *, own: bool = True) -> int:
    """Return a descriptor of a regular file that belongs to this user, or to any user when `own` is false.

    Neither the file nor its folder may be a symbolic link. A new file gets `mode` less the umask. Raises OSError: EPERM
    for anything but such a file, otherwise the errors of `os.open`.
    """
    folder = os.open(path.parent, os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC) if _USES_FOLDERS else None
    try:
        name = path.name if folder is not None else str(path)
        with contextlib.suppress(FileNotFoundError):
            # checked before opening, because opening a device can have side effects
            _check(os.stat(name, dir_fd=folder, follow_symlinks=False), path, own=own)
        wanted = (flags & ~os.O_TRUNC) | _NOFOLLOW | _NONBLOCK | _CLOEXEC
        descriptor = os.open(name, wanted, mode, dir_fd=folder)
    finally:
        if folder is not None:
            os.close(folder)
    try:
        _check(os.fstat(descriptor), path, own=own)
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:  # also an interrupt: the descriptor has no other owner
        os.close(descriptor)
        raise
    return descriptor


def read_file(path: Path, limit: int = MAX_BYTES, *, own: bool = True) -> bytes:
    """Return a file's content. Raises OSError like `open_file`, with EFBIG for more than `limit` bytes."""
    with os.fdopen(open_file(path, os.O_RDONLY, own=own), "rb") as file:
        # a buffer of the file's size, because one of the limit's costs more than reading a small file
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, limit) + 1)
        if len(content) > size:  # it has grown meanwhile
            content += file.read(limit + 1 - len(content))
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content


def write_file(path: Path, content: bytes) -> None:
    """Replace a file atomically: a reader sees the old content or the new one. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:  # also an interrupt: no draft may stay next to the file
            draft.unlink(missing_ok=True)
            raise


def create_once(path: Path, content: bytes) -> None:
    """Create a file of mode 0600 unless one exists; it appears with its full content. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                # unlike a rename, a hard link never replaces the file of a process that was faster
                path.hardlink_to(draft)
        finally:
            draft.unlink(missing_ok=True)


def make_folders(folder: Path, mode: int = 0o700) -> list[Path]:
    """Create a folder and its missing parents with this mode less the umask; return what was made, outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    for one in missing:
        # not with `parents`, which gives those the mode 0777: under an open umask others could then replace the folder
        one.mkdir(mode, exist_ok=True)
    return missing


def make_private_folder(folder: Path) -> None:
    """Create a folder and missing parents with mode 0700; accept an existing folder of this user as it is.

    Raises OSError, EPERM for a link or for the folder of another user.
    """
    make_folders(folder)
    if not is_own_folder(folder):
        raise PermissionError(errno.EPERM, "not a folder of this user", str(folder))


def is_own_folder(path: Path) -> bool:
    """Return whether a path is a folder of this user and not a link to one. Raises OSError when nothing is there."""
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and _is_own(status)


def is_shared_folder(path: Path) -> bool:
    """Return whether every user may create entries in a folder that is not this user's, or is kept for all: `/tmp`."""
    return places.is_shared_folder(str(path))


def foreign_entry(folder: Path) -> Path | None:
    """Return an entry, at any depth, that is not a regular file, folder or socket of this user; None without one.

    Raises OSError for a folder that cannot be read.
    """
    for entry in folder.iterdir():
        try:
            status = entry.lstat()
        except FileNotFoundError:  # a process that uses the folder has removed it
            continue
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFSOCK) or not _is_own(status):
            return entry
        if kind == stat.S_IFDIR and (found := foreign_entry(entry)):
            return found
    return None


def _check(status: os.stat_result, path: Path, *, own: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise PermissionError(errno.EPERM, "not a regular file", str(path))
    if own and not _is_own(status):
        raise PermissionError(errno.EPERM, "a file of another user", str(path))


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
