"""One change to a client's file: what it would make of the text, making it, and taking it back.

A change that was made is recorded in the user's configuration folder, as the replaced and the inserted spans: no copy
of the file, which may hold keys of other servers. Taken back, an untouched file gets its bytes of before; in a file
that was edited since, only the entry goes, and the entry that it replaced comes back. An entry that was itself edited
since, or that no record knows, is `edited`: it holds what somebody else wrote.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atlas.cli.clients import config_file, page
from atlas.cli.clients.config_file import ConfigFile
from atlas.cli.clients.edits import BrokenText, Edit, apply, revert
from atlas.cli.clients.record import (
    ConfigEntry,
    RecordLink,
    chain_of,
    digest_of,
    edits_of,
    recall,
    record_path,
    remember,
    retell,
    with_value,
)
from atlas.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A change that has not been made yet. `after` is the text that it leads to, None for a deletion."""

    place: ConfigEntry
    file: ConfigFile
    after: str | None
    action: str
    """`add`, `replace`, `remove`, `restore` or `none`."""
    record: Mapping[str, Any] | None = None
    """What to remember; None forgets."""
    existing: object = None
    """The entry that is there."""
    folders: tuple[Path, ...] = ()
    """Folders to remove with a deleted file, if they are empty."""
    exact: bool = True
    """Taken back, the file has its bytes of before."""
    edited: bool = False
    """Taken back, the entry loses what was not written by `make`."""
    retold: tuple[RecordLink, ...] = ()
    """Records of later changes to the same file, as they are without this one."""


def read_entry(place: ConfigEntry) -> tuple[ConfigFile, object]:
    """Return the file and the value at a place, None without one. Raises ConfigError with the line of a mistake."""
    file = config_file.read(place.file, place.format.MAX_BYTES, inside=place.inside)
    return file, lookup(_load(place, file.text), place.key)


def plan(place: ConfigEntry, value: object, *, same: bool | None = None, project: str = "") -> ClientChange:
    """Return the change that puts `value` at a place. `same` says that what is there counts as this value.

    `project` is the folder of the project that the value is for, "" for a value that serves all.
    """
    file, existing = read_entry(place)
    if same or (same is None and existing == value):
        return ClientChange(place, file, file.text, "none", existing=existing)
    config_file.check_writable(file)
    document = _load(place, file.text)
    earlier = recall(place)
    if earlier is not None and (existing is None or earlier["written"] != existing):
        earlier = None
    # over an entry of Code Atlas that nobody has touched, the change is one to the text before that entry
    without = retell(file.text, chain_of(file), record_path(place)) if earlier is not None else None
    is_untouched = earlier is not None and without is not None
    base = without.text if without is not None else file.text
    edits: list[Edit] = place.format.put(base, place.key, value)
    after = apply(base, edits)
    if _load(place, after) != with_value(document, place.key, value):
        raise ConfigError(
            f"{place.file} keeps its servers in a form that cannot be edited safely",
            "Nothing was written. Add the entry by hand: atlas mcp --print-config prints it.",
        )
    before = place.format.raw(file.text, place.key) if existing is not None else ""
    record: dict[str, Any]
    if earlier is not None:
        # Code Atlas replaces its own entry: taking back leads to the state before the first one
        record = {**earlier, "edits": [asdict(edit) for edit in edits] if is_untouched else [], "written": value}
        if without is not None:
            record |= {
                "made": place.format.made_for(place.format.load(base), place.key),
                "created": not without.exists,
                "folders": [str(folder) for folder in without.folders],
            }
    else:
        made = place.format.made_for(document, place.key)
        record = {
            "file": str(file.target),
            "key": list(place.key),
            "kind": place.kind,
            "edits": [asdict(edit) for edit in edits],
            "written": value,
            "before": before,
            "made": made,
            "created": not file.exists,
            "folders": [],
        }
    record["project"] = project
    action = "add" if existing is None else "replace"
    links = without.links if without is not None else ()
    return ClientChange(place, file, after, action, {**record, "digest": digest_of(after)}, existing, retold=links)


