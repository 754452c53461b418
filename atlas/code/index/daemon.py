"""The long-running write path: watchers and timers publish hints, and the three tiers process them concurrently.

Adapters and options come in; it keeps the store equal to the trees until it is stopped. It knows neither the kind of
store and bus nor how the process was started.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from atlas import __version__
from atlas.code.index.cluster.ownership import claim_project
from atlas.code.index.events import AST_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window
from atlas.code.index.heartbeat import DAEMON, Heartbeat
from atlas.code.index.project.workspace import ProjectSource, Workspace
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.tiers.graph import GraphTier
from atlas.code.index.tiers.sentence_transformer import embedding_tiers
from atlas.code.index.watch.inotify import HeldWatches
from atlas.code.index.watch.watcher import Watcher
from atlas.code.index.worker import Log, Tier, TierReport, run_tier, tier_state
from atlas.core.contracts import Bus, Embedder, Store, Streams
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.events import Event
from atlas.runtime.process.tree_version import BEAT_SECONDS, TreeVersions

SETTLE_SECONDS = 2.0
"""A project is idle when nothing was written for this long; then its pass is finished in the store."""

SAVE_SECONDS = 60.0
"""After this long without a write, the linker is saved for the next process."""

SAVE_INTERVAL, SAVE_SHARE = 600.0, 500
"""The time between two of these saves, for a large linker, which takes as much disk as its index; a small one is saved
again after so many times the time that it took."""

REST_SECONDS = 120.0
"""After this long without a write, a saved linker is dropped: the next change restores it, in 0.2 s for 4,000 files.

