"""Reconciliation: the files on disk against the store's manifest. Says what differs; changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.model import STRUCTURE, FileRecord, Skipped
from atlas.scan import ScannedFile

PENDING = "pending:"
"""Before the structure unit's `unit_digest` while a pass is under way: a pass that finds it compares everything."""

RACY_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again within the same time stamp (file systems round to
at most two seconds): its time is not trusted, as in git's racy-git rule."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Paths whose stat differs from the manifest, paths that left the scope, and whether a pass was interrupted."""

    changed: Sequence[str]
    removed: Sequence[str]
    interrupted: bool

    @property
    def empty(self) -> bool:
        """Nothing to do."""
        return not (self.changed or self.removed or self.interrupted)


def compare(
    files: Mapping[str, ScannedFile],
    manifest: Mapping[str, FileRecord],
    refused: Mapping[str, Skipped],
    fingerprint: str,
    everything: bool,
) -> Difference:
    """Compare a scan with the manifest.

    `refused` are files that the last pass left out because of their content: they differ when their stat does.
    `fingerprint` names parser and languages: a manifest written with another one differs everywhere.
    """
    structure = manifest.get(STRUCTURE)
    everything = everything or structure is None or structure.digest != fingerprint
    changed = [
        path
        for path, file in files.items()
        if everything or (record := manifest.get(path, refused.get(path))) is None or not same_stat(record, file)
    ]
    removed = [path for path in manifest if path not in files and path != STRUCTURE]
    interrupted = structure is None or structure.unit_digest.startswith(PENDING)
    return Difference(changed, removed, interrupted)


def same_stat(record: FileRecord | Skipped, file: ScannedFile) -> bool:
    """Whether size and time say that the file is the one that was indexed (a stale record's are a newer file's)."""
    if isinstance(record, FileRecord) and record.stale:
        return False
    return record.size == file.size and record.mtime_ns == file.mtime_ns


def trusted_mtime(mtime_ns: int, read_at_ns: int) -> int:
    """Return the time to record for a file read at `read_at_ns`: 0 when it is too young to be trusted."""
    return mtime_ns if mtime_ns < read_at_ns - RACY_NS else 0
