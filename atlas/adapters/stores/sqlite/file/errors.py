"""Translation of SQLite's exceptions into errors of `atlas.core.errors`."""

from __future__ import annotations

import errno
import os
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from atlas.core.errors import QueryError, StoreError, Unavailable, WriterBusy

REBUILD = "rebuild it: atlas index --full"

_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_NO_SPACE_CODES = frozenset((apsw.SQLITE_IOERR_SHMSIZE,))
"""Result codes of SQLite for a file that cannot grow, without the system's reason."""


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise `WriterBusy` for a busy database and `StoreError` for all other SQLite failures and for damaged content.

    Text that cannot be encoded as UTF-8 raises `QueryError`.
    """
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise WriterBusy(f"the index is busy: {error}", "try again in a moment") from error
    except UnicodeEncodeError as error:
        raise QueryError("the text contains characters that are not valid Unicode", "send valid UTF-8") from error
    except apsw.InterruptError as error:
        raise Unavailable("the index was closed while it was read", "try again") from error
    except (apsw.NotADBError, apsw.CorruptError, zlib.error, struct.error, UnicodeDecodeError) as error:
        raise damaged(path, str(error)) from error
    except apsw.ReadOnlyError as error:
        raise StoreError(
            f"the index at {path} cannot be written: {error}", "check the permissions of its folder"
        ) from error
    except (apsw.FullError, apsw.CantOpenError, apsw.IOError, apsw.PermissionsError, apsw.AuthError) as error:
        raise file_error(path, error) from error
    except apsw.Error as error:
        raise StoreError(f"the index at {path} failed: {error}", REBUILD) from error
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise no_space(path) from error
        raise StoreError(f"the index at {path} failed: {error}", "check its folder and disk") from error


def damaged(path: Path, reason: str) -> StoreError:
    """Return the error for an index whose bytes differ from those that were written."""
    return StoreError(f"the index at {path} is damaged: {reason}", REBUILD)


def file_error(path: Path, error: apsw.Error) -> StoreError:
    """Return the error for a file that SQLite cannot read or write: damaged, disk full, or inaccessible."""
    code = getattr(error, "extendedresult", 0)
    if code == apsw.SQLITE_IOERR_DATA:
        return damaged(path, "a page does not match its checksum")
    if isinstance(error, apsw.FullError) or code in _NO_SPACE_CODES or _is_full(path.parent):
        return no_space(path)
    if is_read_only(path.parent):
        hint = "reading takes a lock file beside it: copy the folder to a disk that can be written, see --data-dir"
        return StoreError(f"the index at {path} is on a disk that cannot be written: {error}", hint)
    return StoreError(f"the index at {path} cannot be read or written: {error}", "check its folder and disk")


def no_space(path: Path) -> StoreError:
    """Return the error for a full disk."""
    folder = path.parent
    return StoreError(
        f"no space left on the disk of the index: {folder} (on {_mount(folder)})",
        "free disk space there or raise the quota, then run: atlas index",
    )


def is_read_only(folder: Path) -> bool:
    """Return whether the folder's file system is mounted for reading only."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):
        return False


def _is_full(folder: Path) -> bool:
    try:
        free = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return free.f_bavail == 0 or (free.f_files > 0 and free.f_favail == 0)


def _mount(folder: Path) -> Path:
    """Return the mount point of the folder's file system."""
    place = folder.resolve()
    while place != place.parent and not place.is_mount():
        place = place.parent
    return place
