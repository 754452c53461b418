"""The lines that commits added to files, as a set, and the runs of lines that they wrote in place of others; bounded.

What of the added lines still stands in a file was not changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from atlas.adapters.git.limits import MAX_TEXT_BYTES, Deadline
from atlas.adapters.git.line_log import line_log
from atlas.adapters.git.objects import FOLDER_MODE, LINK_MODE, MODULE_MODE, MissingObject, TreeEntry
from atlas.adapters.git.repository import Repository
from atlas.core.errors import NotFound
from atlas.core.history import Commit, Rewritten
from atlas.core.line_diff import diff_lines, lines_of

MAX_FILES, MAX_CHANGED = 10, 100
"""Wanted files of a commit: what one of more says is true of none of them; and files that are looked at."""
MAX_READ_BYTES = 8 << 20
"""Texts of all commits of one question."""
MAX_RUN = 200
"""Lines of a run: what rewrites more of a file at once tells nothing about one of them."""
_BINARY_HEAD = 8_000
_NO_FILES = (FOLDER_MODE, LINK_MODE, MODULE_MODE)


def added_lines(
    repository: Repository, ids: Sequence[str], wanted: Callable[[str], bool]
) -> dict[str, dict[str, frozenset[str]]]:
    """See `History.added_lines`."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    left = MAX_READ_BYTES
    for each in ids:
        record = repository.objects.commit(bytes.fromhex(each))
        parents = repository.walker.parents(record)
        if len(parents) != 1:
            continue
        changed = _changed(repository, parents[0], record.oid, wanted)
        if len(changed) > MAX_FILES:
            continue
        own: dict[str, frozenset[str]] = {}
        for path, old, new in changed:
            after, before = _text(repository, new), _text(repository, old)
            left -= len(after) + len(before)
            if left < 0:
                return found
            if added := set(after.split(b"\n")).difference(before.split(b"\n")):
                own[path] = frozenset(line.decode("utf-8", "replace").strip() for line in added)
        found[each] = own
    return found


def rewritten_lines(repository: Repository, paths: Sequence[str], limit: int, soft: Deadline) -> tuple[Rewritten, ...]:
    """See `History.rewritten`."""
    found: list[Rewritten] = []
    left = MAX_READ_BYTES
    for path in paths:
        try:
            commits = line_log(repository, path, (0, 0), "", limit, soft).commits
        except NotFound:
            continue
        for commit in commits:
            old, new = _before_and_after(repository, commit, commit.paths[0] if commit.paths else path)
            left -= len(old) + len(new)
            if left < 0 or soft.passed:
                return tuple(found)
            found += _runs(commit, path, lines_of(old), lines_of(new))
    return tuple(found)


def _runs(commit: Commit, path: str, old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Rewritten]:
    for run in diff_lines(old, new):
        gone, came = old[run.old_start : run.old_end], new[run.new_start : run.new_end]
        if len(gone) <= MAX_RUN and len(came) <= MAX_RUN:
            below = _decoded(new[run.new_end : run.new_end + 1])
            yield Rewritten(commit, path, _decoded(gone), _decoded(came), "".join(below))


def _decoded(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(line.decode("utf-8", "replace").strip() for line in lines)


def _before_and_after(repository: Repository, commit: Commit, path: str) -> tuple[bytes, bytes]:
    """Return the text of a file before and after a commit; b"" where there is none."""
    record, name = repository.objects.commit(bytes.fromhex(commit.id)), path.encode("utf-8", "surrogateescape")
    parents = repository.walker.parents(record)
    old = repository.trees.find(parents[0], name) if parents else None
    return _text(repository, old), _text(repository, repository.trees.find(record.oid, name))


def _changed(
    repository: Repository, old: bytes, new: bytes, wanted: Callable[[str], bool]
) -> list[tuple[str, TreeEntry | None, TreeEntry]]:
    """Return the wanted files that a commit added or changed, of its first ones."""
    trees = repository.trees
    changed = islice(trees.changed(trees.root(old), trees.root(new)), MAX_CHANGED)
    named = ((path.decode("utf-8", "replace"), before, after) for path, before, after in changed)
    return [(path, before, after) for path, before, after in named if after is not None and wanted(path)]


def _text(repository: Repository, entry: TreeEntry | None) -> bytes:
    """Return the text of a file; b"" for none."""
    if entry is None or entry.mode in _NO_FILES:
        return b""
    try:
        content = repository.objects.blob(entry.oid, MAX_TEXT_BYTES)
    except MissingObject:
        return b""  # a partial clone holds only the texts that were checked out
    return b"" if content is None or b"\0" in content[:_BINARY_HEAD] else content
