"""Changed files between a revision and the working tree, the staging area or another revision, with both texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atlas.adapters.git.limits import MAX_CHANGES, MAX_ENTRIES, MAX_TEXT_BYTES, MAX_TEXTS_BYTES
from atlas.adapters.git.objects import FOLDER_MODE, LINK_MODE, MODULE_MODE, MissingObject, TreeEntry
from atlas.adapters.git.repository import Repository, commit_of
from atlas.core.errors import HistoryError, NotFound
from atlas.core.history import STAGED, WORK_TREE, ChangeKind, Diff, FileChange
from atlas.core.line_diff import lines_of
from atlas.core.wording import counted

_SIMILAR = 0.5
"""Share of equal lines from which a new file counts as a deleted one under another name, as in git."""
_MAX_PAIRS = 2_500
_BINARY_HEAD = 8_000


@dataclass(slots=True)
class _Pair:
    path: bytes
    old_path: bytes
    old: TreeEntry | None
    new: TreeEntry | None
    on_disk: bool
    """The new side is the file on disk."""


def diff(repository: Repository, old: str, new: str, candidates: Iterable[str]) -> Diff:
    """See `History.diff`; `candidates` are files that may exist without being known to git."""
    base, target = _ends(repository, old, new)
    before = repository.trees.root(base)
    if target is not None:
        changed = repository.trees.changed(before, repository.trees.root(target))
        pairs = [_Pair(path, path, here, there, False) for path, here, there in _capped(changed)]
    else:
        pairs = _against_files(repository, repository.trees.files(before), new, candidates)
    pairs = [pair for pair in pairs if not _same(pair.old, pair.new)]
    pairs = _with_renames(repository, pairs)
    changes, notes = _with_texts(repository, sorted(pairs, key=lambda pair: pair.path))
    name = {WORK_TREE: "working tree", STAGED: "staged"}.get(new, new) if target is None else target.hex()[:12]
    return Diff(commit_of(repository.objects.commit(base)), name, tuple(changes), tuple(notes))


def content(repository: Repository, revision: str, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, text); see `History.content`."""
    commit, held = repository.revision(revision), 0
    for path in paths[:MAX_CHANGES]:
        text = _blob(repository, repository.trees.find(commit, path.encode("utf-8", "surrogateescape")))
        held += len(text or b"")
        if held > MAX_TEXTS_BYTES:
            return
        if text is not None:
            yield path, text


def _ends(repository: Repository, old: str, new: str) -> tuple[bytes, bytes | None]:
    """Return both commits; the second is None for the staging area and the working tree."""
    if old.startswith(":") or ".." not in old:
        base = repository.revision(old)
        return base, None if new in (WORK_TREE, STAGED) else repository.revision(new)
    one, dots, other = old.partition("..." if "..." in old else "..")
    if new != WORK_TREE:
        raise NotFound(f"`{old[:80]}` is a range: it already has two ends", "give one revision")
    start, end = repository.revision(one or "HEAD"), repository.revision(other or "HEAD")
    if dots == "...":
        base = repository.walker.merge_base(start, end)
        if base is None:
            raise NotFound(f"`{one[:80]}` and `{other[:80]}` have no common ancestor", "compare them with two dots")
        start = base
    return start, end


_Changed = tuple[bytes, TreeEntry | None, TreeEntry | None]


def _capped(changed: Iterable[_Changed]) -> list[_Changed]:
    found: list[_Changed] = []
    for one in changed:
        found.append(one)
        if len(found) > MAX_ENTRIES:
            raise HistoryError(f"more than {MAX_ENTRIES:,} files differ")
    return found


def _against_files(
    repository: Repository, before: Mapping[bytes, TreeEntry], new: str, candidates: Iterable[str]
) -> list[_Pair]:
    index = repository.index.read(repository.trees)
    pairs = {
        path: _Pair(path, path, before.get(path), staged.entry, False)
        for path, staged in index.entries.items()
        if before.get(path) != staged.entry
    }
    for path in before.keys() - index.entries.keys() - index.conflicts:
        pairs[path] = _Pair(path, path, before[path], None, False)
    if new == STAGED:
        return list(pairs.values())
    work_tree, deadline = repository.work_tree, repository.objects.deadline
    for path, entry in work_tree.changed(index, deadline):
        pairs[path] = _Pair(path, path, before.get(path), entry, True)
    untracked = {path.encode("utf-8", "surrogateescape") for path in candidates}
    for path in untracked - index.entries.keys() - index.conflicts:
        if (entry := work_tree.entry(path)) is not None:
            pairs[path] = _Pair(path, path, before.get(path), entry, True)
    return list(pairs.values())


