"""The changes of a batch of deltas, computed from the current content of the touched units. Pure: no server.

Deltas count in their order: a uid belongs to the unit that claimed it last, and a decision to the unit that holds the
symbol after all deltas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from atlas.adapters.stores.bolt.rows import unit_key
from atlas.core.model import Decision, EdgeRow, FileRecord, GraphDelta, NodeRow, SearchText

LONGEST_KEY = 8_000
"""Maximum size of an indexed text in bytes.

Neo4j rejects a transaction with a longer one. The store omits such a node and its edges.
"""

EdgeKey = tuple[str, str, str, int]
"""(source, target, type, line)"""


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node as stored."""

    uid: str
    unit: str
    label: str
    digests: str
    """See `entry_properties`."""


@dataclass(frozen=True, slots=True)
class TargetNode:
    """A node as it will be."""

    project: str
    path: str
    row: NodeRow
    text: SearchText | None
    edges: dict[EdgeKey, EdgeRow]


@dataclass(slots=True)
class WritePlan:
    """The result of a batch: nodes, records and decisions after it."""

    wanted: dict[str, TargetNode] = field(default_factory=dict[str, TargetNode])
    removed: set[str] = field(default_factory=set[str])
    records: dict[str, GraphDelta | None] = field(default_factory=dict[str, "GraphDelta | None"])
    """The last delta that sets a unit's record; None if the unit is removed."""
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    digests: dict[str, str] = field(default_factory=dict[str, str])
    """File digests by unit, where new or changed."""
    reasons: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """By project, the number of decisions per reason."""
    decisions: list[tuple[str, Decision]] = field(default_factory=list[tuple[str, Decision]])
    """(unit, decision) in order."""


def touched(deltas: Sequence[GraphDelta]) -> tuple[list[str], list[str]]:
    """Return the units whose nodes are replaced, and the uids that they claim."""
    units = dict.fromkeys(key_of(delta) for delta in deltas if delta.record is None or delta.nodes is not None)
    uids = dict.fromkeys(row.uid for delta in deltas if delta.record is not None for row in delta.nodes or ())
    return list(units), list(uids)


def key_of(delta: GraphDelta) -> str:
    """Return the key of the delta's unit."""
    return unit_key(delta.project, delta.path)


def plan(deltas: Sequence[GraphDelta], records: dict[str, FileRecord], held: dict[str, StoredNode]) -> WritePlan:
    """Return the result of the batch. `records` and `held` are the stored content of the touched units and uids."""
    made = WritePlan()
    owners = _Owners(held.values())
    current: dict[str, FileRecord | None] = dict(records)
    for delta in deltas:
        key = key_of(delta)
        news = current.get(key) != delta.record
        current[key] = delta.record
        made.records[key] = delta if delta.record is not None else None
        if delta.record is None:
            made.contents.pop(key, None)
        elif delta.content is not None:
            made.contents[key] = delta.content
        if delta.record is None or delta.nodes is not None:
            _replace(made, owners, delta, key)
        if news:
            counts = made.reasons.setdefault(delta.project, Counter())
            counts.update(decision.reason for decision in delta.decisions)
            made.decisions += [(key, decision) for decision in delta.decisions]
    made.removed = {uid for uid in held if uid not in owners.unit}
    for key, record in current.items():
        before = records.get(key)
        if record is not None and (before is None or before.digest != record.digest):
            made.digests[key] = record.digest
    return made


class _Owners:
    """Ownership of uids by units, in both directions."""

    def __init__(self, held: Iterable[StoredNode]) -> None:
        self.unit: dict[str, str] = {}
        self.uids: dict[str, set[str]] = {}
        for node in held:
            self.give(node.uid, node.unit)

    def give(self, uid: str, unit: str) -> None:
        self.take(uid)
        self.unit[uid] = unit
        self.uids.setdefault(unit, set()).add(uid)

    def take(self, uid: str) -> None:
        if uid in self.unit:
            self.uids[self.unit.pop(uid)].discard(uid)


def _fits(key: str) -> bool:
    return len(key) <= LONGEST_KEY // 4 or len(key.encode("utf8", "surrogatepass")) <= LONGEST_KEY


def _replace(made: WritePlan, owners: _Owners, delta: GraphDelta, key: str) -> None:
    kept = delta.nodes if delta.record is not None and delta.nodes is not None else ()
    nodes = [row for row in kept if _fits(row.uid) and _fits(row.qualified_name) and _fits(row.name)]
    for uid in [*owners.uids.get(key, ()), *(row.uid for row in nodes)]:
        owners.take(uid)
        made.wanted.pop(uid, None)
    texts = {text.uid: text for text in delta.texts}
    edges: dict[str, dict[EdgeKey, EdgeRow]] = {}
    for edge in delta.edges:
        if not _fits(edge.target):
            continue
        edges.setdefault(edge.source, {})[edge.source, edge.target, edge.type, edge.line] = edge
    for row in nodes:
        owners.give(row.uid, key)
        made.wanted[row.uid] = TargetNode(delta.project, delta.path, row, texts.get(row.uid), edges.get(row.uid, {}))
