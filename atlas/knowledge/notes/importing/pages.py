"""Recognize what a Markdown file is: one of our notes, a claim, a decision (an ADR), or an entity.

The kind is the option's, else that of the front matter, of the first heading ("# Decision: ..."), or of the folder
(`adr/`). Front matter is kept with all its keys; only id, kind and origin are set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from atlas.code.notes.note import Note, read_note
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.checks import check_line
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.importing.items import Item, NoteItem, SourcePlace, read_time
from atlas.knowledge.notes.importing.shapes import MAX_ID, check_file, read_share
from atlas.knowledge.notes.importing.vaults import vault_items

_FOLDERS = {
    **dict.fromkeys(("adr", "adrs", "decisions", "decision-records", "architecture-decisions"), "decision"),
    **dict.fromkeys(("claims", "hypotheses", "propositions"), "claim"),
    **dict.fromkeys(("entities", "memory", "people"), "entity"),
}
_HEADING = lazy_regex(r"^#[ \t]++((?:[^ \t#\n]|[ \t#]++(?=[^ \t#\n]))++)", re.MULTILINE)
_NAMED = lazy_regex(r"(claim|hypothesis|decision|adr|entity)\b[\s:#\d.–-]*", re.IGNORECASE)
_KINDS = {"claim": "claim", "hypothesis": "claim", "decision": "decision", "adr": "decision", "entity": "entity"}
_STATUS = lazy_regex(
    r"^(?:[*-] +)?\**+status\**+[ \t]*+:\**+[ \t]*+\**+(\w++)|^##++ status[ \t]*+\n++[ \t]*+\**+(\w++)", re.I | re.M
)
_DATE = lazy_regex(r"^(?:[*-] +)?\**date\**[ \t]*:\**[ \t]*(\d{4}-\d\d-\d\d)", re.I | re.M)
_STATES = {
    **dict.fromkeys(("accepted", "approved", "adopted", "implemented"), "accepted"),
    **dict.fromkeys(("proposed", "draft", "pending"), "proposed"),
    **dict.fromkeys(("superseded", "deprecated", "replaced"), "superseded"),
    **dict.fromkeys(("rejected", "withdrawn", "retracted"), "retracted"),
}
_PREFIX = 2000
"""Characters of a decision in which its status and date are looked for."""


def read_page(data: bytes, name: str, file: str, kind: str, *, in_vault: bool = False) -> Iterator[Item]:
    """Yield what a Markdown file holds; `name` is its path below the imported folder, `file` the one to report.

    `in_vault`: a page that does not say what it is, is a page of Obsidian. Raises ConfigError for a file that cannot be
    imported.
    """
    check_file(data)
    note = read_note(data)
    place = SourcePlace(file, 1)
    if note.id and note.kind:
        yield NoteItem(place, note.kind, note.id, note.name, "", native=note.id, data=data)
        return
    if name.lower().rpartition("/")[2].startswith("readme.") and not note.front_end:
        raise ConfigError("a README without front matter is no note", "Give it front matter with a kind.")
    broken = next((one for one in note.problems if one.code in ("note-yaml", "note-limit")), None)
    if broken:
        raise ConfigError(f"line {broken.line}: {broken.message}", "Correct the front matter, or remove it.")
    text = data[note.body :].decode().lstrip("\ufeff").strip()
    if not text:
        raise ConfigError("the file has no text", "Write the note below the front matter.")
    heading = _HEADING.search(text)
    if not (kind or note.kind) and (in_vault or raw_value(data, note, "permalink")):
        created = note.created or read_time(raw_value(data, note, "date"))
        title = raw_value(data, note, "title") or PurePosixPath(name).stem
        yield from vault_items(note, text, title, name, created, place)
        return
    found = _kind(note, data, kind, heading.group(1) if heading else "", name)
    title = _title(data, note, heading, name)
    values: dict[str, Value] = {}
    if (share := raw_value(data, note, "confidence")) and re.fullmatch(r"[\d.,]+\s*%|\d+,\d+", share):
        # the index would read it as 0
        values["confidence"] = read_share(share)
    if found == "entity":
        values["name"] = note.name or check_line("name", title)
    created = note.created
    if found == "decision":
        status = _STATUS.search(text[:_PREFIX])
        state = _STATES.get((status.group(1) or status.group(2)).lower(), "") if status else ""
        if state and raw_value(data, note, "status") == "":
            values["status"] = state
        date = _DATE.search(text[:_PREFIX])
        created = created or (read_time(date.group(1)) if date else "")
    foreign = check_line("id", raw_value(data, note, "id") or name, MAX_ID)
    kept = data if note.front_end else b""
    yield NoteItem(place, found, foreign, title, text, values, created, data=kept)


def raw_value(data: bytes, note: Note, name: str) -> str:
    """Return the value of a top-level key that is written on one line, "" if it is missing."""
    key = next((one for one in note.keys if one.name == name), None)
    if key is None:
        return ""
    value = data[key.start : key.end].decode("utf-8", "replace").partition(":")[2].strip()
    if value.startswith('"'):
        try:
            return str(json.JSONDecoder().raw_decode(value)[0])
        except ValueError:
            return value.strip('"')
    return value.partition(" #")[0].strip().strip("'")


def with_known_targets(data: bytes, note: Note, known: dict[str, str]) -> bytes:
    """Return a file in which `to: <id of another program>` in `relations` is the id of the imported note."""
    key = next((one for one in note.keys if one.name == "relations"), None)
    if key is None:
        return data

    def replaced(found: re.Match[bytes]) -> bytes:
        target = found.group(3).decode()
        return found.group(1) + known.get(target, target).encode() if not is_id(target) else found.group()

    lines = re.sub(rb"(\bto:[ \t]*)([\"']?)([^\s,\"'{}\[\]]+)\2", replaced, data[key.start : key.end])
    return data[: key.start] + lines + data[key.end :]


def _kind(note: Note, data: bytes, wanted: str, heading: str, name: str) -> str:
    if wanted:
        return wanted
    if note.kind:
        return note.kind
    if stated := raw_value(data, note, "kind"):
        raise ConfigError(f"unknown kind {stated[:60]!r}", "Use claim, decision or entity, or give --kind.")
    if named := _NAMED.match(heading):
        return _KINDS[named.group(1).lower()]
    for folder in reversed(PurePosixPath(name).parts[:-1]):
        if folder.lower() in _FOLDERS:
            return _FOLDERS[folder.lower()]
    raise ConfigError("the file does not say what it is", "Give --kind claim, decision or entity.")


def _title(data: bytes, note: Note, heading: re.Match[str] | None, name: str) -> str:
    title = raw_value(data, note, "title") or (heading.group(1) if heading else "")
    named = _NAMED.match(title)
    return (title[named.end() :] if named else title).strip() or PurePosixPath(name).stem
