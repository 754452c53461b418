"""One pass over a tree: scan everything and run the tiers over the memory bus until all streams are empty.

The tiers are the daemon's own, so that batch and live indexing cannot diverge.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from atlas.code.index.cluster.ownership import claim_project
from atlas.code.index.events import (
    EMBED_DIRTY,
    FILE_CHANGED,
    WHOLE_PROJECT,
    IndexSummary,
    Progress,
    Window,
    no_progress,
)
from atlas.code.index.project.workspace import ProjectSource, Workspace
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.tiers.embed import EmbedTier
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.tiers.graph import GraphTier
from atlas.code.index.tiers.sentence_transformer import QualityTier, embedding_tiers
from atlas.code.index.worker import Tier, run_until_idle
from atlas.core.contracts import Embedder, Store, Streams
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.events import Event

BULK = Window(0, 1_000_000, 0)
"""All waiting events form one batch."""


@dataclass(frozen=True, slots=True)
class Indexer:
    """The dependencies of an index pass. Without `embedders` it makes no vectors."""

    source: ProjectSource
    store: Store
    bus: Streams
    gate: SignificanceGate
    embedders: Sequence[Embedder] = ()
    """One for each vector space, in the order of work."""
    quality: Embedder | None = None
    """The sentence transformer, for a pass that also waits for its vectors."""
    keep: Callable[[Workspace, Store], Awaitable[None]] | None = None
    """Takes the workspace of a pass over everything, for the next pass of this process; None: it is closed."""

    async def index(
        self,
        *,
        full: bool = False,
        take_over: bool = False,
        seeded: bool = False,
        progress: Progress = no_progress,
    ) -> IndexSummary:
        """Make the store equal to the tree. `full` rewrites everything; `take_over`: see `claim_project`.

        `seeded`: the store is a copy of another tree's index, so every unit is compared.

        Raises ConfigError if the root is not a readable folder or not that of the stored project, StoreError if the
        store cannot be written, and, after the rest is done, Unavailable or ConfigError if an embedding server fails.
        """
        started, cpu = time.perf_counter(), time.process_time()
        await claim_project(self.store, self.source, take_over=take_over)
        progress("scan", 0, 0)
        workspace = Workspace(self.source, self.store, full=full, seeded=seeded)
        is_kept = False
        try:
            with _collection_paused():
                failed = await self._run(workspace, progress)
            workspace.compact()
            await self.store.finish(self.source.project, workspace.excluded())
            if self.keep is not None and failed is None and not (full or seeded):
                await self.keep(workspace, self.store)
                is_kept = True
        finally:
            if not is_kept:
                workspace.close()
        if failed is not None:
            raise type(failed)(f"the graph is indexed, but vectors are missing: {failed.message}", failed.hint)
        return await self._summary(workspace, started, cpu)

    async def _run(self, workspace: Workspace, progress: Progress) -> Unavailable | ConfigError | None:
        """Run the tiers; return why vectors are missing, None if none are."""
        everything = [Event(workspace.name, WHOLE_PROJECT)]
        tiers, embedding = self._tiers(workspace, progress, keep=self.keep is not None)
        await self.bus.publish(FILE_CHANGED, everything)
        await run_until_idle(self.bus, tiers)
        # vectors that the gate deferred, that an earlier pass left stale, or that another model made
        await self.bus.publish(EMBED_DIRTY, everything)
        await run_until_idle(self.bus, tiers[2:])
        return _first_failure(embedding)

    async def update(self, workspace: Workspace, keys: Sequence[str]) -> None:
        """Make the store equal to these files and folders; `workspace` is that of an earlier pass.

        Raises as `index` does.
        """
        workspace.attach(self.store)
        before = workspace.exclusions
        tiers, embedding = self._tiers(workspace, no_progress, keep=True)
        await self.bus.publish(FILE_CHANGED, [Event(workspace.name, key) for key in keys])
        await run_until_idle(self.bus, tiers)
        if workspace.exclusions != before:
            await self.store.finish(workspace.name, workspace.excluded())
        if (failed := _first_failure(embedding)) is not None:
            raise failed

    def _tiers(self, workspace: Workspace, progress: Progress, *, keep: bool) -> tuple[list[Tier], list[_Embed]]:
        """Return all tiers, and those that embed; `keep`: the linker is kept small for further passes."""
        workspaces = {workspace.name: workspace}
        made = embedding_tiers(workspaces, self.store, self.bus, self.embedders, self.quality, BULK, progress=progress)
        embedding = [_Embed(tier) for tier in made]
        tiers: list[Tier] = [
            GraphTier(workspaces, self.store, self.bus, BULK, sweep=False),
            AstTier(workspaces, self.store, self.bus, BULK, self.gate, progress, keep=keep),
            *embedding,
        ]
        return tiers, embedding

    async def _summary(self, workspace: Workspace, started: float, cpu: float) -> IndexSummary:
        counters = workspace.counters
        quality = [self.quality] if self.quality is not None else []
        embedding_stats = [embedder.embedding_stats for embedder in (*self.embedders, *quality)]
        states = {state.project: state for state in await self.store.projects()}
        excluded = workspace.excluded()
        return IndexSummary(
            project=workspace.name,
            root=str(self.source.root),
            generation=states[workspace.name].generation,
            files=len(workspace.manifest) - 1,
            changed=counters.changed,
            parsed=counters.parsed,
            written=counters.written,
            removed=counters.removed,
            skipped=len(excluded),
            vectors=counters.vectors,
            problems=sum(1 for record in workspace.manifest.values() if record.problems),
            seconds=time.perf_counter() - started,
            cpu_seconds=time.process_time() - cpu,
            phases=tuple(counters.seconds.items()),
            cut_texts=sum(each.truncated for each in embedding_stats),
            unembedded=sum(each.given_up for each in embedding_stats),
            quality_vectors=counters.quality_vectors,
            unread=tuple(each.unread for each in excluded if each.unread),
        )


class _Embed:
    """Tier 3 of a pass: the graph is useful without vectors, so a failing embedder does not end the pass."""

    def __init__(self, tier: EmbedTier | QualityTier) -> None:
        self._tier = tier
        self.stream, self.group, self.window, self.waits = tier.stream, tier.group, tier.window, tier.waits
        self.failed: Unavailable | ConfigError | None = None

    async def handle(self, events: Sequence[Event]) -> None:
        """Embed until the embedder fails for the first time."""
        if self.failed is None:
            try:
                await self._tier.handle(events)
            except Unavailable as error:
                self.failed = Unavailable(error.message, error.hint)
            except ConfigError as error:
                self.failed = ConfigError(error.message, error.hint)


def _first_failure(tiers: Sequence[_Embed]) -> Unavailable | ConfigError | None:
    return next((each.failed for each in tiers if each.failed is not None), None)


@contextmanager
def _collection_paused() -> Generator[None]:
    """Pause cycle collection, which would traverse millions of row tuples repeatedly.

    Rows hold no cycles, so reference counting frees them; the batch size limits memory.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
