"""Work that cannot be called back, as in a thread: who is cancelled while waiting for it goes when it has ended.

Else the next in line would change what it still uses, or read what is there before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

_Result = TypeVar("_Result")


async def uncut(work: Awaitable[_Result]) -> _Result:
    """Return what the work returns; raises what it raises. Cancelled, it waits for the end of the work first."""
    running = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
