"""Copies files, sharing blocks where the file system can. Run as a program: SOURCE TARGET [SOURCE TARGET ...].

It imports the standard library only, because it runs without the packages of the environment.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Sequence

FICLONE = 0x40049409
"""The request of Linux that makes a file share all blocks of another."""

PART_BYTES = 1 << 18
"""Small: a new buffer for each part of several MB costs more than the copy."""

_UNSUPPORTED = (errno.ENOTTY, errno.EXDEV, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EPERM)


def clone(source: str, target: str) -> bool:
    """Copy a file to a new one that only this user can read; return False if the source is missing. Raises OSError.

    Neither may be a symbolic link.
    """
    try:
        given = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            if not _shares_blocks(given, made):
                _copy(given, made)
        finally:
            os.close(made)
    finally:
        os.close(given)
    return True


def _shares_blocks(given: int, made: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        fcntl.ioctl(made, FICLONE, given)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    return True


def _copy(given: int, made: int) -> None:
    while part := os.read(given, PART_BYTES):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(made, rest) :]


def main(paths: Sequence[str]) -> None:
    """Copy each file to the path behind it; ends the process with a line that says what failed."""
    for source, target in zip(paths[::2], paths[1::2], strict=True):
        try:
            clone(source, target)
        except OSError as error:
            sys.exit(f"{error.filename or target}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
