"""What `atlas connect` remembers of the changes that it made, one file for each place.

A record holds the replaced and the inserted spans, not a copy of the file. Records of one file form a chain: the newest
leads to the text that is there, the one before it to the text that the newest replaced. With the chain, a change in its
middle can be taken back as if it had never been made.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

from atlas.cli.clients import jsonc, page, section, toml_text
from atlas.cli.clients.config_file import ConfigFile
from atlas.cli.clients.edits import BrokenText, Edit, apply, revert
from atlas.core.errors import ConfigError
from atlas.runtime.process.files import make_private_folder, read_file, write_file
from atlas.runtime.process.installation_key import config_folder

RECORDS = "connections"
_MAX_RECORD = 8 << 20
_MAX_CHAIN = 200
"""Records of one file that are looked at: a user with more projects in one file gets the ordinary undo."""

_FIELDS = {"file", "edits", "written", "before", "made", "created", "folders", "digest"}

Kind = Literal["json", "toml", "section", "page"]


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """Where a value stands: at a path of keys in a JSON or TOML file, or as a section or the whole of a page."""

    file: Path
    key: tuple[str, ...]
    """Empty for a section and for a page."""
    inside: Path | None = None
    """The project, whose links must not lead out of it."""
    kind: Kind = "json"

    @property
    def format(self) -> ModuleType:
        """The module that reads and edits this kind of file."""
        return format_of(self.kind)


@dataclass(frozen=True, slots=True)
class RecordLink:
    """One record of a chain, and its file."""

    path: Path
    record: dict[str, Any]

    @property
    def edits(self) -> list[Edit]:
        """The spans that the change replaced."""
        return edits_of(self.record)


@dataclass(frozen=True, slots=True)
class Retold:
    """A chain without one of its changes: the text that it leads to, and the records that tell so."""

    text: str
    exists: bool
    """Whether the file would be there."""
    folders: tuple[Path, ...]
    """Folders that were made for the file, if it is not."""
    links: tuple[RecordLink, ...]


def format_of(kind: Kind) -> ModuleType:
    """Return the module that reads and edits a kind of file."""
    return {"json": jsonc, "toml": toml_text, "section": section, "page": page}[kind]


def digest_of(text: str) -> str:
    """Return the digest by which a record knows the text that it led to."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def edits_of(record: Mapping[str, Any]) -> list[Edit]:
    """Return the spans that a change replaced."""
    return [Edit(**one) for one in record["edits"]]


def record_path(place: ConfigEntry) -> Path:
    """Return the file of the record of a place."""
    name = json.dumps([str(place.file.absolute()), *place.key])
    return config_folder() / RECORDS / f"{digest_of(name)}.json"


def recall(place: ConfigEntry) -> dict[str, Any] | None:
    """Return what is remembered of a place. A record that cannot be read counts as none."""
    return _read(record_path(place))


def remember(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record. Raises ConfigError."""
    try:
        make_private_folder(path.parent)
        write_file(path, json.dumps(record).encode())
    except OSError as error:
        raise ConfigError(
            f"cannot write {path}: {error.strerror}", "Nothing was written. Make its folder writable: --undo needs it."
        ) from error


def chain_of(file: ConfigFile) -> list[RecordLink]:
    """Return the records that lead to the file's text, the newest first, up to the first edit of somebody else."""
    left: dict[str, RecordLink] = {}
    with contextlib.suppress(OSError):
        for path in sorted((config_folder() / RECORDS).glob("*.json")):
            record = _read(path)
            is_whole = record is not None and record.get("key") is not None and record["edits"]
            if record is not None and is_whole and record["file"] == str(file.target) and len(left) < _MAX_CHAIN:
                left[record["digest"]] = RecordLink(path, record)
    chain: list[RecordLink] = []
    text = file.text
    while (link := left.pop(digest_of(text), None)) is not None:
        chain.append(link)
        text = revert(text, link.edits)
    return chain


def retell(text: str, chain: Sequence[RecordLink], dropped: Path) -> Retold | None:
    """Return the chain without the change of the record `dropped`; None if that is not in it, or not editable.

    All changes since then are reverted and made again.
    """
    at = next((position for position, link in enumerate(chain) if link.path == dropped), -1)
    if at < 0:
        return None
    for link in chain[: at + 1]:
        text = revert(text, link.edits)
    exists = not chain[at].record["created"]
    folders: list[str] = chain[at].record["folders"]
    links: list[RecordLink] = []
    for link in reversed(chain[:at]):
        again = _again(text, link.record, exists=exists, folders=folders)
        if again is None:
            return None
        text = apply(text, edits_of(again))
        exists, folders = True, []
        links.append(RecordLink(link.path, again))
    return Retold(text, exists, tuple(map(Path, folders)) if not exists else (), tuple(links))


def _again(text: str, record: dict[str, Any], *, exists: bool, folders: list[str]) -> dict[str, Any] | None:
    """Return the record of the same change to another text."""
    key: list[str] = record["key"]
    form = format_of(record["kind"])
    try:
        document = form.load(text)
        edits: list[Edit] = form.put(text, key, record["written"])
        after = apply(text, edits)
        if form.load(after) != with_value(document, key, record["written"]):
            return None
    except (BrokenText, ConfigError):
        return None
    return {
        **record,
        "edits": [asdict(edit) for edit in edits],
        "made": form.made_for(document, key),
        "created": not exists,
        "folders": folders,
        "digest": digest_of(after),
    }


def with_value(document: Any, key: Sequence[str], value: object) -> Any:
    """Return the document with a value at a path of keys."""
    if not key:
        return value
    return {**document, key[0]: with_value(document.get(key[0], {}), key[1:], value)}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(read_file(path, _MAX_RECORD))
    except (OSError, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and found.keys() >= _FIELDS else None
