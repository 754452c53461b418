"""Anchors of notes: what a note is about, and whether that is still the code that the note was written for.

An anchor keeps the digests of its symbol; for a file, `body` is the digest of its whole text. Anchors are read from the
files of the notes, because the graph shows no edge to a symbol that is gone. A symbol that is gone has moved if another
one has its body: under its name anywhere, or under another name in its file, if only one does and the body is no
trivial one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from atlas.ids import make_uid
from atlas.model import Filter, Label, Match, Node, NodeRow
from atlas.notes.note import Anchor, read_note
from atlas.search import Reader

MAX_SEARCHED = 50
"""Missing symbols of one call that are searched elsewhere; further ones count as gone."""
MIN_LINES = 3
"""Lines of a symbol whose body tells it from others: many functions have the body `return None`."""
FILE_LABELS = (Label.FILE, Label.DOC_FILE, Label.ADR)
_CANDIDATES = 50
_IN_FILE = 2_000
_NUMBER = re.compile(r"#\d+$")


class State(StrEnum):
    """The state of an anchor."""

    FRESH = "fresh"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"
    UNKNOWN = "unknown"
    """Nothing to compare: the note has no digest, or it is a route, which the graph does not hold."""


@dataclass(frozen=True, slots=True)
class AnchorState:
    """One anchor of a note, compared with the index."""

    kind: str
    """symbol, file, route or package."""
    target: str
    state: State
    changed: tuple[str, ...] = ()
    """What differs: signature, body, docstring; a file has a body only."""
    at: str = ""
    """`path:line` of it now, or of where it went; "" if it is gone."""
    moved_to: str = ""
    """Qualified name of what has its body now; "" if it only changed its file, or did not move."""
    commit: str = ""
    """Commit of the code when the note was written or reaffirmed."""

    @property
    def is_suspect(self) -> bool:
        """Whether the note may no longer hold."""
        return self.state in (State.CHANGED, State.MOVED, State.GONE)


async def anchor_states(reader: Reader, uids: Sequence[str]) -> dict[str, tuple[AnchorState, ...]]:
    """Return the states of the anchors of notes by uid, in the order of their files; omits unknown uids.

    An observation has those of its entity. Raises store errors.
    """
    return await states_of(reader, await reader.store.symbols(list(dict.fromkeys(uids))))


async def states_of(reader: Reader, notes: Sequence[Node]) -> dict[str, tuple[AnchorState, ...]]:
    """Return the result of `anchor_states` for nodes that are read already."""
    anchors = await anchors_of(reader, notes)
    uids = [target_uid(project, each) for (project, _), found in anchors.items() for each in found]
    nodes = {node.row.uid: node for node in await reader.store.symbols(list(dict.fromkeys(uids)))} if uids else {}
    missing = {
        (project, each)
        for (project, _), found in anchors.items()
        for each in found
        if target_uid(project, each) not in nodes
    }
    went = await _where_they_went(reader, missing)
    return {
        note.row.uid: tuple(
            _state(each, nodes.get(target_uid(note.project, each)), went.get((note.project, each)))
            for each in anchors.get((note.project, note.row.path), ())
        )
        for note in notes
    }


async def anchors_of(reader: Reader, notes: Iterable[Node]) -> dict[tuple[str, str], tuple[Anchor, ...]]:
    """Return the anchors of notes by project and path of their files, as these are indexed."""
    paths: dict[str, set[str]] = {}
    for note in notes:
        paths.setdefault(note.project, set()).add(note.row.path)
    found: dict[tuple[str, str], tuple[Anchor, ...]] = {}
    for project, wanted in paths.items():
        for path, data in (await reader.store.content(project, sorted(wanted))).items():
            found[project, path] = read_note(data).about
    return found


def target_uid(project: str, anchor: Anchor) -> str:
    """Return the uid that the edge of an anchor leads to."""
    prefix = {"package": "ext:", "route": "route:"}.get(anchor.kind, "")
    return make_uid(project, prefix + anchor.target)


def anchor_to(row: NodeRow, commit: str = "") -> Anchor:
    """Return an anchor to a node with its digests of now."""
    name = row.uid.partition(":")[2]
    if row.label in FILE_LABELS:
        return Anchor("file", name, body=row.text_digest, path=row.path, commit=commit)
    if row.label == Label.EXTERNAL_PACKAGE:
        return Anchor("package", name.removeprefix("ext:"))
    digests = (row.signature_digest, row.body_digest, row.docstring_digest)
    return Anchor("symbol", name, *digests, row.path, row.line, commit)


def place_of(row: NodeRow) -> str:
    """Return `path:line`, or "" for a node without a file."""
    return f"{row.path}:{row.line or row.start_line or 1}" if row.path else ""


def _state(anchor: Anchor, node: Node | None, went: Node | None) -> AnchorState:
    state, changed, at, moved_to = State.UNKNOWN, (), "", ""
    if node is None and went is not None:
        state, at, moved_to = State.MOVED, place_of(went.row), went.row.qualified_name
    elif node is None:
        state = State.UNKNOWN if anchor.kind == "route" else State.GONE
    else:
        at, changed = place_of(node.row), _changed(anchor, node.row)
        if anchor.path and anchor.path != node.row.path:
            state = State.MOVED
        elif changed:
            state = State.CHANGED
        elif anchor.signature or anchor.body or anchor.docstring or anchor.kind == "package":
            state = State.FRESH
    return AnchorState(anchor.kind, anchor.target, state, changed, at, moved_to, anchor.commit)


def _changed(anchor: Anchor, row: NodeRow) -> tuple[str, ...]:
    if row.label in FILE_LABELS:
        return ("body",) if anchor.body and anchor.body != row.text_digest else ()
    # without a docstring there is no digest of it: it is known to be missing where the others are known
    knows_docstring = bool(anchor.docstring or (anchor.signature and anchor.body))
    pairs = (
        ("signature", bool(anchor.signature), anchor.signature == row.signature_digest),
        ("body", bool(anchor.body), anchor.body == row.body_digest),
        ("docstring", knows_docstring, anchor.docstring == row.docstring_digest),
    )
    return tuple(name for name, is_known, is_equal in pairs if is_known and not is_equal)


async def _where_they_went(reader: Reader, missing: Iterable[tuple[str, Anchor]]) -> Mapping[tuple[str, Anchor], Node]:
    """Return the node that has the body of each missing symbol or file now, where there is one."""
    searched = [each for each in missing if each[1].kind in ("symbol", "file") and each[1].body][:MAX_SEARCHED]
    found = await asyncio.gather(*(_with_body(reader, project, anchor) for project, anchor in searched))
    return {each: node for each, node in zip(searched, found, strict=True) if node is not None}


async def _with_body(reader: Reader, project: str, anchor: Anchor) -> Node | None:
    where, is_file = Filter(project=project), anchor.kind == "file"
    name = anchor.target.rpartition("/" if is_file else ".")[2]
    name = name if is_file else _NUMBER.sub("", name)
    named = await reader.store.find(name, Match.SUFFIX, where, _CANDIDATES) if name else []
    same = [node for node in named if _body_of(node.row, is_file) == anchor.body]
    if same:
        # the one whose signature is the same, too, and whose name shares most with the old one
        return max(same, key=lambda node: (node.row.signature_digest == anchor.signature, _shared(node.row, anchor)))
    if is_file or not anchor.path:
        return None
    inside = await reader.store.find(anchor.path, Match.PATH, where, _IN_FILE)
    owner = anchor.target.rpartition(".")[0]
    renamed = [
        node
        for node in inside
        if node.row.body_digest == anchor.body
        and node.row.end_line - node.row.start_line + 1 >= MIN_LINES
        and node.row.qualified_name.rpartition(".")[0] == owner
    ]
    return renamed[0] if len(renamed) == 1 else None


def _body_of(row: NodeRow, is_file: bool) -> str:
    if (row.label in FILE_LABELS) != is_file:
        return ""
    return row.text_digest if is_file else row.body_digest


def _shared(row: NodeRow, anchor: Anchor) -> int:
    """Return how many segments both names end with."""
    pairs = zip(reversed(row.qualified_name.split(".")), reversed(anchor.target.split(".")), strict=False)
    count = 0
    for here, there in pairs:
        if here != there:
            break
        count += 1
    return count
