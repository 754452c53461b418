"""One pass over a tree: scan, compare with the store, and run the tiers over the memory bus until nothing is left.

The tiers are the daemon's own, so that batch and live indexing cannot diverge.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from atlas.contracts import Bus, Embedder, Store
from atlas.model import STRUCTURE, FileRecord, Skipped
from atlas.parsing import FactsCache, Languages
from atlas.pipeline.ast import AstTier, Workplace
from atlas.pipeline.events import EMBED_DIRTY, FILE_CHANGED, IndexSummary, Progress, Tally, no_progress
from atlas.pipeline.tiers import EmbedTier, GraphTier
from atlas.pipeline.tree import compare, trusted_mtime
from atlas.pipeline.worker import Tier, run_until_idle
from atlas.scan import Scan, Scope, scan_project


@dataclass(frozen=True, slots=True)
class Indexer:
    """What an index pass needs. `embedder` None makes no vectors."""

    project: str
    root: Path
    store: Store
    bus: Bus
    languages: Languages
    fingerprint: str
    """Names the parser and its languages; see `atlas.parsing`."""
    cache: Path
    """File of the facts cache."""
    scope: Scope
    timeout_ms: int
    embedder: Embedder | None = None

    async def index(self, *, full: bool = False, progress: Progress = no_progress) -> IndexSummary:
        """Make the store equal to the tree. `full` parses and writes everything again.

        Raises ConfigError for a root that is no readable folder, StoreError when the store refuses to be written.
        """
        started, cpu, tally = time.perf_counter(), time.process_time(), Tally()
        await self.store.open_project(self.project, str(self.root))
        progress("scan", 0, 0)
        scan = scan_project(self.root, self.languages, self.scope)
        tally.seconds["scan"] = time.process_time() - cpu
        files = {file.path: file for file in scan.files}
        manifest = await self.store.manifest(self.project)
        refused = {skip.path: skip for skip in await self.store.skipped(self.project) if skip.mtime_ns}
        difference = compare(files, manifest, refused, self.fingerprint, full)
        read_at = time.time_ns()
        if difference.empty:
            # another embedder, or a pass that was cut off after its graph was complete
            await self.bus.publish(EMBED_DIRTY, [self.project])
        else:
            keys = [*difference.changed, *difference.removed]
            await self.bus.publish(FILE_CHANGED, [*keys, STRUCTURE] if difference.interrupted else keys)
        with _collection_paused():
            manifest = await self._run(scan, tally, progress, full=full)
        skipped = self._skipped(scan, tally, refused, read_at)
        await self.store.finish(self.project, skipped)
        return await self._summary(manifest, tally, len(difference.changed), len(skipped), started, cpu)

    async def _run(self, scan: Scan, tally: Tally, progress: Progress, *, full: bool) -> dict[str, FileRecord]:
        """Run the tiers to the end; return the manifest that they leave."""
        place = Workplace(
            self.project,
            self.root,
            {file.path: file for file in scan.files},
            [(sub.folder, sub.kind, sub.name) for sub in scan.subprojects],
            self.languages,
            self.fingerprint,
            self.scope.max_bytes,
            self.timeout_ms,
            self.scope.generated,
        )
        cache = FactsCache(str(self.cache))
        try:
            tiers: list[Tier] = [
                GraphTier(self.project, self.store, self.bus),
                AstTier(place, self.store, self.bus, cache, progress, tally, full=full),
            ]
            if self.embedder is not None:
                tiers.append(EmbedTier(self.project, self.store, self.embedder, progress, tally))
            await run_until_idle(self.bus, tiers)
            manifest = await self.store.manifest(self.project)
            if tally.parsed:
                cache.keep([(path, record.digest) for path, record in manifest.items() if path != STRUCTURE])
            return manifest
        finally:
            cache.close()

    def _skipped(self, scan: Scan, tally: Tally, refused: dict[str, Skipped], read_at: int) -> list[Skipped]:
        """Return what the scan left out and what its content kept out, sorted by path."""
        files = {file.path: file for file in scan.files}
        read = [
            Skipped(path, reason, files[path].size, trusted_mtime(files[path].mtime_ns, read_at))
            for path, reason in tally.unreadable.items()
        ]
        known = {skip.path for skip in read}
        kept = [
            skip
            for path, skip in refused.items()
            if path not in known and path in files and files[path].mtime_ns == skip.mtime_ns
        ]
        return sorted([*scan.skipped, *read, *kept], key=lambda skip: skip.path)

    async def _summary(
        self, manifest: dict[str, FileRecord], tally: Tally, changed: int, skipped: int, started: float, cpu: float
    ) -> IndexSummary:
        states = {state.project: state for state in await self.store.projects()}
        return IndexSummary(
            project=self.project,
            root=str(self.root),
            generation=states[self.project].generation,
            files=len(manifest) - 1,
            changed=changed,
            parsed=tally.parsed,
            written=tally.written,
            removed=tally.removed,
            skipped=skipped,
            vectors=tally.vectors,
            problems=sum(1 for record in manifest.values() if record.problems),
            seconds=time.perf_counter() - started,
            cpu_seconds=time.process_time() - cpu,
            phases=tuple(tally.seconds.items()),
        )


@contextmanager
def _collection_paused() -> Generator[None]:
    """Let no cycle collection run: it would look at millions of row tuples again and again.

    Rows hold no cycles, so they go away without it; memory stays bounded by the batch.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
