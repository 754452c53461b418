"""The last commits of a project, read once for all pages: churn and age of the map, owners of files and folders."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.history import Commit
from atlas.core.wording import counted

COMMITS, COMMIT_FILES = 1_000, 50
"""Commits that are read, and the files of one: a larger commit says little about a file."""
KEPT_SECONDS = 60.0
PATIENCE = 0.4
"""Seconds that a page of a file waits for them."""
OWNERS = 6


@dataclass(frozen=True, slots=True)
class ReadCommits:
    """Commits, newest first, and of how many they are or why there are none."""

    commits: tuple[Commit, ...]
    said: str


@dataclass(frozen=True, slots=True)
class PathOwners:
    """Who has changed a file or folder, most often first: (author, commits, last day)."""

    authors: tuple[tuple[str, int, str], ...]
    said: str
    """Of how many commits that is, or why it is unknown."""


class LastCommits:
    """Reads them aside and keeps them for a minute; use from one event loop."""

    def __init__(self) -> None:
        self._reading: asyncio.Task[ReadCommits] | None = None
        self._since = 0.0

    async def read(self, reader: Reader) -> ReadCommits:
        """Return the last commits."""
        if self._reading is None or (self._reading.done() and time.monotonic() > self._since + KEPT_SECONDS):
            self._reading, self._since = asyncio.create_task(_read(reader)), time.monotonic()
        return await asyncio.shield(self._reading)

    async def owners(self, reader: Reader, path: str) -> PathOwners:
        """Return who made those of the last commits that changed a file or folder, or why that is unknown."""
        try:
            found = await asyncio.wait_for(self.read(reader), PATIENCE)
        except TimeoutError:
            return PathOwners((), "the history is being read; load the page again")
        if not found.commits:
            return PathOwners((), found.said)
        below = f"{path}/"
        own = [
            each
            for each in found.commits
            if not path or any(one == path or one.startswith(below) for one in each.paths)
        ]
        times = Counter(each.author for each in own)
        last: dict[str, int] = {}
        for each in own:
            last[each.author] = max(last.get(each.author, 0), each.time)
        authors = [
            (name, n, datetime.fromtimestamp(last[name], UTC).date().isoformat()) for name, n in times.most_common()
        ]
        said = [f"{counted(len(own), 'commit')}, {found.said}"]
        said += [counted(len(authors) - OWNERS, "further author")] if len(authors) > OWNERS else []
        return PathOwners(tuple(authors[:OWNERS]), "; ".join(said))


async def _read(reader: Reader) -> ReadCommits:
    if reader.history is None:
        return ReadCommits((), "no history can be read")
    try:
        log = await reader.history.log(COMMITS, paths=COMMIT_FILES)
    except AtlasError as error:
        return ReadCommits((), error.message)
    return ReadCommits(log.commits, "; ".join((f"of the last {counted(len(log.commits), 'commit')}", *log.notes)))
