"""Progress of a session: from any phase and thread to a percentage that only grows."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from atlas.code.tools.state.index_pass import PHASES, IndexProgress


@given(st.lists(st.tuples(st.sampled_from(sorted(PHASES)), st.integers(0, 100), st.integers(0, 50))))
def test_percentage_only_grows_and_stays_in_bounds(reports: list[tuple[str, int, int]]) -> None:
    progress = IndexProgress()
    last = 0.0
    for phase, done, total in reports:
        progress(phase, done, total)
        assert last <= progress._percent <= 100
        last = progress._percent


async def test_the_client_hears_the_latest_only() -> None:
    heard: list[tuple[float, float, str]] = []

    async def report(done: float, total: float, message: str) -> None:
        heard.append((done, total, message))

    progress = IndexProgress()
    pump = asyncio.create_task(progress.pump(report))
    await asyncio.sleep(0.01)
    for done in range(101):
        progress("parse", done, 100)
    await asyncio.sleep(0.5)
    pump.cancel()
    assert heard == [(0.0, 100, "starting"), (40.0, 100, "parsing 100/100")]
