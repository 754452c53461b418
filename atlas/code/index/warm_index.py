"""An index that one process updates again and again: what a pass has read stays in memory for the next one.

Between passes the process gives up the right to write. The next pass goes on from the workspace only if nobody has
written to the store meanwhile; otherwise a pass over everything makes a new one. A pass over a few files thus costs
what they cost: no scan of the tree, no manifest, no snapshot of the linker.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from atlas.code.index.events import WHOLE_PROJECT
from atlas.core.errors import AtlasError

if TYPE_CHECKING:
    from atlas.code.index.index import Indexer
    from atlas.code.index.project.workspace import ProjectSource, Workspace
    from atlas.core.contracts import Store
    from atlas.core.project_state import ProjectState

SAVE_SECONDS = 10.0
"""After this long without a pass, the linker is saved for the next process."""
DROP_SECONDS = 600.0
"""After this long without a pass, the workspace is dropped."""
WHOLE_SECONDS = 60.0
"""The first pass after this time scans the whole tree: manifests that are not indexed say where packages are."""

OpenIndexer = Callable[["ProjectSource"], AbstractAsyncContextManager["Indexer"]]
"""Opens the index for writing. Raises WriterBusy while another process writes."""


class WarmIndex:
    """Use from one event loop; close with `aclose`."""

    def __init__(self, open_indexer: OpenIndexer, is_large: Callable[[], bool]) -> None:
        """`is_large`: whether the process uses so much memory that nothing is kept."""
        self._open, self._is_large = open_indexer, is_large
        self._workspace: Workspace | None = None
        self._state: ProjectState | None = None
        """Of the project in the store after the last pass."""
        self._scanned_at = 0.0
        self._lock = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    async def take(self, workspace: Workspace, store: Store) -> None:
        """Keep the workspace of a finished pass over everything, or close it."""
        async with self._lock:
            self._drop()
            if self._is_large():
                workspace.close()
                return
            await workspace.save_linker()
            self._workspace, self._scanned_at = workspace, time.monotonic()
            await self._rest(store)

    async def update(self, paths: Collection[str], *, everything: bool = False) -> bool:
        """Bring the index up to date for these files; return False if a pass over everything has to do that.

        `everything`: the whole tree is scanned. Raises WriterBusy, and as a pass does.
        """
        async with self._lock:
            workspace, state = self._workspace, self._state
            if workspace is None or state is None:
                return False
            whole = everything or time.monotonic() - self._scanned_at >= WHOLE_SECONDS
            async with self._open(workspace.source) as indexer:
                if await _state_of(indexer.store, workspace.name) != state:
                    self._drop()
                    return False
                began = time.monotonic()
                try:
                    await indexer.update(workspace, [WHOLE_PROJECT] if whole else sorted(paths))
                    await self._rest(indexer.store)
                except BaseException:
                    self._drop()
                    raise
                self._scanned_at = began if whole else self._scanned_at
                if self._is_large():
                    await workspace.save_linker()
                    self._drop()
        return True

    async def save(self) -> None:
        """Save the linker and the facts for the next process, unless another one writes or has written."""
        async with self._lock:
            workspace = self._workspace
            if workspace is None or not workspace.is_unsaved:
                return
            async with self._open(workspace.source) as indexer:
                if await _state_of(indexer.store, workspace.name) != self._state:
                    self._drop()
                    return
                await workspace.save_linker()
                await indexer.store.finish(workspace.name, workspace.excluded())
                await self._rest(indexer.store)

    async def aclose(self) -> None:
        """Save and drop everything; idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.gather(self._timer, return_exceptions=True)
        with contextlib.suppress(AtlasError):
            await self.save()
        self._drop()

    async def _rest(self, store: Store) -> None:
        """Note the state of the store, and let another process use the facts."""
        assert self._workspace is not None
        self._state = await _state_of(store, self._workspace.name)
        self._workspace.put_facts_away()
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(self._when_idle())
        self._used_at = time.monotonic()

    async def _when_idle(self) -> None:
        """Save, and later drop, a workspace that no pass uses."""
        while self._workspace is not None:
            idle = time.monotonic() - self._used_at
            is_saved = not self._workspace.is_unsaved
            if idle >= DROP_SECONDS:
                await self._end()
                return
            if idle >= SAVE_SECONDS and not is_saved:
                used_at = self._used_at
                with contextlib.suppress(AtlasError):
                    await self.save()
                self._used_at = used_at
            await asyncio.sleep(SAVE_SECONDS)

    async def _end(self) -> None:
        with contextlib.suppress(AtlasError):
            await self.save()
        async with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._workspace is not None:
            self._workspace.close()
        self._workspace = self._state = None


async def _state_of(store: Store, project: str) -> ProjectState | None:
    return next((state for state in await store.projects() if state.project == project), None)
