"""The significance gate's data in SQLite: digests of symbols, and the decisions of the gate.

The last decision about a node is kept as long as the node, provided that the unit of the decision owns the node at the
end of the `apply`. The number of decisions per reason is counted per project permanently. A delta whose record equals
the stored one is not new: its decisions are neither stored nor counted, so applying it twice counts once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.rows import run_many, select
from atlas.core.model import Decision, GraphDelta, SymbolDigests


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
    """Count the decisions of these deltas and store those about nodes that their units own now."""
    gate = statements("gate")
    for delta in deltas:
        owner = project_id(connection, delta.project)
        counts = Counter(decision.reason for decision in delta.decisions)
        run_many(connection, gate["count_decisions"], ((owner, *count) for count in counts.items()))
        run_many(connection, gate["put_decision"], ((*decision, owner, delta.path) for decision in delta.decisions))


def forget_decisions(connection: apsw.Connection, nodes: Sequence[tuple[int]]) -> None:
    """Delete the decisions of deleted nodes."""
    run_many(connection, statements("gate")["delete_decision"], nodes)
