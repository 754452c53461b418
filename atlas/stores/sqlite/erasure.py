"""Erasure: what leaves the index leaves the bytes of its files, not only its rows.

SQLite overwrites deleted rows and free pages (`secure_delete`). Three things outlive that: names that were interned,
words in segments of the search index that hold a deleted row until they are merged, and old pages in the log. Names are
forgotten with their last use. The words and the log are owed: noted in the transaction that deleted, and done at the
end of a pass after a file left the index, else in a quiet moment or after some passes.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from atlas.stores.shared.statements import statements
from atlas.stores.sqlite.rows import fetch, run_many

ERASURE_BATCH = 10
"""What is owed from here on is done at the end of the pass. A file that left brings it there at once, changed text
adds one a pass: 0.1 CPU s for Django, where a pass over one changed file takes 1."""


def forget_names(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Delete the interned names of these ids where neither a node has one nor an edge leads to it."""
    run_many(connection, statements("write")["forget_id"], ((one,) for one in sorted(set(ids))))


def forget_all_names(connection: apsw.Connection) -> None:
    """Delete every interned name that nothing refers to."""
    fetch(connection, statements("write")["forget_ids"])


def owe(connection: apsw.Connection, *, left: bool) -> None:
    """Note in the running transaction that words were deleted, or (`left`) that a file left the index."""
    fetch(connection, statements("write")["owe_erasure"], (ERASURE_BATCH if left else 1,))


def owed(connection: apsw.Connection) -> int:
    """Return how much is owed: 0 for nothing."""
    found = fetch(connection, statements("write")["owed_erasure"])
    return int(found[0][0]) if found else 0


def owe_more(connection: apsw.Connection) -> None:
    """Note that a pass ended without doing what is owed."""
    fetch(connection, statements("write")["owe_more_erasure"])


def rewrite_words(connection: apsw.Connection) -> None:
    """Write the segments of words again without the rows that were deleted."""
    fetch(connection, "INSERT INTO text(text) VALUES ('optimize')")


def settle(connection: apsw.Connection) -> None:
    """Note that nothing is owed any more. The log must have been emptied."""
    fetch(connection, statements("write")["settle_erasure"])
