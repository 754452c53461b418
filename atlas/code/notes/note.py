"""Notes as values, as the parser of the extension reads them from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from atlas import _parser

KINDS = ("claim", "decision", "entity")
STATUSES = ("proposed", "accepted", "disputed", "retracted", "superseded")
CLAIM_RELATIONS = ("supports", "refutes", "extends", "implies", "contradicts", "supersedes")
"""Relations with an edge type of their own; every other relation is a RELATES edge with a `type`."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a note is about. Digests are those of the symbol when the note was written or reaffirmed; "" if unknown."""

    kind: str
    """symbol, file, route or package."""
    target: str
    signature: str = ""
    body: str = ""
    docstring: str = ""
    path: str = ""
    line: int = 0
    commit: str = ""
    at: int = 0
    """1-based line in the note's file; 0 for an anchor that is not written yet."""


@dataclass(frozen=True, slots=True)
class NoteRelation:
    """A relation to another note, or to a symbol, file, package or route (`symbol:a.b`)."""

    type: str
    to: str
    reasoning: str = ""
    confidence: float = 1.0
    created: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation about an entity. `start` and `end` are byte offsets of its lines in the file."""

    id: str
    created: str
    text: str
    client: str = ""
    at: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A top-level key of the front matter with the byte range of its whole lines."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read: 1-based line, code and message."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Note:
    """The content of one file. A file without a readable front matter has no `id`."""

    kind: str = ""
    id: str = ""
    status: str = "accepted"
    confidence: float = 1.0
    source: str = ""
    created: str = ""
    updated: str = ""
    name: str = ""
    type: str = ""
    aliases: tuple[str, ...] = ()
    client: str = ""
    agent: str = ""
    about: tuple[Anchor, ...] = ()
    relations: tuple[NoteRelation, ...] = ()
    observations: tuple[Observation, ...] = ()
    keys: tuple[Key, ...] = ()
    front_end: int = 0
    """Byte offset of the fence that closes the front matter."""
    body: int = 0
    """Byte offset of the first byte after the front matter."""
    problems: tuple[Problem, ...] = ()


def read_note(data: bytes) -> Note:
    """Return the note in a file's bytes; never raises for bad content, which becomes `problems`."""
    found = cast("dict[str, Any]", json.loads(_parser.parse_note(data)))
    author = found["author"]
    fields = ("kind", "id", "status", "confidence", "source", "created", "updated", "name", "type", "front_end", "body")
    return Note(
        **{name: found[name] for name in fields},
        aliases=tuple(found["aliases"]),
        client=author["client"],
        agent=author["agent"],
        about=tuple(Anchor(**one) for one in found["about"]),
        relations=tuple(NoteRelation(**one) for one in found["relations"]),
        observations=tuple(Observation(**one) for one in found["observations"]),
        keys=tuple(Key(*one) for one in found["keys"]),
        problems=tuple(Problem(*one) for one in found["problems"]),
    )


def text_of(data: bytes, note: Note) -> str:
    """Return the body of a note as text, without surrounding blank lines."""
    return data[note.body :].decode("utf-8", "replace").strip()