def _same(old: TreeEntry | None, new: TreeEntry | None) -> bool:
    """Return whether two entries are the same content; whether a file may be executed is not a change of code."""
    if old is None or new is None:
        return old is new
    is_link = old.mode == LINK_MODE, new.mode == LINK_MODE
    return old.oid == new.oid and is_link[0] == is_link[1]


def _with_renames(repository: Repository, pairs: list[_Pair]) -> list[_Pair]:
    """Join a deleted and an added file of the same or similar content."""
    deleted = {pair.path: pair for pair in pairs if pair.new is None and pair.old is not None and _is_file(pair.old)}
    added = [pair for pair in pairs if pair.old is None and pair.new is not None and _is_file(pair.new)]
    by_content = {pair.old.oid: pair.path for pair in deleted.values() if pair.old is not None}
    joined: set[bytes] = set()
    for pair in added:
        assert pair.new is not None
        source = by_content.pop(pair.new.oid, None) or _similar(repository, pair, deleted, len(added))
        if source is not None:
            pair.old, pair.old_path = deleted.pop(source).old, source
            joined.add(source)
    return [pair for pair in pairs if pair.path not in joined or pair.new is not None]


def _similar(repository: Repository, added: _Pair, deleted: Mapping[bytes, _Pair], others: int) -> bytes | None:
    ending = added.path.rpartition(b".")[2]
    alike = [path for path in deleted if path.rpartition(b".")[2] == ending]
    if not alike or len(alike) * others > _MAX_PAIRS:
        return None
    new = Counter(lines_of(_new_text(repository, added) or b""))
    best, best_share = None, _SIMILAR
    for path in sorted(alike):
        old = Counter(lines_of(_old_text(repository, deleted[path]) or b""))
        share = sum((old & new).values()) / max(sum(old.values()), sum(new.values()), 1)
        if share > best_share:
            best, best_share = path, share
    return best


def _with_texts(repository: Repository, pairs: list[_Pair]) -> tuple[list[FileChange], list[str]]:
    changes: list[FileChange] = []
    held = 0
    for number, pair in enumerate(pairs):
        kind = (
            ChangeKind.ADDED if pair.old is None
            else ChangeKind.DELETED if pair.new is None
            else ChangeKind.RENAMED if pair.path != pair.old_path
            else ChangeKind.MODIFIED
        )  # fmt: skip
        old_path = "" if pair.old is None else _text(pair.old_path)
        old = new = None
        is_read = number < MAX_CHANGES and held < MAX_TEXTS_BYTES
        if is_read:
            old, new = _old_text(repository, pair), _new_text(repository, pair)
            held += len(old or b"") + len(new or b"")
        compared = is_read and (pair.old is None or old is not None) and (pair.new is None or new is not None)
        changes.append(FileChange(kind, _text(pair.path), old_path, old, new, compared))
    left = sum(not change.compared for change in changes)
    total = counted(len(changes), "changed file")
    return changes, [f"not compared: {left} of {total}, which are binary, too large or too many"] if left else []


def _old_text(repository: Repository, pair: _Pair) -> bytes | None:
    return _blob(repository, pair.old)


def _new_text(repository: Repository, pair: _Pair) -> bytes | None:
    if not pair.on_disk or pair.new is None or not _is_file(pair.new):
        return _blob(repository, pair.new)
    content = repository.work_tree.text(pair.path)
    return None if content is None or b"\0" in content[:_BINARY_HEAD] else content


def _blob(repository: Repository, entry: TreeEntry | None) -> bytes | None:
    if entry is None or not _is_file(entry) or not entry.oid:
        return None
    try:
        content = repository.objects.blob(entry.oid, MAX_TEXT_BYTES)
    except MissingObject:
        # a partial clone holds only the texts that were checked out
        return None
    return None if content is None or b"\0" in content[:_BINARY_HEAD] else content


def _is_file(entry: TreeEntry) -> bool:
    return entry.mode not in (LINK_MODE, MODULE_MODE, FOLDER_MODE)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "replace")
