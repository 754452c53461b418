"""One repository for one project: what is open and cached between questions. Not thread-safe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from atlas.adapters.git.limits import Deadline
from atlas.adapters.git.location import Location, locate
from atlas.adapters.git.objects import CommitRecord, Objects
from atlas.adapters.git.refs import Refs
from atlas.adapters.git.revisions import Revisions
from atlas.adapters.git.staging import IndexReader
from atlas.adapters.git.trees import Trees
from atlas.adapters.git.walk import CommitWalker
from atlas.adapters.git.work_tree import Differing, WorkTree
from atlas.core.errors import NotFound
from atlas.core.history import BRANCH_BASE, Commit


class Repository:
    """Opens lazily, and again where the root's repository has become another one."""

    def __init__(self, root: Path, mask: Callable[[bytes], bytes], differing: Differing) -> None:
        self._mask = mask
        self._root = Path(os.path.realpath(root))
        self._location: Location | None = None
        self.work_tree = WorkTree(self._root, differing)
        self.objects: Objects
        self.trees: Trees
        self.index: IndexReader
        self.refs: Refs
        self.revisions: Revisions
        self.walker: CommitWalker
        self.recent: dict[bytes, tuple[CommitRecord, tuple[bytes, ...], int]] = {}
        """Changed paths of commits that were listed before, and how many more there are."""
        self.last_commits: tuple[bytes, int, tuple[Commit, ...]] = (b"", 0, ())
        """HEAD, a limit, and the last commits from there, as they were listed before."""

    def begin(self, deadline: Deadline) -> None:
        """Begin a question. Raises NotFound without a repository, HistoryError for one that cannot be read."""
        location = locate(self._root)
        if self._location is None or (self._location.git, self._location.prefix) != (location.git, location.prefix):
            self.close()
            self.objects = Objects(location.common, self._mask)
            self.trees = Trees(self.objects, location.prefix)
            self.index = IndexReader(location.git, location.prefix)
        self._location = location
        self.objects.refresh(deadline)
        self.refs = Refs(location)
        self.revisions = Revisions(location, self.objects, self.refs)
        self.walker = CommitWalker(self.objects, location.common)

    def head(self) -> bytes:
        """Return the commit that is checked out. Raises NotFound before the first one."""
        oid = self.revisions.commit("HEAD")
        if self._location is not None and self._location.prefix and self.trees.root(oid) is None:
            raise NotFound(
                f"no Git repository: {self._location.work_tree} is one, but has never recorded this folder",
                "commit the project's files first",
            )
        return oid

    def branch_base(self) -> bytes:
        """Return where the current branch left the default branch, or its upstream on the default branch itself."""
        head = self.head()
        default = self.revisions.default_branch()
        candidates = [default[1] if default else None, self.revisions.upstream()]
        for candidate in candidates:
            if candidate is None or candidate == head:
                continue
            base = self.walker.merge_base(head, self.revisions.peeled(candidate))
            if base is not None and base != head:
                return base
        if not any(candidates):
            raise NotFound(
                "there is no default branch to compare with (main, master, or that of the remote)",
                "name a revision: `since REV`",
            )
        # no commit since then: only the working tree can differ
        return head

    def revision(self, text: str) -> bytes:
        """Return the commit of a revision or of `BRANCH_BASE`."""
        return self.branch_base() if text == BRANCH_BASE else self.revisions.commit(text)

    def close(self) -> None:
        """Close open files; idempotent."""
        if self._location is not None:
            self.objects.close()
            self.recent.clear()
            self.last_commits = (b"", 0, ())
            self._location = None


def commit_of(record: CommitRecord, paths: tuple[bytes, ...] = (), more: int = 0) -> Commit:
    """Return a commit for answers."""
    shown = tuple(path.decode("utf-8", "replace") for path in paths)
    return Commit(record.oid.hex(), record.author, record.time, record.subject, shown, more, record.day)
