"""Tells readers every second which watched trees equal their index; see `process.tree_version`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from atlas.code.index.events import AST_DIRTY, FILE_CHANGED
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.watch.watcher import Watcher
from atlas.core.contracts import Streams
from atlas.core.errors import Unavailable
from atlas.runtime.process.tree_version import BEAT_SECONDS, TreeVersions


async def announce_versions(
    versions: TreeVersions, bus: Streams, projects: Sequence[tuple[Workspace, Watcher]]
) -> None:
    """Announce until cancelled, then remove what was announced."""
    before: dict[str, int] = {}
    try:
        while True:
            for workspace, _ in projects:
                name = workspace.name
                noticed = versions.noticed(name)
                # a change of the last second may still be on its way from the watcher to the first stream
                rests = before.get(name) == noticed and not versions.is_settled(name)
                if rests and await _is_current(workspace, bus) and versions.noticed(name) == noticed:
                    versions.settle(name, noticed)
                before[name] = noticed
            watched = [workspace.source for workspace, watcher in projects if watcher.mode == "watching"]
            versions.beat({source.project: str(source.root) for source in watched})
            await asyncio.sleep(BEAT_SECONDS)
    finally:
        versions.close()


async def _is_current(workspace: Workspace, bus: Streams) -> bool:
    """Return whether the store holds every file as the last scan saw it, and no change waits."""
    if not workspace.scans or workspace.stale or workspace.must_relink or workspace.lacks_files():
        return False
    with contextlib.suppress(Unavailable):
        states = await bus.states([FILE_CHANGED, AST_DIRTY])
        return not any(state.waiting or state.pending for state in states)
    return False
