"""A clock that stands still and randomness that repeats, for recordings: ids of notes are words of their text."""
import os
import time

_NOW = 1780300800.0 + 60.0 * int(os.environ.get("RECORDER_SEED", "0"))  # 2026-06-01, one minute later for each process
_drawn: dict = {}


def _urandom(size):
    import hashlib

    number = _drawn[size] = _drawn.get(size, 0) + 1
    found = b""
    while len(found) < size:
        found += hashlib.blake2b(f"{os.environ.get('RECORDER_SEED')}:{size}:{number}:{len(found)}".encode()).digest()
    return found[:size]


if "RECORDER_SEED" in os.environ:
    os.urandom = _urandom
    time.time = lambda: _NOW
    import datetime as _datetime

    class datetime(_datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(_NOW, tz)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(_NOW, _datetime.timezone.utc).replace(tzinfo=None)

    datetime.__module__, datetime.__qualname__ = "datetime", "datetime"
    _datetime.datetime = datetime
