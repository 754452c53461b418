"""Debouncing: collects changed paths with their times, returns them as `WatchedChanges`. Uses neither disk nor clock.

Saving a file causes several events within a millisecond, a checkout thousands within a second. A report therefore waits
for a short quiet period, which grows with the number of paths; beyond a limit the paths are dropped and the whole tree
is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

INDEX = ".git/index"


@dataclass(frozen=True, slots=True)
class WatchedChanges:
    """What may have changed. May list too much, and paths that no longer exist, but never misses a change."""

    paths: tuple[str, ...]
    """Files and folders relative to the root, with `/`, sorted; a folder stands for everything in it."""
    everything: str = ""
    """Why the whole tree must be scanned; "" = only `paths`."""


@dataclass(frozen=True, slots=True)
class Debounce:
    """How long a report is delayed, in seconds."""

    quiet: float = 0.02
    """Up to `many` paths are reported after this time without events ..."""
    longest: float = 0.2
    """... or when the first path is this old."""
    many_quiet: float = 0.1
    many_longest: float = 1.0
    """The same for more than `many` paths."""
    burst_quiet: float = 0.25
    burst_longest: float = 2.0
    """The same for more than `burst` paths."""
    index: float = 10.0
    """Minimum time between two scans caused by git's index, which may change what is ignored but rarely does."""
    many: int = 100
    burst: int = 2_000
    """Beyond this number the whole tree is reported: a scan is cheaper, and the kernel may have dropped events."""


class ChangeBatch:
    """Changes since the last report. Times are seconds of any one clock. Mutable."""

    def __init__(self, debounce: Debounce) -> None:
        self._debounce = debounce
        self._paths: set[str] = set()
        self._reason = ""
        self._first = self._last = math.inf
        self._index_first = math.inf
        self._index_allowed = -math.inf

    def add(self, path: str, now: float) -> None:
        """Add a file or folder that may have changed."""
        if path == INDEX:
            self._index_first = min(self._index_first, now)
            return
        self._stamp(now)
        if self._reason:
            return
        self._paths.add(path)
        if len(self._paths) > self._debounce.burst:
            self._paths.clear()
            self._reason = "burst"

    def add_everything(self, reason: str, now: float) -> None:
        """Add that the whole tree must be scanned. The first reason is kept unless it is "burst" or "polling"."""
        self._stamp(now)
        self._paths.clear()
        if self._reason in ("", "burst", "polling"):
            self._reason = reason

    def due(self) -> float:
        """Return the time from which `take` returns changes; infinity without changes."""
        debounce, count = self._debounce, len(self._paths)
        index = max(self._index_first + debounce.quiet, self._index_allowed)
        if self._reason == "burst":
            ready = min(self._last + debounce.burst_quiet, self._first + debounce.burst_longest)
        elif count > debounce.many:
            ready = min(self._last + debounce.many_quiet, self._first + debounce.many_longest)
        else:
            ready = min(self._last + debounce.quiet, self._first + debounce.longest)
        return min(index, ready)

    def take(self, now: float) -> WatchedChanges | None:
        """Return and remove the changes that are due, or None."""
        if now < self.due():
            return None
        reason = self._reason
        if self._index_first < math.inf and (reason or now >= self._index_allowed):
            reason = reason or "rules changed"
            self._index_first, self._index_allowed = math.inf, now + self._debounce.index
        changes = WatchedChanges(() if reason else tuple(sorted(self._paths)), reason)
        self._paths, self._reason = set(), ""
        self._first = self._last = math.inf
        return changes

    def _stamp(self, now: float) -> None:
        self._first, self._last = min(self._first, now), now
