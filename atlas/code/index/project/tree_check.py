"""Which files on disk are newer than the index: a scan once, then one `stat` per known file and folder.

The tree and the store's manifest come in, `NewerFiles` comes out. A reader uses it before an answer, so a check of an
unchanged tree reads neither folders nor the store. In a large tree the kernel tells which names changed
(`tree_events`). A file of the data folder keeps what was scanned (`tree_snapshot`), and the next session
starts from it.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.answers.evidence import NewerFiles
from atlas.code.index.project.reconcile import RACY_NS, Region, rules_of, same_stat
from atlas.code.index.project.tree_events import MAX_NAMES, TreeEvents, open_events
from atlas.code.index.project.tree_snapshot import RuleStamps, TreeSnapshot, pack, read_snapshot, write_snapshot
from atlas.code.index.project.tree_state import TreeState
from atlas.code.index.watch.git_rules import rule_stamps
from atlas.core.contracts import Store
from atlas.core.model import STRUCTURE_PATH, FileRecord, Skipped
from atlas.core.project_state import ProjectState
from atlas.parsing import Languages, digest_paths, language_files_state, paths_that_differ, stamps
from atlas.parsing.scanning import SETTINGS, Scan, ScannedFile, Scope, as_scanned, changes_rules, scan_project

MAX_REGION = MAX_NAMES
"""Changed paths that are scanned one by one; for more, the whole tree is."""
MAX_REPOSITORIES = 100
"""Repositories in the tree whose git folders are watched for changed rules; a tree with more is scanned again by each
session."""
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
    languages_state: Callable[[], str] = language_files_state
    """Changes with what `languages` would return."""
    snapshot: Path | None = None
    """File that keeps the tree for the next session."""
    rules_file: str = ""
    """Path of the project's own rules for routes and events, relative to the root; "" for none."""
    rules: Callable[[], str] = str
    """Returns the digest of these rules as they are now; "" for none."""


