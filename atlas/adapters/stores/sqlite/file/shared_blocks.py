"""The files below files in two layers: shared by hard links, they leave with the last of them (ADR 0094).

A database or facts cache that was copied from another tree's keeps its own blocks only; all others are read from the
file below (`rust-parser/layers/`), which no index writes to. A block of it is given back, and its bytes with it, as
soon as every file above has its own: what a tree's index deletes then stays only where another tree's index consists of
it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterator
from pathlib import Path

from atlas.adapters.stores.sqlite.file.cloning import (
    BASE_SUFFIX,
    BLOCK,
    LENT_SUFFIX,
    OWN_SUFFIX,
    own_ranges,
    punch,
    read_bits,
)
from atlas.runtime.process.data_folder import cache_root

LAYER_SUFFIXES = (BASE_SUFFIX, OWN_SUFFIX)
"""Of the files beside a database in two layers, in the order in which they come to their place."""


def has_layers(path: Path) -> bool:
    """Return whether a database has a file below it."""
    return os.path.lexists(f"{path}{OWN_SUFFIX}")


def remove_layers(path: Path) -> None:
    """Remove what lies beside a database that is gone."""
    for suffix in (*LAYER_SUFFIXES, LENT_SUFFIX):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def release_blocks(path: Path) -> None:
    """Give back the blocks that no index reads any more, of the files below those in the folder of a database.

    Nothing is given back while the source is what was copied, while a copy is being made, or while a link is in a
    folder that is not known.
    """
    for link in path.parent.iterdir():
        if link.name.endswith((BASE_SUFFIX, LENT_SUFFIX)):
            with contextlib.suppress(OSError), _locked(link) as shared:
                _release(shared)


@contextlib.contextmanager
def _locked(path: Path) -> Generator[int]:
    """Open a file for writing and hold its lock. Raises OSError without the file, or if a copy is being made."""
    shared = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield shared
    finally:
        os.close(shared)


def _release(shared: int) -> None:
    status = os.fstat(shared)
    links = [link for link in _links() if _is_link(link, status)]
    if len(links) != status.st_nlink:
        return
    if not any(link.endswith(BASE_SUFFIX) for link in links):
        for link in links:
            Path(link).unlink(missing_ok=True)
        return
    if any(link.endswith(LENT_SUFFIX) and _is_as_copied(link.removesuffix(LENT_SUFFIX), status) for link in links):
        return  # its source consists of all of it, and the next copy will share it
    readers = [link.removesuffix(BASE_SUFFIX) for link in links if link.endswith(BASE_SUFFIX)]
    count = status.st_size // BLOCK
    unread = (1 << count) - 1
    for reader in readers:
        unread &= _own_bits(reader)
    for first, end in own_ranges(unread.to_bytes(count // 8 + 1, "little"), count):
        _give_back(shared, first * BLOCK, end * BLOCK)
    os.utime(shared, ns=(0, 0))  # it is no longer what was copied, whatever the clock says


def _links() -> Iterator[str]:
    """Yield what may be a link to a file below: in a folder of the user's cache, or in one inside of it."""
    for folder in os.scandir(cache_root()):
        if not folder.is_dir(follow_symlinks=False):
            continue
        for entry in os.scandir(folder.path):
            inside = os.scandir(entry.path) if entry.is_dir(follow_symlinks=False) else (entry,)
            yield from (one.path for one in inside if one.name.endswith((BASE_SUFFIX, LENT_SUFFIX)))


def _is_link(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), status)
    except FileNotFoundError:
        return False


def _is_as_copied(path: str, shared: os.stat_result) -> bool:
    """Return whether the source of a file below has not been written to since."""
    try:
        return os.lstat(path).st_mtime_ns == shared.st_mtime_ns
    except FileNotFoundError:
        return False


def _own_bits(path: str) -> int:
    """Return the bits of a file in two layers; 0 while it is copied, when it reads every block."""
    try:
        bits = read_bits(path, os.lstat(path).st_ino)
    except FileNotFoundError:
        return 0
    return int.from_bytes(bits or b"", "little")


def _give_back(shared: int, start: int, end: int) -> None:
    """Give a range of a file back, unless it is a hole already."""
    try:
        start = os.lseek(shared, start, os.SEEK_DATA)
    except OSError:
        return  # no data behind it
    if start >= end:
        return
    punch(shared, start, end)
