"""The full content of an embedded store, kind by kind, as sorted rows: two stores with the same rows are equal.

Times, generations, internal ids and the decisions of the gate are left out. Rows are read lazily.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import apsw

from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file.connection import DATABASE, open_reader
from atlas.adapters.stores.sqlite.file.errors import translated
from atlas.adapters.stores.sqlite.rows import Row, fetch, select, value
from atlas.adapters.stores.sqlite.text_segments import occurrences

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "files": (
            "project path",
            "language digest size lines unit_digest resolved unresolved is_test is_generated problems stale",
        ),
        "skipped": ("project path", "reason"),
        "contents": ("project path", "data"),
        "nodes": (
            "uid",
            "path label kind name qualified_name line start_line end_line start_byte end_byte signature docstring "
            "is_test is_generated exported modifiers signature_digest body_digest docstring_digest text_digest "
            "chunk_digest chunk_name properties search_digest",
        ),
        "edges": ("source type target line", "strategy confidence further_lines properties dangling"),
        "edge_counts": ("project type strategy", "count"),
        "words": ("uid", "number places"),
        "vectors": ("uid is_second", "digest provider model dimension fingerprint data"),
    }
)
"""Kind -> names of the key columns and of the other columns of a row."""

_MASK = (1 << 64) - 1


class StoreDump:
    """One consistent state of a store, created by `open_whole`."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    @property
    def kinds(self) -> Mapping[str, tuple[str, str]]:
        """See `KINDS`."""
        return KINDS

    def rows(self, kind: str) -> Iterator[Row]:
        """Yield the rows of a kind, key columns first, sorted by them. Raises StoreError for a damaged store."""
        with translated(self._path):
            if kind == "words":
                yield from self._words()
                return
            for row in select(self._connection, statements("compare")[kind]):
                # Equal bytes may be compressed differently.
                yield (*row[:-1], zlib.decompress(row[-1])) if kind == "contents" else row

    def _words(self) -> Iterator[Row]:
        """Yield (uid, number of words, sum of the hashes of their positions) for every text in the search index.

        The words of a text are spread over the whole index, so one order-independent number per text is kept. The
        numbers are comparable only within this process.
        """
        last = value(self._connection, "SELECT coalesce(max(id), 0) FROM symbol_id")
        numbers, sums = array("Q", bytes(8 * (last + 1))), array("Q", bytes(8 * (last + 1)))
        for doc, term, column, offset in occurrences(self._connection):
            place = doc if doc <= last else 0
            numbers[place] += 1
            sums[place] = (sums[place] + hash((term, column, offset))) & _MASK
        if numbers[0]:
            yield "", numbers[0], sums[0]
        for node, uid in select(self._connection, statements("compare")["indexed_words"]):
            if numbers[node]:
                yield uid, numbers[node], sums[node]


@contextmanager
def open_whole(data_dir: Path) -> Generator[StoreDump]:
    """Open the current state of the store in a data directory. Raises NotFound, SchemaMismatch and StoreError."""
    path = data_dir / DATABASE
    with translated(path):
        connection = open_reader(path)
        try:
            fetch(connection, "BEGIN")
            yield StoreDump(connection, path)
        finally:
            connection.close(True)
