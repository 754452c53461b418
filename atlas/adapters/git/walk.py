"""Commits in the order of their times, from HEAD back; boundaries of a shallow clone end the walk."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path

from atlas.adapters.git.limits import MAX_REFS_BYTES
from atlas.adapters.git.objects import CommitRecord, MissingObject, Objects
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files_below import read_below

_OID = lazy_regex(rb"[0-9a-f]{40}")
MAX_WALKED = 200_000
"""Commits that one question visits."""


class CommitWalker:
    """Walks the commits of one repository."""

    def __init__(self, objects: Objects, common: Path) -> None:
        self._objects = objects
        self._shallow = _shallow(common)

    @property
    def is_shallow(self) -> bool:
        """Whether the history ends early because the clone is shallow."""
        return bool(self._shallow)

    def parents(self, commit: CommitRecord) -> tuple[bytes, ...]:
        """Return the parents that the repository holds."""
        return () if commit.oid in self._shallow else commit.parents

    def back(self, starts: Iterable[bytes], hidden: Iterable[bytes] = ()) -> Iterator[CommitRecord]:
        """Yield commits, newest first, without those that are reachable from `hidden`."""
        heap: list[tuple[int, bytes, bool]] = []
        excluded: dict[bytes, bool] = {}
        for oid, is_hidden in [*((oid, True) for oid in hidden), *((oid, False) for oid in starts)]:
            self._push(heap, excluded, oid, is_hidden)
        # hidden commits are followed as long as others may still meet them
        wanted = sum(not is_hidden for _, _, is_hidden in heap)
        walked = 0
        while heap and wanted > 0 and walked < MAX_WALKED:
            walked += 1
            self._objects.deadline.check()
            _, oid, was_hidden = heapq.heappop(heap)
            is_hidden = excluded[oid]
            wanted -= not was_hidden
            commit = self._objects.commit(oid)
            for parent in self.parents(commit):
                wanted += self._push(heap, excluded, parent, is_hidden)
            if not is_hidden:
                yield commit

    def merge_base(self, one: bytes, other: bytes) -> bytes | None:
        """Return the newest commit that both commits descend from, or are; None without any."""
        sides = {one: 1, other: 2}
        if one == other:
            return one
        sides[other] = sides.get(other, 0) | 2
        heap = [(-self.time_of(oid), oid) for oid in sides]
        heapq.heapify(heap)
        walked = 0
        while heap and walked < MAX_WALKED:
            walked += 1
            self._objects.deadline.check()
            _, oid = heapq.heappop(heap)
            if sides[oid] == 3:
                return oid
            for parent in self.parents(self._objects.commit(oid)):
                known = sides.get(parent, 0)
                if known | sides[oid] != known:
                    sides[parent] = known | sides[oid]
                    if self._holds(parent):
                        heapq.heappush(heap, (-self.time_of(parent), parent))
        return None

    def _push(self, heap: list[tuple[int, bytes, bool]], excluded: dict[bytes, bool], oid: bytes, hide: bool) -> int:
        """Add a commit; return 1 for one that is new and wanted. One that turns out to be hidden is added again."""
        known = excluded.get(oid)
        if known is not None and (known or not hide):
            return 0
        if not self._holds(oid):
            return 0
        excluded[oid] = hide
        heapq.heappush(heap, (-self.time_of(oid), oid, hide))
        return int(not hide)

    def _holds(self, oid: bytes) -> bool:
        try:
            self._objects.commit(oid)
        except MissingObject:
            return False
        return True

    def time_of(self, oid: bytes) -> int:
        """Return the Unix time of a commit."""
        return self._objects.commit(oid).time


def _shallow(common: Path) -> frozenset[bytes]:
    try:
        lines = read_below(common, "shallow", MAX_REFS_BYTES).split()
    except OSError:
        return frozenset()
    return frozenset(bytes.fromhex(line.decode()) for line in lines if _OID.fullmatch(line))
