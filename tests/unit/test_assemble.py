"""Budgets and cursors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.answers.assemble import longest
from atlas.answers.paging import Position, fingerprint, read_cursor, write_cursor
from atlas.core.errors import ConfigError


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(0, 600))
def test_longest_is_the_longest(items: list[int], budget: int) -> None:
    def measure(n: int) -> int:
        return sum(items[:n])

    best = longest(measure, len(items), budget)
    assert measure(best) <= budget
    assert best == len(items) or measure(best + 1) > budget


def test_longest_never_goes_below_the_floor() -> None:
    assert longest(lambda n: 100 * n, 5, 10, lower=1) == 1
    assert longest(lambda n: 0, 0, 10, lower=1) == 1


def test_longest_measures_a_fitting_answer_once() -> None:
    measured: list[int] = []
    assert longest(lambda n: measured.append(n) or n, 1000, 5000) == 1000
    assert measured == [1000]


def test_longest_of_equal_items_is_found_where_it_must_be() -> None:
    measured: list[int] = []
    assert longest(lambda n: measured.append(n) or 10 * n, 64, 205) == 20
    assert measured == [64, 20, 21]


def test_cursor_round_trip() -> None:
    own = fingerprint("hybrid", "query", ("label",))
    assert read_cursor(write_cursor(Position(20, 7), own), own) == Position(20, 7)


@pytest.mark.parametrize("cursor", ["x", "%%%", "AAAA", "é", write_cursor(Position(-1, 0), "own")])
def test_damaged_cursors_are_refused(cursor: str) -> None:
    with pytest.raises(ConfigError, match="malformed"):
        read_cursor(cursor, "own")


def test_cursor_of_another_search_is_refused() -> None:
    with pytest.raises(ConfigError, match="another search"):
        read_cursor(write_cursor(Position(1, 1), fingerprint("a")), fingerprint("b"))
