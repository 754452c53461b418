"""Trees of a repository compared: which files differ between two states, by path below a folder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from atlas.adapters.git.limits import MAX_DEPTH, MAX_ENTRIES
from atlas.adapters.git.objects import FOLDER_MODE, Objects, TreeEntry
from atlas.core.errors import HistoryError

_KEPT_FLAT = 3
"""Whole trees whose files are kept: HEAD, and the last revisions that were compared with."""

Files = Mapping[bytes, TreeEntry]


class Trees:
    """Trees of one repository, seen from the project's folder in it."""

    def __init__(self, objects: Objects, prefix: str) -> None:
        self._objects = objects
        self._prefix = [part.encode("utf-8", "surrogateescape") for part in prefix.split("/")] if prefix else []
        self._flat: OrderedDict[bytes, Files] = OrderedDict()

    def root(self, commit: bytes) -> bytes | None:
        """Return the tree of the project's folder in a commit; None where the commit does not hold the folder."""
        return self._below(self._objects.commit(commit).tree, self._prefix)

    def find(self, commit: bytes, path: bytes) -> TreeEntry | None:
        """Return the entry of a path below the project's folder in a commit; None without one."""
        *folders, name = path.strip(b"/").split(b"/")
        tree = self._below(self._objects.commit(commit).tree, [*self._prefix, *folders])
        return None if tree is None else self._objects.tree(tree).get(name)

    def files(self, tree: bytes | None) -> Files:
        """Return every file of a tree by path. Raises HistoryError for too many."""
        if tree is None:
            return {}
        if (known := self._flat.get(tree)) is not None:
            self._flat.move_to_end(tree)
            return known
        found: dict[bytes, TreeEntry] = {}
        for path, _, entry in self._changed(None, tree, b"", 0):
            assert entry is not None
            found[path] = entry
            if len(found) > MAX_ENTRIES:
                raise HistoryError(f"a tree of the git history has more than {MAX_ENTRIES:,} files")
        self._flat[tree] = found
        while len(self._flat) > _KEPT_FLAT:
            self._flat.popitem(last=False)
        return found

    def changed(
        self, old: bytes | None, new: bytes | None
    ) -> Iterator[tuple[bytes, TreeEntry | None, TreeEntry | None]]:
        """Yield (path, old entry, new entry) of every file that differs; equal folders are not entered."""
        return self._changed(old, new, b"", 0)

    def _changed(
        self, old: bytes | None, new: bytes | None, folder: bytes, depth: int
    ) -> Iterator[tuple[bytes, TreeEntry | None, TreeEntry | None]]:
        if depth > MAX_DEPTH:
            raise HistoryError("the git history is damaged: folders of a tree are nested without end")
        self._objects.deadline.check()
        before = self._objects.tree(old) if old is not None else {}
        after = self._objects.tree(new) if new is not None else {}
        for name in sorted(before.keys() | after.keys()):
            here, there = before.get(name), after.get(name)
            if here == there:
                continue
            path = folder + name
            here_tree = here.oid if here is not None and here.mode == FOLDER_MODE else None
            there_tree = there.oid if there is not None and there.mode == FOLDER_MODE else None
            if here_tree is not None or there_tree is not None:
                yield from self._changed(here_tree, there_tree, path + b"/", depth + 1)
            here_file = here if here_tree is None else None
            there_file = there if there_tree is None else None
            if here_file is not None or there_file is not None:
                yield path, here_file, there_file

    def _below(self, tree: bytes, folders: list[bytes]) -> bytes | None:
        for folder in folders:
            entry = self._objects.tree(tree).get(folder)
            if entry is None or entry.mode != FOLDER_MODE:
                return None
            tree = entry.oid
        return tree
