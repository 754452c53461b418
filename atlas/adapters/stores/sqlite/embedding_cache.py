"""The embedding cache on disk: a separate SQLite file, bounded in bytes, with least-recently-used eviction.

The file can be deleted at any time, and a damaged one is replaced: correctness does not depend on its content.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import apsw

from atlas.adapters.stores.sqlite.file.side_file import delete_files, open_side_file
from atlas.adapters.stores.sqlite.rows import fetch, run_many, value
from atlas.core.errors import StoreError

FILE = "embeddings.db"
OPENING_LOCK = "embeddings.lock"

DAY = 86_400
"""Seconds between updates of the last use of a vector: a read that always writes would wait for the writer."""

EVICTED_SHARE = 0.1
"""Share of the vectors that are evicted when the cache is full, so that not every write evicts."""

_ROW_BYTES = 64
"""Overhead per vector: key, time and b-tree cell."""

_SCHEMA = {
    "vector": "CREATE TABLE vector (key TEXT PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID",
    "vector_used": "CREATE INDEX vector_used ON vector(used)",
}

_Result = TypeVar("_Result")


class DiskCache:
    """`atlas.core.contracts.EmbeddingCache` in a folder; several processes may share it."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        """Open or create the cache. Raises StoreError if the folder is not writable."""
        self._path, self._max_bytes = folder / FILE, max_bytes
        self._lock = threading.Lock()
        try:
            # A lost write only costs one more embedding.
            self._connection = open_side_file(self._path, _SCHEMA, OPENING_LOCK, "OFF", delete_files)
        except (OSError, apsw.Error) as error:
            raise StoreError(f"the embedding cache {self._path} cannot be opened: {error}", "delete it") from error

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each key in order, None for keys that are not in the cache."""
        return await asyncio.to_thread(self._do, self._get, keys)

    async def put(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by key; if the cache is full, the least recently used vectors are evicted."""
        await asyncio.to_thread(self._do, self._put, vectors)

    async def aclose(self) -> None:
        """Close; idempotent."""
        with self._lock:
            self._connection.close()

    def _do(self, work: Callable[..., _Result], given: object) -> _Result:
        with self._lock:
            try:
                return work(given)
            except apsw.Error as error:
                raise StoreError(f"the embedding cache {self._path} failed: {error}", "delete it") from error

    def _get(self, keys: Sequence[str]) -> list[bytes | None]:
        found: dict[str, bytes] = {}
        old: list[str] = []
        now = int(time.time())
        for key in keys:
            for data, used in fetch(self._connection, "SELECT data, used FROM vector WHERE key = ?", (key,)):
                found[key] = data
                if used < now - DAY:
                    old.append(key)
        if old:
            with self._connection:
                run_many(self._connection, "UPDATE vector SET used = ? WHERE key = ?", [(now, key) for key in old])
        return [found.get(key) for key in keys]

    def _put(self, vectors: Mapping[str, bytes]) -> None:
        now = int(time.time())
        with self._connection:
            rows = [(key, now, data) for key, data in vectors.items()]
            run_many(self._connection, "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)
            count = value(self._connection, "SELECT count(*) FROM vector")
            size = count * (_ROW_BYTES + len(next(iter(vectors.values()), b"")))
            if size > self._max_bytes:
                keep = int(self._max_bytes / size * count * (1 - EVICTED_SHARE))
                fetch(
                    self._connection,
                    "DELETE FROM vector WHERE key IN (SELECT key FROM vector ORDER BY used, key LIMIT ?)",
                    (count - keep,),
                )
