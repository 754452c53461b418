"""Points in time as agents write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.dates import read_date

_SPAN = lazy_regex(r"(\d{1,6})\s*(m|h|d|w)(?:in|our|ay|eek)?s?(?: ago)?", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, now: datetime | None = None) -> str:
    """Return RFC 3339 in UTC of a date, a date with time, or a span before now (`7d`, `12h`).

    Dates are ISO 8601 or English: `8 May 2023`, `1:56 pm on 8 May, 2023`.

    Raises ConfigError for any other text.
    """
    words = text.strip()
    now = now or datetime.now(UTC)
    if span := _SPAN.fullmatch(words):
        try:
            return _written(now - timedelta(**{_UNITS[span[2].lower()]: int(span[1])}))
        except OverflowError as error:
            raise ConfigError(f"{words[:40]!r} is too long ago", "Give a date such as 2026-05-08.") from error
    if words.lower() in ("today", "yesterday"):
        day = now if words.lower() == "today" else now - timedelta(days=1)
        return _written(day.replace(hour=0, minute=0, second=0))
    try:
        found = read_date(words) or datetime.fromisoformat(words)
        return _written(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{words[:40]!r} is no point in time", "Give a date such as 2026-05-08, with a time if known, or 7d, 12h."
        ) from error


def _written(found: datetime) -> str:
    # strftime writes years before 1000 with fewer than four digits
    return found.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
