"""One-time upgrades of an older database file by a writer: page checksums without deleted content, further columns.

For checksums the file is copied and the copy replaces it, as with `index --full`: readers detect the new file and open
it. Tables and columns are added in place.
"""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.erasure import forget_all_names
from atlas.adapters.stores.sqlite.file.hardened import connect, reserve_bytes
from atlas.adapters.stores.sqlite.file.own_files import make_private
from atlas.adapters.stores.sqlite.file.schema_check import SCHEMA_VERSION, statements_of
from atlas.adapters.stores.sqlite.rows import fetch, transaction, value
from atlas.adapters.stores.sqlite.text_segments import merge_words

COPY_SUFFIX = "-copy"


def upgraded(connection: apsw.Connection, path: Path) -> bool:
    """Replace an open file with a sealed copy and close the connection; return whether that succeeded.

    Without space for a copy the file stays as it is, without checksums, and the connection stays open.
    """
    copy = path.with_name(path.name + COPY_SUFFIX)
    try:
        _copy(connection, copy)
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.BusyError, OSError):
        if connection.in_transaction:
            fetch(connection, "ROLLBACK")
        copy.unlink(missing_ok=True)
        return False
    connection.close(True)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    copy.replace(path)
    return True


def add_columns(connection: apsw.Connection, version: str) -> None:
    """Give the file the tables and columns that it lacks, in one transaction.

    They stay empty until the next pass, which writes every file again: the words of FTS5's index are not text.
    """
    with transaction(connection):
        fetch(connection, "DROP VIEW node_row")
        for table in ("node", "edge"):
            _create_again(connection, table)
        fetch(connection, "DROP TABLE text")
        for created in ("word_segment", "word_posting", "word_position", "node_row"):
            for statement in statements_of(created):
                fetch(connection, statement)
        fetch(connection, "UPDATE node SET search_digest = 0")
        fetch(connection, "UPDATE file SET unit_digest = '', digest = '', mtime_ns = 0")
        fetch(connection, "UPDATE meta SET value = ? WHERE key = 'schema'", (version,))


def _create_again(connection: apsw.Connection, table: str) -> None:
    """Copy the rows of a table to one with the current columns; new columns are empty texts."""
    indexes = fetch(
        connection, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (table,)
    )
    for (name,) in indexes:
        fetch(connection, f"DROP INDEX {name}")
    before = [row[1] for row in fetch(connection, f"PRAGMA table_info({table})")]
    fetch(connection, f"ALTER TABLE {table} RENAME TO {table}_before")
    for statement in statements_of(table):
        fetch(connection, statement)
    columns = [row[1] for row in fetch(connection, f"PRAGMA table_info({table})")]
    values = ", ".join(name if name in before else "''" for name in columns)
    fetch(connection, f"INSERT INTO {table}({', '.join(columns)}) SELECT {values} FROM {table}_before")
    fetch(connection, f"DROP TABLE {table}_before")


def _copy(connection: apsw.Connection, copy: Path) -> None:
    fetch(connection, "BEGIN IMMEDIATE")
    forget_all_names(connection)
    merge_words(connection, everything=True)
    fetch(connection, "COMMIT")
    # Replacing the file would lose a log that a reader prevents from being emptied.
    if fetch(connection, "PRAGMA wal_checkpoint(truncate)")[0][0]:
        raise apsw.BusyError("the log is being read")
    copy.unlink(missing_ok=True)
    make_private(copy)
    reserve_bytes(connection)
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)
    if hasattr(apsw, "SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE"):
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, 1)
    fetch(connection, "VACUUM INTO ?", (str(copy),))
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    _mark(copy)
    descriptor = os.open(copy, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mark(copy: Path) -> None:
    made = connect(copy, apsw.SQLITE_OPEN_READWRITE, 0)
    try:
        # SQLite wrote the header last; the VFS reads from it whether to seal pages.
        if not str(value(made, "PRAGMA atlas_page_seal")).startswith("ok"):
            raise apsw.IOError("the copy cannot be sealed")
        fetch(made, "UPDATE meta SET value = ? WHERE key = 'schema'", (SCHEMA_VERSION,))
    finally:
        made.close(True)
