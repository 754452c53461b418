"""Tier 2: parses changed files, links the project, and writes every unit whose graph differs from the store's.

Paths come in; deltas go to the store, one unit each, many units a transaction. The linker holds the facts of all files;
facts of unchanged files come from the cache on disk. It must not know how anything is stored or where events come from.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atlas.contracts import Bus, Store
from atlas.model import STRUCTURE, FileRecord, GraphDelta
from atlas.parsing import FactsCache, Languages, Linker, ParsedFile, content_digest, digest_paths, parse_paths
from atlas.parsing.link import rows_of
from atlas.pipeline.events import AST_DIRTY, EMBED_DIRTY, Progress, Tally
from atlas.pipeline.tree import PENDING, trusted_mtime
from atlas.scan import ScannedFile

WRITE_BYTES = 4_000_000
"""Source bytes per transaction: bounds memory (rows are some ten times the source) and keeps commits rare."""

PARSE_BATCH = 256
"""Files per call into the parser: progress is reported between calls."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the tier works: the tree as it was scanned and what reads it."""

    project: str
    root: Path
    files: Mapping[str, ScannedFile]
    subprojects: Sequence[tuple[str, str, str]]
    languages: Languages
    fingerprint: str
    max_bytes: int
    timeout_ms: int
    generated: bool
    """Generated files are asked for."""