def plan_undo(place: ConfigEntry, ours: Callable[[object], bool]) -> ClientChange:
    """Return the change that takes back what `make` did at a place.

    `ours` says of an entry without a record whether it is what Code Atlas writes.
    """
    file, existing = read_entry(place)
    record = recall(place)
    if existing is None:
        return ClientChange(place, file, file.text, "none")
    config_file.check_writable(file)
    is_moved = record is None or file.path.is_symlink() or str(file.target) != record["file"]
    is_created = bool(record and record["created"]) and not is_moved
    folders = tuple(map(Path, record["folders"])) if record and is_created else ()
    if record and record["edits"] and digest_of(file.text) == record["digest"] and is_created == record["created"]:
        before = None if is_created else revert(file.text, edits_of(record))
        return ClientChange(place, file, before, "remove", None, existing, folders)
    without = retell(file.text, chain_of(file), record_path(place)) if record else None
    if without is not None and (without.exists or not file.path.is_symlink()):
        left = without.text if without.exists else None
        return ClientChange(place, file, left, "remove", None, existing, without.folders, retold=without.links)
    is_known = existing == record["written"] if record else ours(existing)
    edited = not is_known or place.format.has_comment(place.format.raw(file.text, place.key))
    after = _taken_back(place, file.text, record, edited=edited)
    restored = bool(record and record["before"])
    is_page = place.format is page
    if not restored and after.strip() in ("", "{}") and (is_created or (is_page and not file.path.is_symlink())):
        return ClientChange(place, file, None, "remove", None, existing, folders, exact=False, edited=edited)
    action = "restore" if restored else "remove"
    return ClientChange(place, file, after, action, None, existing, exact=False, edited=edited)


def _taken_back(place: ConfigEntry, text: str, record: Mapping[str, Any] | None, *, edited: bool) -> str:
    """Return a text that has changed since without its entry, or with the entry of before. Raises ConfigError."""
    document = _load(place, text)
    restored: str = record["before"] if record else ""
    if restored:
        edits = place.format.put_raw(text, place.key, restored)
    else:
        edits = place.format.remove(text, place.key, record["made"] if record else 0)
    again = None if edited or record is None else _found_again(text, edits_of(record))
    for after in [*([again] if again is not None else []), apply(text, edits)]:
        try:
            found = place.format.load(after)
        except BrokenText:
            continue
        is_right = restored or lookup(found, place.key) is None
        if is_right and _without(found, place.key) == _without(document, place.key):
            return after
    raise ConfigError(f"{place.file} cannot be edited safely", f"Remove {'.'.join(place.key)} by hand.")


def _found_again(text: str, edits: Sequence[Edit]) -> str | None:
    """Return the text without what these edits inserted, None unless each piece stands in it exactly once."""
    pieces: list[Edit] = []
    for edit in edits:
        start = text.find(edit.new)
        if not edit.new or start < 0 or text.find(edit.new, start + 1) >= 0:
            return None
        pieces.append(Edit(start, edit.new, edit.old))
    after = apply(text, pieces)
    return after if pieces and after.strip() else None  # an empty file is no JSON


def make(change: ClientChange) -> None:
    """Make a change, and remember or forget it. Raises ConfigError; nothing is written then."""
    path = record_path(change.place)
    if change.record is not None:
        earlier = recall(change.place)
        # first the record: a change that --undo does not know would be worse than a record without a change
        remember(path, change.record)
        try:
            made = config_file.write(change.file, change.after or "")
        except BaseException:  # also an interrupt: a record without its change would mislead --undo
            remember(path, earlier) if earlier else path.unlink(missing_ok=True)
            raise
        if made:
            remember(path, {**change.record, "folders": [str(folder) for folder in made]})
    else:
        if change.after is None:
            config_file.delete(change.file, list(change.folders))
        else:
            config_file.write(change.file, change.after)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    for link in change.retold:
        remember(link.path, link.record)


def lookup(document: object, key: Sequence[str]) -> object:
    """Return the value at a path of keys, None without one."""
    for part in key:
        if not isinstance(document, dict) or part not in document:
            return None
        document = document[part]  # pyright: ignore[reportUnknownVariableType]
    return document or None if not key else document  # pyright: ignore[reportUnknownVariableType]


def _load(place: ConfigEntry, text: str) -> Any:
    try:
        return place.format.load(text)
    except BrokenText as error:
        broken = BrokenText(f"{place.file}, {error.message}", error.line)
        raise broken from error


def _without(document: Any, key: Sequence[str]) -> Any:
    """Return the document without the value at a path and without the objects that are empty then."""
    if not key:
        return None
    inner = _without(document[key[0]], key[1:]) if isinstance(document, dict) and key[0] in document else None
    rest = {name: one for name, one in document.items() if name != key[0]} if isinstance(document, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    return {**rest, key[0]: inner} if inner else rest  # pyright: ignore[reportUnknownVariableType]
