"""Word search on SQLite's FTS5: BM25 over columns, with a limit on the rows that one query may score.

Scoring a row takes about 0.4 us, so a word that most functions contain (`self`) would cost more than all the others. A
word with more rows than the budget allows is searched only where it is most significant: in names and paths, then in
names, then as a whole name.

FTS5's own function scores every row in full, at twice the cost. `bm25_best` of the Rust extension gives the same scores
to the rows that can be among the best and skips the others (`rust-parser/sqlite/src/bm25.rs`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import apsw

from atlas.adapters.stores.shared.filters import restriction
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file.hardened import load_extension, loads
from atlas.adapters.stores.sqlite.rows import Row, fetch, select, value
from atlas.adapters.stores.sqlite.word_counts import FileCounts, WordCounter
from atlas.core.model import MAX_COUNTED, Filter, Scored, WordCounts

MAX_WORDS = 64
ROW_BUDGET = 8_000
"""Maximum number of rows that one query scores: about 4 ms."""
WORD_BUDGET = 3_000
"""Maximum number of rows for one word of several."""

_TIE_MARGIN = 16
_MAX_COUNTS = 4096
_ALL_ROWS = 1 << 62

_WEIGHTS = "8.0, 4.0, 2.0, 1.0, 2.0"
"""Weights of name, qualified name, docstring, source and path."""
_ENTRY_POINT = "atlas_bm25_init"

_SCOPES = ("{word}", "{{name qualified_name path}} : {word}", "{{name}} : {word}", "{{name}} : ^ {word}")
"""Scopes of a word, from everywhere to names that start with it (a whole name is the first word of a name)."""


def load_bm25(connection: apsw.Connection, library: str) -> None:
    """Load `bm25_best` into the connection."""
    load_extension(connection, library, _ENTRY_POINT)


def can_load(library: str) -> bool:
    """Return whether connections can load `bm25_best`; apsw or the system may forbid extension loading."""
    return loads(library, _ENTRY_POINT)


class WordSearch:
    """Word search with word frequencies cached until the next write.

    `best_only`: the connections have `bm25_best`.
    """

    def __init__(self, best_only: bool) -> None:
        self._rank = f"bm25_best(text, :limit, :hits, {_WEIGHTS})" if best_only else f"bm25(text, {_WEIGHTS})"
        self._guard = threading.Lock()
        self._state: Row = ()
        self._counts: dict[str, tuple[int, int]] = {}
        self._by_file = WordCounter()

    def search(self, connection: apsw.Connection, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        limits = restriction(connection, where)
        asked = [_quoted(word) for word in dict.fromkeys(words) if any(map(_in_word, word))][:MAX_WORDS]
        if not asked or limit <= 0:
            return []
        read = statements("text")["search_where" if limits.where else "search"]
        text = read.format(rank=self._rank, join=limits.join, where=limits.where)
        state = fetch(connection, statements("text")["state"])[0]
        parts, narrowed = self._parts(connection, state, asked)
        found = _best(connection, text, {**limits.bindings, **self._matched(connection, state, parts)}, limit)
        if narrowed and len(found) < limit:
            # The scopes are too narrow for this filter: search every row, regardless of the cost.
            found = _best(connection, text, {**limits.bindings, **self._matched(connection, state, asked)}, limit)
        return found

    def count(self, connection: apsw.Connection, words: Sequence[str], where: Filter) -> WordCounts:
        """See `Store.count_words`."""
        limits = restriction(connection, where)
        state = fetch(connection, statements("text")["state"])[0]
        found: dict[str, FileCounts] = {}
        for word in [word for word in dict.fromkeys(words) if any(map(_in_word, word))][:MAX_WORDS]:
            match = _quoted(word)
            rows, counts = self._by_file.count(connection, state, match, where, limits)
            if rows <= MAX_COUNTED:
                found[word] = counts
        return WordCounts(self._by_file.lengths(connection, state, where.project, found.values()), found)

    def _parts(self, connection: apsw.Connection, state: Row, words: list[str]) -> tuple[list[str], bool]:
        """Return the search terms: rare words everywhere, frequent ones in narrower scopes that fit the row budget.

        The second value states whether the scope of any word is narrowed.
        """
        budget, narrowed = ROW_BUDGET, False
        counted = [(self._frequency(connection, state, word, budget), word) for word in words]
        parts: list[str] = []
        for frequency, word in sorted(counted, key=itemgetter(0)):
            allowed = min(budget, WORD_BUDGET) if len(words) > 1 else budget
            scope = 0
            while frequency > allowed and scope < len(_SCOPES) - 1:
                scope += 1
                frequency = self._frequency(connection, state, _SCOPES[scope].format(word=word), allowed)
            parts.append(_SCOPES[scope].format(word=word))
            budget = max(budget - frequency, 0)
            narrowed = narrowed or scope > 0
        return parts, narrowed

    def _matched(self, connection: apsw.Connection, state: Row, parts: Sequence[str]) -> dict[str, str]:
        """Return the MATCH expression for any of the parts, and the number of rows of each part."""
        hits = [self._frequency(connection, state, part, _ALL_ROWS) for part in parts]
        return {"match": " OR ".join(f"({part})" for part in parts), "hits": " ".join(map(str, hits))}

    def _frequency(self, connection: apsw.Connection, state: Row, match: str, most: int) -> int:
        """Return the number of rows that match an expression, counting up to `most` + 1."""
        with self._guard:
            if state != self._state or len(self._counts) > _MAX_COUNTS:
                self._state, self._counts = state, {}
            count, counted_to = self._counts.get(match, (0, -1))
        if count > counted_to and counted_to < most:
            bindings = {"match": match, "limit": most + 1}
            count, counted_to = value(connection, statements("text")["frequency"], bindings), most
            with self._guard:
                if state == self._state:
                    self._counts[match] = (count, counted_to)
        return min(count, most + 1)


def _best(connection: apsw.Connection, text: str, bindings: dict[str, Any], limit: int) -> list[Scored]:
    """Return the best rows, ties by uid. Ties at the cut are read in full: internal ids never decide the selection."""
    fetched = limit + _TIE_MARGIN
    while True:
        rows = [Scored(uid, score) for uid, score in select(connection, text, {**bindings, "limit": fetched})]
        rows.sort(key=lambda hit: (-hit.score, hit.uid))
        if len(rows) < fetched or rows[limit - 1].score != rows[-1].score:
            return rows[:limit]
        fetched *= 8


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _quoted(word: str) -> str:
    """Return the word as an FTS5 string, in which nothing is an operator."""
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'
