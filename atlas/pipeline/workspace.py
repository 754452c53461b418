"""One project as its tiers know it: the tree as it was last seen, the store's manifest, and the warm linker.

It looks at the disk and compares; it writes nothing. Whoever holds the project's lease has the only workplace of it, so
that the manifest here is the store's; after a failed write `forget` makes the next look read it again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atlas.contracts import Store
from atlas.errors import ConfigError
from atlas.model import STRUCTURE_PATH, FileRecord, GraphDelta, Skipped
from atlas.parsing import FactsCache, Languages, Linker, digest_paths
from atlas.pipeline.events import WHOLE_PROJECT, Counters
from atlas.pipeline.tree import (
    Region,
    compare,
    digest_of_subprojects,
    linked_with,
    lookalikes,
    merge_subprojects,
    replaced,
    same_stat,
)
from atlas.scan import Scan, ScannedFile, Scope, SubProject, changes_rules, scan_project
from atlas.threads import in_thread


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """A project to keep: where it is and how it is read."""

    project: str
    root: Path
    languages: Languages
    fingerprint: str
    """Names the parser and its languages; see `atlas.parsing`."""
    cache: Path
    """File of the facts cache."""
    scope: Scope
    timeout_ms: int
    rescope: Callable[[], Scope] | None = None
    """Reads the scope again, for whoever lives longer than the settings; raises ConfigError while they are broken."""


@dataclass(frozen=True, slots=True)
class ScanDelta:
    """What a look at the disk found."""

    dirty: Sequence[str]
    """Paths whose file differs from the manifest or left the scope, sorted."""
    relink: bool
    """All units must be compared: a pass was interrupted, or what the linker knows of sub-projects is old."""
    everything: bool
    """The whole tree was looked at."""


class Workspace:
    """Use from one event loop; close with `close`."""

    def __init__(self, source: ProjectSource, store: Store, *, full: bool = False) -> None:
        """`full`: every file is parsed and every unit written again."""
        self.source, self.full = source, full
        self._store = store
        self.files: dict[str, ScannedFile] = {}
        self.folders: set[str] = set()
        """Every folder that was walked; the root as ""."""
        self.on_scanned: Callable[[Sequence[str] | None, Sequence[str], float], None] | None = None
        """Told after every look: where it looked (None = everywhere), the folders found there, the seconds it took."""
        self.skipped: dict[str, Skipped] = {}
        """What the scan left out, by path (folders end in "/")."""
        self.refused: dict[str, Skipped] = {}
        """Files that were found, but could not be read or must not be indexed by their content."""
        self.subprojects: Sequence[SubProject] = ()
        self.manifest: dict[str, FileRecord] = {}
        self.linker: Linker | None = None
        self.ahead: set[str] = set()
        """Files of which the linker may know another version than the store: not written yet, or their write failed."""
        self.linking = asyncio.Lock()
        """Held by whoever uses the linker."""
        self.unpacked = 0
        """Files that the linker has unpacked since it last gave memory back."""
        self.subprojects_digest = digest_of_subprojects(())
        self.linked_digest = ""
        """Of the sub-projects that the linker was made with."""
        self.replaced: set[str] = set()
        """Paths that another file has taken and that tier 2 was not told of yet."""
        self.away = False
        """The root was not there when it was to be looked at: what was asked for then is still to be looked at."""
        self.exclusions = 0
        """How often what is left out changed, other than by a look at the whole tree."""
        self.in_doubt = False
        """A write failed: which units the store holds is not known."""
        self.counters = Counters()
        self.cache = FactsCache(str(source.cache))
        self.problem = ""
        """What is wrong with the project's settings, "" when nothing is."""
        self.look_seconds = 0.0
        """How long the last look at the whole tree took."""
        self.looks = 0
        """Looks at the whole tree so far."""
        self.stale: set[str] = set()
        """Files known to be newer on disk than in the store."""
        self.scanned = asyncio.Event()
        """Set when the whole tree was looked at for the first time."""
        self._loaded = False
        self._looking = asyncio.Lock()
        self.writing = asyncio.Lock()
        """Held from reading the manifest for a delta until it is `applied`: a mark of tier 1 must not bring back the
        record that tier 2 replaces meanwhile."""

    @property
    def name(self) -> str:
        """The project's name."""
        return self.source.project

    @property
    def outdated(self) -> bool:
        """Whether the linker was made with other sub-projects; tier 2 makes a new one."""
        return self.linker is not None and self.linked_digest != self.subprojects_digest

    @property
    def must_relink(self) -> bool:
        """Return whether the linker or the store knows other sub-projects, also while tier 2 is at work on that."""
        return self.outdated or not linked_with(self.manifest.get(STRUCTURE_PATH), self.subprojects_digest)

    @property
    def is_new(self) -> bool:
        """Whether nothing of the tree counts as known: all of it is written, and all of it is embedded."""
        return self.full or self.manifest.keys() <= {STRUCTURE_PATH}

    def forget(self) -> None:
        """Believe neither the manifest nor the linker; both are made again from the store."""
        self._loaded = False
        self.linker = None
        self.ahead.clear()

    def doubt(self) -> None:
        """After a failure: the store may be behind the linker; the next pass compares all."""
        self._loaded = False
        self.in_doubt = True

    async def rest(self) -> None:
        """Have the linker give back what it does not need until the next change."""
        async with self.linking:
            if self.linker is not None:
                self.unpacked = 0
                await in_thread(self.linker.rest)

    def close(self) -> None:
        """Close the facts cache; idempotent."""
        self.cache.close()

    async def load(self) -> None:
        """Read the manifest unless it is known. Raises as the store does."""
        if not self._loaded:
            # not while a delta is on its way: it would be in the store and not in what was read
            async with self.writing:
                await self.reread()

    async def reread(self) -> None:
        """Do what `load` does, for whoever holds `writing`. Raises as the store does."""
        if self._loaded:
            return
        self.manifest = await self._store.manifest(self.name)
        self.stale = {path for path, record in self.manifest.items() if record.stale}
        if not self.refused:
            listed = await self._store.skipped(self.name)
            self.refused = {skip.path: skip for skip in listed if skip.mtime_ns}
        self._loaded = True

    async def look(self, keys: Sequence[str]) -> ScanDelta:
        """Look at these files and folders, or at the whole tree, and take in what is there now.

        The whole tree is looked at when a key says so, at the first look, and when a file that holds rules changed.
        Raises ConfigError when the root cannot be read.
        """
        async with self._looking:
            await self.load()
            if not self.looks or WHOLE_PROJECT in keys or any(changes_rules(key) for key in keys):
                return await self._look_everywhere()
            return await self._look_at(keys)

    async def _look_everywhere(self) -> ScanDelta:
        started = time.perf_counter()
        self._read_scope()
        scan = await asyncio.to_thread(scan_project, self.source.root, self.source.languages, self.source.scope)
        if not self.looks:
            self.replaced |= await asyncio.to_thread(self._exchanged, scan)
        known = self.files.keys()
        self._take_in(scan)
        self.looks += 1
        self.away = False
        self.scanned.set()
        fingerprint = self.source.fingerprint
        found = compare(self.files, self.manifest, self.refused, fingerprint, self.replaced, self.full)
        self.look_seconds = time.perf_counter() - started
        if self.on_scanned is not None:
            self.on_scanned(None, scan.folders, self.look_seconds)
        self.counters.seconds["scan"] = self.counters.seconds.get("scan", 0.0) + self.look_seconds
        # one that is not in the store may be on its way there
        gone = {*found.removed, *(known - self.files.keys())}
        return ScanDelta(sorted([*found.changed, *gone]), self.must_relink or found.interrupted, everything=True)

    def _exchanged(self, scan: Scan) -> set[str]:
        """Return the files that took the places of others like them since an earlier process looked."""
        manifest = self.manifest
        there = {file.path for file in scan.files}
        suspects = [path for path in lookalikes(manifest) if path in there]
        digests = digest_paths(str(self.source.root), suspects) if suspects else ()
        return {path for path, digest in zip(suspects, digests, strict=True) if digest != manifest[path].digest}

    def _read_scope(self) -> None:
        """Take the scope that is in force now; while the settings are broken the last one stays."""
        self.problem = ""
        if self.source.rescope is None:
            return
        try:
            self.source = replace(self.source, scope=self.source.rescope())
        except ConfigError as error:
            self.problem = error.message

    def _take_in(self, scan: Scan) -> None:
        self.replaced |= replaced(scan.files, self.files)
        self.folders = set(scan.folders)
        self.files = {file.path: file for file in scan.files}
        self.skipped = {skip.path: skip for skip in scan.skipped}
        self._take_subprojects(scan.subprojects)
        self.refused = {
            path: skip
            for path, skip in self.refused.items()
            if path in self.files and self.files[path].mtime_ns == skip.mtime_ns
        }

    async def _look_at(self, keys: Sequence[str]) -> ScanDelta:
        """Look at parts of the tree; a named file is dirty whatever its time says: two edits may share a time stamp."""
        source = self.source
        part = await asyncio.to_thread(scan_project, source.root, source.languages, source.scope, only=keys)
        now = set(part.folders)
        region = Region.of(keys, self.folders, now)
        found = {file.path: file for file in part.files}
        known, indexed = region.within(self.files.keys()), region.within(self.manifest.keys())
        self.replaced |= replaced(part.files, self.files)
        for path in known:
            if path not in found:
                del self.files[path]
        self.files.update(found)
        self._take_skipped(region, part)
        self._take_subprojects(merge_subprojects(self.subprojects, region, part))
        self.folders = {folder for folder in self.folders if not region.holds(folder)} | now
        if self.on_scanned is not None:
            self.on_scanned(keys, part.folders, 0.0)
        dirty = [path for path, file in found.items() if path in region.named or self._differs(file)]
        # one that is not in the store may be on its way there
        gone = {path for path in (*known, *indexed) if path not in found}
        return ScanDelta(sorted([*dirty, *gone]), self.must_relink, everything=False)

    def _take_skipped(self, region: Region, part: Scan) -> None:
        """Take in what a look at a part of the tree left out, instead of what was left out there before."""
        if region.folders:
            left = {path for path in self.skipped if region.holds(path.rstrip("/"))}
        else:
            left = {path for name in region.named for path in (name, f"{name}/") if path in self.skipped}
        now = {skip.path: skip for skip in part.skipped}
        if left - now.keys() or any(self.skipped.get(path) != skip for path, skip in now.items()):
            self.exclusions += 1
        for path in left:
            del self.skipped[path]
        self.skipped.update(now)

    def _take_subprojects(self, found: Sequence[SubProject]) -> None:
        if found is not self.subprojects:
            self.subprojects, self.subprojects_digest = found, digest_of_subprojects(found)

    def _differs(self, file: ScannedFile) -> bool:
        record = self.manifest.get(file.path, self.refused.get(file.path))
        return record is None or file.path in self.replaced or not same_stat(record, file)

    def handed_on(self, look: ScanDelta) -> None:
        """Take in that the files of a look are marked and tier 2 knows of them."""
        self.replaced.difference_update(look.dirty)

    def refuse(self, path: str, skip: Skipped | None) -> None:
        """Note that a file must not be indexed by its content or cannot be read; with None, that this is over."""
        if skip is not None:
            self.exclusions += self.refused.get(path) != skip
            self.refused[path] = skip
        elif self.refused.pop(path, None) is not None:
            self.exclusions += 1

    def marks(self, dirty: Iterable[str]) -> list[GraphDelta]:
        """Return the deltas that mark files as stale, with the size and time of the newer file, and note them here."""
        deltas: list[GraphDelta] = []
        for path in dirty:
            record, file = self.manifest.get(path), self.files.get(path)
            if record is None or record.stale:
                continue
            marked = replace(record, stale=True)
            if file is not None:
                marked = replace(marked, size=file.size, mtime_ns=file.mtime_ns)
            deltas.append(GraphDelta(self.name, path, marked))
        return deltas

    def applied(self, deltas: Iterable[GraphDelta]) -> None:
        """Take in what was written to the store."""
        for delta in deltas:
            if delta.record is None:
                self.manifest.pop(delta.path, None)
            else:
                self.manifest[delta.path] = delta.record
            if delta.record is not None and delta.record.stale:
                self.stale.add(delta.path)
            else:
                self.stale.discard(delta.path)

    def lacks_files(self) -> bool:
        """Return whether a file of the tree is neither in the store nor refused: its pass is not over."""
        return any(path not in self.manifest and path not in self.refused for path in self.files)

    def left_out(self) -> list[Skipped]:
        """Return everything that is not indexed with its reason, sorted by path."""
        return sorted({**self.skipped, **self.refused}.values(), key=lambda skip: skip.path)

    def erase_old_facts(self, paths: Iterable[str]) -> None:
        """Erase the facts of these files from the cache except those of the stored content. May run in a thread.

        What was deleted, ignored or cut out of a file must not stay on disk.
        """
        records = dict(self.manifest)
        self.cache.replace([(path, records[path].digest if path in records else "") for path in paths])

    def compact(self) -> None:
        """Erase facts that no stored file has from the cache. May run in a thread."""
        records = dict(self.manifest)  # in one step: the tiers go on writing to it
        self.cache.keep([(path, record.digest) for path, record in records.items() if path != STRUCTURE_PATH])

    def folders_of_manifests(self) -> list[tuple[str, str, str]]:
        """Return (folder, kind, name) of the sub-projects, as the linker wants them."""
        return [(sub.folder, sub.kind, sub.name) for sub in self.subprojects]
