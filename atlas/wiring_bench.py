"""The part of the composition root that only measurements and tests of I1 need: a warm index, a comparison."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from atlas.bench.compare import Comparison, compare
from atlas.buses.memory import MemoryBus
from atlas.config import Settings
from atlas.parsing import VectorIndex
from atlas.pipeline.gate import Gate
from atlas.pipeline.live import LiveTiers
from atlas.stores.embedded import EmbeddedStore
from atlas.stores.embedded_whole import open_whole
from atlas.wiring import make_embedder, make_source


@asynccontextmanager
async def open_live(settings: Settings) -> AsyncGenerator[LiveTiers]:
    """Keep the index of one project warm in this process, over a bus of its own; see `LiveTiers`.

    Raises as `wiring.open_atlas` for writing does.
    """
    store = EmbeddedStore.open(settings.data_dir, writing=True, vector_index=VectorIndex)
    try:
        gate = Gate(store, settings.pipeline.body_threshold / 100)
        embedder = None if settings.embedder.provider == "none" else make_embedder(settings)
        live = await LiveTiers.open([make_source(settings)], store, MemoryBus(), gate, embedder)
        try:
            yield live
        finally:
            await live.aclose()
    finally:
        await store.aclose()


def compare_indexes(a: Path, b: Path) -> Comparison:
    """Compare the stores of two data directories whole. Raises NotFound, SchemaMismatch and StoreError."""
    with open_whole(a) as one, open_whole(b) as other:
        return compare(one, other)
