"""Archives as trees: tar with its compressions, zip, wheels and crates, read within limits of bytes and files.

Only regular files are read; of one name the last counts, as where an archive is unpacked. Absolute paths, `..`, links
and devices are refused, each with a problem. A compressed tar is unpacked once, into a file that has no name. All
limits come before the parsers, and count in bytes of the archive as well, so that a small one costs little.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, cast

from atlas.core.errors import ConfigError
from atlas.packs.documentation.sources.tar_members import TarMember, tar_members
from atlas.packs.documentation.sources.values import SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)

MAX_RATIO = 100
"""Unpacked bytes for one packed byte; text reaches about 20, a bomb more than a million."""

MIN_MEMBER_BYTES = 32
"""Packed bytes for one member. Real ones take more than 60, empty ones of equal names less than one."""

FREE_MEMBERS = 2_000
"""Members of any archive, however small."""

MAX_DIRECTORY = 32 << 20
"""Bytes of a zip archive's directory, and so of one reading."""

MAX_DICTIONARY = 128 << 20
"""Memory for unpacking xz; its highest level takes 65 MiB."""

MAX_NAME, MAX_DEPTH = 1_000, 40
MAX_PROBLEMS = 200
AT_ONCE = 1 << 18


class ArchiveTree:
    """Files of an archive below its common top folder."""

    def __init__(self, path: Path, max_files: int, max_total: int, *, version: str = "") -> None:
        """Open the archive. Raises ConfigError for what is no regular file."""
        self.version, self.licence = version, ""
        self.package = True
        self.problems: list[tuple[str, str]] = []
        self._path, self._file = path, _open_regular(path)
        weakref.finalize(self, self._file.close)
        packed = os.fstat(self._file.fileno()).st_size
        self._max_files = min(max_files * 10, FREE_MEMBERS + packed // MIN_MEMBER_BYTES)
        self._max_total = min(max_total, packed * MAX_RATIO)
        self._zip: zipfile.ZipFile | None = None
        self._members: dict[str, TarMember | zipfile.ZipInfo] = {}

    def entries(self) -> Sequence[SourceFile]:
        """Return all files, sorted by path. Raises ConfigError for what is no archive or over a limit."""
        try:
            found = self._zip_members() if zipfile.is_zipfile(self._file) else self._tar_members()
        except BROKEN as error:
            raise ConfigError(f"{self._path.name} is not a readable archive: {error}.", "Download it again.") from error
        total = sum(map(_size, found.values()))
        if total > self._max_total:
            raise ConfigError(
                f"{self._path.name} unpacks to {total:,} bytes, which is over the limit.", "Is it a library?"
            )
        top = len(_common_folder(list(found)))
        self._members = {name[top:]: found[name] for name in sorted(found)}
        return [SourceFile(path, _size(member)) for path, member in self._members.items()]

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the given order; a damaged one ends the reading with a problem."""
        left = self._max_total
        try:
            for path in wanted:
                if member := self._members.get(path):
                    data = self._content(member, max_bytes + 1)
                    left -= len(data)
                    if left < 0:
                        self._refuse(path, "the archive is over the limit of bytes")
                        return
                    yield path, data[:max_bytes], len(data) > max_bytes
        except BROKEN as error:
            self._refuse(self._path.name, f"damaged: {error}")

    def _zip_members(self) -> dict[str, TarMember | zipfile.ZipInfo]:
        self._zip = zipfile.ZipFile(cast("IO[bytes]", _ShortReads(self._file)))
        infos = self._zip.infolist()
        self._count(len(infos))
        found: dict[str, TarMember | zipfile.ZipInfo] = {}
        for info in infos:
            if info.is_dir():
                continue
            if (info.external_attr >> 16) & 0o170000 == stat.S_IFLNK:
                self._refuse(info.filename, "a link")
            elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self._refuse(info.filename, "its compression is not read")
            elif self._accept(info.filename):
                found[info.filename] = info
        return found

    def _tar_members(self) -> dict[str, TarMember | zipfile.ZipInfo]:
        is_whole = self._unpack()
        found: dict[str, TarMember | zipfile.ZipInfo] = {}
        end = self._file.seek(0, os.SEEK_END)
        at_end = "it ends too early" if is_whole else "it unpacks to more than the limit"
        for number, member in enumerate(tar_members(self._file, end, at_end), start=1):
            self._count(number)
            if member is None:
                continue
            if member.refused:
                self._refuse(member.name, member.refused)
            elif member.is_file and self._accept(member.name):
                found[member.name] = member
        return found

    def _unpack(self) -> bool:
        """Replace the file by one with its unpacked content up to the limit. Return whether that is all."""
        self._file.seek(0)
        magic = self._file.read(6)
        self._file.seek(0)
        opener = next((opener for start, opener in COMPRESSIONS if magic.startswith(start)), None)
        if opener is None:
            return True
        # not in memory, and gone with the last reference
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115 closed by the finalizer
        weakref.finalize(self, unpacked.close)
        packed, self._file = self._file, unpacked
        for data in opener(packed):
            unpacked.write(data)
            if unpacked.tell() > self._max_total:
                return False
        return True

    def _content(self, member: TarMember | zipfile.ZipInfo, limit: int) -> bytes:
        if isinstance(member, TarMember):
            self._file.seek(member.at)
            return self._file.read(min(member.size, limit))
        if self._zip is None:
            return b""
        with self._zip.open(member) as file:
            return file.read(limit)

    def _count(self, members: int) -> None:
        if members > self._max_files:
            raise ConfigError(f"{self._path.name} has more than {self._max_files:,} files.", "Is it a library?")

    def _accept(self, name: str) -> bool:
        parts = name.replace("\\", "/").split("/") if len(name) <= MAX_NAME else []
        if not parts or len(parts) > MAX_DEPTH:
            self._refuse(name, "its name is too long")
        elif name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\x00" in name:
            self._refuse(name, "leads out of the archive")
        elif not name.isprintable():
            self._refuse(name, "its name has invisible characters")
        else:
            return True
        return False

    def _refuse(self, name: str, reason: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append((name[:MAX_NAME], reason))
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append((self._path.name, "more of its members are left out"))


class _ShortReads:
    """A file that gives no more than the directory of a zip archive at once: `zipfile` reads it whole."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raises OSError for more than the limit."""
        data = self._file.read(min(size, MAX_DIRECTORY + 1) if size >= 0 else MAX_DIRECTORY + 1)
        if len(data) > MAX_DIRECTORY:
            raise OSError("its directory is over the limit")
        return data


def _open_regular(path: Path) -> IO[bytes]:
    try:
        # neither a pipe nor a device is waited for
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("it is not a regular file")
    except OSError as error:
        raise ConfigError(f"{path.name} is not a readable archive: {error}.", "Name a file.") from error
    return os.fdopen(descriptor, "rb")


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(AT_ONCE):
        yield data


def _of_xz(file: IO[bytes]) -> Iterator[bytes]:
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_DICTIONARY)
    while not unpacking.eof:
        packed = file.read(AT_ONCE) if unpacking.needs_input else b""
        if unpacking.needs_input and not packed:
            raise EOFError("it ends within a block")
        yield unpacking.decompress(packed, AT_ONCE)


COMPRESSIONS: tuple[tuple[bytes, Callable[[IO[bytes]], Iterator[bytes]]], ...] = (
    (b"\x1f\x8b", lambda file: _pieces(cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb")))),
    (b"BZh", lambda file: _pieces(cast("IO[bytes]", bz2.BZ2File(file)))),
    (b"\xfd7zXZ\x00", _of_xz),
)


def _size(member: TarMember | zipfile.ZipInfo) -> int:
    return member.size if isinstance(member, TarMember) else member.file_size


def _common_folder(names: list[str]) -> str:
    """Return the folder with "/" that holds every file, "" if there is none."""
    tops = {name.partition("/")[0] for name in names}
    if len(tops) == 1 and all("/" in name for name in names):
        return f"{tops.pop()}/"
    return ""
