"""Parse the status reports of other processes defensively: they may come from another version or from any client."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast


def stamp(seconds: float) -> str:
    """Return a Unix time as ISO 8601 in UTC; "" for 0 and for values out of range."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def since(at: float, now: float) -> float:
    """Return the seconds since a Unix time, at least 0; -1 if the time is 0 or negative."""
    return round(max(now - at, 0.0), 1) if at > 0 else -1.0


def parsed(text: str) -> Mapping[str, object]:
    """Return a JSON object; an empty one for any other text."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def objects(told: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return the objects in a list field; items of other types are dropped."""
    value = told.get(name)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, object]", item) for item in items if isinstance(item, dict)]


def number(told: Mapping[str, object], name: str) -> float:
    """Return the value of a numeric field; 0 if it is not a finite number."""
    value = told.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return float(value)


def words(told: Mapping[str, object], name: str) -> str:
    """Return at most 500 characters of a string field; an empty string for other types."""
    value = told.get(name)
    return value[:500] if isinstance(value, str) else ""
