"""Note ids: a letter for the kind and a ULID (https://github.com/ulid/spec), so that ids sort by time of creation."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from atlas.core.lazy_regex import lazy_regex

PREFIXES = {"claim": "c", "decision": "d", "entity": "e", "observation": "o", "short_term": "s"}
"""First letter of an id by kind of note."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PATTERN = lazy_regex(rf"[{''.join(PREFIXES.values())}]-[{_ALPHABET}]{{26}}")
_RANDOM_BITS = 80


class IdSource:
    """Creates ids that increase within the process, even if the clock is set back. Safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` returns Unix seconds."""
        self._clock = clock
        self._guard = threading.Lock()
        self._last = 0

    def new(self, kind: str) -> str:
        """Return a new id for a kind of `PREFIXES`."""
        with self._guard:
            drawn = int(self._clock() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
            self._last = drawn if drawn > self._last else self._last + 1
            number = self._last
        return _written(kind, number)


class PastIds:
    """Creates ids with the times of events in the past; those of one millisecond increase in the order of the calls.

    Turns of a conversation often have the time of its beginning: their order must not be lost. Not safe for threads.
    """

    def __init__(self) -> None:
        """Start without any id given."""
        self._last: dict[int, int] = {}

    def at(self, kind: str, seconds: float) -> str:
        """Return a new id; `seconds` are Unix seconds from 1970 to the year 9999."""
        moment = int(seconds * 1000)
        last = self._last.get(moment)
        # the highest bit stays free, so that counting on never reaches the next millisecond
        drawn = secrets.randbits(_RANDOM_BITS - 1) if last is None else last + 1
        self._last[moment] = drawn
        return _written(kind, moment << _RANDOM_BITS | drawn)


def _written(kind: str, number: int) -> str:
    digits = (number >> shift & 31 for shift in range(125, -1, -5))
    return f"{PREFIXES[kind]}-{''.join(_ALPHABET[digit] for digit in digits)}"


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id."""
    return _PATTERN.fullmatch(text) is not None
