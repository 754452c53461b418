"""The time that a store records for a generation."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Return the current time in UTC, ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