A linker holds 70 of the 250 MB of a daemon that is asked about Django.
"""

STOP_SECONDS = 30.0
"""The time that a stopping daemon gives the batches at work; after it, they stay pending."""

TRIM_SECONDS = 10.0

RECLAIM_SECONDS = 1.0

MEMORY_PRESSURE = 0.75
"""Share of the memory limit above which the tiers save memory at the cost of time."""

BUS_RETRY_SECONDS = 0.5
"""Delay between attempts to reach the bus at the start: its server may be restarting."""


@dataclass(frozen=True, slots=True)
class DaemonOptions:
    """Windows, intervals and limits of the daemon."""

    graph: Window
    ast: Window
    embed: Window
    embed_page: int
    """Chunks in one transaction of tier 3."""
    reconcile_seconds: float
    poll_seconds: float
    memory_bytes: int
    """Above this, linkers of idle projects are dropped; the facts cache restores them."""


@dataclass(slots=True)
class _WatchedProject:
    """One project and its watcher."""

    workspace: Workspace
    watcher: Watcher
    missed: str = ""
    """Why the whole tree must be scanned soon; "" if it need not."""
    scan_requested_at: float = 0.0
    """Unix time of the last request to scan the whole tree."""
    finished: tuple[int, int, int] = (-1, -1, -1)
    """Scans, other changes of the excluded files, and writes when the pass was last finished."""
    writes: int = 0
    written_at: float = 0.0
    saved_at: float = 0.0
    """Unix time of the last attempt to save the linker."""
    save_seconds: float = 0.0
    """The time that it took."""
    counted: tuple[int, int, int] = (-1, -1, -1)
    """Files, units written and removed when `problems` was counted."""
    problems: int = 0

    def count_problems(self) -> int:
        """Return the number of files with problems."""
        manifest, counters = self.workspace.manifest, self.workspace.counters
        state = (len(manifest), counters.written, counters.removed)
        if state != self.counted:
            self.problems, self.counted = sum(1 for record in manifest.values() if record.problems), state
        return self.problems


class Daemon:
    """Use once: `run`."""

    def __init__(
        self,
        sources: Sequence[ProjectSource],
        store: Store,
        bus: Bus,
        embedders: Sequence[Embedder],
        gate: SignificanceGate,
        options: DaemonOptions,
        resident: Callable[[], int],
        trim: Callable[[], None],
        log: Log,
        *,
        among_others: bool = False,
        versions: TreeVersions | None = None,
        quality: Embedder | None = None,
    ) -> None:
        """`resident` returns the process's resident bytes, `trim` returns free memory to the system.

        `among_others`: this process holds the project's lease, which its predecessors may not know yet; embedding
        workers make the vectors, so `embedders` is empty. `versions`: where readers on this host learn of changes.
        """
        self._versions = versions
        self._among_others, self._embeds = among_others, gate.embeds if among_others else bool(embedders)
        self._store, self._bus, self._options, self._log = store, bus, options, log
        self._resident, self._trim, self._embedders = resident, trim, [*embedders, *([quality] if quality else [])]
        self._workspaces = {source.project: Workspace(source, store) for source in sources}
        self._projects = {name: self._with_watcher(workspace) for name, workspace in self._workspaces.items()}
        self._tiers: list[Tier] = [
            GraphTier(self._workspaces, store, bus, options.graph, sweep=self._embeds),
            AstTier(
                self._workspaces, store, bus, options.ast, gate, low_memory=lambda: self._is_large(MEMORY_PRESSURE)
            ),
        ]
        made_by = embedding_tiers(self._workspaces, store, bus, embedders, quality, options.embed, options.embed_page)
        self._tiers += made_by
        self._reports = {tier.group: TierReport() for tier in self._tiers}
        self._outages, self._was_away, self._started_at = 0, False, time.time()
        self.heartbeat = Heartbeat(bus, DAEMON, self.state)

    def _with_watcher(self, workspace: Workspace) -> _WatchedProject:
        source, seconds = workspace.source, self._options.poll_seconds
        notice = partial(self._versions.notice, workspace.name) if self._versions is not None else None
        rules, data = source.rules_file, source.cache.parent
        watcher = Watcher(source.root, data=data, poll_seconds=seconds, on_change=notice, own_rules=rules)
        workspace.subscribe(watcher.on_scanned)
        return _WatchedProject(workspace, watcher)

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the store equal to the trees until `stop` is set; then sources end first, and the batches at work last.

        Waiting events stay in the streams. Raises StoreError and ConfigError if it cannot start.
        """
        for watched in self._projects.values():
            await claim_project(self._store, watched.workspace.source)
        draining = asyncio.Event()
        sources = [asyncio.create_task(job) for job in self._sources(stop)]
        workers = [
            asyncio.create_task(run_tier(self._bus, tier, self._reports[tier.group], draining, self._log))
            for tier in self._tiers
        ]
        stopped = asyncio.create_task(stop.wait())
        try:
            sources.append(asyncio.create_task(self._start()))
            await asyncio.wait([stopped, *sources, *workers], return_when=asyncio.FIRST_COMPLETED)
            for task in (*sources, *workers):
                if task.done():
                    task.result()
        finally:
            await _end([*sources, stopped])
            draining.set()
            await asyncio.wait(workers, timeout=STOP_SECONDS)
            await _end(workers)
            await self._close()

    async def _start(self) -> None:
        """Reclaim what an earlier daemon left pending, and request a scan of everything; waits for the bus."""
        while True:
            try:
                for tier in self._tiers:
                    # this process holds the lease: no other process works on pending events
                    await self._bus.reclaim(tier.stream, tier.group)
                # warms the linkers and repairs what a crash left behind: every unit is compared
                await self._bus.publish(AST_DIRTY, [Event(name, WHOLE_PROJECT) for name in self._workspaces])
                break
            except Unavailable as error:
                self._log("waiting", {"for": error.message})
                await asyncio.sleep(BUS_RETRY_SECONDS)
        for watched in self._projects.values():
            await self._request_scan(watched, "started")
        # a source must not end before the daemon
        await asyncio.Event().wait()

    def _sources(self, stop: asyncio.Event) -> list[Coroutine[object, object, None]]:
        return [
            *(self._watch(watched, stop) for watched in self._projects.values()),
            self._every(1.0, self._reconcile),
            self._every(SETTLE_SECONDS, self._settle),
            self.heartbeat.run(),
            self._every(TRIM_SECONDS, self._limit_memory),
            *([self._announce(self._versions)] if self._versions is not None else []),
            *([self._every(RECLAIM_SECONDS, self._reclaim_from_others)] if self._among_others else []),
        ]

    async def _announce(self, versions: TreeVersions) -> None:
        watched = [(each.workspace, each.watcher) for each in self._projects.values()]
        await announce_versions(versions, self._bus, watched)

    async def _watch(self, watched: _WatchedProject, stop: asyncio.Event) -> None:
        await watched.workspace.scanned.wait()
        async with contextlib.aclosing(watched.watcher.changes(stop)) as reports:
            async for changes in reports:
                if changes.everything:
                    await self._request_scan(watched, changes.everything)
                elif changes.paths:
                    await self._hint(watched, changes.paths)

    async def _hint(self, watched: _WatchedProject, keys: Sequence[str]) -> None:
        """Publish hints; if the stream is full or the bus unavailable, a scan of the whole tree follows."""
        try:
            refused = await self._bus.publish(FILE_CHANGED, [Event(watched.workspace.name, key) for key in keys])
        except Unavailable as error:
            refused, watched.missed = 0, error.message
        if refused:
            watched.missed = "the stream is full"

    async def _request_scan(self, watched: _WatchedProject, reason: str) -> None:
        self._log("requested a full scan", {"project": watched.workspace.name, "reason": reason})
        watched.missed, watched.scan_requested_at = "", time.time()
        await self._hint(watched, [WHOLE_PROJECT])

    async def _reclaim_from_others(self) -> None:
        """Reclaim events that the bus delivered to a paused predecessor: they would stay pending for a minute."""
        with contextlib.suppress(Unavailable):
            for tier in self._tiers:
                await self._bus.reclaim(tier.stream, tier.group, from_others=True)

    async def _reconcile(self) -> None:
        outages = sum(report.outages for report in self._reports.values())
        if outages != self._outages:
            self._outages, self._was_away = outages, True
        elif self._was_away:
            # a killed bus may have lost its last events, which nothing else replaces
            self._was_away = False
            for watched in self._projects.values():
                watched.missed = watched.missed or "the bus was unavailable"
        for watched in self._projects.values():
            if watched.workspace.root_missing and await asyncio.to_thread(watched.workspace.source.root.is_dir):
                # the watcher does not report a root that was missing only for a moment
                watched.workspace.report_present_root()
                watched.missed = watched.missed or "root is back"
            if watched.missed:
                await self._request_scan(watched, watched.missed)
            elif time.time() - watched.scan_requested_at >= self._options.reconcile_seconds:
                await self._request_scan(watched, "timer")

    async def _settle(self) -> None:
        """Finish the pass of every idle project: time, skipped files, planner statistics, checkpoint."""
        for watched in self._projects.values():
            workspace = watched.workspace
            writes = workspace.counters.written + workspace.counters.removed + workspace.counters.vectors
            if writes != watched.writes:
                watched.writes, watched.written_at = writes, time.time()
            rested = time.time() - watched.written_at >= SETTLE_SECONDS
            state = (workspace.scans, workspace.tree.exclusion_changes, writes)
            if workspace.scans and rested and state != watched.finished and await self._is_over(workspace):
                skipped = workspace.excluded() if watched.finished[:2] != state[:2] else None
                watched.finished = state
                with contextlib.suppress(AtlasError):
                    await self._store.finish(workspace.name, skipped)
                    await asyncio.to_thread(workspace.compact)
                    await workspace.linking.rest()
            interval = min(SAVE_INTERVAL, SAVE_SHARE * watched.save_seconds)
            began = time.time()
            is_due = began >= max(watched.written_at + SAVE_SECONDS, watched.saved_at + interval)
            if is_due and await workspace.save_linker():
                watched.saved_at = time.time()
                watched.save_seconds = watched.saved_at - began
            quiet = time.time() - max(watched.written_at, self._started_at)
            if quiet >= REST_SECONDS and await workspace.linking.put_away():
                await self._trim_memory()

    async def _is_over(self, workspace: Workspace) -> bool:
        """Return whether the pass is complete: a large tree writes nothing while its first files are parsed.

        A file that cannot be written becomes a dead letter; the others count as indexed nevertheless.
        """
        if not workspace.lacks_files():
            return True
        with contextlib.suppress(Unavailable):
            states = await self._bus.states([FILE_CHANGED, AST_DIRTY])
            return not any(state.waiting or state.pending for state in states)
        return False

    async def _limit_memory(self) -> None:
        """Return memory to the system while the process exceeds its limit; then drop linkers of idle projects."""
        for workspace in self._workspaces.values():
            if not self._is_large():
                return
            await workspace.linking.rest()
            await self._trim_memory()
            if self._is_large() and workspace.linking.linker is not None and not self._reports[AstTier.group].busy:
                self._log("over the memory limit: linker dropped", {"project": workspace.name})
                await workspace.save_linker()
                workspace.invalidate()
                await self._trim_memory()

    def _is_large(self, share: float = 1.0) -> bool:
        return self._resident() >= share * self._options.memory_bytes

    async def _trim_memory(self) -> None:
        gc.collect()
        await asyncio.to_thread(self._trim)

    async def _every(self, seconds: float, work: Callable[[], Coroutine[object, object, None]]) -> None:
        while True:
            await work()
            await asyncio.sleep(seconds)

    async def _close(self) -> None:
        for workspace in self._workspaces.values():
            with contextlib.suppress(AtlasError):
                if workspace.scans and not workspace.lacks_files():
                    await self._store.finish(workspace.name, workspace.excluded())
            await workspace.save_linker()
            workspace.close()
        for embedder in self._embedders:
            await embedder.aclose()
        await self.heartbeat.end()

    async def hold(self, seconds: float) -> list[HeldWatches] | None:
        """Stop watching until `resume` if nothing has changed for `seconds` and no work is left.

        Otherwise return None. The caller closes the queues.
        """
        rests = all(time.time() - max(one.written_at, self._started_at) >= seconds for one in self._projects.values())
        if not rests or any(report.busy for report in self._reports.values()) or not await self._is_at_rest():
            return None
        held: list[HeldWatches] = []
        for watched in self._projects.values():
            watches = None if watched.missed else watched.watcher.hold(seconds)
            if watches is None:
                self.resume(held)
                return None
            held.append(watches)
        return held

    def resume(self, held: Sequence[HeldWatches]) -> None:
        """Close the queues of `hold` and notice changes again."""
        for watches, watched in zip(held, self._projects.values(), strict=False):
            if watches.queue >= 0:
                os.close(watches.queue)
            watched.watcher.resume()

    async def _is_at_rest(self) -> bool:
        """Return whether no event waits, none was given up, and the store holds every file of each tree that exists."""
        for workspace in self._workspaces.values():
            if not workspace.root_missing and not await _is_current(workspace, self._bus):
                return False
        with contextlib.suppress(Unavailable):
            return not any(state.waiting or state.pending or state.dead for state in await self._bus.states())
        return False

    def state(self) -> dict[str, object]:
        """Return what `atlas status` shows of the daemon, as JSON values."""
        return {
            "version": __version__,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "embeds": self._embeds,
            "started_at": self._started_at,
            "heartbeat_at": time.time(),
            "resident_bytes": self._resident(),
            "tiers": [tier_state(tier, self._reports[tier.group]) for tier in self._tiers],
            "projects": [_project_state(watched) for watched in self._projects.values()],
        }


