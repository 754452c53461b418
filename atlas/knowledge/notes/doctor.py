"""Find what is wrong in a knowledge folder: what cannot be read, what contradicts itself, what must not be there.

Needs no index. Memory grows with the number of notes and relations, not with their texts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from atlas._parser import find_secrets, mask_secrets
from atlas.code.notes.note import Note, read_note
from atlas.core.invisible import normal_form
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.listing import EntryKind, ListedFile, raw_files

STALE = 3600.0
"""Seconds after which a draft is a leftover: its writer replaces the note within milliseconds."""

FIXES = {
    "note-yaml": "Correct the front matter in this line.",
    "note-front-matter": "Start the file with front matter, or move it out of the folder.",
    "note-kind": "Write kind: claim, decision or entity.",
    "note-id": "Write a new id: the letter of the kind, a hyphen and a ULID.",
    "note-value": "Correct the value.",
    "note-target": "Name a note by its id, or symbol:, file:, package: or route: and a name.",
    "note-limit": "Split the note.",
    "note-empty": "Write the text below the front matter, or remove the file.",
    "note-observation": "Write `- 2026-11-20T09:00:00Z [o-ULID] text`, or only `- text`.",
    "note-duplicate-id": "Give one of the two files a new id, or remove it.",
    "note-dangling": "Correct the id, restore the note, or remove the relation.",
    "note-self-relation": "Remove the relation.",
    "note-self-contradiction": "Remove one of the two relations.",
    "note-contradiction": "Mark one of them as disputed, retract it, or say in its text when it holds.",
    "note-cycle": "Remove one relation of the cycle, or merge the notes.",
    "note-secret": "Remove the secret from the file and its history, and replace it where it is used.",
    "note-conflict": "Resolve the merge: keep what holds of both sides, and remove the markers.",
    "note-encoding": "Save the file as UTF-8 without NUL characters.",
    "note-link": "Replace the link by the file.",
    "note-ending": "Rename it to end in .md.",
    "note-special": "Remove it: only files and folders belong here.",
    "note-unreadable": "Correct its permissions.",
    "note-draft": "Remove it: `atlas notes doctor --fix`.",
    "note-case": "Rename one of them: they are one file on systems that ignore case.",
}
_ENTRIES = {
    EntryKind.DRAFT: ("note-draft", "an interrupted write left this draft"),
    EntryKind.LINK: ("note-link", "symbolic links are not read"),
    EntryKind.ENDING: ("note-ending", "only files that end in .md are read"),
    EntryKind.SPECIAL: ("note-special", "this is neither a file nor a folder"),
    EntryKind.TOO_LARGE: ("note-limit", "a note has at most 1 MiB"),
    EntryKind.TOO_DEEP: ("note-limit", "folders are nested too deeply"),
    EntryKind.UNREADABLE: ("note-unreadable", "it cannot be read"),
}
_FOR = ("supports", "extends", "implies")
_AGAINST = ("refutes", "contradicts")
_HELD = ("proposed", "accepted")
"""Two notes of these statuses that contradict each other are both held to be true."""
_ORDERED = ("implies", "supersedes")
"""Relations that a chain of notes must not lead back by."""
_MARKER = lazy_regex(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
HEAD = 120
"""Characters of an observation in which its time and id stand."""
_HEAD_OF_OBSERVATION = lazy_regex(r"^\d{4}-\d\S*|\[o-\w+\]")
_NUMBERED = lazy_regex(r"(e-\w{26})\.\d+")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a line of a file; line 0 stands for the file as a whole."""

    path: str
    line: int
    code: str
    message: str

    @property
    def fix(self) -> str:
        """What to do about it."""
        return FIXES.get(self.code, "Correct the line.")


@dataclass(slots=True)
class Examination:
    """The problems of a folder, sorted by place, and what was looked at and mended."""

    notes: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    removed: list[str] = field(default_factory=list[str])
    """Drafts that were removed."""


@dataclass(frozen=True, slots=True)
class _Link:
    path: str
    line: int
    source: str
    type: str
    target: str


