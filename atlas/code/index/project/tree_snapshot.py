"""A scanned tree in a file of the data folder, so that a new session stats the known paths instead of scanning.

Paths, stamps and rules come in, the same come out. A file that is missing, damaged or of another tree, scope, parser or
set of languages is None. Only a hint: a path whose stamp differs is looked at again.
"""

from __future__ import annotations

import contextlib
import json
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from atlas.core.model import Skipped
from atlas.parsing.scanning import Scan, ScannedFile
from atlas.runtime.process.files import open_file, read_file

FILE = "tree-{project}.bin"
MAX_BYTES = 256 << 20
_FORMAT = 1

RuleStamps = Mapping[str, tuple[int, int]]
"""Inode and last change of its metadata in nanoseconds by path."""


@dataclass(frozen=True, slots=True)
class TreeSnapshot:
    """A tree at the time of a check, and what then was newer than the index."""

    generation: int
    """Of the index at that time."""
    files: int
    newer: dict[str, str]
    """Path -> `new`, `changed` or `deleted`."""
    rules: RuleStamps
    repositories: tuple[str, ...]
    watched: str
    """One path per line."""
    stamps: bytes
    """8 bytes per path."""
    packed: tuple[bytes, ...]

    def scan(self) -> Scan:
        """Return the tree as a scan would have returned it then, without sub-projects."""
        folders, paths, languages, numbers, skipped, reasons = self.packed
        values = array("Q", numbers)
        count = len(values) // 3
        sizes, times, identities = values[:count], values[count : 2 * count], values[2 * count :]
        return Scan(
            list(map(ScannedFile, _lines(paths), _lines(languages), sizes, times, identities)),
            list(map(Skipped, _lines(skipped), _lines(reasons))),
            (),
            _lines(folders),
            self.repositories,
        )


def pack(files: Iterable[ScannedFile], skipped: Iterable[Skipped], folders: Iterable[str]) -> tuple[bytes, ...]:
    """Return what `TreeSnapshot.scan` unpacks. Times before 1970 are recorded as 1970: such a file differs later."""
    files, skipped = list(files), list(skipped)
    numbers = array("Q", [file.size for file in files])
    numbers.extend([max(file.mtime_ns, 0) for file in files])
    numbers.extend([file.identity for file in files])
    texts: Sequence[Iterable[str]] = (
        folders, [file.path for file in files], [file.language for file in files],
        [skip.path for skip in skipped], [skip.reason for skip in skipped],
    )  # fmt: skip
    parts = [_joined(lines) for lines in texts]
    return (*parts[:3], numbers.tobytes(), *parts[3:])


def write_snapshot(path: Path, key: str, snapshot: TreeSnapshot) -> None:
    """Replace the file; errors of the disk are ignored, because the next session then scans."""
    parts = (snapshot.watched.encode(), snapshot.stamps, *snapshot.packed)
    body = b"".join(parts)
    head = {
        "format": _FORMAT,
        "key": key,
        "check": crc32(body),
        "parts": [len(part) for part in parts],
        "generation": snapshot.generation,
        "files": snapshot.files,
        "newer": snapshot.newer,
        "rules": {path: list(stamp) for path, stamp in snapshot.rules.items()},
        "repositories": snapshot.repositories,
    }
    draft = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    with contextlib.suppress(OSError):
        with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(json.dumps(head).encode() + b"\n" + body)
        draft.replace(path)


def read_snapshot(path: Path, key: str) -> TreeSnapshot | None:
    """Return the snapshot with this key, None without one."""
    try:
        head, _, body = read_file(path, MAX_BYTES).partition(b"\n")
        stated: Any = json.loads(head)
        lengths = [int(length) for length in stated["parts"]]
        if (stated["format"], stated["key"], stated["check"]) != (_FORMAT, key, crc32(body)):
            return None
        parts: list[bytes] = []
        for length in lengths:
            parts.append(body[:length])
            body = body[length:]
        watched, stamps, *packed = parts
        return TreeSnapshot(
            int(stated["generation"]),
            int(stated["files"]),
            {str(path): str(kind) for path, kind in stated["newer"].items()},
            {str(path): (int(inode), int(time)) for path, (inode, time) in stated["rules"].items()},
            tuple(map(str, stated["repositories"])),
            watched.decode(),
            stamps,
            tuple(packed),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _joined(lines: Iterable[str]) -> bytes:
    """No scanned name holds a line break."""
    return "".join(f"{line}\n" for line in lines).encode()


def _lines(text: bytes) -> list[str]:
    return text.decode().split("\n")[:-1]