def _project_state(watched: _WatchedProject) -> dict[str, object]:
    workspace, counters = watched.workspace, watched.workspace.counters
    return {
        "project": workspace.name,
        "root": str(workspace.source.root),
        "ready": workspace.scans > 0 and workspace.linking.is_made,
        "watch": watched.watcher.mode,
        "watch_reason": watched.watcher.reason,
        "watches": watched.watcher.watches,
        "overflows": watched.watcher.overflows,
        "folders": len(workspace.tree.folders),
        "files": max(len(workspace.manifest) - 1, 0),
        # a changed package manifest is not an indexed file but makes others stale
        "stale_files": len(workspace.stale) or int(workspace.scans > 0 and workspace.must_relink),
        "problem": workspace.problem,
        "looks": workspace.scans,
        "looked_at": watched.scan_requested_at,
        "look_seconds": round(workspace.scan_seconds, 4),
        "skipped": len(workspace.tree.skipped) + len(workspace.tree.refused),
        "changed": counters.changed,
        "parsed": counters.parsed,
        "written": counters.written,
        "removed": counters.removed,
        "vectors": counters.vectors,
        "quality_vectors": counters.quality_vectors,
        "problems": watched.count_problems(),
    }


async def _end(tasks: Sequence[asyncio.Task[object]] | Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def announce_versions(
    versions: TreeVersions, bus: Streams, projects: Sequence[tuple[Workspace, Watcher]]
) -> None:
    """Tell readers every second which watched trees equal their index, until cancelled; then remove what was told."""
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
