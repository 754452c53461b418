"""I1 when anything may fail at any time: random edits with exact hints, tiers side by side, a store that refuses at random."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from atlas_bench.stepwise import LiveTiers

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source, make_writing_embedders
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.worker import Tier
from atlas.core.errors import StoreError, Unavailable
from atlas.core.model import FileRecord, GraphDelta, ModelInfo, VectorRow
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from tests.pipeline.polyglot import Life, tree
from tests.pipeline.test_live import aclean
from tests.pipeline.trees import dump, write_tree

SEQUENCES = int(os.environ.get("ATLAS_TEST_SEQUENCES", "6"))
SEED = int(os.environ.get("ATLAS_TEST_SEED", "0"))

_Result = TypeVar("_Result")


class Moody(EmbeddedStore):
    """A store that refuses before or after a write, and before a read; slowly or at once."""

    chance: random.Random
    mood = 0.0
    refused = 0

    async def _moody(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        before, after = self.chance.random() < self.mood, self.chance.random() < self.mood / 2
        if self.chance.random() < 0.3:
            await asyncio.sleep(0.01 * self.chance.random())
        if before:
            raise self._error()
        result = await work()
        if after:
            raise self._error()
        return result

    def _error(self) -> Exception:
        self.refused += 1
        return self.chance.choice((Unavailable("away", ""), StoreError("refused", ""), RuntimeError("unexpected")))

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        return await self._moody(lambda: super(Moody, self).apply(deltas))

    async def apply_batches(self, batches: AsyncIterator[Sequence[GraphDelta]]) -> AsyncGenerator[Sequence[GraphDelta]]:
        """Requests each batch while it writes the one before, as a store on a server does."""

        async def following() -> Sequence[GraphDelta] | None:
            return await anext(batches, None)

        upcoming = asyncio.create_task(following())
        try:
            while (batch := await upcoming) is not None:
                upcoming = asyncio.create_task(following())
                await self.apply(batch)
                yield batch
        finally:
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)

    async def put_vectors(self, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
        await self._moody(lambda: super(Moody, self).put_vectors(project, model, vectors))

    async def manifest(self, project: str) -> dict[str, FileRecord]:
        return await self._moody(lambda: super(Moody, self).manifest(project))


def stats(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return what tells one state of a tree from another; links are not followed."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            state = path.lstat()
            found[str(path.relative_to(root))] = (state.st_ino, state.st_mtime_ns, state.st_size)
    return found


async def work(bus: MemoryBus, tier: Tier, chance: random.Random, stop: asyncio.Event) -> None:
    """Do what a worker does, without its patience; now and then be cancelled in the middle of a batch."""
    while not stop.is_set():
        batch = await bus.take(tier.stream, tier.group, chance.choice((1, 3, 50)), 0.01)
        ids = [one.id for one in batch]
        working = asyncio.create_task(tier.handle([one.event for one in batch]))
        if batch and chance.random() < 0.05:
            await asyncio.sleep(0.01 * chance.random())
            working.cancel()
        await asyncio.wait({working})
        try:
            if working.cancelled():
                await bus.reclaim(tier.stream, tier.group)
                continue
            await working
        except (StoreError, Unavailable, RuntimeError) as error:
            await bus.nack(tier.stream, tier.group, ids, str(error))
        else:
            await bus.acknowledge(tier.stream, tier.group, ids)


@pytest.mark.parametrize("seed", range(SEED, SEED + SEQUENCES))
async def test_whatever_fails_the_graph_ends_clean(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, clean = await live_through(Path(folder), random.Random(seed))
    assert found == clean


async def live_through(folder: Path, chance: random.Random) -> tuple[object, object]:
    """What is in the store afterwards, and what a clean index of the tree holds."""
    root, data = folder / "p", folder / "d"
    first = tree(25, chance)
    write_tree(root, first)
    life = Life(root, first, chance)
    chosen = load_settings(project=str(root), data_dir=str(data))
    store = Moody.open(data, writing=True, vector_index=VectorIndex)
    assert isinstance(store, Moody)
    store.chance = chance
    bus = MemoryBus(retry_policy=RetryPolicy(attempts=1000, first_delay=0.005, longest_delay=0.02))
    live = await LiveTiers.open(
        [make_source(chosen)], store, bus, SignificanceGate(store), make_writing_embedders(chosen), page=7
    )
    await live.settle()
    tiers, stop = live._tiers, asyncio.Event()  # pyright: ignore[reportPrivateUsage]
    working = [asyncio.create_task(work(bus, tier, chance, stop)) for tier in tiers]
    store.mood = chance.choice((0.05, 0.2, 0.4))
    for _ in range(40):
        before = stats(root)
        life.live(chance.randint(1, 3))
        after = stats(root)
        hints = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        chance.shuffle(hints)
        await live.hint(hints)
        await asyncio.sleep(0.05 * chance.random())
    store.mood = 0.0
    async with asyncio.timeout(60):
        while any(state.waiting or state.pending for state in await bus.states()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    stop.set()
    await asyncio.gather(*working)
    assert store.refused
    place = live.workspaces["p"]
    assert not place.stale and not place.must_compare_all, "exact hints are enough"
    await live.settle()
    await live.aclose()
    await store.aclose()
    return dump(data), await aclean(root, folder / "fresh")
