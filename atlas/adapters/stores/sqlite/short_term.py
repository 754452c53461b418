"""Short-term memory in a SQLite file of its own. Expired entries are invisible; the next write deletes them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from atlas.adapters.stores.sqlite.file.side_file import open_side_file, set_aside
from atlas.adapters.stores.sqlite.rows import fetch, value
from atlas.core.errors import StoreError
from atlas.core.short_term import MAX_ENTRIES, ShortTermEntry

FILE = "short-term.db"
OPENING_LOCK = "short-term.lock"
_SCHEMA = {
    "entry": (
        "CREATE TABLE entry (id TEXT PRIMARY KEY, content TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, "
        "client TEXT NOT NULL, meaning BLOB NOT NULL, emotion BLOB NOT NULL) WITHOUT ROWID"
    ),
    "entry_created": "CREATE INDEX entry_created ON entry(created)",
}
_Result = TypeVar("_Result")


class ShortTermFile:
    """`atlas.core.short_term.ShortTermMemory` in a folder. A damaged file is set aside and replaced."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """Open or create the file; `clock` returns Unix seconds. Raises StoreError if the folder cannot be used."""
        self._path, self._clock = folder / FILE, clock
        self._lock = threading.Lock()
        try:
            self._connection = open_side_file(self._path, _SCHEMA, OPENING_LOCK, "FULL", set_aside)
        except (OSError, apsw.Error) as error:
            hint = "Check the permissions of the folder and free space."
            raise StoreError(f"short-term memory {self._path} cannot be opened: {error}", hint) from error

    async def put(self, entry: ShortTermEntry) -> None:
        """Keep an entry until it expires."""
        await asyncio.to_thread(self._do, lambda: self._put(entry))

    async def entries(self, limit: int = MAX_ENTRIES) -> list[ShortTermEntry]:
        """Return entries that have not expired, newest first."""
        return await asyncio.to_thread(self._do, lambda: self._entries(limit))

    async def delete(self, entry_id: str) -> bool:
        """Remove an entry; return whether it was there."""
        return await asyncio.to_thread(self._do, lambda: self._delete(entry_id))

    async def aclose(self) -> None:
        """Close; idempotent."""
        with self._lock:
            self._connection.close()

    def _put(self, entry: ShortTermEntry) -> None:
        row = (entry.id, entry.content, entry.created, entry.expires, entry.client, entry.meaning, entry.emotion)
        with self._connection:
            fetch(self._connection, "DELETE FROM entry WHERE expires <= ?", (self._clock(),))
            fetch(self._connection, "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            surplus = value(self._connection, "SELECT count(*) FROM entry") - MAX_ENTRIES
            if surplus > 0:
                oldest = "SELECT id FROM entry ORDER BY created, id LIMIT ?"
                fetch(self._connection, f"DELETE FROM entry WHERE id IN ({oldest})", (surplus,))

    def _entries(self, limit: int) -> list[ShortTermEntry]:
        text = "SELECT * FROM entry WHERE expires > ? ORDER BY created DESC, id DESC LIMIT ?"
        return [ShortTermEntry(*row) for row in fetch(self._connection, text, (self._clock(), limit))]

    def _delete(self, entry_id: str) -> bool:
        text = "DELETE FROM entry WHERE id = ? AND expires > ? RETURNING 1"
        return bool(fetch(self._connection, text, (entry_id, self._clock())))

    def _do(self, work: Callable[[], _Result]) -> _Result:
        with self._lock:
            try:
                return work()
            except apsw.Error as error:
                hint = "Free disk space, or delete the file to begin with an empty memory."
                raise StoreError(f"short-term memory {self._path} failed: {error}", hint) from error
