"""What the properties of a note's node say. Pure."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from atlas.core.model import PROSE_LABELS, NodeRow

_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """The front matter of a note as far as its node holds it; "" where it says nothing."""

    status: str = "accepted"
    confidence: float = 1.0
    source: str = ""
    created: str = ""
    updated: str = ""
    client: str = ""
    agent: str = ""
    type: str = ""

    @property
    def written(self) -> float:
        """Unix time of the last change by a tool; 0.0 if the note does not say when it was written."""
        return unix_time(self.updated) or unix_time(self.created)


def facts_of(row: NodeRow) -> NoteFacts:
    """Return the facts of a note; those of an observation are its own, and all defaults for other nodes."""
    values = read_properties(row.properties)
    texts = {
        name: value
        for name in ("status", "source", "created", "updated", "client", "agent", "type")
        if isinstance(value := values.get(name), str)
    }
    confidence = values.get("confidence")
    return NoteFacts(**texts, confidence=confidence if isinstance(confidence, int | float) else 1.0)


def is_withdrawn(row: NodeRow) -> bool:
    """Return whether a note says that it does not hold any more: it is retracted or superseded."""
    return row.label in PROSE_LABELS and facts_of(row).status in ("retracted", "superseded")


def read_properties(text: str) -> dict[str, object]:
    """Return the properties of a note or of its edge; {} without any."""
    try:
        found: object = json.loads(text) if text else None
    except (ValueError, RecursionError):
        # a store's file may come from anywhere
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def age_in_days(facts: NoteFacts, now: float = 0.0) -> int | None:
    """Return the whole days between writing and `now` (Unix time, 0 = now), at least 0; None if they are unknown."""
    written = facts.written
    return max(0, int(((now or time.time()) - written) // _SECONDS_PER_DAY)) if written else None


def unix_time(text: str) -> float:
    """Return the Unix time of a date as notes write it, 0.0 for other texts."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