class AstTier:
    """Tier 2. Keeps the linker between batches; equal in effect to a new one with the same files."""

    stream = AST_DIRTY
    batch = 1_000_000

    def __init__(
        self,
        place: Workplace,
        store: Store,
        bus: Bus,
        cache: FactsCache,
        progress: Progress,
        tally: Tally,
        *,
        full: bool,
    ) -> None:
        self._place, self._store, self._bus, self._cache = place, store, bus, cache
        self._progress, self._tally, self._full = progress, tally, full
        self._linker: Linker | None = None
        self._parsed: dict[str, ParsedFile] = {}

    async def handle(self, keys: Sequence[str]) -> None:
        """Bring the graph of these paths, and of every file that depends on them, up to date in the store."""
        manifest = await self._store.manifest(self._place.project)
        read_at = time.time_ns()
        touched = [] if self._full else await self._only_touched(keys, manifest)
        if touched:
            deltas = [GraphDelta(self._place.project, path, self._restat(manifest[path], read_at)) for path in touched]
            await self._store.apply(deltas)
        same = set(touched)
        dirty = [key for key in keys if key != STRUCTURE and key not in same]
        if len(touched) < len(keys):
            await self._relink(dirty, manifest, read_at)
        await self._close_pass()
        await self._bus.publish(EMBED_DIRTY, [self._place.project])

    async def _only_touched(self, keys: Sequence[str], manifest: Mapping[str, FileRecord]) -> list[str]:
        """Return the paths whose content is the one in the store (saved again, checked out, copied back)."""
        structure = manifest.get(STRUCTURE)
        if structure is None or structure.digest != self._place.fingerprint:
            return []
        known = [key for key in keys if key in manifest and key in self._place.files]
        digests = await asyncio.to_thread(digest_paths, str(self._place.root), known)
        return [path for path, digest in zip(known, digests, strict=True) if manifest[path].digest == digest]

    async def _relink(self, dirty: Sequence[str], manifest: Mapping[str, FileRecord], read_at: int) -> None:
        """Parse, link, and write the units that differ."""
        place = self._place
        changed = [path for path in dirty if path in place.files]
        removed = [path for path in dirty if path not in place.files]
        if self._linker is None:
            self._linker = Linker(place.project, place.languages)
            self._linker.set_subprojects(place.subprojects)
            rest = [path for path in place.files if path not in set(changed)]
            changed = [*changed, *await asyncio.to_thread(self._recall, rest, manifest)]
        parsed = await asyncio.to_thread(self._parse, changed)
        removed.extend(path for path in changed if path not in parsed)
        started = time.process_time()
        self._progress("link", 0, 0)
        self._parsed.update(parsed)
        for path in removed:
            self._parsed.pop(path, None)
        await asyncio.to_thread(self._linker.update, list(self._parsed.values()), removed)
        digests = self._linker.digests()
        self._spend("link", started)
        await self._write(self._linker, digests, manifest, read_at)
        self._parsed = {}

    def _recall(self, paths: Sequence[str], manifest: Mapping[str, FileRecord]) -> list[str]:
        """Load facts of unchanged files from the cache; return the paths that it does not hold."""
        started = time.process_time()
        wanted = [(path, manifest[path].digest) for path in paths if path in manifest]
        missing = [path for path in paths if path not in manifest]
        for (path, _), parsed in zip(wanted, [] if self._full else self._cache.get(wanted), strict=not self._full):
            if parsed is None:
                missing.append(path)
            else:
                self._parsed[path] = parsed
        if self._full:
            missing = list(paths)
        self._tally.cached = len(self._parsed)
        self._spend("recall", started)
        return missing

    def _parse(self, paths: Sequence[str]) -> dict[str, ParsedFile]:
        """Parse files and cache their facts; unreadable and refused ones are tallied and left out."""
        started = time.process_time()
        parsed: dict[str, ParsedFile] = {}
        place = self._place
        for start in range(0, len(paths), PARSE_BATCH):
            self._progress("parse", start, len(paths))
            batch = paths[start : start + PARSE_BATCH]
            results = parse_paths(
                place.languages,
                str(place.root),
                batch,
                max_bytes=place.max_bytes,
                timeout_ms=place.timeout_ms,
                generated=place.generated,
            )
            fresh: list[ParsedFile] = []
            for path, result in zip(batch, results, strict=True):
                if isinstance(result, str):
                    self._tally.unreadable[path] = result
                elif result.skip_reason:
                    self._tally.unreadable[path] = result.skip_reason
                else:
                    parsed[path] = result
                    fresh.append(result)
            self._cache.put(fresh)
        self._progress("parse", len(paths), len(paths))
        self._tally.parsed += len(parsed)
        self._spend("parse", started)
        return parsed

    async def _write(
        self, linker: Linker, digests: Mapping[str, str], manifest: Mapping[str, FileRecord], read_at: int
    ) -> None:
        """Apply every unit whose digest or content differs from the manifest's, and delete units that are gone."""
        project = self._place.project
        gone = [path for path in manifest if path not in digests and path != STRUCTURE]
        if gone:
            await self._store.apply([GraphDelta(project, path, None) for path in gone])
            self._tally.removed += len(gone)
        todo = [path for path in digests if path != STRUCTURE and self._differs(path, digests[path], manifest)]
        if self._full or manifest[STRUCTURE].unit_digest != PENDING + digests[STRUCTURE]:
            # first: edges to new external symbols then find their target from the first batch on
            todo.insert(0, STRUCTURE)
        batches = self._batches(linker, todo, manifest, digests, read_at)
        ready = await asyncio.to_thread(next, batches, None)
        done = 0
        while ready:
            following = asyncio.create_task(asyncio.to_thread(next, batches, None))
            await self._store.apply(ready)
            done += len(ready)
            self._progress("write", done, len(todo))
            ready = await following
        self._tally.written += done

    def _differs(self, path: str, digest: str, manifest: Mapping[str, FileRecord]) -> bool:
        record = manifest.get(path)
        parsed = self._parsed.get(path)
        changed = parsed is not None and record is not None and parsed.digest != record.digest
        return self._full or record is None or record.unit_digest != digest or changed

    def _batches(
        self,
        linker: Linker,
        paths: Sequence[str],
        manifest: Mapping[str, FileRecord],
        digests: Mapping[str, str],
        read_at: int,
    ) -> Iterator[list[GraphDelta]]:
        """Yield deltas in batches of about WRITE_BYTES of source; runs in a thread, one batch ahead of the store."""
        batch: list[GraphDelta] = []
        size = 0
        for path in paths:
            delta = self._delta(linker, path, manifest, digests[path], read_at)
            if delta is None:
                continue
            batch.append(delta)
            size += len(delta.content or b"") + 1000
            if size >= WRITE_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _delta(
        self, linker: Linker, path: str, manifest: Mapping[str, FileRecord], digest: str, read_at: int
    ) -> GraphDelta | None:
        """Build one unit's delta; None when the file changed again since it was parsed (the next pass takes it)."""
        unit = linker.unit(path)
        if path == STRUCTURE:
            nodes, edges, texts = rows_of(unit, b"")
            record = replace(manifest[STRUCTURE], unit_digest=PENDING + digest)
            return GraphDelta(self._place.project, path, record, nodes, edges, texts)
        try:
            content = (self._place.root / path).read_bytes()
        except OSError:
            return None
        parsed = self._parsed.get(path)
        if content_digest(content) != (parsed.digest if parsed else manifest[path].digest):
            return None
        nodes, edges, texts = rows_of(unit, content)
        record = replace(
            self._record(parsed, read_at) if parsed else manifest[path],
            unit_digest=digest,
            unresolved=unit.unresolved,
            resolved=unit.resolved,
        )
        return GraphDelta(self._place.project, path, record, nodes, edges, texts, content)

    def _record(self, parsed: ParsedFile, read_at: int) -> FileRecord:
        file = self._place.files[parsed.path]
        return FileRecord(
            path=parsed.path,
            language=parsed.language,
            digest=parsed.digest,
            size=file.size,
            mtime_ns=trusted_mtime(file.mtime_ns, read_at),
            lines=parsed.lines,
            is_test=parsed.is_test,
            is_generated=parsed.is_generated,
            problems=tuple(parsed.problems),
        )

    def _restat(self, record: FileRecord, read_at: int) -> FileRecord:
        file = self._place.files[record.path]
        return replace(record, size=file.size, mtime_ns=trusted_mtime(file.mtime_ns, read_at))

    async def _close_pass(self) -> None:
        """Take the pending mark off: everything this pass had to write is in the store."""
        place = self._place
        record = (await self._store.records(place.project, [STRUCTURE]))[STRUCTURE]
        closed = replace(record, digest=place.fingerprint, unit_digest=record.unit_digest.removeprefix(PENDING))
        await self._store.apply([GraphDelta(place.project, STRUCTURE, closed)])

    def _spend(self, phase: str, started: float) -> None:
        spent = time.process_time() - started
        self._tally.seconds[phase] = self._tally.seconds.get(phase, 0.0) + spent
