"""The file of a documentation pack: the embedded store's tables in one file that is written once and then only read.

The same units and vectors give the same bytes: one thread writes in a fixed order, nothing runs by a timer, the
identity is a digest, and the end of the pass has no time. The file has no log, so that it can be read from a folder
that no process may write to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TypeVar

import apsw

from atlas.adapters.stores.sqlite.apply import apply
from atlas.adapters.stores.sqlite.file.connection import open_writer
from atlas.adapters.stores.sqlite.file.errors import translated
from atlas.adapters.stores.sqlite.rows import fetch, select, transaction
from atlas.adapters.stores.sqlite.text_segments import merge_words
from atlas.adapters.stores.sqlite.write import finish, open_project, put_vectors
from atlas.core.model import GraphDelta, ModelInfo, VectorRow

UNITS_AT_ONCE = 200
VECTORS_AT_ONCE = 4096
PAGE_BYTES = 8192
"""Vectors and texts leave less room at the end of such pages than of SQLite's usual 4,096 bytes: 2.5 % of a pack."""

_Item = TypeVar("_Item")


def write_pack_file(
    path: Path, project: str, units: Iterable[GraphDelta], vectors: Sequence[tuple[ModelInfo, Iterable[VectorRow]]]
) -> None:
    """Write a new file; `vectors` by model. Raises StoreError if it cannot be written.

    The iterables are read once, the vectors after the units.
    """
    with translated(path), ExitStack() as undone:
        connection = open_writer(path, log=False, page_bytes=PAGE_BYTES)
        undone.callback(connection.close, True)
        open_project(connection, project, "")
        for batch in _batches(units, UNITS_AT_ONCE):
            apply(connection, batch)
        for model, rows in vectors:
            for some in _batches(rows, VECTORS_AT_ONCE):
                put_vectors(connection, project, model, some)
        finish(connection, project, [])
        _seal(connection, project)


def _seal(connection: apsw.Connection, project: str) -> None:
    """Remove what differs between two equal builds, merge the index of words, and leave no log."""
    digest = hashlib.blake2b(digest_size=16)
    for row in select(connection, "SELECT path, digest, unit_digest FROM file ORDER BY id"):
        digest.update(repr(row).encode("utf8", "surrogatepass"))
    fetch(connection, "UPDATE meta SET value = ? WHERE key = 'identity'", (digest.hexdigest(),))
    fetch(connection, "UPDATE project SET indexed_at = '', generation = 1 WHERE name = ?", (project,))
    with transaction(connection):
        merge_words(connection, everything=True)
    _vacuum(connection)


def _vacuum(connection: apsw.Connection) -> None:
    """Rewrite the file without free pages. SQLite attaches a temporary database for that."""
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)
    for name in ("SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE", "SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE"):
        if hasattr(apsw, name):
            connection.config(getattr(apsw, name), 1)
    fetch(connection, "VACUUM")


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
