"""Tier 1: marks files that may have changed as stale and publishes them for tier 2."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window, by_project
from atlas.code.index.project.workspace import Workspace
from atlas.core.contracts import Store, Streams
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.events import Event

FULL_STREAM_SECONDS = 0.2
"""Delay before publishing to a full stream is tried again."""

PUBLISH_BATCH = 50
"""Events per publish: half of what the smallest stream holds."""


class GraphTier:
    """Tier 1: scans the disk, marks files that differ as stale in the store, and publishes their paths."""

    stream, group = FILE_CHANGED, "graph"
    waits: tuple[type[AtlasError], ...] = (Unavailable,)

    def __init__(
        self, workspaces: Mapping[str, Workspace], store: Store, bus: Streams, window: Window, *, sweep: bool = True
    ) -> None:
        """`sweep`: each scan of a whole tree also requests all stale vectors."""
        self._workspaces, self._store, self._bus, self.window = workspaces, store, bus, window
        self._sweep = sweep

    async def handle(self, events: Sequence[Event]) -> None:
        """Mark the files that these events name; when it returns, tier 2 knows of every file that differs."""
        for project, keys in by_project(events).items():
            if (workspace := self._workspaces.get(project)) is not None:
                await self._scan(workspace, keys)

    async def _scan(self, workspace: Workspace, keys: Sequence[str]) -> None:
        root = workspace.source.root
        if workspace.scans and not await asyncio.to_thread(root.is_dir):
            # moved or unmounted: the index stays as it is, and the whole tree is scanned when the root is back
            workspace.report_missing_root(f"{root} is gone")
            return
        delta = await workspace.scan(keys)
        if not await asyncio.to_thread(root.is_dir):
            # removed during the scan, which may have found only part of the tree
            workspace.report_missing_root()
        async with workspace.writing:
            # after a failed write of tier 2 since the scan, a mark would bring back the record that it replaced
            await workspace.reload()
            marks = workspace.stale_marks(delta.dirty)
            if marks:
                try:
                    await self._store.apply(marks)
                except BaseException:  # also a cancellation: the write may have been committed or not
                    workspace.distrust_manifest()
                    raise
                workspace.record_written(marks)
        dirty = [Event(workspace.name, path) for path in delta.dirty]
        if delta.relink:
            dirty.append(Event(workspace.name, WHOLE_PROJECT))
        await self._publish(dirty)
        workspace.confirm_published(delta)
        if delta.everything and self._sweep:
            # covers vectors of another model, changes that the gate deferred, and interrupted passes
            await self._bus.publish(EMBED_DIRTY, [Event(workspace.name, WHOLE_PROJECT)])

    async def _publish(self, dirty: Sequence[Event]) -> None:
        """Publish events for tier 2, which may run in another process; waits while its stream is full.

        `publish` does not say which events it refused, and taken events would be added again, so each batch is small
        enough to fit.
        """
        for start in range(0, len(dirty), PUBLISH_BATCH):
            part = dirty[start : start + PUBLISH_BATCH]
            while await self._bus.publish(AST_DIRTY, part):  # noqa: ASYNC110
                await asyncio.sleep(FULL_STREAM_SECONDS)
