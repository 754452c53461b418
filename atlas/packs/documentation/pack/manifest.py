"""`manifest.json`: what a pack is, what it was made from, and the checksum of each of its files.

A manifest comes from anywhere: every value is checked, and one that names files outside of the pack is refused. Texts
that are shown are one line without control characters. `manifest.schema.json` next to this module is its JSON schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from atlas.core.errors import ConfigError, SchemaMismatch, StoreError
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.pack.strict_json import load_json

SCHEMA = 1
"""Incremented with every change that an older program would misread."""

EDITED_FILES = ("eval/questions.jsonl", "kg_config.json")
"""Files that people may edit: questions of their own, and stages of the pipeline."""
PACK_FILE = "pack.db"
MANIFEST_FILE = "manifest.json"
FILES = frozenset((PACK_FILE, "urls.txt", "skill.md", "kg_config.json", "vocabulary.json", "eval/questions.jsonl"))
"""The only files with a checksum."""
MAX_MANIFEST = 4 << 20
MAX_TEXT_FILE = 8 << 20
"""Bytes of each file but `pack.db`."""
MAX_ENTRIES, MAX_TEXT = 10_000, 5_000
"""Entries of a list or object, and characters of a text."""

_NAME = lazy_regex(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_VERSION = lazy_regex(r"[A-Za-z0-9](?:[A-Za-z0-9._+!-]{0,62}[A-Za-z0-9])?")
_SHA256 = lazy_regex(r"[0-9a-f]{64}")
_COUNT = lazy_regex(r"[A-Za-z_]{1,60}(?::[a-z_ -]{1,60})?")
_RESULT = lazy_regex(r"eval/results/[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Measurements of this pack: they may be added and have no checksum."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """Size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackSource:
    """A source as named, with the version and a digest over its articles."""

    text: str
    version: str = ""
    digest: str = ""
    articles: int = 0


@dataclass(frozen=True, slots=True)
class PackModel:
    """A model whose vectors or statements the pack contains."""

    space: str
    provider: str
    model: str
    dimension: int = 0
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a pack."""

    name: str
    version: str
    created: str
    """ISO 8601 in UTC: the only value that differs between two builds of the same sources."""
    program: str = ""
    """The program that built it, with its version."""
    description: str = ""
    library: str = ""
    """The library that it documents, "" for a subject without one."""
    library_version: str = ""
    ecosystem: str = ""
    """python npm rust go maven ..., "" without a library."""
    sources: tuple[PackSource, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    models: tuple[PackModel, ...] = ()
    licences: tuple[str, ...] = ()
    """As the sources state them."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    files: Mapping[str, PackedFile] = field(default_factory=dict[str, PackedFile])

    @property
    def title(self) -> str:
        """Name and version, for people."""
        return f"{self.name} {self.version}"


