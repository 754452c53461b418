"""Notes about symbols: by their anchors and relations, and decision records that name them, with their status."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from atlas.code.notes.anchors import AnchorCondition, AnchorState, compare, read_notes, states_of, target_uid
from atlas.code.notes.facts import facts_of, read_properties
from atlas.code.notes.note import Anchor
from atlas.code.reader import Reader
from atlas.core.ids import make_uid
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE_LABELS, Direction, Edge, EdgeType, Filter, Label, Match, Node

MAX_NOTES = 100
"""Edges of one type that are read at one symbol."""
RELATIONS = (
    EdgeType.RELATES,
    EdgeType.SUPPORTS,
    EdgeType.REFUTES,
    EdgeType.EXTENDS,
    EdgeType.IMPLIES,
    EdgeType.CONTRADICTS,
)
MAX_READ = 2_000
"""Notes whose files are read to find those about symbols that are gone."""
MAX_SEGMENTS = 12
"""Segments of a name that are compared, from its end."""
NOTE_LANGUAGE = "note"
BODY_MARK = "2"
"""Before the digest of a body among the words of a note; the parser writes it (`unit/search_text.rs`)."""
_REPLACED = ("superseded", "deprecated", "rejected")
MAX_HEAD = 20_000
"""The beginning of a record, in which its status is looked for."""
MAX_STATUS = 60
_STATUS_LINE = lazy_regex(
    r"^[ \t]*(?:[-*+][ \t]+|\|[ \t]*)?[*_`]{0,3}(?:decision[ \t]+)?status[*_`]{0,3}[ \t]*[:|][*_`]{0,3}[ \t]*"
    r"(?P<said>\S[^\n|]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""`Status: accepted` in front matter or text, `* **Status**: accepted`, `| Status | accepted |`."""
_STATUS_HEADING = lazy_regex(
    r"^#{1,6}[ \t]++(?:decision[ \t]++)?status[ \t]*+#*+[ \t]*+\n\s*+(?P<said>[^\s#][^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_STATUS_UNDERLINED = lazy_regex(
    r"^(?:decision[ \t]+)?status[ \t]*\n(?:=+|-+)[ \t]*\n\s*(?P<said>[^\s#][^\n]*)", re.IGNORECASE | re.MULTILINE
)
_MARKUP = lazy_regex(r"[*_`]+|^[-*+>][ \t]+|\[([^\[\]]*+)\]\([^()]*+\)")


@dataclass(frozen=True, slots=True)
class NoteAbout:
    """A note or decision record about one or several of the given symbols."""

    node: Node
    targets: tuple[str, ...]
    """Uids of the symbols, in the given order."""
    at: str
    """`path:line` of the anchor, relation or mention."""
    status: str
    """As its front matter says, or the text of a decision record; "" where that states none."""
    states: tuple[AnchorState, ...] = ()
    """Those of the given symbols first."""
    relation: str = ""
    """What the note is to the symbol, as it says: `OWNS`; "" for an anchor or a mention."""


async def notes_about(reader: Reader, uids: Sequence[str]) -> tuple[NoteAbout, ...]:
    """Return the notes about symbols that are not retracted: superseded ones last, then most certain, then newest.

    These include notes about a symbol that has moved or was renamed and is one of the given ones now. Raises store
    errors.
    """
    types = (EdgeType.ABOUT, *RELATIONS, EdgeType.AFFECTS)
    edges = await reader.store.edges(list(dict.fromkeys(uids)), Direction.IN, types, MAX_NOTES * 10, MAX_NOTES)
    notes = [edge for edge in edges if edge.node.row.label in PROSE_LABELS and not _is_retracted(edge.node)]
    mentions = [edge for edge in edges if edge.row.type == EdgeType.AFFECTS]
    found = [*await _notes(reader, notes), *await _records(reader, mentions)]
    known = {each.node.row.path for each in found}
    found += [each for each in await _moved_here(reader, uids) if each.node.row.path not in known]
    return tuple(sorted(found, key=_rank))


async def _moved_here(reader: Reader, uids: Sequence[str]) -> list[NoteAbout]:
    """Return the notes whose symbols have moved to one of the given uids; no edge leads from them yet."""
    bodies: dict[str, set[str]] = {}
    for node in await reader.store.symbols(list(dict.fromkeys(uids))):
        if node.row.body_digest:
            bodies.setdefault(node.project, set()).add(BODY_MARK + node.row.body_digest)
    found: list[NoteAbout] = []
    for project, words in bodies.items():
        where = Filter(project=project, labels=(Label.CLAIM, Label.DECISION, Label.ENTITY))
        hits = await reader.store.search_text(sorted(words), where, MAX_NOTES)
        notes = [node for node in await reader.store.symbols([hit.uid for hit in hits]) if not _is_retracted(node)]
        for uid, states in (await states_of(reader, notes) if notes else {}).items():
            here = [
                each for each in states if each.state == AnchorCondition.MOVED and each.now and each.now.uid in uids
            ]
            (note,) = [node for node in notes if node.row.uid == uid]
            if here and here[0].now and here[0].anchor:
                targets = tuple(each.now.uid for each in here if each.now)
                at = f"{note.row.path}:{here[0].anchor.at}"
                ordered = tuple(sorted(states, key=lambda state: state not in here))
                found.append(NoteAbout(note, targets, at, facts_of(note.row).status, ordered))
    return found


