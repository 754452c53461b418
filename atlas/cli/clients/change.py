"""One change to a client's file: what it would make of the text, making it, and taking it back.

A change that was made is recorded in the user's configuration folder, as the replaced and the inserted spans: no copy
of the file, which may hold keys of other servers. Taken back, an untouched file gets its bytes of before; in a file
that was edited since, only the entry goes, and the entry that it replaced comes back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from atlas.cli.clients import config_file, jsonc, page, section, toml_text
from atlas.cli.clients.config_file import ConfigFile
from atlas.cli.clients.edits import BrokenText, Edit, apply, revert
from atlas.errors import ConfigError
from atlas.process.files import make_private_folder, read_file, write_file
from atlas.process.installation_key import config_folder

RECORDS = "connections"
_MAX_RECORD = 8 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: at a path of keys in a JSON or TOML file, or as a section or the whole of a page."""

    file: Path
    key: tuple[str, ...]
    """Empty for a section and for a page."""
    inside: Path | None = None
    """The project, whose links must not lead out of it."""
    kind: Literal["json", "toml", "section", "page"] = "json"

    @property
    def format(self) -> ModuleType:
        """The module that reads and edits this kind of file."""
        return {"json": jsonc, "toml": toml_text, "section": section, "page": page}[self.kind]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that has not been made yet; `edits` are empty when nothing is to do, `after` is None for a deletion."""

    place: Place
    file: ConfigFile
    edits: tuple[Edit, ...]
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


def read_entry(place: Place) -> tuple[ConfigFile, object]:
    """Return the file and the value at a place, None without one. Raises ConfigError with the line of a mistake."""
    file = config_file.read(place.file, place.format.MAX_BYTES, inside=place.inside)
    return file, lookup(_load(place, file.text), place.key)


def plan(place: Place, value: object, *, same: bool | None = None) -> Change:
    """Return the change that puts `value` at a place. `same` says that what is there counts as this value."""
    file, existing = read_entry(place)
    if same or (same is None and existing == value):
        return Change(place, file, (), file.text, "none", existing=existing)
    config_file.check_writable(file)
    document = _load(place, file.text)
    edits = tuple(place.format.put(file.text, place.key, value))
    after = apply(file.text, edits)
    if _load(place, after) != _with(document, place.key, value):
        raise ConfigError(
            f"{place.file} keeps its servers in a form that cannot be edited safely",
            "Nothing was written. Add the entry by hand: atlas mcp --print-config prints it.",
        )
    before = place.format.raw(file.text, place.key) if existing is not None else ""
    earlier = _recall(place)
    record: dict[str, Any]
    if earlier is not None and existing is not None and earlier["written"] == existing:
        # Code Atlas replaces its own entry: taking back leads to the state before the first one
        record = {**earlier, "edits": [], "written": value}
    else:
        made = place.format.made_for(document, place.key)
        record = {
            "file": str(file.target),
            "edits": [asdict(edit) for edit in edits],
            "written": value,
            "before": before,
            "made": made,
            "created": not file.exists,
            "folders": [],
        }
    action = "add" if existing is None else "replace"
    return Change(place, file, edits, after, action, {**record, "digest": _digest(after)}, existing)


def plan_undo(place: Place) -> Change:
    """Return the change that takes back what `make` did at a place."""
    file, existing = read_entry(place)
    record = _recall(place)
    folders = tuple(map(Path, record["folders"])) if record else ()
    if record and record["edits"] and file.exists and _digest(file.text) == record["digest"]:
        edits = [Edit(**one) for one in record["edits"]]
        before = revert(file.text, edits)
        after = None if record["created"] else before
        return Change(place, file, tuple(edits), after, "remove", None, existing, folders)
    if existing is None:
        return Change(place, file, (), file.text, "none")
    config_file.check_writable(file)
    document = _load(place, file.text)
    restored = record["before"] if record else ""
    if restored:
        edits = place.format.put_raw(file.text, place.key, restored)
    else:
        edits = place.format.remove(file.text, place.key, record["made"] if record else 0)
    after = apply(file.text, edits)
    found = _load(place, after)
    if (not restored and lookup(found, place.key) is not None) or _without(found, place.key) != _without(
        document, place.key
    ):
        raise ConfigError(f"{place.file} cannot be edited safely", f"Remove {'.'.join(place.key)} by hand.")
    if not restored and after.strip() in ("", "{}") and (place.format is page or (record and record["created"])):
        return Change(place, file, tuple(edits), None, "remove", None, existing, folders, exact=False)
    return Change(place, file, tuple(edits), after, "restore" if restored else "remove", None, existing, exact=False)


def make(change: Change) -> None:
    """Make a change, and remember or forget it. Raises ConfigError; nothing is written then."""
    path = _record_path(change.place)
    if change.record is not None:
        earlier = _recall(change.place)
        # first the record: a change that --undo does not know would be worse than a record without a change
        _remember(path, change.record)
        try:
            made = config_file.write(change.file, change.after or "")
        except BaseException:  # also an interrupt: a record without its change would mislead --undo
            _remember(path, earlier) if earlier else path.unlink(missing_ok=True)
            raise
        if made:
            _remember(path, {**change.record, "folders": [str(folder) for folder in made]})
        return
    if change.after is None:
        config_file.delete(change.file, list(change.folders))
    else:
        config_file.write(change.file, change.after)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def lookup(document: object, key: Sequence[str]) -> object:
    """Return the value at a path of keys, None without one."""
    for part in key:
        if not isinstance(document, dict) or part not in document:
            return None
        document = document[part]  # pyright: ignore[reportUnknownVariableType]
    return document or None if not key else document  # pyright: ignore[reportUnknownVariableType]


def _load(place: Place, text: str) -> Any:
    try:
        return place.format.load(text)
    except BrokenText as error:
        broken = BrokenText(f"{place.file}, {error.message}", error.line)
        raise broken from error


def _with(document: Any, key: Sequence[str], value: object) -> Any:
    if not key:
        return value
    return {**document, key[0]: _with(document.get(key[0], {}), key[1:], value)}


def _without(document: Any, key: Sequence[str]) -> Any:
    """Return the document without the value at a path and without the objects that are empty then."""
    if not key:
        return None
    inner = _without(document[key[0]], key[1:]) if isinstance(document, dict) and key[0] in document else None
    rest = {name: one for name, one in document.items() if name != key[0]} if isinstance(document, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    return {**rest, key[0]: inner} if inner else rest  # pyright: ignore[reportUnknownVariableType]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _record_path(place: Place) -> Path:
    name = json.dumps([str(place.file.absolute()), *place.key])
    return config_folder() / RECORDS / f"{_digest(name)}.json"


def _recall(place: Place) -> dict[str, Any] | None:
    """Return what is remembered of a place. A record that cannot be read counts as none."""
    try:
        found: Any = json.loads(read_file(_record_path(place), _MAX_RECORD))
    except (OSError, ValueError):
        return None
    fields = {"file", "edits", "written", "before", "made", "created", "folders", "digest"}
    return found if isinstance(found, dict) and fields <= found.keys() else None  # pyright: ignore[reportUnknownVariableType]


def _remember(path: Path, record: Mapping[str, Any]) -> None:
    try:
        make_private_folder(path.parent)
        write_file(path, json.dumps(record).encode())
    except OSError as error:
        raise ConfigError(
            f"cannot write {path}: {error.strerror}", "Nothing was written. Make its folder writable: --undo needs it."
        ) from error
