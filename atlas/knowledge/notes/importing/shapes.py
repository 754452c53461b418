"""Recognize what a row is: a unit of a claims graph, an entity, observations, a relation, a key, or one of our notes.

Rows are untrusted: every text is checked for its size, for secrets and for Unicode before anything is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from atlas.code.notes.note import KINDS, read_note
from atlas.core.errors import ConfigError
from atlas.knowledge.notes.checks import MAX_RELATIONS, MAX_TEXT, check_line, check_share, check_status, check_text
from atlas.knowledge.notes.documents import to_file
from atlas.knowledge.notes.exporting import unlinked
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.importing.items import (
    Item,
    KeyItem,
    NoteItem,
    ObservationItem,
    ObservationsItem,
    RelationItem,
    SourcePlace,
    read_time,
)
from atlas.knowledge.notes.importing.rows import Row

Fields = Mapping[str, Any]

MAX_ID = 1000
"""Characters of an id of another program."""
_TEXTS = ("content", "hypothesis", "proposition", "statement", "text")
_IDS = ("id", "unit_id", "proposition_id", "hypothesis_id")
_CREATED = ("created_at", "createdAt", "created", "timestamp")
_UNIT_SECTIONS = ("units", "claims", "propositions", "hypotheses")


def interpret(row: Row, file: str, kind: str) -> Iterator[Item]:
    """Yield what a row adds; `kind` is that of units that do not say it, "" for claims.

    Raises ConfigError for a row that cannot be imported.
    """
    place = SourcePlace(file, row.line)
    if row.key and "idempotency" in file.rpartition("/")[2].lower():
        yield KeyItem(place, check_line("key", row.key, MAX_ID), _result_id(row.value))
        return
    value = row.value
    if not isinstance(value, dict):
        raise ConfigError("the row is no object", "See docs/notes.md for the formats.")
    fields = cast("Fields", value)
    if row.key and not _first(fields, _IDS):
        fields = {**fields, "id": row.key}
    for is_shape, read in _SHAPES:
        if is_shape(fields, row.section):
            yield from read(fields, place, kind)
            return
    names = ", ".join(repr(str(name)[:40]) for name in list(fields)[:6])
    raise ConfigError(f"the row is of no known format: it has {names or 'no keys'}", "See docs/notes.md.")


def check_file(data: bytes) -> None:
    """Check the text of a whole file. Raises ConfigError: a secret, a NUL, or not UTF-8."""
    try:
        check_text("the file", data.decode(), len(data) + 1)
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file is not UTF-8 (byte {error.start})", "Convert it to UTF-8.") from error


def _native(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    try:
        document = unlinked(fields) if "@id" in fields else dict(fields)
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"the note has a field of an unknown form: {error}", "Export it again.") from error
    data = to_file(document)
    check_file(data)
    note = read_note(data)
    path = document.get("path", "")
    yield NoteItem(
        place,
        note.kind,
        note.id,
        note.name,
        "",
        native=note.id,
        path=path if isinstance(path, str) else "",
        data=data,
    )


def _unit(fields: Fields, place: SourcePlace, kind: str) -> Iterator[Item]:
    stated = str(fields.get("kind") or kind or "claim")
    if stated not in KINDS:
        raise ConfigError(f"unknown kind {stated[:60]!r}", f"Use one of: {', '.join(KINDS)}.")
    text = check_text("content", _text(fields, _TEXTS))
    values: dict[str, Value] = {}
    if status := _text(fields, ("status",)):
        values["status"] = check_status(status)
    if (confidence := fields.get("confidence")) not in (None, ""):
        values["confidence"] = _share(confidence)
    if source := _source(fields):
        values["source"] = source
    if stated == "entity":
        values["name"] = check_line("name", _text(fields, ("name",)))
    created = read_time(_first(fields, _CREATED))
    foreign = _foreign(_first(fields, _IDS))
    yield NoteItem(place, stated, foreign, str(values.get("name", text)), text, values, created)


def _entity(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    name = check_line("name", _text(fields, ("name",)))
    values: dict[str, Value] = {"name": name}
    if entity_type := _text(fields, ("entityType", "entity_type")):
        values["type"] = check_line("type", entity_type)
    if aliases := _list(fields.get("aliases")):
        values["aliases"] = [check_line("alias", _as_text(one)) for one in aliases[:MAX_RELATIONS]]
    created = read_time(_first(fields, _CREATED))
    observations = _observations(fields.get("observations"), created)
    yield NoteItem(place, "entity", name, name, "", values, created, observations)


def _mem0(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    """Read a memory of mem0: the entity is whose memory it is."""
    name = _text(fields, ("user_id", "agent_id", "app_id", "run_id")) or "user"
    text = _observation(_text(fields, ("memory",)))
    created = read_time(_first(fields, ("created_at", "updated_at")))
    yield ObservationsItem(place, check_line("entity", name), (ObservationItem(text, created),), creates=True)


def _mem0_relation(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    ends = (_foreign(fields["source"]), _foreign(_first(fields, ("destination", "target"))))
    yield _relation(fields, place, "entity", ends, _text(fields, ("relationship", "relation")))


def _loose_observations(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    name = check_line("entity", _text(fields, ("entityName", "entity_name", "entity")))
    contents = _first(fields, ("contents", "observations", "observation", *_TEXTS))
    created = read_time(_first(fields, _CREATED))
    found = _observations(contents, created)
    yield ObservationsItem(place, name, tuple(found), creates="entity" in fields and created != "")


def _unit_relation(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    ends = (_foreign(fields["source_id"]), _foreign(fields["target_id"]))
    yield _relation(fields, place, "unit", ends, _text(fields, ("type", "relation", "relation_type")))


def _entity_relation(fields: Fields, place: SourcePlace, _: str) -> Iterator[Item]:
    ends = (_foreign(fields["from"]), _foreign(fields["to"]))
    names = ("relationType", "relation_type", "relation", "type")
    yield _relation(fields, place, "entity", ends, _text(fields, names))


def _relation(fields: Fields, place: SourcePlace, among: str, ends: tuple[str, str], relation: str) -> RelationItem:
    if not all(ends):
        raise ConfigError("the relation has an end without a name", "Give both ends.")
    reasoning = _text(fields, ("reasoning", "description"))
    confidence = fields.get("confidence")
    return RelationItem(
        place,
        among,
        *ends,
        check_line("relation type", relation),
        check_text("reasoning", reasoning, MAX_TEXT) if reasoning.strip() else "",
        1.0 if confidence in (None, "") else _share(confidence),
        read_time(_first(fields, _CREATED)),
    )


_SHAPES: Sequence[tuple[Callable[[Fields, str], bool], Callable[[Fields, SourcePlace, str], Iterator[Item]]]] = (
    (lambda row, _: "@id" in row or (row.get("kind") in KINDS and is_id(str(row.get("id")))), _native),
    (lambda row, _: "source_id" in row and "target_id" in row, _unit_relation),
    (lambda row, _: "from" in row and "to" in row, _entity_relation),
    (lambda row, _: "source" in row and ("relationship" in row or "destination" in row), _mem0_relation),
    (lambda row, _: isinstance(row.get("memory"), str), _mem0),
    (lambda row, _: "name" in row and ("entityType" in row or "entity_type" in row), _entity),
    (lambda row, section: "name" in row and (section == "entities" or row.get("type") == "entity"), _entity),
    (lambda row, _: "name" in row and isinstance(row.get("observations"), list), _entity),
    (lambda row, _: any(name in row for name in ("entityName", "entity_name", "entity")), _loose_observations),
    (lambda row, section: section in _UNIT_SECTIONS or any(name in row for name in _TEXTS), _unit),
)
"""Formats in the order in which they are tried."""


def _observations(values: Any, created: str) -> list[ObservationItem]:
    """Return observations given as texts or as objects with a text and a time."""
    found: list[ObservationItem] = []
    for one in _list(values):
        if isinstance(one, dict):
            fields = cast("Fields", one)
            text = _text(fields, ("observation", *_TEXTS))
            found.append(ObservationItem(_observation(text), read_time(_first(fields, _CREATED)) or created))
        else:
            found.append(ObservationItem(_observation(_as_text(one)), created))
    return found


def _observation(text: str) -> str:
    return check_line("observation", text, MAX_TEXT)


def _result_id(value: Any) -> str:
    """Return the id of what a recorded call has written. Raises ConfigError without one."""
    if isinstance(value, dict):
        fields = cast("Fields", value)
        inner = _first(fields, (*_IDS, "unit", "result", "proposition"))
        if isinstance(inner, dict):
            inner = _first(cast("Fields", inner), _IDS)
        value = inner
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise ConfigError("the result of the key names no unit", "Only keys of calls that wrote a unit are imported.")
    return _foreign(value)


def _source(fields: Fields) -> str:
    if doi := _text(fields, ("source_doi", "doi")).strip():
        source = doi if doi.lower().startswith(("doi:", "http:", "https:")) else f"doi:{doi}"
    else:
        source = _text(fields, ("source",))
    return check_line("source", source, 1000) if source.strip() else ""


def _share(value: Any) -> float:
    return read_share(value) if isinstance(value, str) else check_share("confidence", value)


def read_share(text: str) -> float:
    """Return a confidence: `0.9`, `0,9` or `90%`. Raises ConfigError for any other text."""
    plain = text.strip().replace(",", ".")
    try:
        value = float(plain.removesuffix("%"))
    except ValueError:
        value = math.nan
    return check_share("confidence", value / 100 if plain.endswith("%") else value)


def _foreign(value: Any) -> str:
    """Return an id of another program as a text, "" if there is none."""
    if value in (None, ""):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ConfigError(f"the id {str(value)[:60]!r} is neither text nor a whole number", "Give each row an id.")
    return check_line("id", str(value), MAX_ID)


def _first(fields: Fields, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def _text(fields: Fields, names: Sequence[str]) -> str:
    return _as_text(_first(fields, names))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigError(f"{str(value)[:60]!r} must be text", "Write it in quotes.")
    return value


def _list(value: Any) -> list[Any]:
    """Return a list, with a single value as a list of one."""
    if value is None or value == "":
        return []
    return cast("list[Any]", value) if isinstance(value, list) else [value]
