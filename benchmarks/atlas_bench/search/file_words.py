"""BM25 over whole files: the baseline of every code search, in an SQLite table of its own in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from atlas.core.english.stop_words import STOP_WORDS
from atlas.parsing import split_words
from atlas_bench.search.measures import Hit

MAX_BYTES = 400_000
"""Of a file; the rest of a larger one is not searched."""


class FileWords:
    """An index of the words of whole files, ranked with k1 = 1.2 and b = .75."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Index each path with its content."""
        self._table = sqlite3.connect(":memory:")
        self._table.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=1)")
        self._paths: list[str] = []
        for path, data in files:
            text = " ".join(split_words(f"{path}\n{data[:MAX_BYTES].decode('utf8', 'replace')}"))
            self._paths.append(path)
            self._table.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (len(self._paths), text))

    def search(self, text: str, limit: int) -> list[Hit]:
        """Return the files that have the rarest of the words most often, best first."""
        words = dict.fromkeys(split_words(text))
        asked = [word for word in words if word not in STOP_WORDS] or list(words)
        if not asked:
            return []
        query = " OR ".join('"' + word.replace('"', '""') + '"' for word in asked)
        asking = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        rows: list[tuple[int]] = self._table.execute(asking, (query, limit)).fetchall()
        return [Hit(self._paths[row - 1], 0) for (row,) in rows]

    def close(self) -> None:
        """Free the table."""
        self._table.close()
