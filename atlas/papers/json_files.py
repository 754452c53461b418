"""JSON files of the papers folder: damaged ones are moved aside, and writers of several processes take turns.

A folder in git has conflicts where two people have added papers: both sides of a file are read, see `decoded`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import StoreError
from atlas.runtime.process.files import make_private_folder
from atlas.runtime.process.lock import LockFile

MAX_BYTES = 512 << 20
"""A larger file is not read: 100,000 papers have 250 MB."""
LOCK_FILE = ".write.lock"
LOCK_SECONDS = 30.0


def decoded(path: Path, content: bytes, kind: type[Any], problems: list[str]) -> Any:
    """Return a file's JSON. A file that does not hold a `kind` is moved aside, counts as empty and is a problem.

    Of a file with conflicts of git both sides are read: of a record that both have, the later one; the next write
    stores the union. The file stays as it is until then.
    """
    sides = sides_of_conflicts(content)
    try:
        documents = [json.loads(one) for one in sides or (content,)]
        if all(isinstance(one, kind) for one in documents):
            if sides:
                problems.append(f"{path} has conflicts of git: both sides are read, the next paper stores them merged")
            return documents[0] if not sides else union(*documents)
    except (ValueError, RecursionError):
        pass
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}")
    try:
        path.replace(aside)
    except OSError as error:
        raise StoreError(f"{path} is damaged and cannot be moved: {error.strerror}", "Move it away.") from error
    problems.append(f"{path} is damaged: it is kept as {aside.name}")
    return kind()


def sides_of_conflicts(content: bytes) -> tuple[bytes, bytes] | None:
    """Return the two versions of a file with conflict markers of git, None for a file without complete ones."""
    ours: list[bytes] = []
    theirs: list[bytes] = []
    sides, found = (ours, theirs), False
    for line in content.splitlines(keepends=True):
        marker = line[:7] if line[7:8].isspace() or line[7:] == b"" else b""
        if marker == b"<<<<<<<":
            sides, found = (ours,), True
        elif marker == b"|||||||":
            sides = ()
        elif marker == b"=======":
            sides = (theirs,)
        elif marker == b">>>>>>>":
            sides = (ours, theirs)
        else:
            for side in sides:
                side.append(line)
    return (b"".join(ours), b"".join(theirs)) if found and len(sides) == 2 else None


def union(ours: Any, theirs: Any) -> Any:
    """Return two mappings or two lists as one: of a record in both the later one by what it says, else ours."""
    if isinstance(ours, list):
        return [*ours, *(one for one in theirs if one not in ours)]
    return {**ours, **{key: one for key, one in theirs.items() if key not in ours or _when(one) > _when(ours[key])}}


def _when(record: object) -> tuple[str, str]:
    """Return when a record's paper and the record have changed, as texts in the order of time."""
    if not isinstance(record, dict):
        return "", ""
    known = cast("dict[str, object]", record)
    return str(known.get("updated") or ""), str(known.get("stored_at") or "")


def encoded(document: object) -> bytes:
    """Return JSON that people can read."""
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


@contextmanager
def writing(folder: Path) -> Generator[None]:
    """Create a folder and hold its lock for the block. Raises OSError, and StoreError when another process keeps it."""
    make_private_folder(folder.parent)
    make_private_folder(folder)
    file = LockFile.open(folder / LOCK_FILE)
    try:
        until = time.monotonic() + LOCK_SECONDS
        while not file.try_lock():
            if time.monotonic() > until:
                raise StoreError(f"another process keeps writing to {folder}", "Try again.")
            time.sleep(0.02)
        yield
    finally:
        file.close()


def sync(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
