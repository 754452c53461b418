"""Tier 3: embeds the chunks that the store reports as stale, with one embedder for each vector space."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from atlas.code.index.events import (
    EMBED_DIRTY,
    QUALITY_DIRTY,
    WHOLE_PROJECT,
    Counters,
    Progress,
    Window,
    by_project,
    no_progress,
)
from atlas.code.index.project.workspace import Workspace
from atlas.core.contracts import Embedder, Store, Streams
from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.core.events import Event
from atlas.core.model import Chunk, ModelInfo, VectorRow

EMBED_BATCH = 2048
"""Chunks per transaction: about 6 MB of text and 1 MB of vectors."""


class EmbedTier:
    """Tier 3: embeds the chunks that the store reports as stale among the symbols that the events name."""

    stream, group = EMBED_DIRTY, "embed"
    waits: tuple[type[AtlasError], ...] = (Unavailable, ConfigError)
    """Includes a rejected key and a model of another dimension: correcting them needs a restart of the daemon."""

    def __init__(
        self,
        workspaces: Mapping[str, Workspace],
        store: Store,
        embedders: Sequence[Embedder],
        window: Window,
        progress: Progress = no_progress,
        page: int = EMBED_BATCH,
        *,
        of_all: bool = False,
        before_quality: Streams | None = None,
    ) -> None:
        """`embedders` work in this order: models that need no server first, so that they do not wait for one.

        `page` chunks are written in one transaction, which limits how long a write of tier 2 waits for this tier.

        `of_all`: also embeds projects without a workspace; otherwise other processes embed them. `before_quality`: the
        streams with a `QualityTier`, which continues where this tier ends.
        """
        self._before_quality = before_quality
        self._workspaces, self._store, self._embedders, self._of_all = workspaces, store, embedders, of_all
        self.counters: dict[str, Counters] = {name: workspace.counters for name, workspace in workspaces.items()}
        self._progress, self._page, self.window = progress, page, window

    async def handle(self, events: Sequence[Event]) -> None:
        """Bring the vectors of these symbols, or of a whole project, up to date."""
        for project, keys in by_project(events).items():
            if project not in self._workspaces and not self._of_all:
                continue
            try:
                for embedder in self._embedders:
                    if WHOLE_PROJECT in keys:
                        await self._embed_all(project, embedder)
                        continue
                    for start in range(0, len(keys), self._page):
                        await self._embed(project, embedder, keys[start : start + self._page])
                if self._before_quality is not None:
                    await self._before_quality.publish(QUALITY_DIRTY, [Event(project, WHOLE_PROJECT)])
            except NotFound:
                continue  # the store was emptied meanwhile

    async def _embed_all(self, project: str, embedder: Embedder) -> None:
        """Embed all stale chunks page by page; reads the next page while it writes one."""
        info = await embedder.info()
        chunks = await self._store.stale_chunks(project, info, self._page)
        while chunks:
            _, chunks = await asyncio.gather(
                self._put(project, embedder, chunks, info),
                self._store.stale_chunks(project, info, self._page, chunks[-1].uid),
            )

    async def _embed(self, project: str, embedder: Embedder, uids: Sequence[str]) -> None:
        info = await embedder.info()
        chunks = await self._store.stale_chunks(project, info, self._page, uids=uids)
        if chunks:
            await self._put(project, embedder, chunks, info)

    async def _put(self, project: str, embedder: Embedder, chunks: Sequence[Chunk], info: ModelInfo) -> None:
        started, counters = time.process_time(), self.counters.setdefault(project, Counters())
        vectors = await embedder.embed_chunks(chunks)
        if await embedder.info() != info:  # the server was restarted with another model
            raise Unavailable(f"the embedder no longer serves {info.model}: all vectors must be made again")
        rows = [VectorRow(chunk.uid, chunk.digest, data) for chunk, data in zip(chunks, vectors, strict=True)]
        await self._store.put_vectors(project, info, rows)
        counters.vectors += len(rows)
        counters.spend("embed", time.process_time() - started)
        self._progress("embed", counters.vectors, 0)


async def check_models(store: Store, embedders: Sequence[Embedder]) -> None:
    """Raise ConfigError if the store's vectors are of another model: a worker that only embeds must not change it."""
    states = await store.projects()
    for embedder in embedders:
        info = await embedder.info()
        stored = (state.model(info.space) for state in states)
        other = next((model for model in stored if model not in (None, info)), None)
        if other is None:
            continue
        raise ConfigError(
            f"the vectors in the store are of {other.model}, this worker uses {info.model}",
            "Use the embedder settings of the other workers; to change the model, start one with all tiers.",
        )
