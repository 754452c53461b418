"""One project as its tiers see it: the scanned tree, the store's manifest, and the warm linker.

It scans the disk and compares; it writes nothing. The process that leads a project has the project's only workspace, so
the manifest here equals the store's. After a failed write, `distrust_manifest` makes the next scan read it again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from atlas.code.index.events import WHOLE_PROJECT, Counters
from atlas.code.index.project.linker_session import LinkerSession
from atlas.code.index.project.reconcile import Region, compare, link_digest, linked_with, lookalikes, same_stat
from atlas.code.index.project.stored_facts import StoredFacts
from atlas.code.index.project.tree_state import TreeState
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError
from atlas.core.model import STRUCTURE_PATH, FileRecord, GraphDelta, Skipped
from atlas.core.threads import in_thread
from atlas.parsing import Languages, digest_paths
from atlas.parsing.scanning import Scan, ScannedFile, Scope, changes_rules, scan_project


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """A project to index: where it is and how it is read."""

    project: str
    root: Path
    languages: Languages
    fingerprint: str
    """Names the parser and its languages; see `atlas.parsing`."""
    cache: Path
    """File of the facts cache."""
    scope: Scope
    timeout_ms: int
    rules: str = ""
    """Digest of the project's own rules in `languages`; "" without any."""
    rules_file: str = ""
    """Path of the project's own rules, relative to the root; "" for none."""
    problem: str = ""
    """Why the project's own rules are ignored; "" if they are not."""
    reread: Callable[[ProjectSource], ProjectSource] | None = None
    """Returns the source with the scope and the rules that the project's files state now, for processes that outlive
    them; raises ConfigError while the settings are invalid."""


@dataclass(frozen=True, slots=True)
class ScanDelta:
    """What a scan found."""

    dirty: Sequence[str]
    """Paths whose file differs from the manifest or left the scope, sorted."""
    relink: bool
    """All units must be compared: a pass was interrupted, or the linker's sub-projects or rules are out of date."""
    everything: bool
    """The whole tree was scanned."""


OnScanned = Callable[[Sequence[str] | None, Sequence[str], float], None]
"""(scanned paths, None = all; folders found there; seconds) -> None"""


