"""Limits how much clients can write to the log: repeated messages are dropped for a while."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from types import CodeType

WINDOW_SECONDS = 10.0
MAX_IN_WINDOW = 5
MAX_CHARACTERS = 2000
MAX_KINDS = 200


class RateLimitFilter(logging.Filter):
    """Passes each message, identified by logger and format string, a few times per window, and each traceback once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._begun = clock()
        self._counts: dict[tuple[str, str], int] = {}
        self._traced: set[tuple[type[BaseException], CodeType, int]] = set()
        """Where the exceptions were raised whose tracebacks are in the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record; truncates long messages."""
        now = self._clock()
        if now - self._begun >= WINDOW_SECONDS:
            self._begun, self._counts = now, {}
        key = record.name, str(record.msg)[:100]
        if key not in self._counts and len(self._counts) >= MAX_KINDS:
            return False
        self._counts[key] = count = self._counts.get(key, 0) + 1
        if count > MAX_IN_WINDOW:
            return False
        message = record.getMessage()
        message += self._failure(record)
        more = f" (further ones are not logged for {WINDOW_SECONDS:.0f} s)" if count == MAX_IN_WINDOW else ""
        record.msg, record.args = message[:MAX_CHARACTERS] + more, None
        return True

    def _failure(self, record: logging.LogRecord) -> str:
        """Return an exception in a line, without its traceback, if the traceback of its kind is in the log already."""
        kind, error, trace = record.exc_info if isinstance(record.exc_info, tuple) else (None, None, None)
        if kind is None or trace is None:
            return ""
        while trace.tb_next is not None:
            trace = trace.tb_next
        place = kind, trace.tb_frame.f_code, trace.tb_lineno
        if place not in self._traced:
            if len(self._traced) < MAX_KINDS:
                self._traced.add(place)
            return ""
        record.exc_info = record.exc_text = None
        return f": {kind.__name__}: {error} (traceback above)"
