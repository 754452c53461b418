"""What the daemon's watcher has noticed, in a file of the data folder: readers learn in 0.05 ms that nothing changed.

The daemon counts changes of each watched tree and writes the counts at once; a session compares them with those of its
last look at the tree. A file that the daemon has not written for a moment says nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas.runtime.process.files import open_file, read_file

FILE = "tree-versions.json"

BEAT_SECONDS = 1.0
SILENT_SECONDS = 3.0
"""Without a beat for this long the daemon is gone, paused or busy."""
WRITE_SECONDS = 0.01
"""Changes within this time are written together."""


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """The state of one watched tree."""

    daemon: str
    """Names the daemon process: counts of two daemons cannot be compared."""
    noticed: int
    """Changes noticed so far."""
    indexed: int
    """The count at which index and tree were equal for the last time; -1 for never."""


class TreeVersions:
    """Written by the daemon; use from one event loop. Errors of the disk are ignored: readers then look themselves."""

    def __init__(self, path: Path, later: Callable[[float, Callable[[], None]], object]) -> None:
        """`later(seconds, work)` calls `work` once after some seconds."""
        self._path, self._later = path, later
        self._daemon = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._noticed: dict[str, int] = {}
        self._indexed: dict[str, int] = {}
        self._watched: Mapping[str, str] = {}
        self._written_at, self._is_due = 0.0, False

    def notice(self, project: str) -> None:
        """Count a change of a tree."""
        self._noticed[project] = self._noticed.get(project, 0) + 1
        self._write_soon()

    def noticed(self, project: str) -> int:
        """Return the number of changes so far."""
        return self._noticed.get(project, 0)

    def settle(self, project: str, noticed: int) -> None:
        """Note that index and tree were equal at this count."""
        if self._indexed.get(project) != noticed:
            self._indexed[project] = noticed
            self._write_soon()

    def is_settled(self, project: str) -> bool:
        """Return whether nothing has changed since index and tree were equal."""
        return self._indexed.get(project) == self.noticed(project)

    def beat(self, watched: Mapping[str, str]) -> None:
        """Say that the daemon is alive and which trees it watches, project -> root; polled ones are not among them."""
        self._watched = watched
        self._write()

    def close(self) -> None:
        """Remove the file."""
        self._watched = {}
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write_soon(self) -> None:
        if self._is_due:
            return
        wait = self._written_at + WRITE_SECONDS - time.monotonic()
        if wait <= 0:
            self._write()
        else:
            self._is_due = True
            self._later(wait, self._write)

    def _write(self) -> None:
        self._is_due, self._written_at = False, time.monotonic()
        projects = {
            name: [root, self.noticed(name), self._indexed.get(name, -1)] for name, root in self._watched.items()
        }
        document = json.dumps({"daemon": self._daemon, "at": time.time(), "projects": projects}).encode()
        draft = self._path.with_name(f"{FILE}.{os.getpid()}")
        with contextlib.suppress(OSError):
            with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                file.write(document)
            draft.replace(self._path)


def read_version(data_dir: Path, project: str, root: Path) -> TreeVersion | None:
    """Return what the live daemon of a data folder has noticed of a tree; None if no daemon watches it now."""
    try:
        document: Any = json.loads(read_file(data_dir / FILE))
        os.kill(int(document["daemon"].partition("-")[0]), 0)
        watched, noticed, indexed = document["projects"][project]
        if watched != str(root) or not 0 <= time.time() - float(document["at"]) < SILENT_SECONDS:
            return None
        return TreeVersion(str(document["daemon"]), int(noticed), int(indexed))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
