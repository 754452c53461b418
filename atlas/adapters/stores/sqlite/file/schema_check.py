"""Check of a database file's schema before use: exactly what `schema.sql` creates, and nothing else.

A file may come from anywhere. A view or a virtual table in the place of one of our tables would run code when it is
read.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import apsw

from atlas.adapters.stores.shared.statements import schema
from atlas.adapters.stores.sqlite.file.errors import REBUILD, damaged
from atlas.adapters.stores.sqlite.file.hardened import is_sealed, register_page_checks
from atlas.adapters.stores.sqlite.rows import fetch
from atlas.core.errors import OlderSchema, SchemaMismatch, StoreError
from atlas.core.lazy_regex import lazy_regex

SCHEMA_VERSION = "9"
"""Incremented with every change of the file that an older program could not read or would write incorrectly."""

UNSEALED_VERSION = "8"
"""The version of the same tables without page checksums, from an older program or one that cannot load the page checks.
"""

OLDER = {
    **{"7": SCHEMA_VERSION, "6": UNSEALED_VERSION, "5": SCHEMA_VERSION, "4": UNSEALED_VERSION},
    **{"3": SCHEMA_VERSION, "2": UNSEALED_VERSION},
}
"""Versions with words in FTS5, with those that a writer upgrades them to. From 5 on downwards notes have no properties,
in the last two edges have one line each.
"""

_SEALED = ("3", "5", "7", SCHEMA_VERSION)

_STATISTICS = {
    ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
}
"""Tables that `PRAGMA optimize` creates."""

_COMMENT = lazy_regex(r"--[^\n]*")
_PROPERTIES = lazy_regex(r"^ *(, n\.)?properties .*\n", re.MULTILINE)
_FURTHER_LINES = lazy_regex(r"^ *further_lines .*\n", re.MULTILINE)
WORDS_BEFORE = (
    "CREATE VIRTUAL TABLE text USING fts5( name, qualified_name, docstring, source, path, content='', "
    "contentless_delete=1, columnsize=1, detail=full, tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\" );"
)
_SPACE = lazy_regex(r"\s+")

_Entry = tuple[str, str, str, str]


def check_schema(connection: apsw.Connection, path: Path, *, upgrades: bool = False) -> str:
    """Return the version of the schema; one of `OLDER` only for a caller that `upgrades` it.

    Raises `SchemaMismatch` for an unreadable version, and `StoreError` for a file that contains foreign objects or
    whose page checksums were turned off.
    """
    found = _entries(connection)
    meta = {entry for entry in _expected() if entry[1] == "meta"}
    version = stored_version(connection) if meta <= found else "unknown"
    if version not in (SCHEMA_VERSION, UNSEALED_VERSION) and not (upgrades and version in OLDER):
        message = f"the index at {path} has schema {version}, this program needs {SCHEMA_VERSION}"
        if version in OLDER:
            raise OlderSchema(message, "upgrade it: atlas index")
        if version.isdecimal() and int(version) > int(SCHEMA_VERSION):
            raise SchemaMismatch(message, f"a newer Code Atlas made it: upgrade this one, or {REBUILD}")
        raise SchemaMismatch(message, REBUILD)
    expected = _expected_before(version) if version in OLDER else _expected()
    foreign = sorted(entry[1] for entry in found ^ expected if entry not in _STATISTICS)
    if foreign:
        names = ", ".join(name[:40] for name in foreign[:5])
        raise StoreError(f"the index at {path} was not created by this program: {names}", REBUILD)
    if version in _SEALED and register_page_checks() and not is_sealed(connection):
        raise damaged(path, "its page checksums are missing")
    return version


def stored_version(connection: apsw.Connection) -> str:
    """Return the version that the file declares."""
    stored = fetch(connection, "SELECT value FROM meta WHERE key = 'schema'")
    return str(stored[0][0])[:20] if stored else "unknown"


def _entries(connection: apsw.Connection) -> frozenset[_Entry]:
    rows = fetch(connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return frozenset((str(kind), str(name), str(table), _plain(sql)) for kind, name, table, sql in rows)


def _plain(sql: object) -> str:
    """Return a definition without comments and whitespace differences."""
    return _SPACE.sub(" ", _COMMENT.sub("", str(sql or ""))).strip()


def statements_of(table: str) -> list[str]:
    """Return the statements that create a table and its indexes, or a view."""
    return [entry[3] for entry in sorted(_expected(), reverse=True) if entry[2] == table and entry[3]]


@cache
def _expected() -> frozenset[_Entry]:
    return _created(schema())


@cache
def _expected_before(version: str) -> frozenset[_Entry]:
    """Return the entries of a version in `OLDER`."""
    before, _, after = schema().partition("CREATE TABLE word_segment")
    before += WORDS_BEFORE + after.partition("CREATE TABLE word_position")[2].partition(";")[2]
    if version not in ("6", "7"):
        before = _PROPERTIES.sub("", before)
    return _created(_FURTHER_LINES.sub("", before) if version in ("2", "3") else before)


def _created(statements: str) -> frozenset[_Entry]:
    connection = apsw.Connection(":memory:")
    try:
        fetch(connection, statements)
        return _entries(connection)
    finally:
        connection.close(True)
