"""Calls at once while a pass is due: one pass serves all who wait, no call fails, and every write is kept."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from atlas.app.freshness import FreshnessGuard
from atlas.app.single_flight import SingleFlight
from atlas.core.contracts import Store
from atlas.runtime.config.settings import Settings
from atlas.server.http.log import RateLimitFilter

from .parallel import LOADS, STATES, Rounds, make_project, sessions, until_settled

pytestmark = pytest.mark.slow
TRANSPORTS = ("stdio", "http", "two sessions", "ten sessions")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("load", LOADS)
async def test_calls_at_once_are_all_served(tmp_path: Path, transport: str, load: str) -> None:
    place = make_project(tmp_path)
    async with sessions(place, transport) as calls:
        rounds = Rounds(place, calls)
        for cancels in (False, True):
            for state in STATES if not cancels else STATES[1:]:
                await rounds.play(state, load, cancels=cancels)
        await until_settled(rounds)
        assert "place part3.py:1" in await calls[0]("get_node", {"name": f"on_{rounds.branch}_3"})
    rounds.check_writes()
    assert rounds.asked == 50


@pytest.mark.parametrize("transport", ("stdio", "ten sessions"))
async def test_calls_that_are_cancelled_leave_the_first_index_to_the_others(tmp_path: Path, transport: str) -> None:
    place = make_project(tmp_path)
    async with sessions(place, transport) as calls:
        rounds = Rounds(place, calls)
        await rounds.play("no index", "mixed", cancels=True, at_once=20)
        await until_settled(rounds)
    rounds.check_writes()


async def test_ten_questions_after_an_edit_share_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass may come when all is indexed already. How often one writes depends on what it finds, and on the time."""
    writes: list[int] = []
    index = FreshnessGuard._index

    async def counted(self: FreshnessGuard, settings: Settings, store: Store | None) -> None:
        before = await _generation(store)
        await index(self, settings, store)
        writes.append(await _generation(store) - before)

    monkeypatch.setattr(FreshnessGuard, "_index", counted)
    place = make_project(tmp_path)
    async with sessions(place, "one in this process") as calls:
        (call,) = calls
        rounds = Rounds(place, calls)
        await rounds.play("no index", "reads", cancels=False)
        await until_settled(rounds)
        for at_once in (1, 10, 10, 10):
            writes.clear()
            await rounds.play("one file changed", "reads", cancels=False, at_once=at_once)
            await until_settled(rounds)
            assert len([each for each in writes if each]) == 1, writes
        assert "place fresh_2.py:1" in await call("get_node", {"name": "fresh_5"})


async def _generation(store: Store | None) -> int:
    return 0 if store is None else max(state.generation for state in await store.projects())


async def test_a_waiter_that_is_cancelled_leaves_the_run_to_the_others() -> None:
    runs = 0
    release = asyncio.Event()

    async def work() -> int:
        nonlocal runs
        runs += 1
        await release.wait()
        return runs

    flight: SingleFlight[int] = SingleFlight()
    waiters = [asyncio.create_task(flight.after(0.0, work)) for _ in range(5)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    await asyncio.sleep(0)
    assert await flight.after(0.0, work, seconds=0.0) is None
    release.set()
    ended = await asyncio.gather(*waiters[1:])
    assert [run.task.result() for run in ended if run is not None] == [1, 1, 1, 1]
    # a later question wants a run that began after it
    now = asyncio.get_running_loop().time()
    later = await asyncio.gather(*(flight.after(now, work) for _ in range(3)))
    assert [run.task.result() for run in later if run is not None] == [2, 2, 2]


def test_the_log_holds_one_traceback_of_a_repeated_failure() -> None:
    log_filter = RateLimitFilter()
    shown = []
    for number in range(4):
        try:
            raise ValueError(f"number {number}")
        except ValueError as error:
            record = logging.LogRecord(
                "atlas.mcp",
                logging.ERROR,
                __file__,
                1,
                "tool %s failed",
                ("get_node",),
                (type(error), error, error.__traceback__),
            )
        if log_filter.filter(record):
            shown.append(logging.Formatter("%(message)s").format(record))
    assert "Traceback" in shown[0]
    assert [line.splitlines() for line in shown[1:]] == [
        [f"tool get_node failed: ValueError: number {number} (traceback above)"] for number in (1, 2, 3)
    ]
