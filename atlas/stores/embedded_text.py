"""Word search on SQLite's FTS5: BM25 over columns, with a bound on how many rows one query may score.

Scoring a row takes about 0.4 us, so a word that most functions contain (`self`) would cost more than all the rest. A
word found in more rows than the budget allows counts only where it says most: in names and paths, then in names,
then as a whole name.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw

from atlas.model import Filter, Scored
from atlas.stores.filters import restriction
from atlas.stores.rows import Row, fetch, select, value
from atlas.stores.statements import statements

MAX_WORDS = 64
ROW_BUDGET = 8_000
"""Rows that one query may score: about 4 ms."""
WORD_BUDGET = 3_000
"""Rows that one word may bring in besides others."""

_TIE_MARGIN = 64
_MAX_COUNTS = 4096

_SCOPES = ("{word}", "{{name qualified_name path}} : {word}", "{{name}} : {word}", "{{name}} : ^ {word}")
"""Where a word is looked for, from everywhere to names that begin with it (the whole name is a name's first word)."""


class WordSearch:
    """Word search with the frequencies of words remembered until something is written."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._state: Row = ()
        self._counts: dict[str, tuple[int, int]] = {}

    def search(self, connection: apsw.Connection, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        limits = restriction(connection, where)
        asked = [_quoted(word) for word in dict.fromkeys(words) if any(map(_in_word, word))][:MAX_WORDS]
        if not asked or limit <= 0:
            return []
        if limits.where:
            text = statements("text")["search_where"].format(join=limits.join, where=limits.where)
        else:
            text = statements("text")["search"]
        expression, narrowed = self._expression(connection, asked)
        found = _best(connection, text, {**limits.bindings, "match": expression}, limit)
        if narrowed and len(found) < limit:
            # the scopes were too narrow for this filter: every row counts then, whatever it costs
            found = _best(connection, text, {**limits.bindings, "match": " OR ".join(asked)}, limit)
        return found

    def _expression(self, connection: apsw.Connection, words: list[str]) -> tuple[str, bool]:
        """Return the MATCH expression: rare words everywhere, frequent ones only as far as the row budget goes.

        And whether any word is looked for in less than everything.
        """
        budget, narrowed = ROW_BUDGET, False
        counted = sorted((self._frequency(connection, word, budget), place, word) for place, word in enumerate(words))
        parts: list[str] = []
        for frequency, _, word in counted:
            allowed = min(budget, WORD_BUDGET) if len(words) > 1 else budget
            scope = 0
            while frequency > allowed and scope < len(_SCOPES) - 1:
                scope += 1
                frequency = self._frequency(connection, _SCOPES[scope].format(word=word), allowed)
            parts.append(f"({_SCOPES[scope].format(word=word)})")
            budget = max(budget - frequency, 0)
            narrowed = narrowed or scope > 0
        return " OR ".join(parts), narrowed

    def _frequency(self, connection: apsw.Connection, match: str, most: int) -> int:
        """Return in how many rows an expression is found, counting no further than `most` + 1."""
        read = statements("text")
        state = fetch(connection, read["state"])[0]
        with self._guard:
            if state != self._state or len(self._counts) > _MAX_COUNTS:
                self._state, self._counts = state, {}
            count, counted_to = self._counts.get(match, (0, -1))
        if count > counted_to and counted_to < most:
            count, counted_to = value(connection, read["frequency"], {"match": match, "limit": most + 1}), most
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
