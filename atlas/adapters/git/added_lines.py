"""The lines that commits added to files, as a set: what of them still stands in a file was not changed since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from atlas.adapters.git.limits import MAX_TEXT_BYTES
from atlas.adapters.git.objects import FOLDER_MODE, LINK_MODE, MODULE_MODE, MissingObject, TreeEntry
from atlas.adapters.git.repository import Repository

MAX_FILES, MAX_CHANGED = 10, 100
"""Wanted files of a commit: what one of more says is true of none of them; and files that are looked at."""
MAX_READ_BYTES = 8 << 20
"""Texts of all commits of one question."""
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
