"""One batch of tier 2: the tree and the records as they were when it began, and the deltas made from them.

Tier 1 may continue to scan meanwhile. This module knows neither the linker nor how anything is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from atlas.code.index.project.reconcile import PENDING, trusted_mtime
from atlas.code.index.project.workspace import Workspace
from atlas.core.model import FileRecord, GraphDelta
from atlas.core.threads import in_thread, run_shielded
from atlas.parsing import ParsedFile
from atlas.parsing.scanning import ScannedFile

PARSE_BATCH = 128
"""Files per call into the parser: between calls, progress is reported and a pass can be cancelled."""

PARSE_BYTES = 2_000_000
"""Source bytes per call into the parser, but at least one file: a call of this size takes less than half a second."""


@dataclass(slots=True)
class Pass:
    """The state of one batch."""

    workspace: Workspace
    read_at: int
    """Unix time in nanoseconds before the first file was read."""
    dirty: Sequence[str]
    """The requested paths."""
    files: Mapping[str, ScannedFile]
    parsed: dict[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    """Records of the parsed files, without digest and counts of their units."""
    touched: set[str] = field(default_factory=set[str])
    """Requested, but with the content that the store holds."""

    def record(self, path: str) -> FileRecord:
        """Return the record of a file as this pass found it; for a parsed one without digest and counts of its unit."""
        if path in self.parsed:
            return self.parsed[path]
        return self._seen_again(path) if path in self.touched else self.workspace.manifest[path]

    def is_test(self, path: str) -> bool:
        """Return whether a file holds tests; False for one that only the linker knows because its write failed."""
        record = self.parsed.get(path) or self.workspace.manifest.get(path)
        return record is not None and record.is_test

    def take_in(self, path: str, parsed: ParsedFile) -> None:
        """Record a parsed file; its facts go to the linker."""
        file = self.files[path]
        self.parsed[path] = FileRecord(
            path=path,
            language=parsed.language,
            digest=parsed.digest,
            size=file.size,
            mtime_ns=trusted_mtime(file.mtime_ns, self.read_at),
            lines=parsed.lines,
            is_test=parsed.is_test,
            is_generated=parsed.is_generated,
            problems=tuple(parsed.problems),
        )

    def parse_batches(self, paths: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the paths in order, in batches limited by number and bytes."""
        start, size = 0, 0
        for at, path in enumerate(paths):
            own = self.files[path].size
            if at > start and (at - start >= PARSE_BATCH or size + own > PARSE_BYTES):
                yield paths[start:at]
                start, size = at, 0
            size += own
        if start < len(paths):
            yield paths[start:]

    def parsed_again(self) -> set[str]:
        """Return the files that were parsed although the store holds their content."""
        manifest = self.workspace.manifest
        return {
            path for path, record in self.parsed.items() if path in manifest and manifest[path].digest == record.digest
        }

    def seen_again(self, path: str) -> GraphDelta:
        """Return the delta of a file with the stored content: only its size and time change."""
        return GraphDelta(self.workspace.name, path, self._seen_again(path))

    def _seen_again(self, path: str) -> FileRecord:
        file, record = self.files[path], self.workspace.manifest[path]
        mtime = trusted_mtime(file.mtime_ns, self.read_at)
        return replace(record, size=file.size, mtime_ns=mtime, stale=False)


def marked(structure: GraphDelta, digest: str) -> GraphDelta:
    """Return the structure unit with the mark of a pass in progress and the `digest` of the stored one."""
    assert structure.record is not None
    unit_digest = PENDING + structure.record.unit_digest
    return replace(structure, record=replace(structure.record, digest=digest, unit_digest=unit_digest))


async def prefetched(
    first: Sequence[GraphDelta], batches: Iterator[list[GraphDelta]]
) -> AsyncGenerator[Sequence[GraphDelta]]:
    """Yield the batches, `first` together with the first of them; a thread builds the next one meanwhile."""
    built: list[GraphDelta] | None = await in_thread(next, batches, None)
    batch = [*first, *(built or ())]
    # a reference would keep the rows of the first batch in memory to the end
    del built
    while batch:
        following = asyncio.get_running_loop().run_in_executor(None, next, batches, None)
        try:
            yield batch
        finally:
            # also after a failure: the thread uses the linker, which the next pass changes
            batch = await run_shielded(following) or []
