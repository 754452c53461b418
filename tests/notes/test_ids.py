"""Ids sort by time of creation and are never given twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from atlas.knowledge.notes.ids import PREFIXES, IdSource, PastIds, is_id


def test_ids_increase_with_time() -> None:
    times = iter((1.0, 2.0, 2.0, 1_000_000_000.0))
    source = IdSource(lambda: next(times))
    ids = [source.new("claim") for _ in range(4)]
    assert ids == sorted(set(ids)) and all(map(is_id, ids))


def test_the_clock_may_be_set_back() -> None:
    times = iter((1_000.0, 5.0, 0.0))
    source = IdSource(lambda: next(times))
    ids = [source.new("entity") for _ in range(3)]
    assert ids == sorted(set(ids))


def test_threads_never_share_an_id() -> None:
    source = IdSource()
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: source.new("observation"), range(2_000)))
    assert len(set(ids)) == 2_000


def test_the_time_is_that_of_the_ulid_specification() -> None:
    # 1469922850259 ms is 01ARZ3NDEK in the specification's example
    assert IdSource(lambda: 1_469_922_850.259).new("claim").startswith("c-01ARZ3NDEK")


def test_ids_of_the_past_keep_the_order_of_one_moment() -> None:
    source = PastIds()
    ids = [source.at("observation", moment) for moment in (5.0, 5.0, 1.0, 5.0, 1.0)]
    assert sorted(ids) == [ids[2], ids[4], ids[0], ids[1], ids[3]]
    assert len(set(ids)) == 5 and all(map(is_id, ids))


@pytest.mark.parametrize(
    "text", ["", "c-", "c-01ARZ3NDEKTSV4RRFFQ69G5FA", "x-01ARZ3NDEKTSV4RRFFQ69G5FAV", "c-01ARZ3NDEKTSV4RRFFQ69G5FAI"]
)
def test_what_is_no_id(text: str) -> None:
    assert not is_id(text)


def test_each_kind_has_its_letter() -> None:
    source = IdSource()
    assert {kind: source.new(kind)[0] for kind in PREFIXES} == PREFIXES
