"""What the significance gate reads from and leaves in SQLite: digests of symbols, and its decisions.

The last decision of a node is kept as long as the node, if the unit that it came with holds the node when the `apply`
is done. How often which reason was given is counted per project for good. A delta whose record is the stored one brings
no news: its decisions are neither kept nor counted, so that applying twice counts once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import apsw

from atlas.model import Decision, GraphDelta, SymbolDigests
from atlas.stores.shared.filters import project_id
from atlas.stores.shared.statements import statements
from atlas.stores.sqlite.rows import run_many, select


def symbol_digests(
    connection: apsw.Connection, project: str, paths: Sequence[str]
) -> dict[str, dict[str, SymbolDigests]]:
    """See `Store.symbol_digests`."""
    wanted = {"project": project_id(connection, project), "paths": json.dumps(list(paths), ensure_ascii=False)}
    found: dict[str, dict[str, SymbolDigests]] = {}
    for path, uid, *digests in select(connection, statements("gate")["digests"], wanted):
        of_file = found.setdefault(path, {})
        if uid is not None:
            of_file[uid] = SymbolDigests(*digests)
    return found


def decisions(connection: apsw.Connection, uids: Sequence[str]) -> list[Decision]:
    """See `Store.decisions`."""
    wanted = {"uids": json.dumps(list(uids), ensure_ascii=False)}
    listed = select(connection, statements("gate")["decisions"], wanted)
    return [Decision(uid, bool(through), reason) for uid, through, reason in listed]


def put_decisions(connection: apsw.Connection, deltas: Sequence[GraphDelta]) -> None:
    """Count the decisions of these deltas and keep those of the nodes that their units hold now."""
    gate = statements("gate")
    for delta in deltas:
        owner = project_id(connection, delta.project)
        counts = Counter(decision.reason for decision in delta.decisions)
        run_many(connection, gate["count_decisions"], ((owner, *count) for count in counts.items()))
        run_many(connection, gate["put_decision"], ((*decision, owner, delta.path) for decision in delta.decisions))


def forget_decisions(connection: apsw.Connection, nodes: Sequence[tuple[int]]) -> None:
    """Delete the decisions of nodes that are gone."""
    run_many(connection, statements("gate")["delete_decision"], nodes)
