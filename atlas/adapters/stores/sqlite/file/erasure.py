"""Erasure: deleted content disappears from the bytes of the files, not only from the rows.

SQLite overwrites deleted rows and free pages (`secure_delete`). Three things survive that: interned names, words in
segments that hold a deleted text until they are merged, and old pages in the write-ahead log. Names are
deleted with their last use. Erasure of the words and the log is deferred: the deleting transaction records it, and it
runs at the end of a pass that removed a file from the index, otherwise while the writer is idle or after several
passes.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.rows import fetch, run_many

ERASURE_BATCH = 10
"""Pending erasure that triggers a run at the end of the pass.

A removed file adds this much at once, changed text adds one per pass. A run takes 0.1 CPU s for Django, where a pass
over one changed file takes 1.
"""


def forget_names(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Delete the interned names of those ids that have no node and no incoming edge."""
    run_many(connection, statements("write")["forget_id"], ((one,) for one in sorted(set(ids))))


def forget_all_names(connection: apsw.Connection) -> None:
    """Delete every unreferenced interned name."""
    fetch(connection, statements("write")["forget_ids"])


def add_pending(connection: apsw.Connection, *, left: bool) -> None:
    """Record in the running transaction that words were deleted, or (`left`) that a file was removed from the index."""
    fetch(connection, statements("write")["add_pending_erasure"], (ERASURE_BATCH if left else 1,))


def pending_erasure(connection: apsw.Connection) -> int:
    """Return the amount of pending erasure, 0 for none."""
    found = fetch(connection, statements("write")["pending_erasure"])
    return int(found[0][0]) if found else 0


def increment_pending(connection: apsw.Connection) -> None:
    """Record that a pass ended without the pending erasure."""
    fetch(connection, statements("write")["increment_pending_erasure"])


def clear_pending(connection: apsw.Connection) -> None:
    """Record that no erasure is pending. The log must be empty."""
    fetch(connection, statements("write")["clear_pending_erasure"])