class TreeCheck:
    """Use from one event loop; checks run one after the other."""

    def __init__(self, tree: CheckedTree) -> None:
        self._source = tree
        self._state = TreeState()
        self._unread: TreeSnapshot | None = None
        """Holds the tree until a change needs `_state`."""
        self._languages: Languages | None = None
        self._languages_state = ""
        self._scope = Scope()
        self._watched: str | None = None
        """One path per line; None before the first scan."""
        self._stamps = b""
        self._rules: RuleStamps = {}
        self._repositories: set[str] = set()
        self._records: dict[str, FileRecord] = {}
        self._refused: dict[str, Skipped] = {}
        self._verified: dict[str, tuple[int, str]] = {}
        self._newer: dict[str, str] = {}
        self._generation = -1
        self._finished = False
        self._is_restored = False
        self._is_saved = True
        self._events: TreeEvents | None = None
        self._may_watch = False
        """From the second check on: a process that asks once needs no watches."""
        self._unstamped: set[str] = set()
        """Paths that events have named since the stamps were taken."""
        self._own_rules = RulesCheck(tree.root, tree.rules_file, tree.rules)
        self._saving: asyncio.Task[None] | None = None
        self._scans = 0

    @property
    def files(self) -> int:
        """Files in the scope of the project at the last check."""
        return self._unread.files if self._unread is not None else len(self._state.files)

    @property
    def scans(self) -> int:
        """How often the whole tree was scanned."""
        return self._scans

    @property
    def indexed(self) -> int:
        """Files in the index at the last check; of a finished index, only those that were looked up."""
        return sum(1 for path in self._records if path != STRUCTURE_PATH)

    def unsupported(self, forms: Mapping[str, str]) -> dict[str, int]:
        """Return `TreeState.unsupported` of the last check."""
        return self._tree.unsupported(forms)

    def identities(self, paths: Iterable[str]) -> frozenset[tuple[str, int]]:
        """Return the version of each path on disk at the last check; 0 for a deleted one."""
        files = self._tree.files
        return frozenset(
            (path, files[path].identity if path in files else self._own_rules.identity(path)) for path in paths
        )

    def bytes_of(self, paths: Iterable[str]) -> int:
        """Return the size of these files at the last check."""
        files = self._tree.files
        return sum(files[path].size for path in paths if path in files)

    async def compare(self, store: Store, state: ProjectState) -> NewerFiles:
        """Return what differs now between tree and index; `state` is the project's in the store.

        Raises ConfigError when the root cannot be read, and what the store raises.
        """
        if self._generation < 0 and state.indexed_at:
            await asyncio.to_thread(self._restore)
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
        elif state.generation != self._generation or touched or self._is_restored:
            await self._reread(store, state, {*self._newer, *(touched or ())})
        self._generation, self._finished, self._is_restored = state.generation, bool(state.indexed_at), False
        if touched is None:
            touched = {*self._tree.files, *self._records}
            self._newer = {}
        touched |= self._newer.keys()
        if touched:
            found = await asyncio.to_thread(self._compare, touched, everything=is_first)
            self._newer = {path: kind for path, kind in self._newer.items() if path not in touched} | found
        if is_first and not self._is_saved:
            self._save()
        return self._result(await self._own_rules.newer(store, state))

    def verify_early(self) -> None:
        """See `TreeEvents.verify_early`."""
        if self._events is not None:
            self._events.verify_early()

    async def aclose(self) -> None:
        """Keep the tree for the next session; idempotent."""
        if self._saving is not None:
            await self._saving
        await asyncio.to_thread(self._end_events)
        self._save()
        if self._saving is not None:
            await self._saving

    async def _reread(self, store: Store, state: ProjectState, paths: set[str]) -> None:
        """Read the records of these paths again: they or their files have changed."""
        known = await store.records(state.project, sorted(paths))
        for path in paths:
            self._records.pop(path, None)
        self._records.update(known)
        if any(path not in known and path in self._tree.files for path in paths):
            self._refused = _by_path(await store.skipped(state.project))

    def _result(self, rules: tuple[str, ...]) -> NewerFiles:
        groups: dict[str, list[str]] = {"new": [], "changed": [], "deleted": []}
        for path in sorted(self._newer):
            groups[self._newer[path]].append(path)
        return NewerFiles(tuple(groups["new"]), (*groups["changed"], *rules), tuple(groups["deleted"]))

    @property
    def _tree(self) -> TreeState:
        if self._unread is not None:
            self._state.replace_all(self._unread.scan())
            self._unread = None
        return self._state

    def _restore(self) -> None:
        """Go on from the tree that an earlier session has kept, if there is one."""
        if self._source.snapshot is None:
            return
        self._scope = self._source.scope()
        self._languages_state = self._source.languages_state()
        found = read_snapshot(self._source.snapshot, self._key())
        if found is not None:
            self._unread, self._is_restored = found, True
            self._generation, self._finished, self._newer = found.generation, True, dict(found.newer)
            self._watched, self._stamps, self._rules = found.watched, found.stamps, found.rules
            self._repositories = set(found.repositories)

    def _save(self) -> None:
        """Begin to keep the tree for the next session, unless that has been done or is being done."""
        path, watched = self._source.snapshot, self._watched
        is_busy = self._saving is not None and not self._saving.done()
        if self._is_saved or is_busy or path is None or watched is None or not self._finished:
            return
        self._is_saved = True
        if len(self._repositories) > MAX_REPOSITORIES:
            return
        tree, repositories = self._tree, tuple(self._repositories)
        files, skipped, folders = list(tree.files.values()), list(tree.skipped.values()), list(tree.folders)
        generation, newer, rules, found, key = self._generation, self._newer, self._rules, self._stamps, self._key()

        def save() -> None:
            packed = pack(files, skipped, folders)
            snapshot = TreeSnapshot(generation, len(files), newer, rules, repositories, watched, found, packed)
            write_snapshot(path, key, snapshot)

        self._saving = asyncio.create_task(asyncio.to_thread(save))

    def _key(self) -> str:
        return repr((str(self._source.root), self._source.project, self._scope, self._languages_state))

    def _refresh(self) -> set[str] | None:
        """Bring the view of the tree up to date; return the paths that changed, None after a scan of everything."""
        began = time.time_ns()
        if self._watched is None or self._rule_stamps() != self._rules:
            return self._scan_all(began)
        named, changed = self._changed_names(began)
        if not changed:
            return set()
        if len(changed) > MAX_REGION:
            return self._scan_all(began)
        if any(not path or changes_rules(path) for path in named):
            return self._scan_all(began)
        touched = self._scan_region(named, changed, began)
        if self._events is not None:
            # an event is certain where inode and time are not: two writes may share them
            touched.update(path for path in named if path in self._tree.files)
            for path in touched:
                self._verified.pop(path, None)
        return touched

    def _changed_names(self, began: int) -> tuple[list[str], Sequence[str]]:
        """Return the names that are to be scanned again, and the paths whose stamps are no longer true."""
        if self._events is not None and not self._events.is_due and (found := self._events.changed()) is not None:
            self._unstamped.update(found, (path.rpartition("/")[0] for path in found))
            return sorted(found), sorted(found)
        self._end_events()
        if self._may_watch:
            # before the files are looked at: what changes from here on is an event
            self._events = open_events(self._source.root, self._tree.folders, self.files)
        self._may_watch = True
        assert self._watched is not None
        changed = paths_that_differ(str(self._source.root), self._watched, self._stamps, began - RACY_NS)
        named = self._named(changed) if 0 < len(changed) <= MAX_REGION else []
        self._unstamped.update(changed, named)
        return named, changed

    def _end_events(self) -> None:
        """Go back to stamps: what has changed since they were taken gets one that differs from every other."""
        if self._events is None:
            return
        left = self._events.changed()
        self._events.close()
        self._events = None
        if self._watched is None or not (self._unstamped or left or left is None):
            return
        known = dict(zip(self._watched.split("\n"), array("Q", self._stamps), strict=True))
        for path in self._unstamped.union(left or ()):
            known.pop(path, None)
        self._unstamped.clear()
        watched = self._watchable()
        self._watched = "\n".join(watched)
        self._stamps = array("Q", [known.get(path, 0) for path in watched]).tobytes()
        # what the queue could not tell is in no stamp
        self._is_saved = left is None

    def _watchable(self) -> list[str]:
        """Return every path whose change matters, those of a folder together: less time."""
        tree = self._tree
        may_join = (path.rstrip("/") for path, skip in tree.skipped.items() if _may_join(skip))
        return sorted((*tree.folders, *tree.files, *may_join))

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
        if self._events is not None:
            self._events.close()
            self._events = None
        self._unstamped.clear()
        self._scans += 1
        self._scope = self._source.scope()
        is_first = self._watched is None
        before = {path: file.identity for path, file in self._tree.files.items()}
        scan = self._scan()
        self._tree.replace_all(scan)
        self._repositories = set(scan.repositories)
        # the first ones lack those of repositories that this scan has found; what is young may change unnoticed
        rules = self._rule_stamps()
        self._rules = {file: stamp if stamp[1] < began - RACY_NS else (0, 0) for file, stamp in rules.items()}
        self._watched, self._stamps = "", b""
        self._take_stamps(began)
        return None if is_first else _differing(before, scan.files)

    def _scan_region(self, paths: list[str], changed: Sequence[str], began: int) -> set[str]:
        part = self._scan(paths)
        region = Region.of(paths, self._tree.folders, set(part.folders))
        before = {path: self._tree.files[path].identity for path in region.within(self._tree.files.keys())}
        if not self._tree.folders >= set(part.folders):
            # nothing watches a new folder yet
            self._end_events()
        self._tree.replace_region(region, part)
        self._repositories.update(part.repositories)
        if self._events is None:
            self._unstamped.clear()
            self._take_stamps(began, changed)
        return _differing(before, part.files)

    def _scan(self, only: Sequence[str] | None = None) -> Scan:
        if self._languages is None:
            self._languages_state = self._languages_state or self._source.languages_state()
            self._languages = self._source.languages()
        return scan_project(self._source.root, self._languages, self._scope, only=only)

    def _take_stamps(self, began: int, changed: Iterable[str] = ()) -> None:
        """Stamp every watched path that has no stamp or is among the changed ones.

        What changed since the scan began is not trusted. The others were seen unchanged after `began`.
        """
        assert self._watched is not None
        known = dict(zip(self._watched.split("\n"), array("Q", self._stamps), strict=False))
        for path in changed:
            known.pop(path, None)
        watched = self._watchable()
        missing = [path for path in watched if path not in known]
        if missing:
            found = stamps(str(self._source.root), "\n".join(missing), began - RACY_NS)
            known.update(zip(missing, array("Q", found), strict=True))
        self._watched, self._is_saved = "\n".join(watched), False
        self._stamps = array("Q", [known[path] for path in watched]).tobytes()

    def _rule_stamps(self) -> dict[str, tuple[int, int]]:
        root = self._source.root
        return rule_stamps(root, sorted(self._repositories)[:MAX_REPOSITORIES], [root / SETTINGS])

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
            return "" if _is_refused(self._refused.get(path), file) else "new"
        if trust_stat and same_stat(record, file):
            return ""
        if self._verified.get(path) == (file.identity, record.digest):
            return ""
        return "changed" if record.size != file.size and not record.stale else "suspect"


