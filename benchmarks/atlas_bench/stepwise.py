"""The daemon's tiers without the daemon: the caller gives hints, and `settle` brings the store up to date.

For tests and measurements that need the warm state of a long-running process (manifest, tree, linker) but neither
watcher nor timers. It knows no adapters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.code.index.cluster.ownership import claim_project
from atlas.code.index.events import EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window
from atlas.code.index.project.workspace import ProjectSource, Workspace
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.tiers.embed import EMBED_BATCH
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.tiers.graph import GraphTier
from atlas.code.index.tiers.sentence_transformer import embedding_tiers
from atlas.code.index.worker import Tier, run_until_idle
from atlas.core.contracts import Embedder, Store, Streams
from atlas.core.events import Event

BATCH = Window(0, 2000, 0)
"""The daemon's batch size, without delays."""


class LiveTiers:
    """Use from one event loop; create it with `open`, close it with `aclose`. The caller closes store and bus."""

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
        embedders: Sequence[Embedder] = (),
        *,
        window: Window = BATCH,
        page: int = EMBED_BATCH,
        quality: Embedder | None = None,
    ) -> LiveTiers:
        """Register the projects and request a scan of each, as a starting daemon does; `settle` does the work.

        `window` gives the size of every batch, `page` the chunks in one transaction of tier 3. Without
        `embedders` it makes no vectors, without `quality` none of a sentence transformer.
        """
        workspaces = {source.project: Workspace(source, store) for source in sources}
        for workspace in workspaces.values():
            await claim_project(store, workspace.source)
        tiers: list[Tier] = [
            GraphTier(workspaces, store, bus, window, sweep=False),
            AstTier(workspaces, store, bus, window, gate),
        ]
        tiers += embedding_tiers(workspaces, store, bus, embedders, quality, window, page)
        live = cls(workspaces, store, bus, tiers)
        for name in workspaces:
            await live.hint([WHOLE_PROJECT], name)
        return live

    async def hint(self, paths: Sequence[str], project: str = "") -> None:
        """Hint that something at these paths (files or folders, "" = all) may have changed; "" is the first project."""
        name = project or next(iter(self.workspaces))
        await self._bus.publish(FILE_CHANGED, [Event(name, path) for path in paths])

    async def settle(self, *, sweep: bool = True) -> None:
        """Work until every stream is empty; the next call processes events that an exception left pending.

        `sweep` also makes the vectors that the gate deferred and finishes the pass of each project, as an idle daemon
        does. Raises what a tier raises.
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
        """Close the facts caches; idempotent. Pending events stay in the bus."""
        for workspace in self.workspaces.values():
            workspace.close()
