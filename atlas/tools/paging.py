"""Cursors: where the next page of a search starts, bound to the question and to the generation of the index.

Opaque to clients and deterministic: the same page of the same search always has the same cursor. Nothing is kept.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import blake2b

from atlas.errors import ConfigError

_HINT = "leave the cursor out to start at the first page"


@dataclass(frozen=True, slots=True)
class Position:
    """The first hit of a page, counted from 0, and the generation the page before was made from."""

    offset: int
    generation: int


def fingerprint(*parts: object) -> str:
    """Return 12 hex digits over everything that decides a search's order: tool, question, filters."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def write_cursor(position: Position, search: str) -> str:
    """Return the cursor of a position within the search with this fingerprint."""
    return urlsafe_b64encode(f"{position.offset}.{position.generation}.{search}".encode()).decode().rstrip("=")


def read_cursor(cursor: str, search: str) -> Position:
    """Return a cursor's position. Raises ConfigError when it is damaged or belongs to another search."""
    try:
        text = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
        offset, generation, owner = text.split(".")
        position = Position(int(offset), int(generation))
    except (binascii.Error, ValueError) as error:
        raise ConfigError("the cursor is damaged", _HINT) from error
    if owner != search:
        raise ConfigError("the cursor belongs to another search: query and filters must stay the same", _HINT)
    if position.offset < 0:
        raise ConfigError("the cursor is damaged", _HINT)
    return position
