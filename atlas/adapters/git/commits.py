"""Questions about commits: the last ones, the last that changed lines of a file, and files that changed together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from atlas.adapters.git.limits import MAX_TEXT_BYTES, Deadline
from atlas.adapters.git.objects import CommitRecord
from atlas.adapters.git.repository import Repository, commit_of
from atlas.core.errors import NotFound
from atlas.core.history import Author, CoChanges, Commit, LastChange, Log, Together
from atlas.core.line_diff import Hunk, diff_lines, lines_of, old_extent, shift_span
from atlas.core.wording import counted

MAX_PATHS = 100
"""A commit that changes more files says little about which belong together: it is not counted."""
_LISTED_PATHS = MAX_PATHS + 1
_SHALLOW = "the clone is shallow: older commits are not here"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which commits a log lists; see `History.log`."""

    limit: int
    since: str
    after: int
    until: int
    paths: int
    path: str
    author: str = ""
    last: str = ""
    words: tuple[str, ...] = ()
    least: int = 0


def log(repository: Repository, wanted: Wanted, soft: Deadline) -> Log:
    """See `History.log`. Merges are left out: their changes belong to the commits that they join."""
    hidden = [repository.revision(wanted.since)] if wanted.since else []
    folder = wanted.path.encode("utf-8", "surrogateescape")
    commits: list[Commit] = []
    notes: list[str] = []
    more, looked = False, 0
    start = repository.revision(wanted.last) if wanted.last else repository.head()
    said = [re.compile(rf"(?<![^\W_]){re.escape(word)}") for word in wanted.words]
    least = wanted.least or len(said)
    for record in repository.walker.back([start], hidden):
        if wanted.after and record.time < wanted.after:
            break
        if soft.passed:
            notes.append(f"the time for this question ended after {counted(looked, 'commit')}")
            break
        looked += 1
        subject = record.subject.lower() if said else ""
        if (wanted.until and record.time > wanted.until) or len(record.parents) > 1:
            continue
        if wanted.author and record.author != wanted.author:
            continue
        if said and sum(each.search(subject) is not None for each in said) < least:
            continue
        if folder and not _touches(repository, record, folder):
            continue
        changed, rest = changed_paths(repository, record)
        if not changed:
            continue
        if len(commits) == wanted.limit:
            more = True
            break
        commits.append(commit_of(record, changed[: wanted.paths], len(changed[wanted.paths :]) + rest))
    if not more and repository.walker.is_shallow and not wanted.since:
        notes.append(_SHALLOW)
    return Log(tuple(commits), tuple(notes), more)


def authors(repository: Repository, soft: Deadline) -> tuple[Author, ...]:
    """See `History.authors`."""
    found: Counter[str] = Counter()
    for record in repository.walker.back([repository.head()]):
        if soft.passed:
            break
        found[record.author] += 1
    return tuple(Author(name, count) for name, count in found.most_common())


def last_tag(repository: Repository) -> str:
    """See `History.last_tag`."""
    tags = repository.revisions.tags()
    found = next((tags[each.oid] for each in repository.walker.back([repository.head()]) if each.oid in tags), None)
    if found is None:
        raise NotFound("no tag is reachable from HEAD", "ask for the changes since a date, a commit or a branch")
    return found


def _touches(repository: Repository, record: CommitRecord, path: bytes) -> bool:
    parents = repository.walker.parents(record)
    before = repository.trees.find(parents[0], path) if parents else None
    return repository.trees.find(record.oid, path) != before


def changed_with(repository: Repository, path: str, commits: int, soft: Deadline) -> CoChanges:
    """See `History.changed_with`."""
    wanted = path.encode("utf-8", "surrogateescape")
    together: Counter[bytes] = Counter()
    seen = count = left_out = 0
    notes: list[str] = []
    for record in repository.walker.back([repository.head()]):
        if seen + left_out >= commits:
            notes.append(f"counted over the last {counted(commits, 'commit')}")
            break
        if soft.passed:
            notes.append(f"the time for this question ended after {counted(seen + left_out, 'commit')}")
            break
        if len(record.parents) > 1:
            continue
        changed, rest = changed_paths(repository, record)
        if len(changed) + rest > MAX_PATHS:
            left_out += 1
            continue
        seen += 1
        if wanted in changed:
            count += 1
            together.update(one for one in changed if one != wanted)
    if left_out:
        notes.append(f"not counted: {counted(left_out, 'commit')} of more than {MAX_PATHS} files")
    if repository.walker.is_shallow:
        notes.append(_SHALLOW)
    ranked = sorted(together.items(), key=lambda item: (-item[1], item[0]))
    files = tuple(Together(one.decode("utf-8", "replace"), number) for one, number in ranked)
    return CoChanges(count, seen, files, tuple(notes))


