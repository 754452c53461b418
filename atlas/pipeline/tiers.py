"""The first and the third tier: marking what may have changed, and vectors for changed text. Tier 2 is `ast.py`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from atlas.contracts import Bus, Embedder, Store
from atlas.model import STRUCTURE, FileRecord, GraphDelta, VectorRow
from atlas.pipeline.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED, Progress, Tally
from atlas.pipeline.tree import PENDING

EMBED_BATCH = 2048
"""Chunks per transaction: some 6 MB of text, 1 MB of vectors."""


class GraphTier:
    """Tier 1: records in the store that a pass is under way and hands the paths on, always."""

    stream = FILE_CHANGED
    batch = 1_000_000

    def __init__(self, project: str, store: Store, bus: Bus) -> None:
        self._project, self._store, self._bus = project, store, bus

    async def handle(self, keys: Sequence[str]) -> None:
        """Mark the project's structure as pending (an interrupted pass is seen by the next one), then publish."""
        record = (await self._store.records(self._project, [STRUCTURE])).get(STRUCTURE, FileRecord(STRUCTURE))
        pending = replace(record, unit_digest=PENDING + record.unit_digest.removeprefix(PENDING))
        await self._store.apply([GraphDelta(self._project, STRUCTURE, pending)])
        await self._bus.publish(AST_DIRTY, keys)


class EmbedTier:
    """Tier 3: embeds whatever the store says is stale; the keys only say when to look."""

    stream = EMBED_DIRTY
    batch = 1_000_000

    def __init__(self, project: str, store: Store, embedder: Embedder, progress: Progress, tally: Tally) -> None:
        self._project, self._store, self._embedder = project, store, embedder
        self._progress, self._tally = progress, tally

    async def handle(self, keys: Sequence[str]) -> None:
        """Make vectors until no chunk of the project is stale; the next page is read while one is written."""
        store, project, info = self._store, self._project, self._embedder.info
        chunks = await store.stale_chunks(project, info, EMBED_BATCH)
        while chunks:
            started = time.process_time()
            vectors = await self._embedder.embed_chunks(chunks)
            rows = [VectorRow(chunk.uid, chunk.digest, data) for chunk, data in zip(chunks, vectors, strict=True)]
            _, chunks = await asyncio.gather(
                store.put_vectors(project, info, rows),
                store.stale_chunks(project, info, EMBED_BATCH, chunks[-1].uid),
            )
            self._tally.vectors += len(rows)
            self._tally.seconds["embed"] = self._tally.seconds.get("embed", 0.0) + time.process_time() - started
            self._progress("embed", self._tally.vectors, 0)