def _is_refused(skip: Skipped | None, file: ScannedFile) -> bool:
    """Return whether the index leaves this file out because of its content; without a size, a scan has left it out."""
    if skip is None:
        return False
    return same_stat(skip, file) if skip.mtime_ns else skip.size > 0


def _differing(before: Mapping[str, int], found: Iterable[ScannedFile]) -> set[str]:
    """Return the paths that have another identity than before, or no longer exist."""
    after = {file.path: file.identity for file in found}
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def _may_join(skip: Skipped) -> bool:
    """Return whether a skipped path may come into scope, or change what is in scope, without a new name."""
    name = skip.path.rpartition("/")[2]
    is_script = skip.reason == "language" and "." not in name
    return name in IGNORE_FILES or is_script or skip.reason in ("too-large", "unreadable")


def _by_path(skipped: Iterable[Skipped]) -> dict[str, Skipped]:
    return {skip.path: skip for skip in skipped}


class RulesCheck:
    """Whether an index was made with the rules for routes and events that the project's own file has now.

    The index does not have that file, so only the structure unit tells with which rules the others were read. Use from
    one event loop. A check of an unchanged file is one `stat`.
    """

    def __init__(self, root: Path, path: str, digest: Callable[[], str]) -> None:
        """`path` of the rules below the root, "" for none; `digest` names the rules as they are now."""
        self._file, self._path, self._digest = root / path, path, digest
        self._seen: tuple[int, int] | None = None
        self._differs = False

    def identity(self, path: str) -> int:
        """Return what changes with the content of the rules' file if `path` is that file, else 0."""
        return self._stamp() if path == self._path else 0

    async def newer(self, store: Store, state: ProjectState) -> tuple[str, ...]:
        """Return the path of the rules if the index was made with others, else nothing. Raises as the store does."""
        if not self._path:
            return ()
        seen = self._stamp(), state.generation
        if seen != self._seen:
            known = await store.records(state.project, [STRUCTURE_PATH])
            structure = known.get(STRUCTURE_PATH)
            self._differs = structure is not None and rules_of(structure) != await asyncio.to_thread(self._digest)
            # a file that has just changed may change again without another time
            self._seen = seen if seen[0] < time.time_ns() - RACY_NS else None
        return (self._path,) if self._differs else ()

    def _stamp(self) -> int:
        try:
            return self._file.lstat().st_ctime_ns
        except (OSError, ValueError):
            return 0
