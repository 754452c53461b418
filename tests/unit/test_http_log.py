"""What is said again and again is written a few times."""

from __future__ import annotations

import logging

from atlas.server.http.log import MAX_CHARACTERS, MAX_IN_WINDOW, MAX_KINDS, WINDOW_SECONDS, RateLimitFilter


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("one", logging.WARNING, "", 0, message, arguments, None)


def test_repeated_messages_are_left_out_until_the_window_ends() -> None:
    now = 0.0
    bounded = RateLimitFilter(lambda: now)
    written = [said for number in range(50) if bounded.filter(said := record("bad request %d", number))]
    assert [said.getMessage() for said in written][:2] == ["bad request 0", "bad request 1"]
    assert len(written) == MAX_IN_WINDOW
    assert "not logged" in written[-1].getMessage()
    assert bounded.filter(record("another"))
    now = WINDOW_SECONDS
    assert bounded.filter(record("bad request %d", 51))


def test_long_messages_are_cut_and_many_kinds_too() -> None:
    bounded = RateLimitFilter(lambda: 0.0)
    long = record("x" * 10_000)
    assert bounded.filter(long)
    assert len(long.getMessage()) <= MAX_CHARACTERS
    assert sum(bounded.filter(record(f"{number} is new")) for number in range(1000)) == MAX_KINDS - 1
