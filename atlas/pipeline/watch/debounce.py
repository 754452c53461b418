"""What was noticed, gathered until it is worth a look: paths and times in, one `Changes` out. Knows no disk, no clock.

A saved file is several events within a millisecond, a checkout thousands within a second: so a report waits for a short
silence, the longer the more there is, and gives up naming paths when they are too many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

INDEX = ".git/index"


@dataclass(frozen=True, slots=True)
class Changes:
    """What may have changed. Too much may be named, and a path may be gone again; nothing that changed is left out."""

    paths: tuple[str, ...]
    """Files and folders below the root, parted by `/`, sorted; a folder means all that it holds."""
    everything: str = ""
    """Why the whole tree must be looked at; "" = only `paths`."""


@dataclass(frozen=True, slots=True)
class Debounce:
    """How long a report waits, in seconds."""

    quiet: float = 0.02
    """A few paths are reported when nothing came for so long ..."""
    longest: float = 0.2
    """... or the first is that old."""
    many_quiet: float = 0.1
    many_longest: float = 1.0
    """The same for more than `many` paths."""
    burst_quiet: float = 0.25
    burst_longest: float = 2.0
    """The same for more than `burst` paths."""
    index: float = 10.0
    """git's index may change which files are ignored, but rarely does: a look at everything at most so often."""
    many: int = 100
    burst: int = 2_000
    """More paths than this are not named: looking at the whole tree costs less, and the kernel may have lost some."""


class ChangeBatch:
    """What was noticed since the last report. Times are seconds of any one clock. Mutable."""

    def __init__(self, debounce: Debounce) -> None:
        self._debounce = debounce
        self._paths: set[str] = set()
        self._reason = ""
        self._first = self._last = math.inf
        self._index_first = math.inf
        self._index_allowed = -math.inf

    def add(self, path: str, now: float) -> None:
        """Take in a file or folder that may have changed."""
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
        """Take in that the whole tree must be looked at; the first reason is kept, unless it says little."""
        self._stamp(now)
        self._paths.clear()
        if self._reason in ("", "burst", "polling"):
            self._reason = reason

    def due(self) -> float:
        """Return the time from which `take` has something; infinity when nothing was noticed."""
        debounce, count = self._debounce, len(self._paths)
        index = max(self._index_first + debounce.quiet, self._index_allowed)
        if self._reason == "burst":
            ready = min(self._last + debounce.burst_quiet, self._first + debounce.burst_longest)
        elif count > debounce.many:
            ready = min(self._last + debounce.many_quiet, self._first + debounce.many_longest)
        else:
            ready = min(self._last + debounce.quiet, self._first + debounce.longest)
        return min(index, ready)

    def take(self, now: float) -> Changes | None:
        """Return what is due, and forget it."""
        if now < self.due():
            return None
        reason = self._reason
        if self._index_first < math.inf and (reason or now >= self._index_allowed):
            reason = reason or "rules changed"
            self._index_first, self._index_allowed = math.inf, now + self._debounce.index
        noticed = Changes(() if reason else tuple(sorted(self._paths)), reason)
        self._paths, self._reason = set(), ""
        self._first = self._last = math.inf
        return noticed

    def _stamp(self, now: float) -> None:
        self._first, self._last = min(self._first, now), now
