"""Dates as people write them in English: `8 May 2023`, `May 8th, 2023`, `1:56 pm on 8 May, 2023`, `2023/05/08`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from atlas.core.lazy_regex import lazy_regex

MAX_CHARACTERS = 100
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        rf"\b{_DAY} (?:of )?{_MONTH},? {_YEAR}\b",
        rf"\b{_MONTH} {_DAY},? {_YEAR}\b",
        r"\b(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})\b",
    )
)
"""Dates in words, and with slashes if the year is first: the order of 05/08/2023 is not known."""
_CLOCK = lazy_regex(
    r"\b(\d{1,2})(?::(\d\d))?(?::(\d\d))? ?([ap])\.?m\b\.?|\b(\d{1,2}):(\d\d)(?::(\d\d))?\b", re.IGNORECASE
)
_FILLERS = lazy_regex(r"[\s,.]|\b(?:on|at|mon|tues?|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?\b", re.IGNORECASE)


def read_date(text: str) -> datetime | None:
    """Return the time of an English date, None for another text. Raises ValueError for a day that does not exist."""
    date = next((match for form in _DATES if (match := form.search(text[:MAX_CHARACTERS]))), None)
    if date is None:
        return None
    rest = f"{text[: date.start()]} {text[date.end() :]}"
    clock = _CLOCK.search(rest)
    if clock is not None:
        rest = f"{rest[: clock.start()]} {rest[clock.end() :]}"
    if _FILLERS.sub("", rest):
        return None
    month = date["month"].lower()
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    return datetime(int(date["year"]), number, int(date["day"]), *_hours(clock), tzinfo=UTC)


def _hours(clock: re.Match[str] | None) -> tuple[int, int, int]:
    """Return hour, minute and second. Raises ValueError for 13 pm."""
    if clock is None:
        return 0, 0, 0
    hour, minute, second = (int(part or 0) for part in (clock.group(1, 2, 3) if clock[4] else clock.group(5, 6, 7)))
    if clock[4]:
        if not 1 <= hour <= 12:
            raise ValueError(f"no hour of half a day: {hour}")
        hour = hour % 12 + (12 if clock[4].lower() == "p" else 0)
    return hour, minute, second
