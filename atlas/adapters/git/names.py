"""Commits by which a name came into a project or a file, or left it: those whose message has it first, then the newest.

A whole history is too much to read for one question. A message that has the name leads to its commit, whose files are
compared; where none does, commits are compared from the newest back until the time is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.adapters.git.limits import MAX_TEXT_BYTES, Deadline
from atlas.adapters.git.objects import CommitRecord, TreeEntry
from atlas.adapters.git.repository import Repository, commit_of
from atlas.core.history import NameChange, NameChanges
from atlas.core.wording import counted

MOST_TOLD = 24
"""Commits whose message has the name that are compared."""
MOST_FILES = 60
"""Files of one commit that are compared."""
MOST_FOUND = 6
MOST_LEFT = 2
"""Files that a name came into of which the commit that took it out is looked for."""


def name_changes(repository: Repository, name: str, path: str, soft: Deadline) -> NameChanges:
    """See `History.name_changes`."""
    # `generic-pool-redux` is another name than `generic-pool`
    word = re.compile(rf"(?<!\w)(?<!\w-){re.escape(name)}(?!\w)(?!-[A-Za-z])".encode())
    found: list[NameChange] = []
    told = [record for record in _told(repository, name.lower(), soft)][:MOST_TOLD]
    for record in told:
        found += _of_commit(repository, record, name, word, path, with_texts=True)
    notes: list[str] = []
    if found:
        found += _beginnings(repository, found, soft)
        for each in (path,) if path else _only_added(found):
            found += _untold(repository, found, word, each, soft)
        if path and not _has_beginning(repository, found, word, path, soft):
            notes.append(f"the search ended early: `{name}` may have come into {path} before")
    else:
        for looked, record in enumerate(repository.walker.back([repository.head()])):
            if soft.passed:
                notes.append(f"the search ended after {counted(looked, 'commit')}: older changes are not listed")
                break
            if len(record.parents) < 2:
                found += _of_commit(repository, record, name, word, path, with_texts=bool(path))
            if len(found) >= MOST_FOUND:
                break
    unique = {(each.commit.id, each.path): each for each in found}
    ordered = sorted(unique.values(), key=lambda each: -each.commit.time)
    first = [each for each in ordered if each.is_added and each.path == path][-1:]
    kept = dict.fromkeys([*ordered[: MOST_FOUND - len(first)], *first])
    return NameChanges(tuple(kept), tuple(notes))


def _only_added(found: list[NameChange]) -> list[str]:
    """Return the files that a name came into, where no message tells that it left one."""
    is_told = any(not each.is_added for each in found)
    return [] if is_told else list(dict.fromkeys(each.path for each in found))[:MOST_LEFT]


def _untold(
    repository: Repository, found: list[NameChange], word: re.Pattern[bytes], path: str, soft: Deadline
) -> Iterator[NameChange]:
    """Yield how a name left the file of a path, where no message tells that end."""
    newest = max(found, key=lambda each: each.commit.time)
    is_gone = not _has(repository, repository.trees.find(repository.head(), _encoded(path)), word)
    if is_gone and newest.is_added:
        ends = _ends_of(repository, repository.head(), word, path, soft, is_added=False)
        yield from (each for each in [next(ends, None)] if each is not None)


def _has_beginning(
    repository: Repository, found: list[NameChange], word: re.Pattern[bytes], path: str, soft: Deadline
) -> bool:
    """Add the commit that first brought a name into a file, which its message need not tell; False if time is over."""
    own = [each for each in found if each.path == path]
    if not own:
        return True
    start = min(own, key=lambda each: each.commit.time)
    earlier = [*_ends_of(repository, bytes.fromhex(start.commit.id), word, path, soft, is_added=True)]
    found += earlier[-1:]
    return not soft.passed


def _ends_of(
    repository: Repository, start: bytes, word: re.Pattern[bytes], path: str, soft: Deadline, *, is_added: bool
) -> Iterator[NameChange]:
    """Yield the commits from one back that put a name into a file, or took it out, newest first."""
    at = _encoded(path)
    for record in repository.walker.back([start]):
        if soft.passed:
            return
        parents = repository.walker.parents(record)
        if len(parents) > 1 or (record.parents and not parents):
            continue
        new = repository.trees.find(record.oid, at)
        old = repository.trees.find(parents[0], at) if parents else None
        if (new and new.oid) == (old and old.oid):
            continue
        if is_added == (has := _has(repository, new, word)) and has != _has(repository, old, word):
            yield _change(record, at, is_added=is_added, is_file=False)


def _encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _told(repository: Repository, name: str, soft: Deadline) -> Iterator[CommitRecord]:
    for record in repository.walker.back([repository.head()]):
        if soft.passed:
            return
        if len(record.parents) < 2 and name in record.subject.lower():
            yield record


def _of_commit(
    repository: Repository, record: CommitRecord, name: str, word: re.Pattern[bytes], path: str, *, with_texts: bool
) -> Iterator[NameChange]:
    """Yield how a commit changed a name: a file called so, or one that has it only before or only behind."""
    wanted = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
    for number, (at, old, new) in enumerate(_changed(repository, record)):
        if number >= MOST_FILES and with_texts and not path:
            break
        last = at.rpartition(b"/")[2]
        if path and last != wanted:
            continue
        is_called = last.partition(b".")[0] == name.encode()
        if not path and is_called and (old is None or new is None):
            yield _change(record, at, is_added=old is None, is_file=True)
        elif with_texts and (has := _has(repository, new, word)) != _has(repository, old, word):
            yield _change(record, at, is_added=has, is_file=False)


def _changed(
    repository: Repository, record: CommitRecord
) -> Iterator[tuple[bytes, TreeEntry | None, TreeEntry | None]]:
    parents = repository.walker.parents(record)
    if not parents and record.parents:
        return  # the edge of a shallow clone
    old = repository.trees.root(parents[0]) if parents else None
    yield from repository.trees.changed(old, repository.trees.root(record.oid))


def _has(repository: Repository, entry: TreeEntry | None, word: re.Pattern[bytes]) -> bool:
    text = repository.objects.blob(entry.oid, MAX_TEXT_BYTES) if entry is not None else None
    return text is not None and word.search(text) is not None


def _beginnings(repository: Repository, found: list[NameChange], soft: Deadline) -> Iterator[NameChange]:
    """Yield the commits that added files of which only the end is known."""
    known = {each.path for each in found if each.is_added}
    for each in [change for change in found if change.is_file and not change.is_added and change.path not in known]:
        path = each.path.encode("utf-8", "surrogateescape")
        start = bytes.fromhex(each.commit.id)
        for record in repository.walker.back([start]):
            if soft.passed:
                break
            parents = repository.walker.parents(record)
            if record.oid == start or len(parents) > 1 or repository.trees.find(record.oid, path) is None:
                continue
            if not parents or repository.trees.find(parents[0], path) is None:
                yield _change(record, path, is_added=True, is_file=True)
                break


def _change(record: CommitRecord, path: bytes, *, is_added: bool, is_file: bool) -> NameChange:
    return NameChange(commit_of(record, (), 0), path.decode("utf-8", "replace"), is_added, is_file)
