"""What a published index says about itself: project, commit, the files in its body, and the digest of the body.

A manifest comes from another machine. It is parsed into values of known types and sizes, or refused; it names no path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast

from atlas.core.errors import StoreError
from atlas.core.lazy_regex import lazy_regex

FORMAT = 1
MAX_ENTRY = 64 << 10
"""Bytes of a manifest with its signature, as they are stored."""
MAX_BODY = 16 << 30
"""Bytes of a body, and of all files that are unpacked from it."""
MAX_RATIO = 64
"""Bytes of the files for one of the body: that of an index is below 10."""

DATABASE_PART, FACTS_PART, LINKS_PART = "database", "facts", "links"
PARTS = (DATABASE_PART, FACTS_PART, LINKS_PART)

_COMMIT = lazy_regex(r"[0-9a-f]{40}")
_DIGEST = lazy_regex(r"[0-9a-f]{64}")
_PROJECT = lazy_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an index, as it is in the body."""

    name: str
    size: int
    packed: int
    """Bytes in the body, where the parts follow each other."""


@dataclass(frozen=True, slots=True)
class PublishedIndex:
    """The manifest of a published index."""

    project: str
    commit: str
    prefix: str
    """The project's folder inside of its repository, "" where they are the same."""
    read_by: str
    """The parser and the languages that read the files."""
    program: str
    made_at: str
    body: str
    """SHA-256 of the body."""
    parts: tuple[Part, ...]

    @property
    def packed(self) -> int:
        """Bytes of the body."""
        return sum(part.packed for part in self.parts)

    @property
    def size(self) -> int:
        """Bytes of the files."""
        return sum(part.size for part in self.parts)

    @property
    def name(self) -> str:
        """What tells it from the other indexes of its project."""
        kind = hashlib.sha256(f"{self.prefix}\0{self.read_by}".encode()).hexdigest()
        return f"{self.commit}-{kind[:16]}"

    def text(self) -> str:
        """Return the manifest as JSON: what is signed."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """A manifest as it was received, with its signature, "" for none. Nobody has checked that yet."""

    manifest: str
    signature: str = ""

    def text(self) -> str:
        """Return the entry as JSON."""
        return json.dumps(asdict(self))


def is_project(name: str) -> bool:
    """Return whether a text can be the name of a project, and so that of a folder."""
    return _PROJECT.fullmatch(name) is not None


def is_digest(text: str) -> bool:
    """Return whether a text is a SHA-256."""
    return _DIGEST.fullmatch(text) is not None


def read_entry(data: bytes | str) -> Entry:
    """Return a stored or received entry. Raises StoreError."""
    values = _object(data)
    manifest, signature = values.get("manifest"), values.get("signature", "")
    if not isinstance(manifest, str) or not isinstance(signature, str):
        raise _refused("it has no manifest")
    return Entry(manifest, signature)


def read_manifest(text: str) -> PublishedIndex:
    """Return what a manifest says. Raises StoreError for anything that this program would not write."""
    values = _object(text)
    if values.get("format") != FORMAT:
        raise _refused(f"its format is {str(values.get('format'))[:20]}, this program reads {FORMAT}")
    listed = values.get("parts")
    if not isinstance(listed, list):
        raise _refused("it names no parts")
    parts = tuple(map(_part, cast("list[object]", listed)))
    if not {DATABASE_PART} <= {part.name for part in parts} <= set(PARTS) or len({one.name for one in parts}) < len(
        parts
    ):
        raise _refused("it does not have the parts of an index")
    texts = {
        name: values.get(name) for name in ("project", "commit", "prefix", "read_by", "program", "made_at", "body")
    }
    if not all(isinstance(value, str) and len(value) <= _TEXT for value in texts.values()):
        raise _refused("a text is missing or too long")
    made = PublishedIndex(**cast("dict[str, str]", texts), parts=parts)
    if not (is_project(made.project) and _COMMIT.fullmatch(made.commit) and is_digest(made.body)):
        raise _refused("a name or digest is not one")
    if made.packed > MAX_BODY or made.size > min(MAX_BODY, MAX_RATIO * made.packed + (1 << 20)):
        raise _refused("its files are larger than those of an index")
    return made


def _part(value: object) -> Part:
    if not isinstance(value, dict):
        raise _refused("a part is no object")
    values = cast("dict[str, object]", value)
    name, size, packed = values.get("name"), values.get("size"), values.get("packed")
    if not isinstance(name, str):
        raise _refused("a part has no name")
    if type(size) is not int or type(packed) is not int or size < 0 or packed < 0:
        raise _refused("a part has no size")
    return Part(name, size, packed)


def _object(data: bytes | str) -> Mapping[str, object]:
    if len(data) > MAX_ENTRY:
        raise _refused("it is too long")
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        raise _refused("it is no JSON") from None
    if not isinstance(found, dict):
        raise _refused("it is no object")
    return cast("dict[str, object]", found)


def _refused(why: str) -> StoreError:
    return StoreError(f"the manifest of a published index is refused: {why}")
