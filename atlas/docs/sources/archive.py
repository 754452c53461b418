"""Archives as trees: tar with its compressions, zip, wheels and crates, streamed within limits of bytes and files.

Only regular files are read. Absolute paths, `..`, links and devices are refused, each with a problem. The limit counts
unpacked bytes, so that a bomb ends at it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from atlas.docs.sources.tree import Entry
from atlas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)

COMPRESSIONS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))

MAX_HEADER = 1 << 20

MAX_RATIO = 1_000
"""Unpacked bytes for one packed byte; text reaches about 20, a bomb more than a million."""


class ArchiveTree:
    """Files of an archive below its common top folder."""

    def __init__(self, path: Path, max_files: int, max_total: int, *, version: str = "", licence: str = "") -> None:
        self.version, self.licence = version, licence
        self.package = True
        self.problems: list[tuple[str, str]] = []
        self._path, self._max_files, self._max_total = path, max_files * 10, max_total
        self._is_zip = zipfile.is_zipfile(path)
        self._names: dict[str, str] = {}

    def entries(self) -> Sequence[Entry]:
        """Return all files, sorted by path. Raises ConfigError for what is no archive or over a limit."""
        try:
            members = self._zip_members() if self._is_zip else self._tar_members()
        except BROKEN as error:
            raise ConfigError(f"{self._path.name} is not a readable archive: {error}.", "Download it again.") from error
        top = _common_folder([name for name, _ in members])
        self._names = {name[len(top) :]: name for name, _ in members}
        sizes = {name[len(top) :]: size for name, size in members}
        return [Entry(path, sizes[path]) for path in sorted(sizes)]

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the order of the archive; a damaged one ends the reading with a problem."""
        originals = {self._names[path]: path for path in wanted if path in self._names}
        try:
            yield from self._read_zip(originals, max_bytes) if self._is_zip else self._read_tar(originals, max_bytes)
        except BROKEN as error:
            self.problems.append((self._path.name, f"damaged: {error}"))

    def _zip_members(self) -> list[tuple[str, int]]:
        with zipfile.ZipFile(self._path) as archive:
            found: list[tuple[str, int]] = []
            for info in archive.infolist():
                is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
                if not info.is_dir() and self._accept(info.filename, is_link):
                    found.append((info.filename, info.file_size))
            return self._within_limits(found)

    def _tar_members(self) -> list[tuple[str, int]]:
        found: dict[str, int] = {}
        with self._open_tar() as archive:
            for member in archive:
                if member.isfile() and self._accept(member.name, is_link=False):
                    found[member.name] = member.size
                elif not member.isfile() and not member.isdir():
                    self.problems.append((member.name, "a link or device"))
                # a list of members that streaming does not need grows without it
                archive.members = []  # pyright: ignore[reportAttributeAccessIssue]
                if len(found) > self._max_files:
                    break
        return self._within_limits(list(found.items()))

    @contextmanager
    def _open_tar(self) -> Generator[tarfile.TarFile]:
        limit = min(self._max_total, self._path.stat().st_size * MAX_RATIO)
        stream = _Limited(self._path, limit)
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|", tarinfo=_SmallHeaders) as archive:
                yield archive
        finally:
            stream.close()

    def _within_limits(self, members: list[tuple[str, int]]) -> list[tuple[str, int]]:
        total = sum(size for _, size in members)
        if len(members) > self._max_files:
            raise ConfigError(f"{self._path.name} has more than {self._max_files:,} files.", "Is it a library?")
        if total > self._max_total or total > self._path.stat().st_size * MAX_RATIO:
            raise ConfigError(
                f"{self._path.name} unpacks to {total:,} bytes, which is over the limit.", "Is it a library?"
            )
        return members

    def _accept(self, name: str, is_link: bool) -> bool:
        parts = name.replace("\\", "/").split("/")
        if is_link:
            self.problems.append((name, "a link"))
        elif name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\x00" in name:
            self.problems.append((name, "leads out of the archive"))
        else:
            return True
        return False

    def _read_zip(self, originals: dict[str, str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        total = 0
        with zipfile.ZipFile(self._path) as archive:
            for info in archive.infolist():
                path = originals.get(info.filename)
                if path is None:
                    continue
                with archive.open(info) as file:
                    data = file.read(max_bytes + 1)
                total += len(data)
                if total > self._max_total:
                    self.problems.append((path, "the archive is over the limit of bytes"))
                    return
                yield path, data[:max_bytes], len(data) > max_bytes

    def _read_tar(self, originals: dict[str, str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        with self._open_tar() as archive:
            for member in archive:
                path = originals.get(member.name)
                file = archive.extractfile(member) if path is not None and member.isfile() else None
                archive.members = []  # pyright: ignore[reportAttributeAccessIssue]
                if path is None or file is None:
                    continue
                data = file.read(max_bytes + 1)
                yield path, data[:max_bytes], len(data) > max_bytes


class _Limited:
    """Unpacked bytes of a tar archive up to a limit, whatever its headers say."""

    def __init__(self, path: Path, limit: int) -> None:
        with path.open("rb") as file:
            magic = file.read(6)
        opener = next((opener for start, opener in COMPRESSIONS if magic.startswith(start)), None)
        self._file: IO[bytes] = cast("IO[bytes]", opener(path)) if opener else path.open("rb")
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raises OSError over the limit."""
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise OSError("it unpacks to more than the limit")
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _SmallHeaders(tarfile.TarInfo):
    """Refuses extended headers of megabytes, which `tarfile` would read into memory."""

    def _proc_member(self, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:
        if not self.isreg() and self.size > MAX_HEADER and self.type not in (tarfile.DIRTYPE, tarfile.SYMTYPE):
            raise tarfile.HeaderError("an extended header is too large")
        return cast("tarfile.TarInfo", super()._proc_member(tarfile_))  # pyright: ignore


def _common_folder(names: list[str]) -> str:
    """Return the folder with "/" that holds every file, "" if there is none."""
    tops = {name.partition("/")[0] for name in names}
    if len(tops) == 1 and all("/" in name for name in names):
        return f"{tops.pop()}/"
    return ""
