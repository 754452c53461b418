"""Bulkheads: few at work, some waiting, more refused; who waits gives back the place among all requests."""

from __future__ import annotations

import asyncio

import pytest

from atlas.core.errors import Unavailable
from atlas.runtime.process.bulkhead import BulkheadLimit, Bulkheads, leave_place


async def test_few_work_some_wait_and_more_are_refused() -> None:
    bulkheads = Bulkheads({"slow": BulkheadLimit(at_work=2, waiting=3)})
    working, done = 0, asyncio.Event()

    async def call() -> None:
        nonlocal working
        async with bulkheads.place("slow"):
            working += 1
            await done.wait()
            working -= 1

    calls = [asyncio.create_task(call()) for _ in range(5)]
    await asyncio.sleep(0.01)
    assert working == 2
    with pytest.raises(Unavailable, match="5 calls of slow"):
        await call()
    calls[4].cancel()
    await asyncio.sleep(0.01)
    calls[4] = asyncio.create_task(call())
    done.set()
    await asyncio.gather(*calls)
    assert working == 0


async def test_other_tools_pass() -> None:
    bulkheads = Bulkheads({"slow": BulkheadLimit(1, 0)})
    async with bulkheads.place("slow"), bulkheads.place("quick"), bulkheads.place("quick"):
        with pytest.raises(Unavailable):
            await bulkheads.place("slow").__aenter__()
    async with bulkheads.place("slow"):
        pass


async def test_a_call_behind_a_bulkhead_holds_no_place_among_all_requests() -> None:
    left: list[str] = []
    leave_place.set(lambda: left.append("left"))
    bulkheads = Bulkheads({"slow": BulkheadLimit(1, 1)})
    async with bulkheads.place("quick"):
        assert not left
    async with bulkheads.place("slow"):
        assert left == ["left"]
