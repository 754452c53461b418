"""When a report of the watcher is due, and what it says."""

import math

import pytest

from atlas.code.index.watch.debounce import ChangeBatch, Debounce, WatchedChanges

DEBOUNCE = Debounce(many=3, burst=6)


def filled(count: int, *, start: float = 0.0, every: float = 0.0) -> ChangeBatch:
    """Return a batch of so many paths, one each so many seconds."""
    batch = ChangeBatch(DEBOUNCE)
    for number in range(count):
        batch.add(f"{number}.py", start + number * every)
    return batch


def test_an_empty_batch_is_never_due() -> None:
    batch = filled(0)
    assert batch.due() == math.inf
    assert batch.take(1e9) is None


def test_a_saved_file_is_reported_once_after_a_short_silence() -> None:
    batch = ChangeBatch(DEBOUNCE)
    for time in (0.0, 0.001, 0.005):
        batch.add("a/b.py", time)
    assert batch.take(0.02) is None
    assert batch.take(0.03) == WatchedChanges(("a/b.py",))
    assert batch.due() == math.inf


@pytest.mark.parametrize(
    ("count", "due"),
    [(1, 0.02), (3, 0.02), (4, 0.1), (6, 0.1), (7, 0.25), (5000, 0.25)],
)
def test_more_paths_wait_longer(count: int, due: float) -> None:
    assert filled(count).due() == pytest.approx(due)


@pytest.mark.parametrize(("count", "longest"), [(2, 0.2), (5, 1.0), (7, 2.0)])
def test_an_unbroken_stream_is_reported_all_the_same(count: int, longest: float) -> None:
    batch = filled(count)
    for number in range(1, 300):
        batch.add("0.py", number * 0.01)
    assert batch.due() == pytest.approx(longest)


def test_too_many_paths_are_not_named() -> None:
    assert filled(6).take(1.0) == WatchedChanges(tuple(f"{number}.py" for number in range(6)))
    assert filled(7).take(1.0) == WatchedChanges((), "burst")


def test_a_reason_replaces_paths_and_bursts_and_is_kept() -> None:
    batch = filled(7)
    batch.add_everything("polling", 0.0)
    batch.add_everything("rules changed", 0.0)
    batch.add_everything("overflow", 0.0)
    batch.add("a.py", 0.0)
    assert batch.take(1.0) == WatchedChanges((), "rules changed")
    assert batch.take(9.0) is None


def test_gits_index_is_a_reason_once_in_ten_seconds_and_the_last_change_counts() -> None:
    batch = ChangeBatch(DEBOUNCE)
    batch.add(".git/index", 0.0)
    assert batch.take(0.02) == WatchedChanges((), "rules changed")
    batch.add(".git/index", 0.1)
    batch.add("a.py", 0.1)
    assert batch.take(0.2) == WatchedChanges(("a.py",))
    batch.add(".git/index", 5.0)
    assert batch.take(9.9) is None
    assert batch.due() == pytest.approx(10.02)
    assert batch.take(10.03) == WatchedChanges((), "rules changed")
    assert batch.due() == math.inf


def test_a_look_at_everything_for_another_reason_serves_the_index_too() -> None:
    batch = ChangeBatch(DEBOUNCE)
    batch.add(".git/index", 0.0)
    batch.add_everything("rules changed", 0.0)
    assert batch.take(0.02) == WatchedChanges((), "rules changed")
    assert batch.due() == math.inf
