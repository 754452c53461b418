"""Tier 2: parses changed files, links the project, and writes every unit whose graph differs from the store's.

Paths come in; deltas go to the store, one per unit, many per transaction. The linker holds the facts of all files;
facts of unchanged files come from the cache on disk. It knows neither how data is stored nor where events come from.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from dataclasses import replace

from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, WHOLE_PROJECT, Progress, Window, by_project, no_progress
from atlas.code.index.project.reconcile import read_with, structure_digest
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.tiers.ast_parse import parse_files
from atlas.code.index.tiers.ast_pass import Pass, marked, prefetched
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.core.contracts import Store, Streams
from atlas.core.errors import AtlasError, StoreError, Unavailable
from atlas.core.events import Event
from atlas.core.model import STRUCTURE_PATH, FileRecord, GraphDelta, UnitRows
from atlas.core.threads import in_thread
from atlas.parsing import (
    Linker,
    content_digest,
    digest_paths,
    mask_secrets,
    read_path,
    searched,
    secrets_of,
    with_link_problems,
)
from atlas.parsing.texts import rows_of

LOCK_LANGUAGE = "dependency-lock"
"""Language of lock files, of which only names and versions are kept."""
REST_FILES = 16
"""After this many files the linker releases what it unpacked to link them, about a megabyte each."""


class AstTier:
    """Tier 2. Its linkers stay warm between batches; new ones with the same files would give the same result."""

    stream, group = AST_DIRTY, "ast"
    waits: tuple[type[AtlasError], ...] = (Unavailable,)

    def __init__(
        self,
        workspaces: Mapping[str, Workspace],
        store: Store,
        bus: Streams,
        window: Window,
        gate: SignificanceGate,
        progress: Progress = no_progress,
        *,
        keep: bool = True,
        low_memory: Callable[[], bool] = lambda: False,
    ) -> None:
        """`keep`: linkers are kept small for further batches. `low_memory` tells whether memory is scarce."""
        self._workspaces, self._store, self._bus, self._gate = workspaces, store, bus, gate
        self._progress, self._keep, self._low_memory, self.window = progress, keep, low_memory, window

    async def handle(self, events: Sequence[Event]) -> None:
        """Update the graph of these paths, and of every file that depends on them, in the store."""
        for project, keys in by_project(events).items():
            workspace = self._workspaces.get(project)
            if workspace is None:
                continue
            async with workspace.linking.lock:
                try:
                    await self._update(workspace, keys)
                except (StoreError, Unavailable):
                    workspace.distrust_manifest()
                    workspace.linking.spend()
                    raise
                except BaseException:  # also a cancellation: the linker may hold changes that were not written
                    workspace.invalidate()
                    workspace.distrust_manifest()
                    raise
            if self._keep and workspace.linking.unpacked >= REST_FILES:
                await workspace.linking.rest()

    async def _update(self, workspace: Workspace, keys: Sequence[str]) -> None:
        await workspace.load()
        if not workspace.scans:
            # an event of an earlier process: without a scan every file would count as deleted
            keys = [*keys, *(await workspace.scan([WHOLE_PROJECT])).dirty]
        dirty = list(dict.fromkeys(key for key in keys if key != WHOLE_PROJECT))
        files, pending = workspace.tree.files, workspace.linking.pending
        work = Pass(workspace, time.time_ns(), dirty, {path: files[path] for path in dirty if path in files})
        work.touched = set() if workspace.full else await self._only_touched(work)
        for path in dirty:
            if path not in work.files:
                workspace.tree.refuse(path, None)
        workspace.counters.changed += len(dirty)
        unknown = [path for path in dirty if not (path in work.files or path in workspace.manifest or path in pending)]
        # a pass over a new tree has compared everything before its own request for that arrives
        is_compared = workspace.linking.is_spent and not workspace.must_relink
        compare_all = (WHOLE_PROJECT in keys and not is_compared) or workspace.must_compare_all
        if not compare_all and len(work.touched) + len(unknown) == len(dirty):
            await self._apply(workspace, [work.seen_again(path) for path in sorted(work.touched)])
            return
        await self._relink(work, compare_all=compare_all)

    async def _only_touched(self, work: Pass) -> set[str]:
        """Return the paths whose content equals the stored one (saved again, checked out, copied back)."""
        workspace = work.workspace
        structure = workspace.manifest.get(STRUCTURE_PATH)
        if not read_with(structure, workspace.source.fingerprint):
            return set()
        known = [path for path in work.files if path in workspace.manifest and path not in workspace.linking.pending]
        digests = await in_thread(digest_paths, str(workspace.source.root), known)
        return {path for path, digest in zip(known, digests, strict=True) if workspace.manifest[path].digest == digest}

    async def _relink(self, work: Pass, *, compare_all: bool) -> None:
        """Parse, link, and write the units that differ."""
        workspace = work.workspace
        changed = [path for path in work.files if path not in work.touched]
        removed = [path for path in work.dirty if path not in work.files]
        linking = workspace.linking
        warm = None if workspace.outdated else linking.linker
        linker = warm if warm is not None else await self._new_linker(work, changed, removed)
        left_out, journal = await parse_files(work, linker, changed, self._progress)
        # a file that was not indexed and still must not be is no change
        never_in = (path for path in left_out if path not in workspace.manifest and path not in linking.pending)
        workspace.counters.changed -= len(set(never_in).intersection(work.dirty))
        removed.extend(left_out)
        started = time.process_time()
        self._progress("link", 0, 0)
        moved = await in_thread(linker.update, [], removed)
        if moved or work.parsed or removed:
            linking.note_changed()
        same = work.parsed_again()
        self._mark_pending(work, removed, same)
        # a linker from a snapshot has the units of the store, as a warm one has
        is_unknown = warm is None and not linking.is_restored
        compare_all = compare_all or is_unknown or workspace.full or workspace.must_compare_all
        # all that this pass or a failed one changed: everything else is in the store as the linker has it
        reached = None if compare_all else {STRUCTURE_PATH, *moved, *work.parsed, *removed, *linking.pending}
        digests = linker.digests(None if reached is None else list(reached))
        workspace.counters.spend("link", time.process_time() - started)
        paths = digests if compare_all else {*moved, *work.parsed}
        todo = [
            path for path in paths if path != STRUCTURE_PATH and path in digests and self._differs(work, path, digests)
        ]
        suspects = workspace.manifest.keys() if reached is None else reached & workspace.manifest.keys()
        gone = sorted(suspects - digests.keys() - {STRUCTURE_PATH})
        if self._low_memory():
            # building units takes longer then, but the linker has released what linking needed
            await in_thread(linker.rest)
        # an edge whose target exists saves a server a placeholder node: deep files use those near the root, and tests
        # use all of them
        todo.sort(key=lambda path: (work.is_test(path), path.count("/"), path))
        await self._write(work, todo, gone, digests)
        again = (work.touched | same) - set(todo)
        seen = [work.seen_again(path) for path in sorted(again) if path in workspace.manifest]
        await self._apply(workspace, [delta for delta in seen if delta.record != workspace.manifest[delta.path]])
        await in_thread(workspace.erase_old_facts, {*work.parsed, *removed})
        if not self._keep:
            await in_thread(workspace.save_facts)
            linking.spend()
        await in_thread(journal.remove)
        workspace.confirm_compared()
        linking.count_unpacked(len(work.parsed) + len(moved))

    async def _new_linker(self, work: Pass, changed: list[str], removed: list[str]) -> Linker:
        """Return a linker with the facts of all files but the changed ones; adds what must be read and what is gone."""
        workspace = work.workspace
        # after an exception, `invalidate` drops the half-filled linker
        made_with = workspace.link_digest
        linker = Linker(workspace.name, workspace.source.languages, low_memory=self._keep)
        linker.set_subprojects(workspace.tree.subproject_rows)
        workspace.linking.swap_linker(linker, made_with)
        # files that tier 1 has scanned since the batch began have events of their own
        work.files = {**workspace.tree.files, **work.files}
        chosen = {*changed, *removed}
        rest = [path for path in work.files if path not in chosen]
        changed += await in_thread(self._recall, workspace, linker, rest)
        removed += sorted(workspace.manifest.keys() - work.files.keys() - chosen - {STRUCTURE_PATH})
        return linker

    def _mark_pending(self, work: Pass, removed: Sequence[str], same: AbstractSet[str]) -> None:
        """Note what the linker knows and the store does not; `same` are files with the stored content."""
        linking, manifest = work.workspace.linking, work.workspace.manifest
        linking.mark_pending(work.parsed.keys() - same)
        linking.mark_pending(path for path in removed if path in manifest)
        # a file whose content is again the stored one may need no write
        linking.clear_pending(same)
        linking.clear_pending(path for path in removed if path not in manifest)

    def _recall(self, workspace: Workspace, linker: Linker, paths: Sequence[str]) -> list[str]:
        """Load unchanged files from the last snapshot or the cache; return what they lack or read by other rules."""
        started = time.process_time()
        if workspace.full or not read_with(workspace.manifest.get(STRUCTURE_PATH), workspace.source.fingerprint):
            return list(paths)
        wanted = [(path, workspace.manifest[path].digest) for path in paths if path in workspace.manifest]
        if not workspace.must_relink and workspace.linking.restore(workspace.facts.cache, workspace.manifest):
            workspace.confirm_compact()
            wanted.clear()
        missing = linker.recall(workspace.facts.cache, wanted, str(workspace.source.root))
        workspace.counters.spend("recall", time.process_time() - started)
        return missing + [path for path in paths if path not in workspace.manifest]

    def _differs(self, work: Pass, path: str, digests: Mapping[str, str]) -> bool:
        record, parsed = work.workspace.manifest.get(path), work.parsed.get(path)
        if work.workspace.full or record is None or record.unit_digest != digests[path]:
            return True
        return parsed is not None and (parsed.digest != record.digest or record.stale)

    async def _write(self, work: Pass, todo: list[str], gone: Sequence[str], digests: Mapping[str, str]) -> None:
        """Apply the units `todo`, and delete those that are `gone`.

        A pass that fits in one transaction uses one, so readers never see a part of it. Otherwise the structure unit
        carries a mark until the pass is complete; a pass that finds the mark after a crash compares everything.
        """
        workspace = work.workspace
        deltas = [GraphDelta(workspace.name, path, None) for path in gone]
        structure = self._structure(workspace, digests[STRUCTURE_PATH])
        size = sum(work.files[path].size if path in work.files else 0 for path in todo)
        whole = size + 1000 * len(todo) < self._store.apply_bytes
        batches = self._batches(work, todo, digests)
        # the structure goes first, so that edges to new external symbols find their targets from the first batch on
        stored = workspace.manifest.get(STRUCTURE_PATH)
        deltas.append(structure if whole else marked(structure, stored.digest if stored else ""))
        written = await self._write_batches(workspace, prefetched(deltas, batches), len(todo))
        if not whole:
            await self._apply(workspace, [GraphDelta(workspace.name, STRUCTURE_PATH, structure.record)])
        workspace.counters.written += written
        workspace.counters.removed += len(gone)

    async def _write_batches(
        self, workspace: Workspace, batches: AsyncGenerator[Sequence[GraphDelta]], total: int
    ) -> int:
        """Judge the batches, write them, and publish keys for tier 3; return the number of units with rows."""
        is_new, done = workspace.is_new, 0
        committed = asyncio.Event()

        async def judged() -> AsyncGenerator[Sequence[GraphDelta]]:
            async for batch in batches:
                yield await self._gate.judge(workspace, batch, is_new)
                if not is_new:
                    # the gate compares with what the store holds, which the batch before may change
                    await committed.wait()
                    committed.clear()

        applied = self._store.apply_batches(ready := judged())
        async with aclosing(batches), aclosing(ready), aclosing(applied):
            while True:
                async with workspace.writing:
                    if (deltas := await anext(applied, None)) is None:
                        return done
                    wanted = self._gate.wanted(workspace, deltas, is_new)
                    self._record_written(workspace, deltas)
                committed.set()
                if wanted:
                    # events that find no room stay stale until the next scan of the whole tree
                    await self._bus.publish(EMBED_DIRTY, [Event(workspace.name, key) for key in wanted])
                done += sum(delta.nodes is not None for delta in deltas)
                # frees the rows before the next batch is built
                del deltas
                self._progress("write", done, total)

    def _structure(self, workspace: Workspace, digest: str) -> GraphDelta:
        """Return the structure unit's delta, without rows if they equal the stored ones."""
        stored = workspace.manifest.get(STRUCTURE_PATH)
        made_with = structure_digest(workspace.source.fingerprint, workspace.linking.made_with)
        record = FileRecord(STRUCTURE_PATH, digest=made_with, unit_digest=digest)
        if stored is not None and stored.unit_digest == digest and not workspace.full:
            return GraphDelta(workspace.name, STRUCTURE_PATH, record)
        linker = workspace.linking.linker
        assert linker is not None
        nodes, edges, texts = rows_of(linker.unit(STRUCTURE_PATH), b"")
        before = workspace.linking.structure
        if self._keep:
            workspace.linking.structure = UnitRows(digest, nodes, frozenset(edges), texts)
        return GraphDelta(workspace.name, STRUCTURE_PATH, record, nodes, edges, texts, before=before)

    def _batches(self, work: Pass, paths: Sequence[str], digests: Mapping[str, str]) -> Iterator[list[GraphDelta]]:
        """Yield deltas in batches of about `apply_bytes` of source; runs in a thread while the store writes."""
        batch: list[GraphDelta] = []
        size = 0
        for path in paths:
            delta = self._delta(work, path, digests[path])
            if delta is None:
                work.workspace.linking.mark_pending([path])
                continue
            batch.append(delta)
            size += len(delta.content or b"") + 1000
            if size >= self._store.apply_bytes:
                if not self._keep:
                    work.workspace.linking.release([delta.path for delta in batch])
                elif (linker := work.workspace.linking.linker) is not None:
                    linker.pack()
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _delta(self, work: Pass, path: str, digest: str) -> GraphDelta | None:
        """Build one unit's delta; None if the file changed since the linker read it, as another event covers it."""
        workspace = work.workspace
        linker, parsed = workspace.linking.linker, work.parsed.get(path)
        assert linker is not None
        if parsed is None and path in workspace.linking.pending:
            return None
        unit = linker.unit(path)
        content = read_path(str(workspace.source.root), path, workspace.source.scope.max_bytes)
        if content is None or content_digest(content) != (parsed.digest if parsed else workspace.manifest[path].digest):
            return None
        # positions of the facts are those of this text
        content = searched(path, content)
        known = work.record(path)
        if secrets_of(known.problems):
            # the facts come from the masked text, and the original text must not leave this process
            content = mask_secrets(content)
        if known.language == LOCK_LANGUAGE:
            # read for versions only: its text is not searched
            content = b""
        nodes, edges, texts = rows_of(unit, content)
        problems = with_link_problems(known.problems, unit.problems)
        counts = {"unresolved": unit.unresolved, "resolved": unit.resolved}
        record = replace(known, unit_digest=digest, problems=problems, **counts)
        return GraphDelta(workspace.name, path, record, nodes, edges, texts, content)

    async def _apply(self, workspace: Workspace, deltas: Sequence[GraphDelta]) -> None:
        if deltas:
            async with workspace.writing:
                await self._store.apply(deltas)
                self._record_written(workspace, deltas)

    def _record_written(self, workspace: Workspace, deltas: Sequence[GraphDelta]) -> None:
        workspace.record_written(deltas)
        workspace.linking.clear_pending(
            delta.path for delta in deltas if delta.nodes is not None or delta.record is None
        )
