"""Find the changed symbols of a difference, what they affect, and the places that still name removed symbols."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.changes.changed_symbols import ChangedSymbol, How, changed_symbols, local_names, outermost
from atlas.code.changes.impact import Impact, Seed, trace_impact
from atlas.code.notes.about import notes_about_gone
from atlas.code.reader import Reader
from atlas.core.errors import HistoryError, NotFound
from atlas.core.history import WORK_TREE, ChangeKind, Diff, FileChange
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.model import STRUCTURE_PATH, Filter, Match, Node, NodeRow
from atlas.core.wording import counted

MAX_MENTIONS = 20
"""Maximum number of symbols listed per removed name."""
MAX_OUTLINED = 400
"""Changed files whose definitions are compared."""
OUTLINE_SECONDS = 5.0
"""After this time no further file is parsed."""
MAX_FILES = 1_000
"""Changed files whose definitions are read from the index."""
MAX_REMOVED = 40
"""Maximum number of removed names that are searched for."""
MAX_NAMED = 3
"""Changed files, or symbols of one, that a note on uncommitted changes names."""
_UNFOLLOWED = (How.MODULE, How.DOCS)


@dataclass(frozen=True, slots=True)
class RemainingMention:
    """A symbol whose text still contains a name that was removed or renamed."""

    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class ChangeImpact:
    """A difference with its symbols and their impact."""

    diff: Diff
    symbols: tuple[ChangedSymbol, ...]
    impact: Impact
    followed: int = 0
    """Changed symbols that the graph holds and whose users were followed."""
    mentions: tuple[RemainingMention, ...] = ()
    notes: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    """Uids of the followed symbols."""


@dataclass(frozen=True, slots=True)
class IndexedFiles:
    """Changed files as the index has them."""

    rows: Mapping[str, Sequence[NodeRow]]
    """The definitions of each indexed path."""
    digests: Mapping[str, str]
    """The digest of the content they were read from; none if another parser has read them."""


async def read_diff(reader: Reader, project: str, old: str, new: str = WORK_TREE) -> Diff:
    """Return a difference; files that are indexed, but unknown to git, count as added.

    Raises NotFound without a history or revision, and HistoryError.
    """
    if reader.history is None or project != reader.project:
        raise NotFound("git history is read only for the project of this session", "ask in that project's folder")
    known = await reader.store.paths(project) if new == WORK_TREE and ".." not in old else ()
    return await reader.history.diff(old, new, known)


async def uncommitted(reader: Reader, paths: Sequence[str] = (), name: str = "") -> tuple[str, ...]:
    """Return a note on what of some files or folders, or of the project, differs from the last commit; else nothing.

    With `name` only symbols of one file that are called so, or are members of one that is.

    A list of commits that leaves it out says less than the files on disk. Raises store errors.
    """
    try:
        diff = await read_diff(reader, reader.project, "HEAD")
    except (NotFound, HistoryError):
        return ()
    found = [
        each
        for each in diff.changes
        if not paths or any(f"{side}/".startswith(f"{path}/") for path in paths for side in (each.path, each.old_path))
    ]
    if not found:
        return ()
    if len(found) > 1 or not paths:
        names = ", ".join(each.path or each.old_path for each in found[:MAX_NAMED])
        more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
        return (f"not committed yet: {counted(len(found), 'file')}: {names}{more}",)
    symbols, _ = await diff_symbols(reader, replace(diff, changes=tuple(found)))
    if name and not (symbols := [each for each in symbols if name in each.name.split(".")]):
        return ()
    names = ", ".join(f"{each.name or 'module code'} {each.line} {each.how}" for each in symbols[:MAX_NAMED])
    return (f"not committed yet: {found[0].path}" + (f": {names}" if names else ""),)


async def diff_symbols(
    reader: Reader, diff: Diff, indexed: IndexedFiles | None = None
) -> tuple[list[ChangedSymbol], tuple[str, ...]]:
    """Return the changed symbols of every file in the order of the paths, and notes on files that were left out.

    A version that is `indexed` is not parsed. Raises store errors.
    """
    outline, end = reader.outline, time.monotonic() + OUTLINE_SECONDS
    if outline is None:
        return [], ()
    if indexed is None:
        indexed = await indexed_files(reader, reader.project, diff)

    def rows(path: str, text: bytes) -> Sequence[NodeRow]:
        digest = indexed.digests.get(path)
        return indexed.rows[path] if digest is not None and digest == outline.digest(text) else outline(path, text)

    def read(change: FileChange) -> list[ChangedSymbol] | None:
        return changed_symbols(change, rows) if time.monotonic() < end else None

    # parsing releases the interpreter: files are read side by side
    found = await asyncio.gather(*(asyncio.to_thread(read, change) for change in diff.changes[:MAX_OUTLINED]))
    left = len(diff.changes) - sum(each is not None for each in found)
    notes = (
        (f"not parsed: {left} of {counted(len(diff.changes), 'changed file')}, too many for one answer",)
        if left
        else ()
    )
    return [symbol for each in found for symbol in outermost(each or ())], notes


async def indexed_files(reader: Reader, project: str, diff: Diff) -> IndexedFiles:
    """Return what the index holds of the changed files. Raises store errors."""
    paths = list(dict.fromkeys(path for change in diff.changes for path in (change.path, change.old_path) if path))
    where = Filter(project=project)
    records = await reader.store.records(project, [STRUCTURE_PATH, *paths[:MAX_FILES]])
    known = [path for path in paths if path in records]
    found = await asyncio.gather(*(reader.store.find(path, Match.PATH, where, 10_000) for path in known))
    structure, outline = records.get(STRUCTURE_PATH), reader.outline
    is_read_alike = False
    if structure is not None and outline is not None:
        # asked in a thread: it loads the languages
        fingerprint = await asyncio.to_thread(lambda: outline.fingerprint)
        is_read_alike = structure.digest.partition("+")[0] == fingerprint
    return IndexedFiles(
        {path: [node.row for node in nodes] for path, nodes in zip(known, found, strict=True)},
        {path: records[path].digest for path in known} if is_read_alike else {},
    )


async def impact_of_diff(reader: Reader, project: str, diff: Diff, depth: int = 0) -> ChangeImpact:
    """Return what a difference affects. Raises store errors."""
    indexed = await indexed_files(reader, project, diff)
    symbols, left = await diff_symbols(reader, diff, indexed)
    followed = [symbol for symbol in symbols if symbol.how not in _UNFOLLOWED]
    seeds, missing = _seeds(indexed, followed)
    impact, mentions, about = await asyncio.gather(
        trace_impact(reader, seeds, depth),
        _mentions(reader, project, symbols, diff),
        notes_about_gone(reader, project, _gone(symbols, diff)),
    )
    listed = {note.node.row.uid for note in impact.about}
    impact = replace(impact, about=(*impact.about, *(each for each in about if each.node.row.uid not in listed)))
    notes = [*diff.notes, *left]
    if missing:
        notes.append(
            f"unknown users of {counted(len(missing), 'changed symbol')} that the index does not hold yet: "
            f"{', '.join(symbol.name for symbol in missing[:5])}; `index` reads the files"
        )
    uids = tuple(uid for seed in seeds for uid in seed.uids)
    return ChangeImpact(diff, tuple(symbols), impact, len(seeds), mentions, tuple(notes), uids)


def _gone(symbols: Sequence[ChangedSymbol], diff: Diff) -> Iterator[tuple[str, str]]:
    """Yield path and local name of what is no longer there under its name: symbols, and files without a name."""
    before = {change.path: change.old_path or change.path for change in diff.changes}
    for each in symbols:
        if each.how in (How.REMOVED, How.RENAMED):
            yield before.get(each.path, each.path), each.old_name or each.name
    for change in diff.changes:
        if change.kind in (ChangeKind.DELETED, ChangeKind.RENAMED):
            yield change.old_path, ""


def _seeds(indexed: IndexedFiles, symbols: Sequence[ChangedSymbol]) -> tuple[list[Seed], list[ChangedSymbol]]:
    """Return the symbols that the graph holds, and those that it does not hold."""
    paths = dict.fromkeys(symbol.path for symbol in symbols)
    names = {path: {name: row.uid for name, row in local_names(indexed.rows.get(path, ())).items()} for path in paths}
    seeds: list[Seed] = []
    missing: list[ChangedSymbol] = []
    for symbol in symbols:
        # an index that is older than the change still holds what was removed or renamed, with its users
        held = names[symbol.path]
        uid = held.get(symbol.name) or held.get(symbol.old_name)
        if uid is not None:
            seeds.append(Seed(uid.partition(":")[2], (uid,)))
        elif symbol.how != How.REMOVED:
            missing.append(symbol)
    return seeds, missing


async def _mentions(
    reader: Reader, project: str, symbols: Sequence[ChangedSymbol], diff: Diff
) -> tuple[RemainingMention, ...]:
    """Return what still names a removed or renamed symbol, or the module of a file that is gone.

    The graph holds the new state only, where such a name leads nowhere: its words are searched in the texts.
    """
    gone = [each.old_name or each.name for each in symbols if each.how in (How.REMOVED, How.RENAMED)]
    names = dict.fromkeys(name.rpartition(".")[2].partition("#")[0] for name in gone)
    modules = [
        stem
        for change in diff.changes
        if change.kind in (ChangeKind.DELETED, ChangeKind.RENAMED) and (stem := _stem(change.old_path))
        and stem != _stem(change.path if change.kind == ChangeKind.RENAMED else "")
    ]  # fmt: skip
    wanted = [*names, *dict.fromkeys(modules)][:MAX_REMOVED]
    found = await asyncio.gather(*(_naming(reader, project, name) for name in wanted))
    return tuple(mention for each in found for mention in each)


async def _naming(reader: Reader, project: str, name: str) -> list[RemainingMention]:
    words = reader.split_words(name)[:1]
    if len(name) < 3 or not words:
        return []
    where = Filter(project=project)
    hits, defined = await asyncio.gather(
        reader.store.search_text(words, where, MAX_MENTIONS), reader.store.find(name, Match.SUFFIX, where, 20)
    )
    if any(node.row.label not in EXTERNAL_LABELS for node in defined):
        # another symbol has the name: its uses say nothing about the one that is gone
        return []
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    contents = await reader.store.content(project, sorted({node.row.path for node in nodes if node.row.path}))
    return [RemainingMention(name, node) for node in nodes if _names(contents.get(node.row.path, b""), node, name)]


def _names(content: bytes, node: Node, name: str) -> bool:
    text = content[node.row.start_byte : node.row.end_byte]
    return re.search(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])", text) is not None


def _stem(path: str) -> str:
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return "" if stem in ("__init__", "index", "mod", "lib", "main") else stem
