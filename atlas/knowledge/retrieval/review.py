"""Review: the notes that may no longer hold, each with what has changed in the code since the note's commit.

The old text comes from the version history. It is shown if its file is indexed now, or if it is the very text that the
note was written for: a note cannot make a file readable that the index leaves out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.changes.changed_symbols import local_names
from atlas.code.notes.about import NOTE_LANGUAGE, note_at
from atlas.code.notes.anchors import (
    FILE_LABELS,
    AnchorCondition,
    AnchorState,
    changed_parts,
    compare,
    place_of,
    read_notes,
)
from atlas.code.notes.note import Anchor, Note
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.history import ChangeKind
from atlas.core.lazy_regex import lazy_regex
from atlas.core.line_diff import diff_lines, lines_of
from atlas.core.model import Filter, Match, Node, NodeRow

MAX_LINES = 40
"""Lines of one difference."""
MAX_CHARACTERS = 200
"""Characters of one line."""
CONTEXT = 2
"""Equal lines around a change."""
MAX_SEARCHED = 2_000
"""Missing symbols of a batch of notes that are searched elsewhere."""
_BATCH = 500
_MAX_RENAMES = 3
"""Commits whose whole difference is read to follow renamed files."""
_COMMIT = lazy_regex(r"[0-9a-f]{7,40}")
_DONE = ("retracted", "superseded")


@dataclass(frozen=True, slots=True)
class AnchorChange:
    """A suspect anchor with the difference between the code of the note and that of now."""

    state: AnchorState
    lines: tuple[str, ...] = ()
    """`-old`, `+new` and ` equal` lines, `@@` between distant ones."""
    lines_left: int = 0
    """Lines beyond `MAX_LINES`."""
    remark: str = ""
    """Why there is no difference, or what it cannot show."""


@dataclass(frozen=True, slots=True)
class SuspectNote:
    """A note that may no longer hold."""

    node: Node
    states: tuple[AnchorState, ...]
    changes: tuple[AnchorChange, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """The first suspect notes by the path of their files, and how many there are."""

    suspects: tuple[SuspectNote, ...]
    total: int
    checked: int
    """Notes with anchors that are neither retracted nor superseded."""


async def review(reader: Reader, limit: int = 20, project: str = "", after: str = "") -> Review:
    """Return the suspect notes of a project in the order of their paths, those behind the path `after`.

    Raises store errors; a history that cannot be read is a remark.
    """
    project = project or reader.project
    records = await reader.store.manifest(project)
    paths = sorted(path for path, record in records.items() if record.language == NOTE_LANGUAGE and path > after)
    found: dict[str, tuple[AnchorState, ...]] = {}
    total = checked = 0
    for start in range(0, len(paths), _BATCH):
        notes = await read_notes(reader, project, paths[start : start + _BATCH])
        kept: dict[str, Note] = {path: note for path, note in notes.items() if note.about and note.status not in _DONE}
        checked += len(kept)
        for path, states in (await compare(reader, project, kept, MAX_SEARCHED)).items():
            if any(state.is_suspect for state in states):
                total += 1
                if len(found) < limit:
                    found[path] = states
    nodes = {path: node for path in found if (node := await note_at(reader, project, path)) is not None}
    changes = await _changes(reader, project, [state for states in found.values() for state in states])
    suspects = [
        SuspectNote(nodes[path], _known(states, changes), tuple(changes[each] for each in states if each in changes))
        for path, states in found.items()
        if path in nodes
    ]
    return Review(tuple(suspects), total, checked)


def _known(states: Iterable[AnchorState], changes: Mapping[AnchorState, AnchorChange]) -> tuple[AnchorState, ...]:
    """Return the states with what the history adds to them."""
    return tuple(changes[each].state if each in changes else each for each in states)


async def _changes(reader: Reader, project: str, states: Iterable[AnchorState]) -> dict[AnchorState, AnchorChange]:
    suspects = [each for each in dict.fromkeys(states) if each.is_suspect]
    known = {
        each: each.anchor.path
        for each in suspects
        if _COMMIT.fullmatch(each.commit) and each.anchor is not None and each.anchor.path
    }
    old, problems = await _old_texts(reader, project, known)
    renamed = await _renamed(reader, project, [each for each in known if each.state == AnchorCondition.GONE])
    now = {each: renamed.get(each, each) for each in suspects}
    rows = [each.now for each in now.values() if each.now is not None]
    texts = await reader.store.content(project, sorted({row.path for row in rows if row.path}))
    indexed = await reader.store.records(project, sorted(set(known.values())))
    found: dict[AnchorState, AnchorChange] = {}
    for each, state in now.items():
        new = _slice(state.now, texts.get(state.now.path, b"")) if state.now is not None else b""
        problem = problems.get(each.commit, "" if each in known else "the note names no commit")
        found[each] = AnchorChange(state, remark=problem)
        if (key := _key(each)) in old and each.anchor is not None:
            is_indexed = each.anchor.path in indexed
            found[each] = await asyncio.to_thread(_difference, reader, state, each.anchor, old[key], new, is_indexed)
        elif not problem:
            found[each] = AnchorChange(state, remark=f"no text of {key[1]} in commit {each.commit[:10]}")
    return found


def _key(state: AnchorState) -> tuple[str, str]:
    return state.commit, state.anchor.path if state.anchor is not None else ""


async def _old_texts(
    reader: Reader, project: str, known: Mapping[AnchorState, str]
) -> tuple[dict[tuple[str, str], bytes], dict[str, str]]:
    """Return the texts by commit and path, and by commit why there are none."""
    texts: dict[tuple[str, str], bytes] = {}
    problems: dict[str, str] = {}
    for commit in dict.fromkeys(each.commit for each in known):
        if reader.history is None or reader.outline is None or project != reader.project:
            problems[commit] = "the history is read only for the project of this session"
            continue
        paths = sorted({path for each, path in known.items() if each.commit == commit})
        try:
            for path, text in (await reader.history.content(commit, paths)).items():
                texts[commit, path] = text
        except AtlasError as error:
            problems[commit] = error.message
    return texts, problems


async def _renamed(reader: Reader, project: str, gone: Sequence[AnchorState]) -> dict[AnchorState, AnchorState]:
    """Return the states of symbols that are in a file that was renamed, where they changed as well."""
    found: dict[AnchorState, AnchorState] = {}
    for commit in list(dict.fromkeys(each.commit for each in gone))[:_MAX_RENAMES]:
        if reader.history is None or project != reader.project:
            break
        try:
            changes = (await reader.history.diff(commit)).changes
        except AtlasError:
            continue
        moved = {each.old_path: each.path for each in changes if each.kind == ChangeKind.RENAMED}
        for state in gone:
            path = moved.get(_key(state)[1], "") if state.commit == commit else ""
            node = await _namesake(reader, project, state, path) if path else None
            if node is not None and state.anchor is not None:
                found[state] = replace(
                    state, state=AnchorCondition.MOVED, changed=changed_parts(state.anchor, node.row),
                    at=place_of(node.row),
                    moved_to=node.row.qualified_name, now=node.row,
                )  # fmt: skip
    return found


async def _namesake(reader: Reader, project: str, state: AnchorState, path: str) -> Node | None:
    """Return the symbol of a file that has the longest end of the name in common with a symbol that is gone."""
    nodes = await reader.store.find(path, Match.PATH, Filter(project=project), 2_000)
    if state.kind == "file":
        return next((node for node in nodes if node.row.label in FILE_LABELS), None)
    own = local_names(node.row for node in nodes)
    uid = next((own[name].uid for name in _local(state.target, own)), "")
    return next((node for node in nodes if node.row.uid == uid), None)


def _local(target: str, names: Iterable[str]) -> list[str]:
    """Return the local names that a qualified name ends with, the longest first."""
    return sorted((name for name in names if f".{target}".endswith(f".{name}")), key=len, reverse=True)


def _difference(
    reader: Reader, state: AnchorState, anchor: Anchor, text: bytes, new: bytes, is_indexed: bool
) -> AnchorChange:
    """Return the change of one anchor from the text of its file in the note's commit."""
    assert reader.outline is not None
    commit = anchor.commit[:10]
    if anchor.kind == "file":
        old, is_same = text, False
    else:
        rows = reader.outline(anchor.path, text)
        own = local_names(rows)
        same = [
            row
            for row in rows
            if anchor.body and row.body_digest == anchor.body and row.signature_digest == anchor.signature
        ]
        row = next(iter([*same, *(own[name] for name in _local(anchor.target, own))]), None)
        if row is None:
            return AnchorChange(state, remark=f"commit {commit} does not have {anchor.target}")
        old, is_same = _slice(row, text), bool(same)
    if not (is_same or is_indexed):
        return AnchorChange(state, remark=f"{anchor.path} is not indexed")
    lines, left = diff_text(old, new)
    is_written_for_it = is_same or (anchor.kind == "file" and bool(lines))
    was_written = "" if is_written_for_it else "the note was written for changes that were not committed"
    return AnchorChange(state, lines, left, was_written)