def manifest_text(manifest: Manifest) -> str:
    """Return a manifest as JSON with sorted keys."""
    document = {"schema": SCHEMA, **asdict(manifest)}
    return json.dumps(document, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def read_manifest(text: str, place: str) -> Manifest:
    """Return the manifest of a JSON text; `place` names it in errors.

    Raises SchemaMismatch for one of a newer program, and StoreError for anything else that is not a manifest.
    """
    try:
        found = load_json(text)
    except ValueError as error:
        raise _invalid(place, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _invalid(place, "it is not an object")
    document = cast("dict[str, Any]", found)
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise _invalid(place, "schema is not a number")
    if schema > SCHEMA:
        raise SchemaMismatch(
            f"{place} has schema {schema}, this program reads up to {SCHEMA}", "install a newer Code Atlas"
        )
    texts = {name: _text(document, name, place) for name in _TEXTS}
    try:
        check_name(texts["name"], texts["version"])
    except ConfigError as error:
        raise _invalid(place, error.message) from error
    return Manifest(
        **texts,
        sources=tuple(PackSource(**_fields(one, _SOURCE, place)) for one in _list(document, "sources", place)),
        counts={_count(key, place): _number(value, place) for key, value in _object(document, "counts", place).items()},
        models=tuple(PackModel(**_fields(one, _MODEL, place)) for one in _list(document, "models", place)),
        licences=tuple(shown(str(one)[:500]) for one in _list(document, "licences", place)),
        settings=_object(document, "settings", place),
        files={name: _file(name, value, place) for name, value in _object(document, "files", place).items()},
    )


def check_name(name: str, version: str) -> None:
    """Raise ConfigError for a name or version that cannot be the name of a folder everywhere."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name[:100]!r} is not a pack name", "use lower-case letters, digits, '.', '_' and '-'")
    if not _VERSION.fullmatch(version) or ".." in version:
        raise ConfigError(f"{version[:100]!r} is not a pack version", "use letters, digits and '._+!-'")


def shown(text: str) -> str:
    """Return a text as one line without control characters, invisible ones and those that change its direction."""
    return "".join(filter(str.isprintable, " ".join(text.split())))


def is_result(name: str) -> bool:
    """Return whether a file is a measurement, which needs no checksum."""
    return bool(_RESULT.fullmatch(name))


_TEXTS = ("name", "version", "created", "program", "description", "library", "library_version", "ecosystem")
_SOURCE: Mapping[str, type] = {"text": str, "version": str, "digest": str, "articles": int}
_MODEL: Mapping[str, type] = {"space": str, "provider": str, "model": str, "dimension": int, "fingerprint": str}


def _invalid(place: str, why: str) -> StoreError:
    return StoreError(f"{place} is not a pack manifest: {why}", "build or download the pack again")


def _text(document: Mapping[str, Any], name: str, place: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _invalid(place, f"{name} is not text")
    return shown(value)


def _count(name: str, place: str) -> str:
    if not _COUNT.fullmatch(name):
        raise _invalid(place, "counts has a name that is none")
    return name


def _number(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _invalid(place, "counts holds something else than numbers")
    return value


def _list(document: Mapping[str, Any], name: str, place: str) -> list[Any]:
    value = document.get(name, [])
    if not isinstance(value, list) or len(cast("list[Any]", value)) > MAX_ENTRIES:
        raise _invalid(place, f"{name} is not a list of at most {MAX_ENTRIES:,} entries")
    return cast("list[Any]", value)


def _object(document: Mapping[str, Any], name: str, place: str) -> dict[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict) or len(cast("dict[str, Any]", value)) > MAX_ENTRIES:
        raise _invalid(place, f"{name} is not an object of at most {MAX_ENTRIES:,} entries")
    return cast("dict[str, Any]", value)


def _fields(value: object, kinds: Mapping[str, type], place: str) -> dict[str, Any]:
    """Return the known fields of an object, each checked."""
    if not isinstance(value, dict):
        raise _invalid(place, "sources or models hold something else than objects")
    found = cast("dict[str, Any]", value)
    known = {name: found[name] for name in kinds if name in found}
    if any(type(known[name]) is not kinds[name] for name in known) or not known:
        raise _invalid(place, f"unexpected values in {[name[:40] for name in sorted(found)[:5]]}")
    if any(isinstance(one, str) and len(one) > MAX_TEXT for one in known.values()):
        raise _invalid(place, f"a text has more than {MAX_TEXT:,} characters")
    # what a source is called is what is read again
    return {name: shown(one) if isinstance(one, str) and name != "text" else one for name, one in known.items()}


def _file(name: str, value: object, place: str) -> PackedFile:
    if name not in FILES:
        raise _invalid(place, f"it names the file {name[:80]!r}")
    found = _fields(value, {"size": int, "sha256": str}, place)
    size, digest = found.get("size", -1), found.get("sha256", "")
    if size < 0 or not _SHA256.fullmatch(digest):
        raise _invalid(place, f"size or checksum of {name} is missing")
    if name != PACK_FILE and size > MAX_TEXT_FILE:
        raise _invalid(place, f"{name} would have {size:,} bytes")
    return PackedFile(size, digest)
