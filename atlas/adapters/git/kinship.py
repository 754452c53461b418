"""Whether two trees are checkouts of one repository: linked work trees, or clones with a commit in common.

A commit names its history by digests down to its root, so two repositories that hold one commit have the same root.
Nothing outside of both repositories is read. A `.git` that does not point back is not followed (`process.git_folder`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Self

from atlas.adapters.git.limits import MAX_META_BYTES, Deadline
from atlas.adapters.git.location import Location, locate
from atlas.adapters.git.objects import COMMIT, Objects
from atlas.adapters.git.refs import Head, Refs
from atlas.adapters.git.repository import Repository
from atlas.adapters.git.walk import CommitWalker
from atlas.adapters.git.work_tree import Differing
from atlas.core.errors import AtlasError, NotFound
from atlas.runtime.process.files_below import list_below
from atlas.runtime.process.git_folder import pointer_of

MAX_TREES = 1_000
SECONDS = 2.0
"""Limit of reading one repository."""
COMPARING_SECONDS = 120.0
"""Limit of reading and comparing all files of a tree."""
MAX_ANCESTORS, WALK_SECONDS = 20_000, 5.0
"""How far back an ancestor is looked for."""


class Checkout:
    """A tree that is checked out from a repository. Close it with `close`."""

    def __init__(self, location: Location, head: Head) -> None:
        self._location, self._head, self._branch = location, head.oid, head.branch
        self._objects: Objects | None = None

    @classmethod
    def of(cls, root: Path) -> Self | None:
        """Return the checkout around a project's root; None without a repository that can be read."""
        try:
            location = locate(root)
            return cls(location, Refs(location).head())
        except AtlasError:
            return None

    @property
    def common(self) -> Path:
        """The folder that all linked work trees of the repository share."""
        return self._location.common

    @property
    def prefix(self) -> str:
        """The project's root inside of its work tree, "" where they are the same."""
        return self._location.prefix

    @property
    def head_name(self) -> str:
        """The branch that is checked out, or the first digits of the commit; "" before the first commit."""
        return self._branch.removeprefix("refs/heads/") or (self._head.hex()[:12] if self._head is not None else "")

    def is_kin_of(self, other: Checkout) -> bool:
        """Return whether both are the same folder of one repository's history."""
        if self._location.prefix != other._location.prefix:
            return False
        if self.common == other.common:
            return True
        return (self._head is not None and other._holds(self._head)) or (
            other._head is not None and self._holds(other._head)
        )

    def nearest(self, commits: Collection[bytes]) -> bytes | None:
        """Return the newest of these commits that HEAD is or descends from; None without any, or before the first one.

        Raises HistoryError for a history that cannot be read in time.
        """
        if self._head is None or not commits:
            return None
        if self._head in commits:
            return self._head
        objects = self._opened()
        objects.refresh(Deadline(WALK_SECONDS))
        walked = islice(CommitWalker(objects, self.common).back([self._head]), MAX_ANCESTORS)
        return next((commit.oid for commit in walked if commit.oid in commits), None)

    def close(self) -> None:
        """Close open files; idempotent."""
        if self._objects is not None:
            self._objects.close()
            self._objects = None

    def _holds(self, oid: bytes) -> bool:
        """Return whether the repository holds a commit whose content has this name."""
        try:
            objects = self._opened()
            objects.refresh(Deadline(SECONDS))
            kind, content = objects.read(oid, MAX_META_BYTES)
        except AtlasError:
            return False
        # the index of a pack may claim any name
        named = hashlib.sha1(b"commit %d\0" % len(content) + content, usedforsecurity=False)
        return kind == COMMIT and named.digest() == oid

    def _opened(self) -> Objects:
        if self._objects is None:
            self._objects = Objects(self.common, bytes)
        return self._objects


def committed_files(root: Path, paths: Iterable[str], differing: Differing) -> tuple[str, str, set[str]]:
    """Return HEAD's commit, the project's folder in its repository, and those paths whose content HEAD records.

    Converted line ends make no difference. Raises NotFound without a commit, HistoryError.
    """
    repository = Repository(root, bytes, differing)
    with closing(repository):
        repository.begin(Deadline(COMPARING_SECONDS))
        head = repository.head()
        tree = repository.trees.root(head)
        if tree is None:
            raise NotFound(f"commit {head.hex()[:12]} has nothing below {root}", "commit the project's files first")
        recorded = repository.trees.files(tree)
        same = set[str]()
        for path in paths:
            name = os.fsencode(path)
            entry = recorded.get(name)
            if entry is not None and repository.work_tree.has_content(name, entry.oid):
                same.add(path)
        return head.hex(), locate(root).prefix, same


def linked_trees(checkout: Checkout) -> list[Path]:
    """Return the same folder in the other work trees that the repository names; they may be gone."""
    common = checkout.common
    found = [common.parent] if common.name == ".git" else []
    try:
        names = list_below(common, "worktrees")
    except OSError:
        names = []
    for name in names[:MAX_TREES]:
        marker = pointer_of(common / "worktrees" / name, "gitdir")
        if marker:
            found.append(Path(os.path.realpath(common / "worktrees" / name / marker)).parent)
    return [one / checkout.prefix for one in found]
