"""Tasks that run next to a block of code and end with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager


@asynccontextmanager
async def in_background(work: Coroutine[object, object, None]) -> AsyncGenerator[None]:
    """Run `work` during the block, then cancel it and wait for its end; its errors are dropped."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
