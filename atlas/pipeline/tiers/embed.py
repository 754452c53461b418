"""Tier 3: embeds the chunks that the store reports as stale."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from atlas.contracts import Embedder, Store
from atlas.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.model import Chunk, Event, ModelInfo, VectorRow
from atlas.pipeline.events import EMBED_DIRTY, WHOLE_PROJECT, Counters, Progress, Window, by_project, no_progress
from atlas.pipeline.workspace import Workspace

EMBED_BATCH = 2048
"""Chunks per transaction: about 6 MB of text and 1 MB of vectors."""


class EmbedTier:
    """Tier 3: embeds what the store says is stale; the keys only say where to look."""

    stream, group = EMBED_DIRTY, "embed"
    waits: tuple[type[AtlasError], ...] = (Unavailable, ConfigError)
    """Also a key that is refused or a model of another dimension: whoever corrects that starts the daemon again."""

    def __init__(
        self,
        workspaces: Mapping[str, Workspace],
        store: Store,
        embedder: Embedder,
        window: Window,
        progress: Progress = no_progress,
        page: int = EMBED_BATCH,
        *,
        of_all: bool = False,
    ) -> None:
        """`page` chunks are written in one transaction: it bounds how long a write of tier 2 waits for this tier.

        `of_all`: projects without a workspace too, as it is all in the store; else they are left to others.
        """
        self._workspaces, self._store, self._embedder, self._of_all = workspaces, store, embedder, of_all
        self.tallies: dict[str, Counters] = {name: workspace.counters for name, workspace in workspaces.items()}
        self._progress, self._page, self.window = progress, page, window

    async def handle(self, events: Sequence[Event]) -> None:
        """Make the vectors of these symbols, or all of a project, up to date."""
        for project, keys in by_project(events).items():
            if project not in self._workspaces and not self._of_all:
                continue
            try:
                if WHOLE_PROJECT in keys:
                    await self._embed_all(project)
                else:
                    for start in range(0, len(keys), self._page):
                        await self._embed(project, keys[start : start + self._page])
            except NotFound:
                continue  # the store was emptied since

    async def _embed_all(self, project: str) -> None:
        """Page through the stale chunks; the next page is read while one is written."""
        info = await self._embedder.info()
        chunks = await self._store.stale_chunks(project, info, self._page)
        while chunks:
            _, chunks = await asyncio.gather(
                self._put(project, chunks, info),
                self._store.stale_chunks(project, info, self._page, chunks[-1].uid),
            )

    async def _embed(self, project: str, uids: Sequence[str]) -> None:
        info = await self._embedder.info()
        chunks = await self._store.stale_chunks(project, info, self._page, uids=uids)
        if chunks:
            await self._put(project, chunks, info)

    async def _put(self, project: str, chunks: Sequence[Chunk], info: ModelInfo) -> None:
        started, tally = time.process_time(), self.tallies.setdefault(project, Counters())
        vectors = await self._embedder.embed_chunks(chunks)
        if await self._embedder.info() != info:  # a server was started again with another model
            raise Unavailable(f"the embedder no longer serves {info.model}: all vectors are to be made again")
        rows = [VectorRow(chunk.uid, chunk.digest, data) for chunk, data in zip(chunks, vectors, strict=True)]
        await self._store.put_vectors(project, info, rows)
        tally.vectors += len(rows)
        tally.spend("embed", time.process_time() - started)
        self._progress("embed", tally.vectors, 0)
