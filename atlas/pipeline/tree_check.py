"""Which files on disk are newer than the index: a scan once, then one `stat` per known file and folder.

The tree and the store's manifest come in, `NewerFiles` comes out; nothing is written. A reader uses it before an
answer, so a check of an unchanged tree reads neither folders nor the store.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.contracts import Store
from atlas.model import STRUCTURE_PATH, FileRecord, Skipped
from atlas.parsing import Languages, digest_paths, stamps
from atlas.pipeline.newer_files import NewerFiles
from atlas.pipeline.reconcile import RACY_NS, Region, same_stat
from atlas.pipeline.tree_state import TreeState
from atlas.pipeline.watch.git_rules import rule_files
from atlas.project_state import ProjectState
from atlas.scan import ScannedFile, Scope, as_scanned, changes_rules, scan_project

MAX_REGION = 500
"""Changed paths that are scanned one by one; for more, the whole tree is."""
IGNORE_FILES = (".gitignore", ".atlasignore")


@dataclass(frozen=True, slots=True)
class CheckedTree:
    """How a project's tree is scanned."""

    project: str
    root: Path
    languages: Callable[[], Languages]
    """Called once, before the first scan; may take 50 ms."""
    scope: Callable[[], Scope]
    """Called before each scan of the whole tree; raises ConfigError while the settings are invalid."""


