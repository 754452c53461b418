"""Streams, their keys, and the progress that a run reports. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

FILE_CHANGED = "atlas:file-changed"
AST_DIRTY = "atlas:ast-dirty"
EMBED_DIRTY = "atlas:embed-dirty"


class Progress(Protocol):
    """Told how far a phase is: `scan`, `parse`, `link`, `write`, `embed`; `total` 0 means unknown."""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Take note; must be quick and must not raise."""
        ...


def no_progress(phase: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(slots=True)
class Tally:
    """What a run did so far; each tier adds to its own fields."""

    parsed: int = 0
    cached: int = 0
    unreadable: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> reason, of files that were found but could not be read or must not be indexed by their content."""
    written: int = 0
    removed: int = 0
    vectors: int = 0
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """CPU seconds of this process by phase."""


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What one index pass found and did."""

    project: str
    root: str
    generation: int
    files: int
    """Files in scope."""
    changed: int
    """Files whose content was looked at."""
    parsed: int
    written: int
    """Units whose graph was written."""
    removed: int
    skipped: int
    vectors: int
    """Vectors made in this pass."""
    problems: int
    """Files with problems."""
    seconds: float
    """Wall time."""
    cpu_seconds: float
    phases: tuple[tuple[str, float], ...]
    """CPU seconds by phase, in order; phases that overlap share them."""
