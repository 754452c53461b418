"""Work in threads ends before the cancelled task that waits for it does."""

from __future__ import annotations

import asyncio
import threading

import pytest

from atlas.core.threads import in_thread


async def test_who_is_cancelled_again_and_again_still_goes_after_the_work() -> None:
    go, ended = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(10)
        ended.set()

    waiting = asyncio.create_task(in_thread(work))
    for _ in range(3):
        await asyncio.sleep(0.01)
        waiting.cancel()
    await asyncio.sleep(0.01)
    assert not waiting.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()


async def test_what_the_work_raises_reaches_who_waits() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)
    assert await in_thread(divmod, 7, 2) == (3, 1)
