"""The first and the third tier: marking what may have changed, and vectors for changed text. Tier 2 is `ast.py`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from atlas.contracts import Bus, Embedder, Store
from atlas.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.model import Chunk, Event, ModelInfo, VectorRow
from atlas.pipeline.events import (
    AST_DIRTY,
    EMBED_DIRTY,
    FILE_CHANGED,
    WHOLE_PROJECT,
    Counters,
    Progress,
    Window,
    by_project,
    no_progress,
)
from atlas.pipeline.workspace import Workspace

BULK = 1_000_000
"""Window size of a pass: whatever waits is one batch."""

FULL_SECONDS = 0.2
"""How long to wait before a full stream is tried again."""

HANDED_ON = 50
"""Events published at once; half of what the smallest stream holds."""

EMBED_BATCH = 2048
"""Chunks per transaction: some 6 MB of text, 1 MB of vectors."""


class GraphTier:
    """Tier 1: asks the disk what there is, marks what differs as stale in the store, and hands the paths on."""

    stream, group = FILE_CHANGED, "graph"
    waits: tuple[type[AtlasError], ...] = (Unavailable,)

    def __init__(
        self, workspaces: Mapping[str, Workspace], store: Store, bus: Bus, window: Window, *, sweep: bool = True
    ) -> None:
        """`sweep`: each look at a whole tree has all stale vectors made."""
        self._workspaces, self._store, self._bus, self.window = workspaces, store, bus, window
        self._sweep = sweep

    async def handle(self, events: Sequence[Event]) -> None:
        """Mark the files that these events are about; when it returns tier 2 knows of every one that differs."""
        for project, keys in by_project(events).items():
            if (workspace := self._workspaces.get(project)) is not None:
                await self._look(workspace, keys)

    async def _look(self, workspace: Workspace, keys: Sequence[str]) -> None:
        if workspace.looks and not await asyncio.to_thread(workspace.source.root.is_dir):
            # moved or unmounted: what is indexed stays, and all is looked at when it is back
            workspace.problem, workspace.away = f"{workspace.source.root} is gone", True
            return
        look = await workspace.look(keys)
        if not await asyncio.to_thread(workspace.source.root.is_dir):
            # it went while it was looked at: what was found may be a part only
            workspace.away = True
        async with workspace.writing:
            # a write of tier 2 may have failed since the look: a mark would bring back the record that it replaced
            await workspace.reread()
            marks = workspace.marks(look.dirty)
            if marks:
                try:
                    await self._store.apply(marks)
                except BaseException:
                    workspace.doubt()
                    raise
                workspace.applied(marks)
        dirty = [Event(workspace.name, path) for path in look.dirty]
        if look.relink:
            dirty.append(Event(workspace.name, WHOLE_PROJECT))
        await self._hand_on(dirty)
        workspace.handed_on(look)
        if look.everything and self._sweep:
            # vectors of another model, of changes that the gate put off, or of a pass that was cut off
            await self._bus.publish(EMBED_DIRTY, [Event(workspace.name, WHOLE_PROJECT)])

    async def _hand_on(self, dirty: Sequence[Event]) -> None:
        """Publish for tier 2, which may be another process; while its stream is full it is waited for.

        Which events were refused is not known, and what was taken meanwhile is added again: only a part that fits ends.
        """
        for start in range(0, len(dirty), HANDED_ON):
            part = dirty[start : start + HANDED_ON]
            while await self._bus.publish(AST_DIRTY, part):  # noqa: ASYNC110
                await asyncio.sleep(FULL_SECONDS)


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
        tally.seconds["embed"] = tally.seconds.get("embed", 0.0) + time.process_time() - started
        self._progress("embed", tally.vectors, 0)
