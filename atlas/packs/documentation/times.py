"""The time that a build writes down: that of the clock, or SOURCE_DATE_EPOCH for builds that must be equal."""

from __future__ import annotations

import os
from datetime import UTC, datetime

VARIABLE = "SOURCE_DATE_EPOCH"
"""Seconds since 1970, the convention of reproducible builds (https://reproducible-builds.org/specs/source-date-epoch/)."""


def build_time() -> str:
    """Return the time in UTC, ISO 8601."""
    stated = os.environ.get(VARIABLE, "").strip()
    seconds = int(stated) if stated.isdecimal() and len(stated) <= 11 else None
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
