"""Copies files, sharing blocks where the file system can. Run as a program: SOURCE TARGET [SOURCE TARGET ...].

With `--layers` before the paths, the copy of the first source may share its blocks with others in two layers
(`rust-parser/layers/`), where the file system cannot share them (ADR 0094). The file below is linked; the folder of the
source keeps a link to it, too, as `NAME-lent`, for the next copy.

It imports the standard library only, because it runs without the packages of the environment.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

FICLONE = 0x40049409
"""The request of Linux that makes a file share all blocks of another."""

PART_BYTES = 1 << 18
"""Small, and one buffer for all parts: new memory for each costs more than the copy."""

BASE_SUFFIX, OWN_SUFFIX, LENT_SUFFIX = "-base", "-own", "-lent"
"""Of the file below one in two layers, of the bits that say which blocks are its own, and of the link to the file below
that the source of copies keeps."""
MAGIC = b"atlasly1"
BLOCK = 4096
BITS_AT = len(MAGIC) + 8
"""Where the bits begin; the inode of the file that they belong to stands before."""

MOST_OWN = 0.5
"""With a larger share of blocks of its own, a copy begins a new file below."""

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
"""`linux/falloc.h`."""

_UNSUPPORTED = (errno.ENOTTY, errno.EXDEV, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EPERM)


def clone(source: str, target: str) -> bool:
    """Copy a file to a new one that only this user can read; return False if the source is missing. Raises OSError.

    Neither may be a symbolic link. The copy of a file in two layers has one.
    """
    try:
        given = _opened(source)
    except FileNotFoundError:
        return False
    with contextlib.closing(_Descriptor(given)), contextlib.closing(_Descriptor(_made(target))) as made:
        bits = _bits_of(source, given)
        if bits is not None:
            _merge(source, given, made.number, bits)
        elif not _shares_blocks(given, made.number):
            _copy(given, made.number)
    return True


def layer(source: str, target: str) -> None:
    """Copy a file: in two layers on a file system that shares no blocks, or else whole. Raises OSError."""
    with contextlib.closing(_Descriptor(_opened(source))) as given:
        bits = _bits_of(source, given.number)
        if bits is None:
            with contextlib.closing(_Descriptor(_made(target))) as made:
                if not sys.platform.startswith("linux"):
                    return _copy(given.number, made.number)
                if _shares_blocks(given.number, made.number):
                    return
            Path(target).unlink()
        try:
            _in_layers(source, given.number, target, bits)
        except OSError as error:
            for suffix in ("", BASE_SUFFIX, OWN_SUFFIX):
                Path(target + suffix).unlink(missing_ok=True)
            if error.errno not in (*_UNSUPPORTED, errno.EMLINK, errno.EEXIST):
                raise
            clone(source, target)


def _in_layers(source: str, given: int, target: str, bits: bytes | None) -> None:
    is_new = False
    if bits is not None:
        os.link(source + BASE_SUFFIX, target + BASE_SUFFIX, follow_symlinks=False)
    elif os.path.lexists(source + LENT_SUFFIX):
        os.link(source + LENT_SUFFIX, target + BASE_SUFFIX, follow_symlinks=False)
    else:
        _begin_base(source, given, target)
        is_new = True
    with contextlib.closing(_Descriptor(_opened(target + BASE_SUFFIX))) as base:
        # nobody takes blocks out of the file below until the bits are there
        fcntl.flock(base.number, fcntl.LOCK_SH)
        if bits is not None:
            bits = _bits_of(source, given)
        count = os.fstat(base.number).st_size // BLOCK
        with contextlib.closing(_Descriptor(_made(target))) as made:
            if bits is None:
                own = _differing(given, base.number, made.number, count)
            else:
                own = bits
                _copy_own(given, made.number, bits, count)
            os.truncate(made.number, os.fstat(given).st_size)
            _write_bits(target, made.number, own)
    if bits is None and not is_new and int.from_bytes(own, "little").bit_count() > MOST_OWN * count:
        for path in (target, target + BASE_SUFFIX, target + OWN_SUFFIX, source + LENT_SUFFIX):
            Path(path).unlink(missing_ok=True)
        _in_layers(source, given, target, None)


def _begin_base(source: str, given: int, target: str) -> None:
    with contextlib.closing(_Descriptor(_made(target + BASE_SUFFIX))) as base:
        _write(base.number, bytes(BLOCK), 0)
        punch(base.number, 0, BLOCK)
        status = os.fstat(given)
        os.lseek(given, 0, os.SEEK_SET)
        _copy(given, base.number)
        os.truncate(base.number, os.fstat(base.number).st_size // BLOCK * BLOCK)
        # the time of the source tells later whether it still is what was copied; that of a moment ago does not
        is_old = status.st_mtime_ns < time.time_ns() - 1_000_000_000
        os.utime(base.number, ns=(0, status.st_mtime_ns if is_old else 0))
    with contextlib.suppress(FileExistsError):
        os.link(target + BASE_SUFFIX, source + LENT_SUFFIX, follow_symlinks=False)


def _differing(given: int, base: int, made: int, count: int) -> bytes:
    """Write the blocks in which a file differs from the one below; return their bits."""
    own = bytearray((count + 7) // 8)
    size = os.fstat(given).st_size
    mine, below = bytearray(PART_BYTES), bytearray(PART_BYTES)
    for at in range(0, max(size, count * BLOCK), PART_BYTES):
        for file, part in ((given, mine), (base, below)):
            part.extend(bytes(PART_BYTES - len(part)))
            del part[os.preadv(file, [part], at) :]
        if mine == below:
            continue
        for offset in range(0, max(len(mine), len(below)), BLOCK):
            part = mine[offset : offset + BLOCK]
            if part != below[offset : offset + BLOCK]:
                _write(made, part, at + offset)
                if (block := (at + offset) // BLOCK) < count:
                    own[block >> 3] |= 1 << (block & 7)
    return bytes(own)


def _copy_own(given: int, made: int, bits: bytes, count: int) -> None:
    """Copy the blocks that belong to a file in two layers."""
    size = os.fstat(given).st_size
    for first, end in own_ranges(bits, count):
        _copy_range(given, made, first * BLOCK, min(end * BLOCK, size))
    _copy_range(given, made, count * BLOCK, size)


def _merge(source: str, given: int, made: int, bits: bytes) -> None:
    with contextlib.closing(_Descriptor(_opened(source + BASE_SUFFIX))) as base:
        size, count = os.fstat(given).st_size, os.fstat(base.number).st_size // BLOCK
        at = 0
        for first, end in (*own_ranges(bits, count), (count, count)):
            _copy_range(base.number, made, at, min(first * BLOCK, size))
            _copy_range(given, made, first * BLOCK, min(end * BLOCK, size))
            at = end * BLOCK
        _copy_range(given, made, at, size)


def own_ranges(bits: bytes, count: int) -> Iterator[tuple[int, int]]:
    """Yield the first block and the one behind the last of each row of blocks whose bits are set."""
    first = -1
    for block in range(count):
        if bits[block >> 3] >> (block & 7) & 1:
            first = block if first < 0 else first
        elif first >= 0:
            yield first, block
            first = -1
    if first >= 0:
        yield first, count


def read_bits(path: str, inode: int) -> bytes | None:
    """Return the bits of a file in two layers; None for one that has one layer. Raises OSError."""
    try:
        opened = _opened(path + OWN_SUFFIX)
    except FileNotFoundError:
        return None
    with contextlib.closing(_Descriptor(opened)):
        size = os.fstat(opened).st_size
        bits = os.pread(opened, size, 0)
    return bits[BITS_AT:] if bits[:BITS_AT] == MAGIC + inode.to_bytes(8, "little") else None


def _bits_of(path: str, opened: int) -> bytes | None:
    return read_bits(path, os.fstat(opened).st_ino)


def _write_bits(target: str, made: int, own: bytes) -> None:
    with contextlib.closing(_Descriptor(_made(target + OWN_SUFFIX))) as bits:
        _write(bits.number, MAGIC + os.fstat(made).st_ino.to_bytes(8, "little") + own, 0)


def punch(file: int, start: int, end: int) -> None:
    """Give the bytes of a range of a file back. Raises OSError where the file system cannot."""
    import ctypes

    failed = ctypes.CDLL(None, use_errno=True).fallocate(
        file, _KEEP_SIZE | _PUNCH_HOLE, ctypes.c_int64(start), ctypes.c_int64(end - start)
    )
    if failed:
        raise OSError(ctypes.get_errno(), "no hole can be made")


class _Descriptor:
    """A descriptor that `contextlib.closing` closes."""

    def __init__(self, number: int) -> None:
        self.number = number

    def close(self) -> None:
        os.close(self.number)


def _opened(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)


def _made(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)


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
    part = memoryview(bytearray(PART_BYTES))
    while count := os.readv(given, [part]):
        rest = part[:count]
        while rest:
            rest = rest[os.write(made, rest) :]


def _copy_range(given: int, made: int, at: int, end: int) -> None:
    while at < end and (part := os.pread(given, min(PART_BYTES, end - at), at)):
        _write(made, part, at)
        at += len(part)


def _write(made: int, part: bytes | bytearray, at: int) -> None:
    rest = memoryview(part)
    while rest:
        done = os.pwrite(made, rest, at)
        rest, at = rest[done:], at + done


def main(arguments: Sequence[str]) -> None:
    """Copy each file to the path behind it; ends the process with a line that says what failed."""
    layered = arguments[:1] == ["--layers"]
    paths = arguments[layered:]
    for number, (source, target) in enumerate(zip(paths[::2], paths[1::2], strict=True)):
        try:
            if layered and not number:
                layer(source, target)
            else:
                clone(source, target)
        except OSError as error:
            sys.exit(f"{error.filename or target}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
