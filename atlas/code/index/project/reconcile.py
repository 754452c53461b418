"""Reconciliation: the files on disk against the store's manifest. Says what differs; changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from atlas.core.model import STRUCTURE_PATH, FileRecord, Skipped
from atlas.parsing.scanning import Scan, ScannedFile, SubProject

PENDING = "pending:"
"""Prefix of the structure unit's `unit_digest` during a pass: a pass that finds it compares everything."""

LINKED_WITH = "+"
"""In the structure unit's `digest`, between parser and sub-projects."""

RULES = "."
"""In the structure unit's `digest`, between sub-projects and the project's own rules."""

RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was read may change again within the same time stamp (file systems round
to at most two seconds): its time is not trusted, as in git's racy-git rule."""


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """Paths whose stat differs from the manifest, paths that left the scope, and whether a pass was interrupted."""

    changed: Sequence[str]
    removed: Sequence[str]
    interrupted: bool

    @property
    def empty(self) -> bool:
        """Nothing to do."""
        return not (self.changed or self.removed or self.interrupted)


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a tree that some paths name: a path that is or was a folder stands for everything below it."""

    named: frozenset[str]
    folders: tuple[str, ...]
    """Those of `named` that are or were folders, each with a "/" at its end."""

    @classmethod
    def of(cls, paths: Sequence[str], *known: Collection[str]) -> Region:
        """Return the region of these paths; `known` are the folders before and now."""
        folders = tuple(f"{path}/" for path in paths if any(path in some for some in known))
        return cls(frozenset(paths), folders)

    def holds(self, path: str) -> bool:
        """Return whether a path is named or lies below a named folder."""
        return path in self.named or (bool(self.folders) and path.startswith(self.folders))

    def within(self, paths: Collection[str]) -> list[str]:
        """Return those of some paths that it holds; without a folder it looks up names and walks over nothing."""
        if self.folders:
            return [path for path in paths if self.holds(path)]
        return [path for path in self.named if path in paths]


def merge_subprojects(known: Sequence[SubProject], region: Region, part: Scan) -> Sequence[SubProject]:
    """Return the sub-projects after a scan of a part of the tree, in the order of a whole scan.

    The part is complete for the folders that were read, including those on the way, and for the region: a manifest can
    appear and disappear with its folder.
    """
    read = set(part.folders)
    if not part.subprojects and not any(sub.folder in read or region.holds(sub.folder) for sub in known):
        return known
    kept = [sub for sub in known if not (sub.folder in read or region.holds(sub.folder))]
    return sorted([*kept, *part.subprojects], key=lambda sub: (sub.folder, sub.kind, sub.name))


def digest_of_subprojects(subprojects: Iterable[SubProject]) -> str:
    """Return 16 hex digits that identify the sub-projects as a linker sees them."""
    told = repr([(sub.folder, sub.kind, sub.name) for sub in subprojects])
    return hashlib.blake2b(told.encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def structure_digest(fingerprint: str, made_with: str) -> str:
    """Return the `digest` of a structure unit: what read the files, and `made_with` of `link_digest`.

    Most package manifests are not indexed, so nothing else in the store shows that one was added, removed or renamed.
    """
    return f"{fingerprint}{LINKED_WITH}{made_with}"


def link_digest(subprojects: str, rules: str) -> str:
    """Return what names the sub-projects and the project's own rules of an index; `rules` is "" without any."""
    return f"{subprojects}{RULES}{rules}" if rules else subprojects


def rules_of(structure: FileRecord | None) -> str:
    """Return the digest of the project's own rules with which the files were read; "" without any."""
    return structure.digest.partition(LINKED_WITH)[2].partition(RULES)[2] if structure is not None else ""


def read_with(structure: FileRecord | None, fingerprint: str) -> bool:
    """Return whether this parser with these languages has read the files of the manifest with this structure unit."""
    return structure is not None and structure.digest.partition(LINKED_WITH)[0] == fingerprint


def linked_with(structure: FileRecord | None, made_with: str) -> bool:
    """Return whether the units were made with the sub-projects and rules of this digest."""
    return structure is not None and structure.digest.partition(LINKED_WITH)[2] == made_with


def replaced(found: Iterable[ScannedFile], known: Mapping[str, ScannedFile]) -> set[str]:
    """Return the paths that another file has taken since the last scan, whatever its size and time.

    A folder that replaces another brings files of any age; those of an archive or a checkout often share their time,
    and equal sizes then prove nothing.
    """
    return {file.path for file in found if (old := known.get(file.path)) is not None and old.identity != file.identity}


def lookalikes(manifest: Mapping[str, FileRecord]) -> list[str]:
    """Return the paths whose files could be exchanged undetected: other content, but the same name, size and time.

    If folders are exchanged while nothing watches, only the content shows it: the store holds no inodes.
    """
    groups: dict[tuple[str, int, int], list[FileRecord]] = {}
    for path, record in manifest.items():
        if record.size and record.mtime_ns:
            groups.setdefault((path.rpartition("/")[2], record.size, record.mtime_ns), []).append(record)
    several = [records for records in groups.values() if len(records) > 1]
    return [one.path for records in several if len({one.digest for one in records}) > 1 for one in records]


def compare(
    files: Mapping[str, ScannedFile],
    manifest: Mapping[str, FileRecord],
    refused: Mapping[str, Skipped],
    fingerprint: str,
    replaced: Collection[str],
    everything: bool,
) -> TreeDiff:
    """Compare a scan with the manifest.

    `refused` are files that the last pass excluded because of their content: they differ when their stat does.
    `fingerprint` identifies parser and languages: a manifest written with another one differs everywhere. `replaced`
    are paths that differ although size and time may be the recorded ones.
    """
    structure = manifest.get(STRUCTURE_PATH)
    everything = everything or not read_with(structure, fingerprint)
    changed = [
        path
        for path, file in files.items()
        if everything
        or path in replaced
        or (record := manifest.get(path, refused.get(path))) is None
        or not same_stat(record, file)
    ]
    removed = [path for path in manifest if path not in files and path != STRUCTURE_PATH]
    interrupted = structure is None or structure.unit_digest.startswith(PENDING)
    return TreeDiff(changed, removed, interrupted)


def same_stat(record: FileRecord | Skipped, file: ScannedFile) -> bool:
    """Whether size and time say that the file is the one that was indexed (a stale record's are a newer file's)."""
    if isinstance(record, FileRecord) and record.stale:
        return False
    return record.size == file.size and record.mtime_ns == file.mtime_ns


def trusted_mtime(mtime_ns: int, read_at_ns: int) -> int:
    """Return the time to record for a file read at `read_at_ns`: 0 when it is too young to be trusted."""
    return mtime_ns if mtime_ns < read_at_ns - RACY_NS else 0
