"""What the values of a query are charged: all of it while they exist, nothing afterwards, whatever they share."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.cypher import sorter
from atlas.adapters.stores.sqlite.cypher.guard import Guard
from atlas.adapters.stores.sqlite.cypher.meter import Items, ListBuilder, hold, join_lists, weigh
from atlas.adapters.stores.sqlite.cypher.sorter import Sorter
from atlas.core.errors import QueryError

texts = st.sampled_from(["", "a", "b" * 100, "c" * 200, "d" * 5_000])
plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=12), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=30,
)


def guard() -> Guard:
    return Guard(1.0, float("inf"))


def held(value: object, by: Guard) -> object:
    """The value as a query builds it: from the inside out."""
    if isinstance(value, list):
        value = [held(item, by) for item in cast("list[object]", value)]
    elif isinstance(value, dict):
        value = {key: held(item, by) for key, item in cast("dict[str, object]", value).items()}
    return hold(value, by)


@pytest.mark.slow
@given(plain)
def test_weight_is_that_of_the_plain_value_and_all_is_given_back(value: object) -> None:
    by = guard()
    built = held(value, by)
    assert built == value
    assert weigh(built) == weigh(value)
    assert 0 <= by.held <= weigh(value)
    del built
    assert by.held == 0


@pytest.mark.slow
@given(st.lists(plain, max_size=12), st.lists(plain, max_size=12))
def test_joined_lists_weigh_what_their_items_do(left: list[object], right: list[object]) -> None:
    by = guard()
    first, second = held(left, by), held(right, by)
    joined = join_lists([*cast("list[object]", first), *cast("list[object]", second)], (first, second), by)
    assert joined == left + right
    assert weigh(joined) == weigh(left + right)
    del first, second, joined
    assert by.held == 0


def test_shared_parts_count_once_in_memory_and_each_time_in_weight() -> None:
    by = guard()
    value = hold(["x" * 100] * 1_000, by)
    once, alone = by.held, weigh(value)
    for doubled in range(1, 5):
        value = hold([value, value], by)
        assert weigh(value) >= alone * 2**doubled
        assert by.held < 2 * once
    with pytest.raises(QueryError, match="16 MB"):
        for _ in range(20):
            value = hold([value, value], by)


def test_a_list_is_charged_while_it_grows() -> None:
    by = guard()
    built = ListBuilder(by)
    for number in range(1_000):
        built.add(f"{number:0100}")
    growing = by.held
    assert growing > 150_000
    finished = built.finished()
    assert isinstance(finished, Items)
    assert growing <= by.held <= growing + 11_000
    with pytest.raises(QueryError, match=r"100,000 items"):
        ListBuilder(guard()).add(1, 100_001)
    del built, finished
    assert by.held == 0


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([None, "a", "b"])), max_size=60),
    st.tuples(st.booleans(), st.booleans()),
    st.one_of(st.none(), st.integers(0, 10)),
)
def test_runs_are_merged_into_a_stable_order(
    values: list[tuple[int, str | None]], descending: tuple[bool, bool], keep: int | None
) -> None:
    before, sorter.RUN = sorter.RUN, 4
    try:
        by = guard()
        sorting = Sorter(descending, keep, by)
        rows = [(*value, place) for place, value in enumerate(values)]
        for row in rows:
            sorting.add(row[:2], row)
        found = list(sorting.rows())
    finally:
        sorter.RUN = before
    expected = sorted(rows, key=lambda row: (row[1] is None, row[1] or ""), reverse=descending[1])
    expected.sort(key=lambda row: row[0], reverse=descending[0])
    assert found == expected[:keep]
    assert by.held == 0