class TreeCheck:
    """Use from one event loop; checks run one after the other."""

    def __init__(self, tree: CheckedTree) -> None:
        self._source = tree
        self._tree = TreeState()
        self._languages: Languages | None = None
        self._scope = Scope()
        self._watched: list[str] = []
        self._stamps: list[int] = []
        self._rules: dict[Path, tuple[int, int]] = {}
        self._records: dict[str, FileRecord] = {}
        self._refused: dict[str, Skipped] = {}
        self._verified: dict[str, tuple[int, str]] = {}
        self._newer: dict[str, str] = {}
        self._generation = -1
        self._finished = False

    @property
    def files(self) -> int:
        """Files in the scope of the project at the last check."""
        return len(self._tree.files)

    @property
    def indexed(self) -> int:
        """Files in the index at the last check."""
        return sum(1 for path in self._records if path != STRUCTURE_PATH)

    def unsupported(self) -> dict[str, int]:
        """Return how many files of unsupported languages have each ending, the most frequent first."""
        names = (path.rpartition("/")[2] for path, skip in self._tree.skipped.items() if skip.reason == "language")
        return dict(Counter(f".{name.rpartition('.')[2]}" if "." in name else name for name in names).most_common())

    def identities(self, paths: Iterable[str]) -> frozenset[tuple[str, int]]:
        """Return the version of each path on disk at the last check; 0 for a deleted one."""
        files = self._tree.files
        return frozenset((path, files[path].identity if path in files else 0) for path in paths)

    def bytes_of(self, paths: Iterable[str]) -> int:
        """Return the size of these files at the last check."""
        files = self._tree.files
        return sum(files[path].size for path in paths if path in files)

    async def compare(self, store: Store, state: ProjectState) -> NewerFiles:
        """Return what differs now between tree and index; `state` is the project's in the store.

        Raises ConfigError when the root cannot be read, and what the store raises.
        """
        is_first = self._generation < 0 or not self._finished or state.generation < self._generation
        scanning = asyncio.create_task(asyncio.to_thread(self._refresh))
        try:
            if is_first:
                self._records = await store.manifest(state.project)
                self._refused = _by_path(await store.skipped(state.project))
        finally:
            touched = await scanning
        if is_first:
            touched = None
        elif state.generation != self._generation or touched:
            await self._reread(store, state, {*self._newer, *(touched or ())})
        self._generation, self._finished = state.generation, bool(state.indexed_at)
        if touched is None:
            touched = {*self._tree.files, *self._records}
            self._newer = {}
        touched |= self._newer.keys()
        if touched:
            found = await asyncio.to_thread(self._compare, touched, everything=is_first)
            self._newer = {path: kind for path, kind in self._newer.items() if path not in touched} | found
        return self._result()

    async def _reread(self, store: Store, state: ProjectState, paths: set[str]) -> None:
        """Read the records of these paths again: they or their files have changed."""
        known = await store.records(state.project, sorted(paths))
        for path in paths:
            self._records.pop(path, None)
        self._records.update(known)
        if any(path in self._tree.files and path not in known for path in paths):
            self._refused = _by_path(await store.skipped(state.project))

    def _result(self) -> NewerFiles:
        groups: dict[str, list[str]] = {"new": [], "changed": [], "deleted": []}
        for path in sorted(self._newer):
            groups[self._newer[path]].append(path)
        return NewerFiles(tuple(groups["new"]), tuple(groups["changed"]), tuple(groups["deleted"]))

    def _refresh(self) -> set[str] | None:
        """Bring the view of the tree up to date; return the paths that changed, None after a scan of everything."""
        began = time.time_ns()
        root = str(self._source.root)
        rules = self._rule_stamps()
        if not self._watched or rules != self._rules:
            self._rules = rules
            return self._scan_all(began)
        now = stamps(root, self._watched, began - RACY_NS)
        if now == self._stamps and 0 not in now:
            return set()
        changed = [
            path for path, old, new in zip(self._watched, self._stamps, now, strict=True) if old != new or not new
        ]
        if len(changed) > MAX_REGION:
            return self._scan_all(began)
        named = self._named(changed)
        if any(not path or changes_rules(path) for path in named):
            return self._scan_all(began)
        return self._scan_region(named, began)

    def _named(self, changed: Sequence[str]) -> list[str]:
        """Replace each folder by the names that appeared in it or left it; a missing one stands for itself."""
        folders = self._tree.folders
        named = [path for path in changed if path not in folders]
        if len(named) == len(changed):
            return named
        known: dict[str, set[str]] = {}
        for path in (*self._tree.files, *(path.rstrip("/") for path in self._tree.skipped), *folders):
            folder, _, name = path.rpartition("/")
            known.setdefault(folder, set()).add(name)
        for folder in (path for path in changed if path in folders):
            try:
                listed = {as_scanned(entry.name) for entry in (self._source.root / folder).iterdir()}
            except OSError:
                named.append(folder)
                continue
            names = (listed ^ known.get(folder, set())) - {"", ".git", ".atlas"}
            named += [f"{folder}/{name}" if folder else name for name in names]
        return named

    def _scan_all(self, began: int) -> set[str] | None:
        if self._languages is None:
            self._languages = self._source.languages()
        self._scope = self._source.scope()
        is_first = not self._watched
        before = {path: file.identity for path, file in self._tree.files.items()}
        scan = scan_project(self._source.root, self._languages, self._scope)
        self._tree.replace_all(scan)
        self._take_stamps(began)
        return None if is_first else _differing(before, scan.files)

    def _scan_region(self, paths: list[str], began: int) -> set[str]:
        assert self._languages is not None
        part = scan_project(self._source.root, self._languages, self._scope, only=paths)
        region = Region.of(paths, self._tree.folders, set(part.folders))
        before = {path: self._tree.files[path].identity for path in region.within(self._tree.files.keys())}
        self._tree.replace_region(region, part)
        self._take_stamps(began)
        return _differing(before, part.files)

    def _take_stamps(self, began: int) -> None:
        """Remember the state of every file and folder; what changed since the scan began is not trusted."""
        tree = self._tree
        ignore = [path for path in tree.skipped if path.rpartition("/")[2] in IGNORE_FILES]
        self._watched = [*tree.folders, *tree.files, *ignore]
        self._stamps = stamps(str(self._source.root), self._watched, began - RACY_NS)

    def _rule_stamps(self) -> dict[Path, tuple[int, int]]:
        """Return inode and time of the ignore rules outside the scanned folders, such as git's index."""
        found: dict[Path, tuple[int, int]] = {}
        for folder, names in rule_files(self._source.root).items():
            for name in names:
                try:
                    status = (folder / name).lstat()
                except OSError:
                    continue
                found[folder / name] = status.st_ino, status.st_mtime_ns
        return found

    def _compare(self, paths: set[str], *, everything: bool) -> dict[str, str]:
        """Return which of these paths are new, changed or deleted."""
        found: dict[str, str] = {}
        suspects: list[str] = []
        for path in paths:
            kind = self._kind(path, trust_stat=everything)
            if kind == "suspect":
                suspects.append(path)
            elif kind:
                found[path] = kind
        digests = digest_paths(str(self._source.root), suspects) if suspects else ()
        for path, digest in zip(suspects, digests, strict=True):
            record = self._records[path]
            if digest == record.digest:
                self._verified[path] = self._tree.files[path].identity, digest
            else:
                found[path] = "changed"
        return found

    def _kind(self, path: str, *, trust_stat: bool) -> str:
        """Return `new`, `changed`, `deleted`, `suspect` (its content decides), or "" where disk and index agree."""
        file, record = self._tree.files.get(path), self._records.get(path)
        if path == STRUCTURE_PATH or (file is None and record is None):
            return ""
        if file is None:
            return "deleted"
        if record is None:
            refused = self._refused.get(path)
            return "" if refused is not None and (not refused.mtime_ns or same_stat(refused, file)) else "new"
        if trust_stat and same_stat(record, file):
            return ""
        if self._verified.get(path) == (file.identity, record.digest):
            return ""
        return "changed" if record.size != file.size and not record.stale else "suspect"


def _differing(before: Mapping[str, int], found: Iterable[ScannedFile]) -> set[str]:
    """Return the paths that have another identity than before, or no longer exist."""
    after = {file.path: file.identity for file in found}
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def _by_path(skipped: Iterable[Skipped]) -> dict[str, Skipped]:
    return {skip.path: skip for skip in skipped}