def diff_text(old: bytes, new: bytes, most: int = MAX_LINES) -> tuple[tuple[str, ...], int]:
    """Return the lines of a difference, at most `most`, and how many are left out."""
    before, after = lines_of(old) if old else [], lines_of(new) if new else []
    found: list[str] = []
    at = 0
    hunks = diff_lines(before, after)
    for index, hunk in enumerate(hunks):
        start = max(at, hunk.new_start - CONTEXT)
        if start > at and found:
            found.append("@@")
        found += [f" {_shown(line)}" for line in after[start : hunk.new_start]]
        found += [f"-{_shown(line)}" for line in before[hunk.old_start : hunk.old_end]]
        found += [f"+{_shown(line)}" for line in after[hunk.new_start : hunk.new_end]]
        following = hunks[index + 1].new_start if index + 1 < len(hunks) else len(after)
        at = min(hunk.new_end + CONTEXT, following)
        found += [f" {_shown(line)}" for line in after[hunk.new_end : at]]
    return tuple(found[:most]), max(0, len(found) - most)


def _shown(line: bytes) -> str:
    text = line[: 4 * MAX_CHARACTERS].decode("utf-8", "replace")
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}..."


def _slice(row: NodeRow, text: bytes) -> bytes:
    return text if row.label in FILE_LABELS else text[row.start_byte : row.end_byte]
