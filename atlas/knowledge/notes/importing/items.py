"""What an import can add, with the place that it comes from, and the report of an import."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from atlas.core.errors import ConfigError
from atlas.knowledge.notes.dates import read_date
from atlas.knowledge.notes.front_matter import Value

MAX_PROBLEMS = 1000
"""Problems that a report lists; further ones are counted."""
_LAST_YEAR = 253_402_300_799
"""Unix seconds of the end of the year 9999."""
_MILLISECONDS = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they are after the year 5000."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A file, and the 1-based line in it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ObservationItem:
    """An observation; `created` in RFC 3339, "" if unknown."""

    text: str
    created: str = ""
    note_id: str = ""
    """Given by the plan."""


@dataclass(slots=True)
class NoteItem:
    """A note with the id that it has in its source; `foreign` is "" if it has none."""

    place: SourcePlace
    kind: str
    foreign: str
    title: str
    text: str
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    created: str = ""
    observations: list[ObservationItem] = field(default_factory=list[ObservationItem])
    native: str = ""
    """Id of a note that is one of ours already; it is kept, as is its file."""
    path: str = ""
    """Where a native note was in its knowledge folder, if known."""
    data: bytes = b""
    """The file of a native note, or of another Markdown file with front matter, whose other keys are kept."""


@dataclass(frozen=True, slots=True)
class ObservationsItem:
    """Observations about an entity that another row describes."""

    place: SourcePlace
    entity: str
    observations: tuple[ObservationItem, ...]
    creates: bool = False
    """The entity is created if it is missing: a log of a conversation has no rows for those who speak."""


@dataclass(frozen=True, slots=True)
class RelationItem:
    """A relation between two ids or, `among` "entity", between two names of entities."""

    place: SourcePlace
    among: str
    source: str
    target: str
    type: str
    reasoning: str = ""
    confidence: float = 1.0
    created: str = ""


@dataclass(frozen=True, slots=True)
class KeyItem:
    """An idempotency key, and the id of what its call has written."""

    place: SourcePlace
    key: str
    foreign: str


Item = NoteItem | ObservationsItem | RelationItem | KeyItem


@dataclass(frozen=True, slots=True)
class RowProblem:
    """What was not imported, and why."""

    place: SourcePlace
    message: str
    hint: str = ""


@dataclass(slots=True)
class ImportReport:
    """What an import has added, or with `dry_run` would add. Its methods are safe for threads."""

    dry_run: bool = False
    added: dict[str, int] = field(default_factory=dict[str, int])
    """Number by kind: claim, decision, entity, observation, relation, key."""
    present: int = 0
    """What was there already."""
    refused: int = 0
    problems: list[RowProblem] = field(default_factory=list[RowProblem])
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Number of files in imported folders that are neither pages nor rows, by ending."""
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, kind: str, count: int = 1) -> None:
        """Count what was added."""
        with self._guard:
            self.added[kind] = self.added.get(kind, 0) + count

    def found(self, count: int = 1) -> None:
        """Count what was there already."""
        with self._guard:
            self.present += count

    def leave_out(self, ending: str) -> None:
        """Count a file in an imported folder that is neither a page nor rows."""
        with self._guard:
            self.left_out[ending] = self.left_out.get(ending, 0) + 1

    def refuse(self, place: SourcePlace, error: ConfigError | str, hint: str = "") -> None:
        """Report a row that is not imported."""
        message, hint = (error.message, error.hint) if isinstance(error, ConfigError) else (error, hint)
        with self._guard:
            self.refused += 1
            if len(self.problems) < MAX_PROBLEMS:
                self.problems.append(RowProblem(place, message, hint))


def read_time(value: Any) -> str:
    """Return a time as RFC 3339 in UTC, "" for a missing one. Times without a zone are UTC; numbers are Unix time.

    Raises ConfigError for anything that is not a time from 1970 to 9999.
    """
    if value is None or value == "":
        return ""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value >= _MILLISECONDS else value
            found = datetime.fromtimestamp(seconds, UTC)
        elif isinstance(value, str):
            found = read_date(value) or datetime.fromisoformat(value.strip())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        else:
            raise ValueError
        if not 0 <= found.timestamp() <= _LAST_YEAR:
            raise ValueError
    except (ValueError, OverflowError, OSError) as error:
        raise ConfigError(f"{str(value)[:60]!r} is not a time", "For example: 2026-11-23T10:04:11Z") from error
    fraction = f".{found.microsecond:06}" if found.microsecond else ""
    return f"{found:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def unix_time(created: str) -> float:
    """Return the Unix seconds of a time that `read_time` has returned, the current time for ""."""
    return datetime.fromisoformat(created).timestamp() if created else time.time()
