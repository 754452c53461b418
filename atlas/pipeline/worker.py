"""One loop for all tiers: take a batch, let the tier handle it, acknowledge it. Knows neither files nor graph."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from atlas.contracts import Bus


class Tier(Protocol):
    """A consumer of one stream."""

    stream: str
    batch: int
    """At most this many keys at once."""

    async def handle(self, keys: Sequence[str]) -> None:
        """Bring the store up to date for these keys; when it returns their effect is in the store."""
        ...


async def run_until_idle(bus: Bus, tiers: Sequence[Tier]) -> None:
    """Run the tiers side by side, in the order of the data flow, until every stream is empty.

    A tier ends when its stream is empty and the tier before it has ended. An exception in one tier ends all
    and is raised.
    """
    ended = [False] * len(tiers)
    wake = asyncio.Condition()

    async def run(position: int, tier: Tier) -> None:
        while keys := await next_batch(position, tier):
            await tier.handle(keys)
            await bus.acknowledge(tier.stream, keys)
        async with wake:
            ended[position] = True
            wake.notify_all()

    async def next_batch(position: int, tier: Tier) -> list[str]:
        async with wake:  # `ring` needs the lock too: nothing published after an empty take is missed
            while True:
                last_round = position == 0 or ended[position - 1]
                keys = await bus.take(tier.stream, tier.batch)
                if keys or last_round:
                    return keys
                await wake.wait()

    async def ring() -> None:
        while True:
            await bus.changed()
            async with wake:
                wake.notify_all()

    bell = asyncio.create_task(ring())
    running = [asyncio.create_task(run(position, tier)) for position, tier in enumerate(tiers)]
    try:
        await asyncio.gather(*running)
    finally:
        for task in (bell, *running):
            task.cancel()
        await asyncio.gather(bell, *running, return_exceptions=True)
