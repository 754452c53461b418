"""Anchors of notes: what a note is about, and whether that is still the code that the note was written for.

An anchor keeps the digests of its symbol; for a file, `body` is the digest of its whole text. Anchors are read from the
files of the notes, because the graph shows no edge to a symbol that is gone. A symbol that is gone has moved if another
one has its body: under its name anywhere, or under another name in its file, if only one does and the body is no
trivial one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from atlas.code.notes.note import Anchor, Note, read_note
from atlas.code.reader import Reader
from atlas.core.ids import make_uid
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node, NodeRow

MAX_SEARCHED = 50
"""Missing symbols of one answer that are searched elsewhere; further ones count as gone."""
MIN_LINES = 3
"""Lines of a symbol whose body tells it from others: many functions have the body `return None`."""
FILE_LABELS = (Label.FILE, Label.DOC_FILE, Label.ADR)
_CANDIDATES = 50
_IN_FILE = 2_000
_NUMBER = lazy_regex(r"#\d+$")


class AnchorCondition(StrEnum):
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
    state: AnchorCondition
    changed: tuple[str, ...] = ()
    """What differs: signature, body, docstring; a file has a body only."""
    at: str = ""
    """`path:line` of it now, or of where it went; "" if it is gone."""
    moved_to: str = ""
    """Qualified name of what has its body now; "" if it only changed its file, or did not move."""
    commit: str = ""
    """Commit of the code when the note was written or reaffirmed."""
    anchor: Anchor | None = None
    """The anchor as it is written."""
    now: NodeRow | None = None
    """The node that `at` is the place of."""

    @property
    def is_suspect(self) -> bool:
        """Whether the note may no longer hold."""
        return self.state in (AnchorCondition.CHANGED, AnchorCondition.MOVED, AnchorCondition.GONE)


async def anchor_states(reader: Reader, uids: Sequence[str]) -> dict[str, tuple[AnchorState, ...]]:
    """Return the states of the anchors of notes by uid, in the order of their files; omits unknown uids.

    An observation has those of its entity. Raises store errors.
    """
    return await states_of(reader, await reader.store.symbols(list(dict.fromkeys(uids))))


async def states_of(reader: Reader, notes: Sequence[Node]) -> dict[str, tuple[AnchorState, ...]]:
    """Return the result of `anchor_states` for nodes that are read already."""
    paths: dict[str, set[str]] = {}
    for note in notes:
        paths.setdefault(note.project, set()).add(note.row.path)
    found = {
        (project, path): states
        for project, wanted in paths.items()
        for path, states in (await compare(reader, project, await read_notes(reader, project, wanted))).items()
    }
    return {note.row.uid: found.get((note.project, note.row.path), ()) for note in notes}


async def read_notes(reader: Reader, project: str, paths: Iterable[str]) -> dict[str, Note]:
    """Return the notes of files by path, as these are indexed."""
    return {path: read_note(data) for path, data in (await reader.store.content(project, sorted(paths))).items()}


async def compare(
    reader: Reader, project: str, notes: Mapping[str, Note], most: int = MAX_SEARCHED
) -> dict[str, tuple[AnchorState, ...]]:
    """Return the states of the anchors of notes by the path of their files; searches `most` missing targets."""
    anchors = {anchor: target_uid(project, anchor) for note in notes.values() for anchor in note.about}
    uids = list(dict.fromkeys(anchors.values()))
    nodes = {node.row.uid: node for node in await reader.store.symbols(uids)} if uids else {}
    missing = [each for each, uid in anchors.items() if uid not in nodes]
    went = await _where_they_went(reader, project, missing, most)
    return {
        path: tuple(_state(each, nodes.get(anchors[each]), went.get(each)) for each in note.about)
        for path, note in notes.items()
    }


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


def renewed(states: Iterable[AnchorState], commit: str) -> dict[Anchor, Anchor]:
    """Return the anchor of now for each anchor whose target is there or has moved; omits those that are gone."""
    return {state.anchor: anchor_to(state.now, commit) for state in states if state.anchor and state.now}


def place_of(row: NodeRow) -> str:
    """Return `path:line`, or "" for a node without a file."""
    return f"{row.path}:{row.line or row.start_line or 1}" if row.path else ""


def _state(anchor: Anchor, node: Node | None, went: Node | None) -> AnchorState:
    state, changed, moved_to, now = AnchorCondition.UNKNOWN, (), "", (node or went)
    if node is None and went is not None:
        state, moved_to = AnchorCondition.MOVED, went.row.qualified_name
    elif node is None:
        state = AnchorCondition.UNKNOWN if anchor.kind == "route" else AnchorCondition.GONE
    else:
        changed = changed_parts(anchor, node.row)
        if anchor.path and anchor.path != node.row.path:
            state = AnchorCondition.MOVED
        elif changed:
            state = AnchorCondition.CHANGED
        elif anchor.signature or anchor.body or anchor.docstring or anchor.kind == "package":
            state = AnchorCondition.FRESH
    row = now.row if now is not None else None
    at = place_of(row) if row is not None else ""
    return AnchorState(anchor.kind, anchor.target, state, changed, at, moved_to, anchor.commit, anchor, row)


def changed_parts(anchor: Anchor, row: NodeRow) -> tuple[str, ...]:
    """Return which of signature, body and docstring differ from those of an anchor, as far as it has digests."""
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


async def _where_they_went(reader: Reader, project: str, missing: Sequence[Anchor], most: int) -> Mapping[Anchor, Node]:
    """Return the node that has the body of each missing symbol or file now, where there is one."""
    searched = [each for each in missing if each.kind in ("symbol", "file") and each.body][:most]
    found = await asyncio.gather(*(_with_body(reader, project, anchor) for anchor in searched))
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
