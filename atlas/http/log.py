"""Bounds what others can make the log say: the same message is written a few times, then counted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

WINDOW_SECONDS = 10.0
MOST_IN_WINDOW = 5
MAX_CHARACTERS = 2000
MAX_KINDS = 200


class RateLimitFilter(logging.Filter):
    """Lets each message (its logger and its text without arguments) through a few times in a window."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._begun = clock()
        self._counts: dict[tuple[str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written; a long one is cut."""
        now = self._clock()
        if now - self._begun >= WINDOW_SECONDS:
            self._begun, self._counts = now, {}
        key = record.name, str(record.msg)[:100]
        if key not in self._counts and len(self._counts) >= MAX_KINDS:
            return False
        self._counts[key] = count = self._counts.get(key, 0) + 1
        if count > MOST_IN_WINDOW:
            return False
        message = record.getMessage()
        more = f" (more of these are left out for {WINDOW_SECONDS:.0f} s)" if count == MOST_IN_WINDOW else ""
        record.msg, record.args = message[:MAX_CHARACTERS] + more, None
        return True