@dataclass(slots=True)
class _Graph:
    """What the notes say about each other."""

    places: dict[str, str] = field(default_factory=dict[str, str])
    """Paths by the ids of notes and observations."""
    links: list[_Link] = field(default_factory=list[_Link])
    held: dict[str, str] = field(default_factory=dict[str, str])
    """Paths of the claims and decisions that are held to be true, by id."""


def examine(folder: KnowledgeFolder, *, fix: bool = False) -> Examination:
    """Examine a folder; with `fix` remove the drafts of writers that ended long ago, and nothing else.

    Raises StoreError if the folder cannot be read.
    """
    done = Examination()
    graph = _Graph()
    names: dict[str, str] = {}
    reported: set[str] = set()
    for entry, data in raw_files(folder):
        done.findings += _same_name(entry.path, names, reported)
        if entry.kind in (EntryKind.NOTE, EntryKind.README):
            done.findings += _file(entry, data, graph, done)
        elif entry.kind is not EntryKind.DRAFT or _is_stale(entry):
            if entry.kind is EntryKind.DRAFT and fix and _removed(folder, entry):
                done.removed.append(entry.path)
            else:
                done.findings.append(Finding(entry.path, 0, *_ENTRIES[entry.kind]))
    done.findings += _relations(graph)
    done.findings += _contradictions(graph)
    done.findings += _cycles(graph)
    done.findings.sort(key=lambda one: (one.path, one.line, one.code, one.message))
    return done


def _file(entry: ListedFile, data: bytes, graph: _Graph, done: Examination) -> Iterator[Finding]:
    """Yield the problems of one file, and add its note to the graph."""
    path = entry.path
    yield from _content(path, data)
    # problems quote what they are about
    data = _masked(data)
    if marker := _MARKER.search(data):
        # The markers also break the front matter, which needs no further words.
        yield Finding(
            path, _line(data, marker.start()), "note-conflict", "the file has the markers of a merge conflict"
        )
        return
    note = read_note(data)
    if entry.kind is EntryKind.README and not note.front_end:
        return
    for problem in note.problems:
        yield Finding(path, problem.line, problem.code, problem.message)
    if not note.id or not note.kind:
        return
    done.notes += 1
    yield from _ids(path, data, note, graph)
    if note.kind != "entity" and note.status in _HELD:
        graph.held.setdefault(note.id, path)
    for one in note.relations:
        graph.links.append(_Link(path, one.at, note.id, one.type.lower(), one.to))


def _content(path: str, data: bytes) -> Iterator[Finding]:
    try:
        data.decode()
        at = data.find(b"\0")
        why = "the file has a NUL character"
    except UnicodeDecodeError as error:
        at, why = error.start, "the file is not UTF-8"
    if at >= 0:
        yield Finding(path, _line(data, at), "note-encoding", why)
    try:
        for _, _, rule, line in find_secrets(data):
            yield Finding(path, line, "note-secret", f"the file contains a secret ({rule})")
    except ValueError as error:
        yield Finding(path, 0, "note-secret", f"the file cannot be checked for secrets: {error}")


def _masked(data: bytes) -> bytes:
    try:
        return mask_secrets(data)
    except ValueError:
        return b""


def _ids(path: str, data: bytes, note: Note, graph: _Graph) -> Iterator[Finding]:
    key = next((one for one in note.keys if one.name == "id"), None)
    found = [(note.id, _line(data, key.start) if key else 0)]
    found += [(one.id, one.at) for one in note.observations if is_id(one.id)]
    for note_id, line in found:
        first = graph.places.setdefault(note_id, path)
        if first != path:
            yield Finding(path, line, "note-duplicate-id", f"{note_id} is also the id in {first}")
    seen: set[str] = set()
    for one in note.observations:
        if one.id in seen:
            yield Finding(path, one.at, "note-duplicate-id", f"the observation id {one.id} is there twice")
        seen.add(one.id)
        if not is_id(one.id) and _HEAD_OF_OBSERVATION.search(one.text[:HEAD]):
            message = "the time or the id of the observation cannot be read, so it has neither"
            yield Finding(path, one.at, "note-observation", message)


