"""A note as a JSON object, and the file of a note from such an object. Both directions keep every byte.

The object holds what the note says. Where a file cannot be written again from that (own keys, comments, another order),
the object also has it as `file`. A reader that changes other fields need not change `file`: it is used only while it
says the same as the other fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from atlas.code.notes.note import Anchor, Note, NoteRelation, Observation, read_note, text_of
from atlas.core.errors import ConfigError
from atlas.knowledge.notes.front_matter import Value, new_file
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.listing import FoundNote

Document = dict[str, Any]

_TEXTS = ("status", "source", "created", "updated", "name", "type")
_ANCHOR = ("signature", "body", "docstring", "path", "line", "commit")
_RELATION = ("type", "to", "reasoning", "confidence", "created")
_OBSERVATION = ("id", "created", "text", "client")
_DEFAULTS = {"status": "accepted", "confidence": 1.0}
_COMPARE = "Compare with what `atlas notes export` writes."
_ORDER = ("id", "kind", "name", "type", "aliases", "status", "confidence", "source", "created", "updated")


def to_document(found: FoundNote, folder: str) -> Document:
    """Return a note as a JSON object; `folder` is the knowledge folder, from which its path is counted."""
    document = _fields(found.data, found.note)
    path = found.path.removeprefix(f"{folder}/")
    document["path"] = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if _built(document) != found.data:
        document["file"] = found.data.decode("utf-8", "replace")
    return document


def to_file(document: Mapping[str, Any]) -> bytes:
    """Return the file of a note. Raises ConfigError for an object that does not say what the file then would."""
    wanted = {**_DEFAULTS, **{name: value for name, value in document.items() if name not in ("path", "file")}}
    if not is_id(str(wanted.get("id"))):
        raise ConfigError("the object has no id of a note", _COMPARE)
    try:
        file = document.get("file")
        if isinstance(file, str):
            data = file.encode()
            if _fields(data, read_note(data)) == wanted:
                return data
        data = _built(document)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
        raise ConfigError(f"the note has a field of an unknown form: {error}", _COMPARE) from error
    note = read_note(data)
    if note.problems:
        raise ConfigError(f"the note cannot be read: {note.problems[0].message}", _COMPARE)
    said = _fields(data, note)
    if note.kind != "entity":
        wanted["name"] = said.get("name", "")  # it is in the text
    lost = sorted(name for name in {*wanted, *said} if wanted.get(name) != said.get(name))
    if lost:
        raise ConfigError(f"the note cannot keep the fields: {', '.join(map(repr, lost[:5]))}", _COMPARE)
    return data


def _built(document: Mapping[str, Any]) -> bytes:
    """Return the file that the fields make, without `file`. Raises for fields of another type."""
    values: dict[str, Value] = {name: document[name] for name in _ORDER if _is_written(name, document)}
    values["author"] = _chosen(document.get("author", {}), ("client", "agent"))
    values["about"] = [_anchor_values(one) for one in document.get("about", ())]
    values["relations"] = [_chosen(one, _RELATION) for one in document.get("relations", ())]
    lines = [_line(one) for one in document.get("observations", ())]
    body = "\n\n".join(part for part in (document.get("text", ""), "\n".join(lines)) if part)
    return new_file(values, body)


def _fields(data: bytes, note: Note) -> Document:
    """Return what a file says, without empty values."""
    values: Document = {"id": note.id, "kind": note.kind, **{name: getattr(note, name) for name in _TEXTS}}
    values |= {"confidence": note.confidence, "aliases": list(note.aliases)}
    values["author"] = _given({"client": note.client, "agent": note.agent})
    values["about"] = [_anchor(one) for one in note.about]
    values["relations"] = [_relation(one) for one in note.relations]
    values["observations"] = [_observation(one) for one in note.observations]
    values["text"] = prose_of(data, note)
    return _given(values)


def prose_of(data: bytes, note: Note) -> str:
    """Return the body of a note without the observations."""
    if not note.observations:
        return text_of(data, note)
    parts: list[bytes] = []
    at = note.body
    for one in note.observations:
        parts.append(data[at : one.start])
        at = one.end
    parts.append(data[at:])
    return b"".join(parts).decode("utf-8", "replace").strip()


def observation_line(note_id: str, created: str, text: str, client: str) -> str:
    """Return the list item of an observation; further lines of its text are indented."""
    head = " ".join(part for part in ("-", created, f"[{note_id}]" if is_id(note_id) else "") if part)
    shown = re.sub(r"\n(?=[^\n])", "\n  ", text)
    return f"{head} {shown}" + (f" (client: {client})" if client else "")


def _line(one: Mapping[str, Any]) -> str:
    return observation_line(one.get("id", ""), one.get("created", ""), one["text"], one.get("client", ""))


def _given(values: Document) -> Document:
    return {name: value for name, value in values.items() if value not in ("", 0, [], {}) or name == "confidence"}


def _anchor(one: Anchor) -> Document:
    return {"target": f"{one.kind}:{one.target}"} | _given({name: getattr(one, name) for name in _ANCHOR})


def _relation(one: NoteRelation) -> Document:
    return _given({name: getattr(one, name) for name in _RELATION})


def _observation(one: Observation) -> Document:
    return _given({name: getattr(one, name) for name in _OBSERVATION})


def _anchor_values(one: Mapping[str, Any]) -> dict[str, Value]:
    kind, _, target = cast("str", one["target"]).partition(":")
    if kind not in ("symbol", "file", "route", "package"):
        raise ValueError(f"{kind!r} is no kind of anchor")
    return {kind: target, **_chosen(one, _ANCHOR)}


def _chosen(one: Mapping[str, Any], names: Sequence[str]) -> dict[str, Value]:
    """Return the named values. Other names, which need not be keys of YAML, are never written."""
    return {name: one[name] for name in names if name in one}


def _is_written(name: str, document: Mapping[str, Any]) -> bool:
    """Return whether a field is a key of the file: defaults are not, and the name of a claim is in its text."""
    if name not in document or (name == "name" and document["kind"] != "entity"):
        return False
    return document[name] != _DEFAULTS.get(name)
