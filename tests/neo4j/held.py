"""A project whose node another transaction holds, so that no write of its graph goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from atlas.adapters.stores.bolt.connection import BoltConnection, Transaction


@asynccontextmanager
async def held(link: BoltConnection, project: str) -> AsyncGenerator[None]:
    """Hold the project until the block ends."""
    began, may_end = asyncio.Event(), asyncio.Event()

    async def hold(transaction: Transaction) -> None:
        await transaction.rows("MATCH (p:AtlasProject {name: $name}) SET p.x = 1", name=project)
        began.set()
        await may_end.wait()

    holding = asyncio.create_task(link.write(hold))
    await began.wait()
    try:
        yield
    finally:
        may_end.set()
        await holding
