"""A pack as one file: a tar of its files in a fixed order, compressed with Zstandard. The same pack, the same bytes.

An archive comes from anywhere. Only plain files with the names of a pack are accepted, in sizes that the manifest in
front of them states and that such an archive can have; links, devices, further headers and other paths are refused
before anything is written.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from atlas.core.errors import NotFound, StoreError
from atlas.packs.documentation.pack.folder import describe_file, edited_files, load_manifest, open_packed, verify
from atlas.packs.documentation.pack.manifest import MANIFEST_FILE, MAX_MANIFEST, Manifest, manifest_text, read_manifest
from atlas.runtime.process.files import open_file

SUFFIX = ".tar.zst"
MAX_UNPACKED = 4 << 30
"""Bytes of all files of a pack."""
MAX_RATIO, MIN_UNPACKED = 50, 64 << 20
"""Bytes of the files for one of the archive, and what any archive may have: packs of documentation have 2 to 4."""
_LEVEL = 10
_BLOCK = 512
_CHUNK = 1 << 20
_WINDOW = 1 << 27
"""Largest window of the compression, which bounds the memory of reading."""


def export(folder: Path, target: Path) -> int:
    """Write a pack as an archive; return its size. Raises StoreError for a damaged pack or an error of writing.

    What people have edited is exported as it is now, with its checksum.
    """
    import zstandard

    problems = verify(folder)
    if problems:
        raise StoreError(f"the pack in {folder} is damaged: {problems[0]}", "build or install it again")
    manifest = load_manifest(folder)
    manifest = replace(manifest, files={**manifest.files, **edited_files(folder)})
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as file, zstandard.ZstdCompressor(_LEVEL, threads=0).stream_writer(file) as out:
            text = manifest_text(manifest).encode("utf8")
            out.write(_header(MANIFEST_FILE, len(text)) + text + b"\0" * (-len(text) % _BLOCK))
            for name in sorted(manifest.files):
                _write_member(out, name, folder / name)
            out.write(b"\0" * 2 * _BLOCK)
        draft.replace(target)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}", "check the folder and its disk") from error
    finally:
        draft.unlink(missing_ok=True)
    return target.stat().st_size


def read_archive_manifest(archive: Path) -> Manifest:
    """Return the manifest of an archive, which is its first file. Raises as `unpack` does."""
    with _opened(archive) as stream:
        return _manifest(archive, stream)[0]


def unpack(archive: Path, folder: Path) -> Manifest:
    """Write the files of an archive to an empty folder and check them; return its manifest.

    Raises NotFound if there is no archive, SchemaMismatch for a pack of a newer program, and StoreError for a damaged
    or hostile one. What was written by then stays in the folder.
    """
    with _opened(archive) as stream:
        manifest, data = _manifest(archive, stream)
        total = sum(one.size for one in manifest.files.values())
        limit = min(max(MAX_RATIO * archive.stat().st_size, MIN_UNPACKED), MAX_UNPACKED)
        if total > limit:
            raise _hostile(archive, f"it states {total:,} bytes, the limit is {limit:,}")
        with _created(folder / MANIFEST_FILE) as file:
            file.write(data)
        left = dict(manifest.files)
        for member in _members(archive, stream):
            wanted = left.pop(member.name, None)
            if wanted is None:
                raise _hostile(archive, f"it holds {member.name[:80]!r}, which its manifest does not name")
            if member.size != wanted.size:
                raise _hostile(archive, f"the size of {member.name} differs from its manifest")
            path = folder / member.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _copy(archive, stream, member.size, path) != wanted.sha256:
                raise _hostile(archive, f"{member.name} differs from its checksum")
        if left:
            raise _hostile(archive, f"{min(left)} is missing")
    return manifest


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def _write_member(out: IO[bytes], name: str, path: Path) -> None:
    written = 0
    with open_packed(path) as file:
        size = os.fstat(file.fileno()).st_size
        out.write(_header(name, size))
        while chunk := file.read(_CHUNK):
            out.write(chunk)
            written += len(chunk)
    if written != size or describe_file(path).size != size:
        raise StoreError(f"{path} changed while it was exported", "try again")
    out.write(b"\0" * (-written % _BLOCK))


@contextmanager
def _opened(archive: Path) -> Generator[IO[bytes]]:
    """Open the decompressed bytes of an archive. Failures of decompression raise StoreError."""
    import zstandard

    try:
        # links lead to an archive as to any file of the user; what would block or never end is none
        with os.fdopen(open_file(Path(os.path.realpath(archive)), os.O_RDONLY, own=False), "rb") as file:
            yield zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(file, read_size=_CHUNK)
    except FileNotFoundError as error:
        raise NotFound(f"there is no archive {archive}") from error
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise _hostile(archive, str(error) or "it ends early") from error
    except OSError as error:
        raise StoreError(f"{archive} cannot be read: {error.strerror or error}") from error


def _manifest(archive: Path, stream: IO[bytes]) -> tuple[Manifest, bytes]:
    first = next(_members(archive, stream), None)
    if first is None or first.name != MANIFEST_FILE or not 0 <= first.size <= MAX_MANIFEST:
        raise _hostile(archive, f"it does not begin with {MANIFEST_FILE}")
    data = _read(stream, first.size)
    _read(stream, -first.size % _BLOCK)
    return read_manifest(data.decode("utf8", "replace"), f"{archive}: {MANIFEST_FILE}"), data


def _members(archive: Path, stream: IO[bytes]) -> Iterator[tarfile.TarInfo]:
    """Yield the headers of the files; the caller reads each file and its padding before it asks for the next one."""
    while True:
        header = _read(stream, _BLOCK)
        if not any(header):
            return
        info = tarfile.TarInfo.frombuf(header, "ascii", "surrogateescape")
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise _hostile(archive, f"{info.name[:80]!r} is no plain file")
        if info.name.startswith("/") or ".." in info.name.split("/") or "\\" in info.name:
            raise _hostile(archive, f"{info.name[:80]!r} leads out of the pack")
        yield info


def _copy(archive: Path, stream: IO[bytes], size: int, path: Path) -> str:
    """Write the next bytes to a new file; return their checksum."""
    digest, left = hashlib.sha256(), size
    with _created(path) as file:
        while left:
            chunk = stream.read(min(left, _CHUNK))
            if not chunk:
                raise EOFError(f"{archive} ends early")
            digest.update(chunk)
            file.write(chunk)
            left -= len(chunk)
    _read(stream, -size % _BLOCK)
    return digest.hexdigest()


def _created(path: Path) -> IO[bytes]:
    return os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")


def _read(stream: IO[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        chunk = stream.read(size)
        if not chunk:
            raise EOFError("it ends early")
        parts.append(chunk)
        size -= len(chunk)
    return b"".join(parts)


def _hostile(archive: Path, why: str) -> StoreError:
    return StoreError(f"{archive} is refused: {why}", "nothing was installed; download the pack again")
