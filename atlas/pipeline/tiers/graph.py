"""Tier 1: marks files that may have changed as stale and hands them to tier 2."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from atlas.contracts import Store, Streams
from atlas.errors import AtlasError, Unavailable
from atlas.model import Event
from atlas.pipeline.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window, by_project
from atlas.pipeline.workspace import Workspace

FULL_STREAM_SECONDS = 0.2
"""Delay before publishing to a full stream is tried again."""

PUBLISH_BATCH = 50
"""Events per publish: half of what the smallest stream holds."""


class GraphTier:
    """Tier 1: asks the disk what there is, marks what differs as stale in the store, and hands the paths on."""

    stream, group = FILE_CHANGED, "graph"
    waits: tuple[type[AtlasError], ...] = (Unavailable,)

    def __init__(
        self, workspaces: Mapping[str, Workspace], store: Store, bus: Streams, window: Window, *, sweep: bool = True
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
        for start in range(0, len(dirty), PUBLISH_BATCH):
            part = dirty[start : start + PUBLISH_BATCH]
            while await self._bus.publish(AST_DIRTY, part):  # noqa: ASYNC110
                await asyncio.sleep(FULL_STREAM_SECONDS)
