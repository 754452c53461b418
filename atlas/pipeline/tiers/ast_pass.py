"""One batch of tier 2 at work: the tree and the records as they were when it began, and the deltas made from them.

Tier 1 may go on looking meanwhile. It must not know the linker, nor how anything is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from atlas.model import FileRecord, GraphDelta
from atlas.parsing import ParsedFile
from atlas.pipeline.tree import PENDING, trusted_mtime
from atlas.pipeline.workspace import Workspace
from atlas.scan import ScannedFile


@dataclass(slots=True)
class Pass:
    """One batch at work."""

    workspace: Workspace
    read_at: int
    """Unix time in nanoseconds before the first file was read."""
    dirty: Sequence[str]
    """Paths asked for."""
    files: Mapping[str, ScannedFile]
    parsed: dict[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    """Records of the files that were parsed, without digest and counts of their units."""
    touched: set[str] = field(default_factory=set[str])
    """Asked for, but with the content that the store holds."""

    def record(self, path: str) -> FileRecord:
        """Return the record of a file as this pass found it; of a parsed one without digest and counts of its unit."""
        if path in self.parsed:
            return self.parsed[path]
        return self._seen_again(path) if path in self.touched else self.workspace.manifest[path]

    def is_test(self, path: str) -> bool:
        """Return whether a file holds tests; one that only the linker knows, as its write failed, counts as none."""
        record = self.parsed.get(path) or self.workspace.manifest.get(path)
        return record is not None and record.is_test

    def take_in(self, path: str, parsed: ParsedFile) -> None:
        """Note a file that was parsed; its facts are the linker's."""
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

    def parsed_again(self) -> set[str]:
        """Return the files that were parsed although the store holds their content."""
        manifest = self.workspace.manifest
        return {
            path for path, record in self.parsed.items() if path in manifest and manifest[path].digest == record.digest
        }

    def seen_again(self, path: str) -> GraphDelta:
        """Return the delta of a file whose content is the stored one: its size and time only."""
        return GraphDelta(self.workspace.name, path, self._seen_again(path))

    def _seen_again(self, path: str) -> FileRecord:
        file, record = self.files[path], self.workspace.manifest[path]
        mtime = trusted_mtime(file.mtime_ns, self.read_at)
        return replace(record, size=file.size, mtime_ns=mtime, stale=False)


def marked(structure: GraphDelta, digest: str) -> GraphDelta:
    """Return the structure unit as one of a pass under way, still with the `digest` that the stored one has."""
    assert structure.record is not None
    unit_digest = PENDING + structure.record.unit_digest
    return replace(structure, record=replace(structure.record, digest=digest, unit_digest=unit_digest))
