"""Cursors: the start of the next page of a search, bound to the query and to the generation of the index.

A cursor is opaque to clients and deterministic: the same page of the same search always has the same cursor. The server
keeps no state.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import blake2b

from atlas.core.errors import ConfigError

_HINT = "omit the cursor to start at the first page"


@dataclass(frozen=True, slots=True)
class Position:
    """Offset of the first hit of a page, from 0, and the index generation of the previous page."""

    offset: int
    generation: int


def fingerprint(*parts: object) -> str:
    """Return 12 hex digits (BLAKE2b) over everything that determines the order of a search: tool, query, filters."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def write_cursor(position: Position, search: str) -> str:
    """Return the cursor of a position in the search with the fingerprint `search`."""
    return urlsafe_b64encode(f"{position.offset}.{position.generation}.{search}".encode()).decode().rstrip("=")


def read_cursor(cursor: str, search: str) -> Position:
    """Return the position of a cursor. Raises ConfigError if it is malformed or belongs to another search."""
    try:
        text = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
        offset, generation, owner = text.split(".")
        position = Position(int(offset), int(generation))
    except (binascii.Error, ValueError) as error:
        raise ConfigError("the cursor is malformed", _HINT) from error
    if owner != search:
        raise ConfigError("the cursor belongs to another search: query and filters must stay the same", _HINT)
    if position.offset < 0:
        raise ConfigError("the cursor is malformed", _HINT)
    return position
