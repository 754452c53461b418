"""JSON files of the papers folder: damaged ones are moved aside, and writers of several processes take turns."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atlas.core.errors import StoreError
from atlas.runtime.process.files import make_private_folder
from atlas.runtime.process.lock import LockFile

MAX_BYTES = 512 << 20
"""A larger file is not read: 100,000 papers have 250 MB."""
LOCK_FILE = ".write.lock"
LOCK_SECONDS = 30.0


def decoded(path: Path, content: bytes, kind: type[Any], problems: list[str]) -> Any:
    """Return a file's JSON. A file that does not hold a `kind` is moved aside, counts as empty and is a problem."""
    try:
        document = json.loads(content)
        if isinstance(document, kind):
            return document
    except (ValueError, RecursionError):
        pass
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}")
    try:
        path.replace(aside)
    except OSError as error:
        raise StoreError(f"{path} is damaged and cannot be moved: {error.strerror}", "Move it away.") from error
    problems.append(f"{path} is damaged: it is kept as {aside.name}")
    return kind()


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