async def notes_about_gone(reader: Reader, project: str, gone: Iterable[tuple[str, str]]) -> tuple[NoteAbout, ...]:
    """Return the suspect notes about symbols that the index does not hold: (path, name in the file, or "" for all).

    The graph shows no edge to these, so the anchors are read from the files of at most `MAX_READ` notes. Raises store
    errors.
    """
    wanted = set(gone)
    if not wanted:
        return ()
    records = await reader.store.manifest(project)
    paths = sorted(path for path, record in records.items() if record.language == NOTE_LANGUAGE)[:MAX_READ]
    notes = {
        path: note
        for path, note in (await read_notes(reader, project, paths)).items()
        if note.status != "retracted" and any(_is_at(anchor, wanted) for anchor in note.about)
    }
    found: list[NoteAbout] = []
    for path, states in (await compare(reader, project, notes)).items():
        node = await note_at(reader, project, path)
        suspects = [each for each in states if each.is_suspect and each.anchor and _is_at(each.anchor, wanted)]
        if node is not None and suspects and suspects[0].anchor is not None:
            targets = tuple(target_uid(project, each.anchor) for each in suspects if each.anchor)
            at = f"{path}:{suspects[0].anchor.at}"
            found.append(NoteAbout(node, targets, at, notes[path].status, tuple(suspects)))
    return tuple(sorted(found, key=_rank))


async def note_at(reader: Reader, project: str, path: str) -> Node | None:
    """Return the claim, decision or entity of a file."""
    labels = (Label.CLAIM, Label.DECISION, Label.ENTITY)
    nodes = await reader.store.find(path, Match.PATH, Filter(project=project, labels=labels), 1)
    return nodes[0] if nodes else None


async def record_statuses(reader: Reader, nodes: Iterable[Node]) -> dict[str, str]:
    """Return the statuses of decision records by uid; "" for one that states none, nothing for other nodes."""
    found: dict[str, str] = {}
    paths: dict[str, dict[str, str]] = {}
    for node in nodes:
        if node.row.label == Label.ADR:
            paths.setdefault(node.project, {})[node.row.path] = node.row.uid
    for project, uids in paths.items():
        for path, data in (await reader.store.content(project, sorted(uids))).items():
            # four bytes are the most that one character takes
            found[uids[path]] = decision_status(data[: 4 * MAX_HEAD].decode("utf-8", "replace"))
    return found


async def _notes(reader: Reader, edges: Sequence[Edge]) -> list[NoteAbout]:
    by_note = _by_far_end(edges)
    states = await states_of(reader, [group[0].node for group in by_note.values()]) if edges else {}
    found: list[NoteAbout] = []
    for uid, group in by_note.items():
        first, targets = group[0], tuple(dict.fromkeys(edge.row.target for edge in group))
        asked = {target.partition(":")[2] for target in targets}
        ordered = tuple(sorted(states.get(uid, ()), key=lambda state: state.target not in asked))
        at = f"{first.node.row.path}:{first.row.line}"
        status = facts_of(first.node.row).status
        found.append(NoteAbout(first.node, targets, at, status, ordered, _relation(group)))
    return found


async def _records(reader: Reader, mentions: Sequence[Edge]) -> list[NoteAbout]:
    """Return the decision records that name the symbols: the node of the record for each of its sections."""
    if not mentions:
        return []
    by_record: dict[str, list[Edge]] = {}
    for edge in mentions:
        by_record.setdefault(make_uid(edge.node.project, edge.node.row.path), []).append(edge)
    nodes = [node for node in await reader.store.symbols(list(by_record)) if node.row.label == Label.ADR]
    statuses = await record_statuses(reader, nodes)
    return [
        NoteAbout(
            node,
            tuple(dict.fromkeys(edge.row.target for edge in group)),
            f"{node.row.path}:{min(edge.row.line for edge in group)}",
            statuses.get(node.row.uid, ""),
        )
        for node in nodes
        for group in (by_record[node.row.uid],)
    ]


def _by_far_end(edges: Iterable[Edge]) -> Mapping[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.node.row.uid, []).append(edge)
    return found


def _is_at(anchor: Anchor, wanted: Collection[tuple[str, str]]) -> bool:
    """Return whether an anchor leads to one of the symbols or into it, by the file and a part of the name."""
    if (anchor.path or anchor.target, "") in wanted:
        return True
    parts = anchor.target.split(".")[-MAX_SEGMENTS:]
    ends = range(1, len(parts) + 1)
    return any((anchor.path, ".".join(parts[start:end])) in wanted for end in ends for start in range(end))


def _is_retracted(node: Node) -> bool:
    return facts_of(node.row).status == "retracted"


def _relation(edges: Iterable[Edge]) -> str:
    """Return the relation of a note that has no anchor to the symbols."""
    kinds = [edge.row for edge in edges]
    if any(row.type == EdgeType.ABOUT for row in kinds):
        return ""
    row = kinds[0]
    stated = read_properties(row.properties).get("type")
    return stated if isinstance(stated, str) else row.type


def _rank(note: NoteAbout) -> tuple[object, ...]:
    facts = facts_of(note.node.row)
    return (note.status.startswith(_REPLACED), -facts.confidence, -facts.written, note.node.row.uid)


def decision_status(text: str) -> str:
    """Return the status that a record states, in lower case and at most `MAX_STATUS` characters; "" without one.

    It stands behind `Status:` (in front matter, a list or a table as well) or below a heading `Status`. What follows
    the word in the sentence, such as a date or a link, belongs to it: `superseded by 0012`.
    """
    head = text[:MAX_HEAD].replace("\r\n", "\n")
    found = [
        match for pattern in (_STATUS_LINE, _STATUS_HEADING, _STATUS_UNDERLINED) if (match := pattern.search(head))
    ]
    if not found:
        return ""
    said = _MARKUP.sub(lambda part: part.group(1) or "", min(found, key=lambda match: match.start())["said"].strip())
    sentence = re.split(r"(?<=[a-z)\d])\.(?:\s|$)", " ".join(said.split()), maxsplit=1)[0].strip(" \"'.,;")
    return sentence.lower()[:MAX_STATUS].strip()
