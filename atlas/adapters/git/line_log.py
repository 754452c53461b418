"""The commits that changed lines of a file, as `git log -L` and `git log --follow` list them: newest first, bounded."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import islice

from atlas.adapters.git.limits import MAX_TEXT_BYTES, Deadline
from atlas.adapters.git.objects import CommitRecord
from atlas.adapters.git.repository import Repository, commit_of
from atlas.core.errors import NotFound
from atlas.core.history import Commit, LineLog
from atlas.core.line_diff import diff_lines, lines_of, old_extent, shift_span
from atlas.core.wording import counted

MAX_CANDIDATES = 40
"""Removed files of a commit that are compared with one that it added."""
SIMILAR = 0.5
"""Share of the lines that a renamed file keeps, as git has it."""
_SHALLOW = "the clone is shallow: older commits are not here"


@dataclass(frozen=True, slots=True)
class _At:
    """Lines of a file in a commit: 0-based, end excluded; None for the whole file."""

    record: CommitRecord
    path: bytes
    oid: bytes
    span: tuple[int, int] | None


def line_log(
    repository: Repository, path: str, lines: tuple[int, int], name: str, limit: int, soft: Deadline
) -> LineLog:
    """See `History.line_log`. A parent that has the same lines explains a merge alone, as in git's simplification."""
    start = _start(repository, path.encode("utf-8", "surrogateescape"), lines)
    if isinstance(start, str):
        return LineLog((), notes=(start,))
    found: list[Commit] = []
    notes: list[str] = []
    is_whole = False
    heap, seen, looked = [(-start.record.time, 0, start)], {start.record.oid}, 0
    while heap:
        if soft.passed or len(found) >= limit:
            notes.append(f"the search ended after {counted(looked, 'commit')}: older changes are not listed")
            break
        looked += 1
        _, _, at = heapq.heappop(heap)
        parents, changed = _before(repository, at, name.encode())
        if changed and len(at.record.parents) < 2:
            named = (at.path,) if at.path.decode("utf-8", "replace") != path else ()
            found.append(commit_of(at.record, named))
            is_whole = not parents and not (at.record.parents and not repository.walker.parents(at.record))
        for each in parents:
            if each.record.oid not in seen:
                seen.add(each.record.oid)
                heapq.heappush(heap, (-each.record.time, looked * 8 + len(heap), each))
    if repository.walker.is_shallow and not notes:
        notes.append(_SHALLOW)
        is_whole = False
    return LineLog(tuple(found), is_whole and not notes, tuple(notes))


def _start(repository: Repository, path: bytes, lines: tuple[int, int]) -> _At | str:
    """Return the lines in HEAD, or why there are none."""
    record = repository.objects.commit(repository.head())
    entry = repository.trees.find(record.oid, path)
    if entry is None:
        raise NotFound(f"`{path.decode('utf-8', 'replace')}` is not committed", "git knows it after the first commit")
    if not all(lines):
        return _At(record, path, entry.oid, None)
    span = (lines[0] - 1, lines[1])
    if (on_disk := repository.work_tree.text(path)) is not None:
        hunks = diff_lines(lines_of(_text(repository, entry.oid)), lines_of(on_disk))
        span = shift_span(hunks, *span) or old_extent(hunks, *span)
    return "these lines are not committed" if span[0] >= span[1] else _At(record, path, entry.oid, span)


def _before(repository: Repository, at: _At, name: bytes) -> tuple[list[_At], bool]:
    """Return the lines in the parents that explain them, and whether the commit changed them.

    Lines of a parent without the name are those of something else.
    """
    parents = [repository.objects.commit(oid) for oid in repository.walker.parents(at.record)]
    changed: list[_At] = []
    for parent in parents:
        entry = repository.trees.find(parent.oid, at.path)
        place = at.path
        if entry is not None and entry.oid == at.oid:
            return [_At(parent, at.path, at.oid, at.span)], False
        if entry is None and len(parents) == 1 and (source := _renamed_from(repository, parent, at)) is not None:
            place, oid = source
            if oid == at.oid:
                return [_At(parent, place, oid, at.span)], at.span is None
        elif entry is None:
            continue
        else:
            oid = entry.oid
        if at.span is None:
            changed.append(_At(parent, place, oid, None))
            continue
        old_lines = lines_of(_text(repository, oid))
        hunks = diff_lines(old_lines, lines_of(_text(repository, at.oid)))
        if (same := shift_span(hunks, *at.span)) is not None:
            return [_At(parent, place, oid, same)], False
        old = old_extent(hunks, *at.span)
        if old[0] < old[1] and (not name or any(name in line for line in old_lines[old[0] : old[1]])):
            changed.append(_At(parent, place, oid, old))
    return changed, True


def _renamed_from(repository: Repository, parent: CommitRecord, at: _At) -> tuple[bytes, bytes] | None:
    """Return path and content of the file that the commit renamed to this one: equal, or most similar."""
    changed = repository.trees.changed(repository.trees.root(parent.oid), repository.trees.root(at.record.oid))
    removed = [(path, old.oid) for path, old, new in islice(changed, 5_000) if new is None and old is not None]
    if exact := next((each for each in removed if each[1] == at.oid), None):
        return exact
    name, ending = at.path.rpartition(b"/")[2], at.path.rpartition(b".")[2]
    removed = sorted(
        (each for each in removed if each[0].endswith(ending)), key=lambda each: not each[0].endswith(name)
    )
    lines = [line for line in lines_of(_text(repository, at.oid)) if line.strip()]
    best, share = None, SIMILAR
    for path, oid in removed[:MAX_CANDIDATES]:
        others = set(lines_of(_text(repository, oid)))
        kept = sum(line in others for line in lines) / max(len(lines), 1)
        if kept >= share:
            best, share = (path, oid), kept
    return best


def _text(repository: Repository, oid: bytes) -> bytes:
    return repository.objects.blob(oid, MAX_TEXT_BYTES) or b""