def last_change(repository: Repository, path: str, start: int, end: int, soft: Deadline) -> LastChange:
    """See `History.last_change`. Follows exact renames, and lines through the commits that moved them."""
    wanted = path.encode("utf-8", "surrogateescape")
    record = repository.objects.commit(repository.head())
    entry = repository.trees.find(record.oid, wanted)
    if entry is None:
        raise NotFound(f"`{path}` is not committed", "git knows its last change after the first commit")
    span = (start - 1, end) if start and end else None
    notes: list[str] = []
    if span is not None and (on_disk := repository.work_tree.text(wanted)) is not None:
        hunks = _hunks(repository, entry.oid, on_disk)
        if (committed := shift_span(hunks, *span)) is None:
            notes.append("some of these lines are changed and not committed")
            committed = old_extent(hunks, *span)
        if committed[0] == committed[1]:
            return LastChange(None, True, ("these lines are not committed",))
        span = committed
    looked = 0
    while not soft.passed:
        looked += 1
        step = _parent_with(repository, record, wanted, entry.oid, span)
        if step is None:
            is_edge = not repository.walker.parents(record) and repository.walker.is_shallow
            notes += [f"{_SHALLOW}; the change may be older"] if is_edge else []
            return LastChange(commit_of(record), span is not None, tuple(notes))
        record, wanted, oid, span = step
        entry = entry._replace(oid=oid)
    notes.append(f"no change within the time limit, which allowed to read {counted(looked, 'commit')}")
    return LastChange(None, span is not None, tuple(notes))


_Step = tuple[CommitRecord, bytes, bytes, tuple[int, int] | None]


def _parent_with(
    repository: Repository, record: CommitRecord, path: bytes, oid: bytes, span: tuple[int, int] | None
) -> _Step | None:
    """Return the parent that already has the lines, with their path and place there; None if the commit made them."""
    parents = [repository.objects.commit(parent) for parent in repository.walker.parents(record)]
    entries = [repository.trees.find(parent.oid, path) for parent in parents]
    for parent, entry in zip(parents, entries, strict=True):
        if entry is not None and entry.oid == oid:
            return parent, path, oid, span
    for parent, entry in zip(parents, entries, strict=True):
        if entry is None:
            if (source := _renamed_from(repository, parent, record, oid)) is not None:
                return parent, source, oid, span
        elif span is not None:
            text = repository.objects.blob(oid, MAX_TEXT_BYTES)
            place = shift_span(_hunks(repository, entry.oid, text or b""), *span)
            if place is not None:
                return parent, path, entry.oid, place
    return None


def _renamed_from(repository: Repository, parent: CommitRecord, record: CommitRecord, oid: bytes) -> bytes | None:
    """Return the path of a file with the same content that the commit removed."""
    changed = repository.trees.changed(repository.trees.root(parent.oid), repository.trees.root(record.oid))
    for path, old, new in islice(changed, 5_000):
        if new is None and old is not None and old.oid == oid:
            return path
    return None


def _hunks(repository: Repository, old: bytes, new: bytes) -> list[Hunk]:
    text = repository.objects.blob(old, MAX_TEXT_BYTES) or b""
    return diff_lines(lines_of(text), lines_of(new))


def changed_paths(repository: Repository, record: CommitRecord) -> tuple[tuple[bytes, ...], int]:
    """Return the changed files of a commit against its first parent, the first `_LISTED_PATHS`, and how many more."""
    known = repository.recent.get(record.oid)
    if known is not None:
        return known[1], known[2]
    parents = repository.walker.parents(record)
    if not parents and record.parents:
        # the edge of a shallow clone: what the commit changed is not known
        return (), 0
    before = repository.trees.root(parents[0]) if parents else None
    paths: list[bytes] = []
    more = 0
    for path, _, _ in repository.trees.changed(before, repository.trees.root(record.oid)):
        if len(paths) < _LISTED_PATHS:
            paths.append(path)
        elif (more := more + 1) > 10_000:
            break
    repository.recent[record.oid] = (record, tuple(paths), more)
    if len(repository.recent) > 5_000:
        repository.recent.pop(next(iter(repository.recent)))
    return tuple(paths), more
