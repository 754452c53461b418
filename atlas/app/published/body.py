"""The body of a published index: its files, each compressed by zlib, one behind the other.

A body comes from another machine: it is unpacked while it arrives, at most to the sizes that the manifest states, and
is of use only once its digest is the stated one.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from atlas.app.published.manifest import MAX_BODY, Part, PublishedIndex
from atlas.core.errors import StoreError
from atlas.runtime.process.files import open_file

LEVEL = 1
"""Of zlib: higher ones take much longer for few bytes, because contents and facts are compressed already."""
_WRITE = 1 << 20


def pack(files: Sequence[tuple[str, Path]], target: Path) -> tuple[tuple[Part, ...], str]:
    """Write the body of files by name of part; return the parts and the SHA-256 of the body. Raises OSError."""
    parts: list[Part] = []
    digest = hashlib.sha256()
    with os.fdopen(open_file(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as out:
        for name, path in files:
            began, size = out.tell(), 0
            packer = zlib.compressobj(LEVEL)
            with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
                while chunk := file.read(_WRITE):
                    size += len(chunk)
                    packed = packer.compress(chunk)
                    digest.update(packed)
                    out.write(packed)
            packed = packer.flush()
            digest.update(packed)
            out.write(packed)
            parts.append(Part(name, size, out.tell() - began))
    if sum(part.size for part in parts) > MAX_BODY:
        raise StoreError(f"the index has more than {MAX_BODY >> 30} GB, which is not published")
    return tuple(parts), digest.hexdigest()


def unpack(pieces: Iterable[bytes], published: PublishedIndex, targets: Mapping[str, Path]) -> None:
    """Write each part to its target. Raises StoreError unless the body is that of the manifest, and OSError."""
    body = _Pieces(pieces)
    for part in published.parts:
        with os.fdopen(open_file(targets[part.name], os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as out:
            _unpack_part(body, part, out)
    if body.take(1):
        raise _other("it is longer")
    if body.digest.hexdigest() != published.body:
        raise _other("its SHA-256 is another one")


class _Pieces:
    """A body that arrives in pieces of any size."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces, self._rest = iter(pieces), memoryview(b"")
        self.digest = hashlib.sha256()

    def take(self, most: int) -> memoryview:
        """Return the next bytes, none at the end."""
        if not self._rest:
            piece = next(self._pieces, b"")
            self.digest.update(piece)
            self._rest = memoryview(piece)
        taken, self._rest = self._rest[:most], self._rest[most:]
        return taken


def _unpack_part(body: _Pieces, part: Part, out: IO[bytes]) -> None:
    written, left = 0, part.packed
    reader = zlib.decompressobj()
    try:
        while left:
            chunk: memoryview | bytes = body.take(left)
            if not chunk:
                raise _other("it is shorter")
            left -= len(chunk)
            while chunk:
                piece = reader.decompress(chunk, _WRITE)
                chunk = reader.unconsumed_tail
                written += len(piece)
                if written > part.size or reader.unused_data:
                    raise _other(f"its {part.name} is longer than stated")
                out.write(piece)
    except zlib.error as error:
        raise _other("it cannot be unpacked") from error
    if not reader.eof or written != part.size:
        raise _other(f"its {part.name} is shorter than stated")


def _other(why: str) -> StoreError:
    return StoreError(f"the body of the published index is not that of its manifest: {why}")
