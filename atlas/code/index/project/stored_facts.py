"""The facts cache of one project: open during passes, closed between the passes of a process that keeps its workspace.

The process that has the cache open is the only one that may write to it, so a workspace that waits for the next change
must not hold it. What a small pass writes then waits in memory: opening the cache reads the index of all files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from atlas.parsing import FactsCache, ParsedFile

MAX_WAITING = 200
"""Files whose facts wait in memory for a closed cache; more open it."""


class StoredFacts:
    """Close with `close`; what waits is lost with the process, which costs the next one the time to parse it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._cache: FactsCache | None = None
        self._is_away = False
        self._waiting: dict[str, tuple[ParsedFile | None, str]] = {}
        """Facts to add and the digest of the only content whose facts stay, by path of the file."""

    @property
    def cache(self) -> FactsCache:
        """The open cache, with what has waited for it."""
        self._is_away = False
        if self._cache is None:
            self._cache = FactsCache(self._path)
            if self._waiting:
                self._cache.put([facts for facts, _ in self._waiting.values() if facts is not None])
                self._cache.replace([(path, digest) for path, (_, digest) in self._waiting.items()])
                self._waiting.clear()
        return self._cache

    def put(self, files: Sequence[ParsedFile]) -> None:
        """Add the facts of files."""
        if self._must_wait(len(files)):
            self._waiting.update((file.path, (file, file.digest)) for file in files)
        else:
            self.cache.put(files)

    def replace(self, current: Iterable[tuple[str, str]]) -> None:
        """Keep, for each of these paths, only the facts with the digest; "" for none."""
        pairs = list(current)
        if not self._must_wait(len(pairs)):
            self.cache.replace(pairs)
            return
        for path, digest in pairs:
            facts = self._waiting.get(path, (None, ""))[0]
            self._waiting[path] = (facts if facts is not None and facts.digest == digest else None, digest)

    def put_away(self) -> None:
        """Close the cache until it is needed."""
        self.close()
        self._is_away = True

    def close(self) -> None:
        """Close the cache; idempotent."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _must_wait(self, files: int) -> bool:
        return self._is_away and len(self._waiting) + files <= MAX_WAITING