def _relations(graph: _Graph) -> Iterator[Finding]:
    """Yield relations that lead nowhere, to their own note, or both for and against one."""
    before: dict[tuple[str, str], _Link] = {}
    for link in graph.links:
        numbered = _NUMBERED.fullmatch(link.target)
        target = numbered.group(1) if numbered else link.target
        if target == link.source:
            yield Finding(link.path, link.line, "note-self-relation", f"the note {link.type} itself")
        elif is_id(target) and target not in graph.places:
            yield Finding(link.path, link.line, "note-dangling", f"{link.type} {link.target}, which is not there")
        if link.type not in (*_FOR, *_AGAINST):
            continue
        first = before.setdefault((link.source, link.target), link)
        if (first.type in _FOR) != (link.type in _FOR):
            message = f"the note {first.type} (line {first.line}) and {link.type} {link.target}"
            yield Finding(link.path, link.line, "note-self-contradiction", message)


def _contradictions(graph: _Graph) -> Iterator[Finding]:
    """Yield stated contradictions between two notes that are both held to be true, once for each pair."""
    seen: set[frozenset[str]] = set()
    supported = {(link.source, link.target) for link in graph.links if link.type in _FOR}
    for link in graph.links:
        if (link.source, link.target) in supported:
            # that the note contradicts itself says more
            continue
        pair = frozenset((link.source, link.target))
        is_held = len(pair) == 2 and pair <= graph.held.keys()
        if link.type in _AGAINST and is_held and pair not in seen:
            seen.add(pair)
            message = f"the note {link.type} {link.target} ({graph.held[link.target]}), and both are held to be true"
            yield Finding(link.path, link.line, "note-contradiction", message)


def _cycles(graph: _Graph) -> Iterator[Finding]:
    """Yield one problem for each group of notes that imply, or supersede, each other in a circle."""
    for relation in _ORDERED:
        edges: dict[str, list[_Link]] = {}
        for link in graph.links:
            if link.type == relation and link.target != link.source:
                edges.setdefault(link.source, []).append(link)
        for group in _circles(edges):
            members = set(group)
            inside = (link for one in group for link in edges[one] if link.target in members)
            first = min(inside, key=lambda one: (one.path, one.line))
            shown = ", ".join(sorted(group)[:5]) + (", ..." if len(group) > 5 else "")
            yield Finding(first.path, first.line, "note-cycle", f"{relation} leads back to this note: {shown}")


def _circles(edges: dict[str, list[_Link]]) -> Iterator[list[str]]:
    """Yield the strongly connected groups of more than one note (Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_notes: list[str] = []
    is_open: set[str] = set()
    for root in edges:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_notes.append(root)
        is_open.add(root)
        path = [(root, iter(edges[root]))]
        while path:
            note, links = path[-1]
            link = next(links, None)
            if link is not None:
                if link.target not in order:
                    order[link.target] = low[link.target] = len(order)
                    open_notes.append(link.target)
                    is_open.add(link.target)
                    path.append((link.target, iter(edges.get(link.target, ()))))
                elif link.target in is_open:
                    low[note] = min(low[note], order[link.target])
                continue
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[note])
            if low[note] == order[note]:
                group = [open_notes.pop()]
                while group[-1] != note:
                    group.append(open_notes.pop())
                is_open.difference_update(group)
                if len(group) > 1:
                    yield group


def _same_name(path: str, names: dict[str, str], reported: set[str]) -> Iterator[Finding]:
    """Yield a problem if a file or folder differs from another one in case or Unicode form only."""
    place = ""
    for part in path.rstrip("/").split("/"):
        place = f"{place}/{part}" if place else part
        folded = normal_form(place).casefold()
        first = names.setdefault(folded, place)
        if first != place and place not in reported:
            reported.add(place)
            yield Finding(place, 0, "note-case", f"the name differs from {first} in case only")


def _is_stale(entry: ListedFile) -> bool:
    return time.time() - entry.modified > STALE


def _removed(folder: KnowledgeFolder, entry: ListedFile) -> bool:
    with suppress(OSError):
        (folder.root / entry.path).unlink()
        return True
    return False


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
