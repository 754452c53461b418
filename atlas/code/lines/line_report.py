"""The value of an answer that consists of lines of texts, by group. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIRST_LINES = 25
"""Lines of the first page of an answer; a cursor shows the next ones."""
MAX_SHOWN = 160
"""Characters that are shown of a line."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One fact: the group that it belongs to, where it stands, what stands there."""

    group: str
    place: str
    """`path`, `path:line`, or what the fact is about."""
    text: str


@dataclass(frozen=True, slots=True)
class LineReport:
    """The answer to a question that lines of the project's texts answer."""

    kind: str
    title: str
    lines: tuple[TextLine, ...] = ()
    notes: tuple[str, ...] = ()
    outcome: str = "found"
    """`found`, `not_found` or `no_history`."""
    first: int = FIRST_LINES


def shown(text: str) -> str:
    """Return a line without indentation, cut to `MAX_SHOWN` characters."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def several(places: Iterable[tuple[str, int]], most: int = 4) -> str:
    """Return paths with their lines (`a.py:3,9, b.py:1`); those behind the first `most` places are counted."""
    distinct = list(dict.fromkeys(places))
    by_path: dict[str, list[str]] = {}
    for path, line in distinct[:most]:
        by_path.setdefault(path, []).append(str(line))
    more = f" and {len(distinct) - most} more" if len(distinct) > most else ""
    return ", ".join(f"{path}:{','.join(lines)}" for path, lines in by_path.items()) + more