class Workspace:
    """Use from one event loop; close with `close`."""

    def __init__(self, source: ProjectSource, store: Store, *, full: bool = False, seeded: bool = False) -> None:
        """`full`: every file is parsed and every unit written again.

        `seeded`: the store holds a copy of another tree's index: all units are compared, and no symbol counts as
        changed.
        """
        self._source, self._full, self._store, self._seeded = source, full, store, seeded
        self.tree: Final = TreeState()
        self.linking: Final = LinkerSession()
        self.counters: Final = Counters()
        self.facts: Final = StoredFacts(source.cache)
        self.scanned: Final = asyncio.Event()
        """Set after the first scan of the whole tree."""
        self.writing: Final = asyncio.Lock()
        """Held from reading the manifest for a delta until `record_written`: a stale mark of tier 1 must not bring back
        the record that tier 2 replaces meanwhile."""
        self._manifest: dict[str, FileRecord] = {}
        self._stale: set[str] = set()
        self._manifest_is_known = self._compare_all = self._root_missing = False
        self._is_compact = False
        self._compare_all = seeded
        self._problem = ""
        self._scans, self._scan_seconds = 0, 0.0
        self._on_scanned: OnScanned | None = None
        self._scanning = asyncio.Lock()

    @property
    def source(self) -> ProjectSource:
        """The project, with the scope of the last scan."""
        return self._source

    @property
    def name(self) -> str:
        """The project's name."""
        return self._source.project

    @property
    def full(self) -> bool:
        """Every file is parsed and every unit written again."""
        return self._full

    @property
    def manifest(self) -> Mapping[str, FileRecord]:
        """The store's record of every unit by path."""
        return self._manifest

    @property
    def stale(self) -> Set[str]:
        """Files known to be newer on disk than in the store."""
        return self._stale

    @property
    def must_compare_all(self) -> bool:
        """A write failed: it is unknown which units the store holds, so the next pass compares all of them."""
        return self._compare_all

    @property
    def root_missing(self) -> bool:
        """The root was missing when it was to be scanned: the scan is still to be done."""
        return self._root_missing

    @property
    def problem(self) -> str:
        """What is wrong with the project's root or settings, "" when nothing is."""
        return self._problem

    @property
    def scans(self) -> int:
        """The number of scans of the whole tree so far."""
        return self._scans

    @property
    def scan_seconds(self) -> float:
        """The duration of the last scan of the whole tree."""
        return self._scan_seconds

    @property
    def outdated(self) -> bool:
        """Whether the linker was created with other sub-projects or rules; tier 2 creates a new one."""
        return self.linking.linker is not None and self.linking.made_with != self.link_digest

    @property
    def must_relink(self) -> bool:
        """Whether linker or store were made with other sub-projects or rules, also while tier 2 is at work on that."""
        return self.outdated or not linked_with(self._manifest.get(STRUCTURE_PATH), self.link_digest)

    @property
    def _is_suspect(self) -> bool:
        return self.must_relink or self._compare_all

    @property
    def link_digest(self) -> str:
        """The digest of the sub-projects and of the project's own rules."""
        return link_digest(self.tree.subprojects_digest, self._source.rules)

    @property
    def is_seeded(self) -> bool:
        """Whether the store began as a copy of another tree's index."""
        return self._seeded

    @property
    def is_new(self) -> bool:
        """Whether the index knows nothing of the tree yet: everything is written and embedded."""
        return self._full or self._seeded or self._manifest.keys() <= {STRUCTURE_PATH}

    def subscribe(self, on_scanned: OnScanned) -> None:
        """Call `on_scanned` after every scan; it replaces an earlier subscriber."""
        self._on_scanned = on_scanned

    def report_missing_root(self, problem: str = "") -> None:
        """Note that the root is missing, or went missing during a scan; `problem` is shown to people."""
        self._problem, self._root_missing = problem or self._problem, True

    def report_present_root(self) -> None:
        """Note that the root is there again."""
        self._root_missing = False

    def invalidate(self) -> None:
        """Drop manifest and linker; both are made again from the store."""
        self._manifest_is_known = self._is_compact = False
        self.linking.drop()

    def distrust_manifest(self) -> None:
        """After a failed write: read the manifest again, and compare all units in the next pass."""
        self._manifest_is_known, self._compare_all, self._is_compact = False, True, False

    def confirm_compared(self) -> None:
        """Note that a pass has brought every unit in question up to date."""
        self._compare_all = False

    def close(self) -> None:
        """Close the facts cache; idempotent."""
        self.facts.close()

    async def load(self) -> None:
        """Read the manifest unless it is known. Raises as the store does."""
        if not self._manifest_is_known:
            # not during a write: its delta would be in the store but not in what was read
            async with self.writing:
                await self.reload()

    async def reload(self) -> None:
        """Do what `load` does, for a caller that holds `writing`. Raises as the store does."""
        if self._manifest_is_known:
            return
        self._manifest = await self._store.manifest(self.name)
        self._stale = {path for path, record in self._manifest.items() if record.stale}
        if not self.tree.refused:
            self.tree.restore_refused(await self._store.skipped(self.name))
        self._manifest_is_known = True

    async def scan(self, keys: Sequence[str]) -> ScanDelta:
        """Scan these files and folders, or the whole tree, and return what differs from the manifest.

        Scans the whole tree if a key asks for it, on the first call, and when a file with ignore rules changed.
        Raises ConfigError when the root cannot be read.
        """
        async with self._scanning:
            await self.load()
            if not self._scans or WHOLE_PROJECT in keys or any(map(self._changes_rules, keys)):
                return await self._scan_all()
            return await self._scan_region(keys)

    async def _scan_all(self) -> ScanDelta:
        started, tree = time.perf_counter(), self.tree
        await asyncio.to_thread(self._reread)
        scan = await asyncio.to_thread(scan_project, self._source.root, self._source.languages, self._source.scope)
        if not self._scans:
            tree.mark_replaced(await asyncio.to_thread(self._exchanged, scan))
        before = tree.files.keys()
        tree.replace_all(scan)
        self._scans += 1
        self._root_missing = False
        self.scanned.set()
        fingerprint = self._source.fingerprint
        found = compare(tree.files, self._manifest, tree.refused, fingerprint, tree.replaced, self._full)
        self._scan_seconds = time.perf_counter() - started
        if self._on_scanned is not None:
            self._on_scanned(None, scan.folders, self._scan_seconds)
        self.counters.spend("scan", self._scan_seconds)
        # a file that is not in the store may be about to be written
        gone = {*found.removed, *(before - tree.files.keys())}
        return ScanDelta(sorted([*found.changed, *gone]), self._is_suspect or found.interrupted, everything=True)

    async def _scan_region(self, keys: Sequence[str]) -> ScanDelta:
        """Scan part of the tree. A named file is dirty whatever its time says: two edits may share a time stamp."""
        source, tree = self._source, self.tree
        part = await asyncio.to_thread(scan_project, source.root, source.languages, source.scope, only=keys)
        region = Region.of(keys, tree.folders, set(part.folders))
        before = [*region.within(tree.files.keys()), *region.within(self._manifest.keys())]
        tree.replace_region(region, part)
        if self._on_scanned is not None:
            self._on_scanned(keys, part.folders, 0.0)
        dirty = [file.path for file in part.files if file.path in region.named or self._differs(file)]
        # a file that is not in the store may be about to be written
        found = {file.path for file in part.files}
        gone = {path for path in before if path not in found}
        return ScanDelta(sorted([*dirty, *gone]), self.must_relink, everything=False)

    def _exchanged(self, scan: Scan) -> set[str]:
        """Return the files that have exchanged places with similar ones since an earlier process scanned."""
        manifest = self._manifest
        there = {file.path for file in scan.files}
        suspects = [path for path in lookalikes(manifest) if path in there]
        digests = digest_paths(str(self._source.root), suspects) if suspects else ()
        return {path for path, digest in zip(suspects, digests, strict=True) if digest != manifest[path].digest}

    def _changes_rules(self, path: str) -> bool:
        return changes_rules(path) or path == self._source.rules_file

    def _reread(self) -> None:
        """Use the scope and the rules that the project's files state now; while the settings are invalid, the last."""
        if self._source.reread is None:
            return
        try:
            self._source = self._source.reread(self._source)
            self._problem = self._source.problem
        except ConfigError as error:
            self._problem = error.message

    def _differs(self, file: ScannedFile) -> bool:
        record = self._manifest.get(file.path, self.tree.refused.get(file.path))
        return record is None or file.path in self.tree.replaced or not same_stat(record, file)

    def confirm_published(self, delta: ScanDelta) -> None:
        """Note that the files of a scan are marked as stale and tier 2 knows of them."""
        self.tree.clear_replaced(delta.dirty)

    def stale_marks(self, dirty: Iterable[str]) -> list[GraphDelta]:
        """Return the deltas that mark files as stale, with the size and time of the newer file."""
        deltas: list[GraphDelta] = []
        for path in dirty:
            record, file = self._manifest.get(path), self.tree.files.get(path)
            if record is None or record.stale:
                continue
            marked = replace(record, stale=True)
            if file is not None:
                marked = replace(marked, size=file.size, mtime_ns=file.mtime_ns)
            deltas.append(GraphDelta(self.name, path, marked))
        return deltas

    def record_written(self, deltas: Iterable[GraphDelta]) -> None:
        """Update the manifest after a write to the store."""
        for delta in deltas:
            if delta.record is None:
                self._manifest.pop(delta.path, None)
            else:
                self._manifest[delta.path] = delta.record
            if delta.record is not None and delta.record.stale:
                self._stale.add(delta.path)
            else:
                self._stale.discard(delta.path)

    def lacks_files(self) -> bool:
        """Return whether a file of the tree is neither in the store nor refused: its pass is not over."""
        return any(path not in self._manifest and path not in self.tree.refused for path in self.tree.files)

    @property
    def exclusions(self) -> tuple[int, int]:
        """A value that changes whenever `excluded` may."""
        return self._scans, self.tree.exclusion_changes

    def excluded(self) -> list[Skipped]:
        """Return every file and folder that is not indexed with its reason, sorted by path."""
        return self.tree.excluded()

    def erase_old_facts(self, paths: Iterable[str]) -> None:
        """Erase the facts of these files from the cache except those of the stored content. May run in a thread.

        What was deleted, ignored or cut out of a file must not stay on disk.
        """
        found = ((path, self._manifest.get(path)) for path in paths)
        self.facts.replace([(path, record.digest if record is not None else "") for path, record in found])

    def confirm_compact(self) -> None:
        """Note that the cache holds no facts of other files.

        The snapshot of this manifest says so: it is saved after `compact`, and adding or erasing facts removes it.
        """
        self._is_compact = True

    @property
    def is_unsaved(self) -> bool:
        """Whether the linker knows something that its snapshot lacks."""
        return self.linking.is_unsaved

    def put_facts_away(self) -> None:
        """Let another process use the facts cache until this one needs it."""
        self.facts.put_away()

    def attach(self, store: Store) -> None:
        """Use another connection to the store, which holds what this workspace has written last."""
        self._store = store

    async def save_linker(self) -> bool:
        """Save the linker, so that another process need not link everything; return whether there was one to save."""
        async with self.linking.lock:
            return self._manifest_is_known and await in_thread(self.save_facts)

    def save_facts(self) -> bool:
        """Do what `save_linker` does, for a caller that holds the linker's lock. May run in a thread."""
        if not self.linking.is_unsaved:
            return False
        self.compact()
        return self.linking.save(self.facts.cache, self._manifest)

    def compact(self) -> None:
        """Erase facts that belong to no stored file from the cache. May run in a thread.

        Once is enough: passes erase what they replace, unless they fail.
        """
        if self._is_compact:
            return
        self._is_compact = True
        records = dict(self._manifest)  # one atomic copy: the tiers go on writing to it
        self.facts.cache.keep([(path, record.digest) for path, record in records.items() if path != STRUCTURE_PATH])
