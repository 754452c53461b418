"""Word search on SQLite's FTS5: BM25 over columns, with a bound on how many rows one query may score.

Scoring a row takes about 0.4 us, so a word that most functions contain (`self`) would cost more than all the rest. A
word found in more rows than the budget allows counts only where it says most: in names and paths, then in names,
then as a whole name.

FTS5's own function scores every row in full, at twice the price. `bm25_best` of the Rust extension gives the same
scores to the rows that can be among the best and passes over the others (`rust-parser/src/bm25.rs`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import apsw

from atlas.model import Filter, Scored
from atlas.stores.shared.filters import restriction
from atlas.stores.shared.statements import statements
from atlas.stores.sqlite.hardened import load_extension, loads
from atlas.stores.sqlite.rows import Row, fetch, select, value

MAX_WORDS = 64
ROW_BUDGET = 8_000
"""Rows that one query may score: about 4 ms."""
WORD_BUDGET = 3_000
"""Rows that one word may bring in besides others."""

_TIE_MARGIN = 16
_MAX_COUNTS = 4096
_ALL_ROWS = 1 << 62

_WEIGHTS = "8.0, 4.0, 2.0, 1.0, 2.0"
"""Of name, qualified name, docstring, source and path."""
_ENTRY_POINT = "atlas_bm25_init"

_SCOPES = ("{word}", "{{name qualified_name path}} : {word}", "{{name}} : {word}", "{{name}} : ^ {word}")
"""Where a word is looked for, from everywhere to names that begin with it (the whole name is a name's first word)."""


def load_bm25(connection: apsw.Connection, library: str) -> None:
    """Give the connection `bm25_best`."""
    load_extension(connection, library, _ENTRY_POINT)


def can_load(library: str) -> bool:
    """Tell whether connections can be given `bm25_best`: not where apsw or the system lets nothing be loaded."""
    return loads(library, _ENTRY_POINT)


class WordSearch:
    """Word search with the frequencies of words remembered until something is written.

    `best_only`: connections have been given `bm25_best`.
    """

    def __init__(self, best_only: bool) -> None:
        self._rank = f"bm25_best(text, :limit, :hits, {_WEIGHTS})" if best_only else f"bm25(text, {_WEIGHTS})"
        self._guard = threading.Lock()
        self._state: Row = ()
        self._counts: dict[str, tuple[int, int]] = {}

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
            # the scopes were too narrow for this filter: every row counts then, whatever it costs
            found = _best(connection, text, {**limits.bindings, **self._matched(connection, state, asked)}, limit)
        return found

    def _parts(self, connection: apsw.Connection, state: Row, words: list[str]) -> tuple[list[str], bool]:
        """Return what to look for: rare words everywhere, frequent ones only as far as the row budget goes.

        And whether any word is looked for in less than everything.
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
        """Return the MATCH expression of any of the parts, and in how many rows each is found."""
        hits = [self._frequency(connection, state, part, _ALL_ROWS) for part in parts]
        return {"match": " OR ".join(f"({part})" for part in parts), "hits": " ".join(map(str, hits))}

    def _frequency(self, connection: apsw.Connection, state: Row, match: str, most: int) -> int:
        """Return in how many rows an expression is found, counting no further than `most` + 1."""
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
    """Return the best rows, ties by uid. Ties across the cut are read in full: ids never decide what is left out."""
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
    """Return the word as an FTS5 string: nothing in it is an operator."""
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'
