"""The daemon's tiers without the daemon: hints come in by hand, and the store is true when `settle` returns.

For tests and measurements that need the warm state of a long-running process (manifest, tree, linker) but neither
watcher nor clock. Adapters come in; it must not know which they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.contracts import Embedder, Store, Streams
from atlas.model import Event
from atlas.pipeline.cluster.ownership import claim_project
from atlas.pipeline.events import EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window
from atlas.pipeline.tiers.ast import AstTier
from atlas.pipeline.tiers.embed import EMBED_BATCH, EmbedTier
from atlas.pipeline.tiers.gate import SignificanceGate
from atlas.pipeline.tiers.graph import GraphTier
from atlas.pipeline.worker import Tier, run_until_idle
from atlas.pipeline.workspace import ProjectSource, Workspace

BATCH = Window(0, 2000, 0)
"""The daemon's batch size; nothing is waited for."""


class LiveTiers:
    """Use from one event loop; make it with `open`, close it with `aclose`; store and bus stay the caller's."""

    def __init__(self, workspaces: Mapping[str, Workspace], store: Store, bus: Streams, tiers: Sequence[Tier]) -> None:
        self.workspaces = workspaces
        self._store, self._bus, self._tiers = store, bus, tiers

    @classmethod
    async def open(
        cls,
        sources: Sequence[ProjectSource],
        store: Store,
        bus: Streams,
        gate: SignificanceGate,
        embedder: Embedder | None = None,
        *,
        window: Window = BATCH,
        page: int = EMBED_BATCH,
    ) -> LiveTiers:
        """Register the projects and ask for a look at all of each, as a daemon that starts; `settle` does the work.

        `window` gives the size of every batch, `page` the chunks in one transaction of tier 3. `embedder` None makes no
        vectors.
        """
        workspaces = {source.project: Workspace(source, store) for source in sources}
        for workspace in workspaces.values():
            await claim_project(store, workspace.source)
        tiers: list[Tier] = [
            GraphTier(workspaces, store, bus, window, sweep=False),
            AstTier(workspaces, store, bus, window, gate),
        ]
        if embedder is not None:
            tiers.append(EmbedTier(workspaces, store, embedder, window, page=page))
        live = cls(workspaces, store, bus, tiers)
        for name in workspaces:
            await live.hint([WHOLE_PROJECT], name)
        return live

    async def hint(self, paths: Sequence[str], project: str = "") -> None:
        """Say that something at these paths (files or folders, "" = all) may have changed; "" is the first project."""
        name = project or next(iter(self.workspaces))
        await self._bus.publish(FILE_CHANGED, [Event(name, path) for path in paths])

    async def settle(self, *, sweep: bool = True) -> None:
        """Work until every stream is empty; what an exception left pending is worked on again by the next call.

        `sweep` also makes the vectors that the gate put off, and closes the pass of each project as a daemon does that
        came to rest. Raises whatever a tier raises.
        """
        for tier in self._tiers:
            await self._bus.reclaim(tier.stream, tier.group)
        await run_until_idle(self._bus, self._tiers)
        if not sweep:
            return
        await self._bus.publish(EMBED_DIRTY, [Event(name, WHOLE_PROJECT) for name in self.workspaces])
        await run_until_idle(self._bus, self._tiers[2:])
        for name, workspace in self.workspaces.items():
            await self._store.finish(name, workspace.excluded())
            await workspace.linking.rest()

    async def aclose(self) -> None:
        """Close the facts caches; idempotent. What is pending stays in the bus."""
        for workspace in self.workspaces.values():
            workspace.close()
