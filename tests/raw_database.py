"""A store's database file opened past the store, by which tests look at it and change it: pages stay valid."""

from __future__ import annotations

from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.hardened import PAGES_VFS, register_page_checks
from atlas.adapters.stores.sqlite.file.schema_check import WORDS_BEFORE


def raw(path: Path, *, writing: bool = True) -> apsw.Connection:
    """Open the file with SQLite's own defaults but for the checksums of its pages."""
    flags = apsw.SQLITE_OPEN_READWRITE if writing else apsw.SQLITE_OPEN_READONLY
    return apsw.Connection(str(path), flags=flags, vfs=PAGES_VFS if register_page_checks() else None)


def put_words_in_fts5(connection: apsw.Connection, version: str) -> None:
    """Make the file one of an older version, which has the words of its texts in a table of FTS5 (here: none)."""
    for table in ("word_segment", "word_posting", "word_position"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute(WORDS_BEFORE)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (version,))
