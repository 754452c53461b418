"""The end of tier 3: embeds code and documents a second time, with the sentence transformer (ADR 0043).

A model is a thousand times slower than the static ones. One call of `handle` embeds one page and requests the next, so
that it holds neither a batch nor a stop for long; what is done is in the store, so that any process can go on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from atlas.code.index.events import (
    QUALITY_DIRTY,
    WHOLE_PROJECT,
    Counters,
    Progress,
    Window,
    by_project,
    no_progress,
)
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.tiers.embed import EMBED_BATCH, EmbedTier
from atlas.core.contracts import Embedder, Store, Streams
from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.core.events import Event
from atlas.core.model import ModelInfo, VectorRow

WINDOW = Window(0, 1000, 0)
"""The daemon's: an event is a whole project, so that nothing is gained by waiting for further ones."""

PAGE = 32
"""Chunks per call and transaction: half a second of a small model, and what a stop waits for."""


class QualityTier:
    """Embeds what the store reports as stale for the model, a page per event."""

    stream, group = QUALITY_DIRTY, "quality"
    waits: tuple[type[AtlasError], ...] = (Unavailable, ConfigError)
    """Includes a model that cannot be loaded: correcting that needs a restart of the daemon."""

    def __init__(
        self,
        workspaces: Mapping[str, Workspace],
        store: Store,
        bus: Streams,
        embedder: Embedder,
        window: Window,
        progress: Progress = no_progress,
        page: int = PAGE,
        *,
        of_all: bool = False,
    ) -> None:
        """`of_all`: also embeds projects without a workspace."""
        self._workspaces, self._store, self._bus, self._embedder = workspaces, store, bus, embedder
        self.counters: dict[str, Counters] = {name: workspace.counters for name, workspace in workspaces.items()}
        self._progress, self._page, self._of_all, self.window = progress, page, of_all, window
        self._places: dict[str, tuple[ModelInfo, str]] = {}
        """Where the last page of a project ended: all pages together cost one scan."""
        self._totals: dict[str, int] = {}

    async def handle(self, events: Sequence[Event]) -> None:
        """Embed one page of each project; request the next one, and at the end a look at what was passed meanwhile."""
        for project in by_project(events):
            if project not in self._workspaces and not self._of_all:
                continue
            try:
                if await self._embed_page(project):
                    await self._bus.publish(QUALITY_DIRTY, [Event(project, WHOLE_PROJECT)])
            except NotFound:
                self._places.pop(project, None)  # the store was emptied meanwhile

    async def _embed_page(self, project: str) -> bool:
        """Return whether something may be left."""
        info = await self._embedder.info()
        model, after = self._places.get(project, (info, ""))
        after = after if model == info else ""
        chunks = await self._store.stale_chunks(project, info, self._page, after)
        if not chunks:
            self._places.pop(project, None)
            return bool(after)
        counters = self.counters.setdefault(project, Counters())
        await self._report(project, counters)
        started = time.process_time()
        vectors = await self._embedder.embed_chunks(chunks)
        if await self._embedder.info() != info:
            raise Unavailable(f"the server no longer serves {info.model}: all its vectors must be made again")
        rows = [VectorRow(chunk.uid, chunk.digest, data) for chunk, data in zip(chunks, vectors, strict=True)]
        await self._store.put_vectors(project, info, rows)
        counters.quality_vectors += len(rows)
        counters.spend("quality", time.process_time() - started)
        await self._report(project, counters)
        self._places[project] = (info, chunks[-1].uid)
        return True

    async def _report(self, project: str, counters: Counters) -> None:
        if self._progress is no_progress:
            return
        if project not in self._totals:
            (stats,) = await self._store.stats(project)
            self._totals[project] = counters.quality_vectors + stats.quality_chunks - stats.quality_vectors
        self._progress("quality", counters.quality_vectors, max(self._totals[project], counters.quality_vectors))


def embedding_tiers(
    workspaces: Mapping[str, Workspace],
    store: Store,
    bus: Streams,
    embedders: Sequence[Embedder],
    quality: Embedder | None,
    window: Window,
    page: int = EMBED_BATCH,
    progress: Progress = no_progress,
) -> list[EmbedTier | QualityTier]:
    """Return tier 3 in the order of its work, as far as there are embedders. `page`: see `EmbedTier`."""
    tiers: list[EmbedTier | QualityTier] = []
    if embedders:
        further = bus if quality is not None else None
        tiers.append(EmbedTier(workspaces, store, embedders, window, progress, page, before_quality=further))
    if quality is not None:
        tiers.append(QualityTier(workspaces, store, bus, quality, WINDOW, progress, min(page, PAGE)))
    return tiers
