"""Streams, their groups and windows, and the progress and result of a pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from atlas.core.contracts import Streams
from atlas.core.events import Event

FILE_CHANGED = "atlas:file-changed"
AST_DIRTY = "atlas:ast-dirty"
EMBED_DIRTY = "atlas:embed-dirty"
QUALITY_DIRTY = "atlas:quality-dirty"
"""Projects whose fast vectors are up to date, for the sentence transformer."""

WHOLE_PROJECT = ""
"""The key of an event that stands for the whole project."""


class Window(NamedTuple):
    """When a batch is closed: after `seconds`, at `size` events, or after `idle_timeout` seconds without an event."""

    seconds: float
    size: int
    idle_timeout: float


class Progress(Protocol):
    """Receives the progress of a phase (`scan`, `parse`, `link`, `write`, `embed`, `quality`); `total` 0: unknown."""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Record progress; must be fast and must not raise."""
        ...


def no_progress(phase: str, done: int, total: int) -> None:
    """Ignore progress."""


async def request_scan(streams: Streams, projects: Iterable[str]) -> None:
    """Have tier 1 scan these projects whole. Raises as the bus does."""
    await streams.publish(FILE_CHANGED, [Event(project, WHOLE_PROJECT) for project in projects])


def by_project(events: Iterable[Event]) -> dict[str, list[str]]:
    """Return the distinct keys of each project in order of arrival."""
    keys: dict[str, dict[str, None]] = {}
    for event in events:
        keys.setdefault(event.project, {})[event.key] = None
    return {project: list(found) for project, found in keys.items()}


@dataclass(slots=True)
class Counters:
    """The work done for one project so far; each tier adds to its own fields."""

    changed: int = 0
    """Files, of those that are or were indexed, whose content was looked at."""
    parsed: int = 0
    written: int = 0
    removed: int = 0
    vectors: int = 0
    quality_vectors: int = 0
    """Of the sentence transformer."""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """CPU seconds of this process by phase; overlapping phases share them."""

    def spend(self, phase: str, seconds: float) -> None:
        """Add to the seconds of a phase."""
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """The result of one index pass."""

    project: str
    root: str
    generation: int
    files: int
    """Files in scope."""
    changed: int
    """Files, of those that are or were indexed, whose content was looked at."""
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
    cut_texts: int = 0
    """Texts longer than the embedding model accepts, which were truncated."""
    unembedded: int = 0
    """Texts that the embedding server rejects in every form: search finds them by words and names only."""
    by: str = ""
    """The process that made the pass if it was not this one: "daemon"."""
    quality_vectors: int = 0
    """Vectors of the sentence transformer made in this pass, which makes them only on request."""
    unread: tuple[str, ...] = ()
    """Folders of which nothing is indexed because their ignore files have too many rules, one line each."""
    given_up: int = 0
    """Events that the daemon failed to process meanwhile; they are dead letters now."""
    seeded_from: str = ""
    """Root of the tree of the same repository whose index this one was made from; "" if it was made from files."""
