"""The rows of units that differ from their new content, grouped by the statement that writes them. Values only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from atlas.adapters.stores.sqlite.text_segments import TextRow
from atlas.core.model import EdgeRow, GraphDelta

EdgeTuple = tuple[int, str, int, int, str, float, str, str]
Edges = dict[tuple[int, str, int, int], tuple[str, float, str, str]]
"""(strategy, confidence, further lines, properties) by (source, type, target, line)."""
_first = itemgetter(0)
_type_and_strategy = itemgetter(1, 4)


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """The part of a unit that differs from what its writer gave it last."""

    delta: GraphDelta
    """With the nodes that differ or from which edges differ, and with the edges that are new."""
    gone: Set[str]
    """Uids of the nodes that the unit no longer has."""
    left: Set[EdgeRow]
    """Edges that the unit no longer has, or has with other values."""
    nodes: int
    """How many the unit had."""


def changed_part(delta: GraphDelta, stored: str) -> ChangedPart | None:
    """Return the part of a unit that differs; None if that is not known. `stored`: `unit_digest` in the store."""
    before = delta.before
    if before is None or before.digest != stored or delta.nodes is None or delta.record is None:
        return None
    rows, old = {row.uid: row for row in delta.nodes}, {row.uid: row for row in before.nodes}
    if len(rows) != len(delta.nodes) or len(old) != len(before.nodes):
        return None
    texts, old_texts = {text.uid: text for text in delta.texts}, {text.uid: text for text in before.texts}
    differ = {uid for uid, row in rows.items() if old.get(uid) != row or texts.get(uid) != old_texts.get(uid)}
    gone = old.keys() - rows.keys()
    edges = frozenset(delta.edges)
    new = edges - before.edges
    # most changes only add; comparing all edges again takes as long
    left = before.edges - edges if len(edges) - len(new) < len(before.edges) else frozenset[EdgeRow]()
    # an edge is stored only while the unit has its source
    come = rows.keys() - old.keys()
    if come:
        new |= {edge for edge in edges if edge.source in come}
    if gone:
        left |= {edge for edge in before.edges if edge.source in gone}
    differ.update(edge.source for edge in (*new, *left) if edge.source in rows)
    part = replace(
        delta,
        nodes=[row for row in delta.nodes if row.uid in differ],
        edges=sorted(new),
        texts=[text for text in delta.texts if text.uid in differ],
    )
    return ChangedPart(part, gone, {edge for edge in left if edge.source in old}, len(old))


@dataclass(slots=True)
class RowChanges:
    """Rows to write, grouped by statement."""

    new_nodes: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    changed_nodes: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    gone_nodes: list[tuple[int]] = field(default_factory=list[tuple[int]])
    gone_chunks: list[tuple[int]] = field(default_factory=list[tuple[int]])
    """Nodes that stay but are no longer embedded."""
    gone_texts: list[int] = field(default_factory=list[int])
    new_texts: list[TextRow] = field(default_factory=list[TextRow])
    gone_edges: list[tuple[int, str, int, int]] = field(default_factory=list[tuple[int, str, int, int]])
    new_edges: list[EdgeTuple] = field(default_factory=list[EdgeTuple])
    edge_counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    strays: list[int] = field(default_factory=list[int])
    """Ids that were interned for edges that the unit does not own."""

    def unnamed(self) -> list[int]:
        """Return the ids whose names may no longer be in use."""
        return [*map(_first, self.gone_nodes), *(edge[2] for edge in self.gone_edges), *self.strays]

    def edges(self, wanted: Edges, old: Edges) -> None:
        """Record the differences in a unit's edges, and remove from `old` the edges that remain."""
        new: list[EdgeTuple]
        if not old:
            new = [key + made for key, made in wanted.items()]
        else:
            new = []
            for key, made in wanted.items():
                was = old.pop(key, None)
                if was != made:
                    new.append(key + made)
                    if was is not None:
                        self.edge_counts[key[1], was[0]] -= 1
        self.edge_counts.update(map(_type_and_strategy, new))
        self.new_edges += new

    def edges_gone(self, old: Edges) -> None:
        """Record that these edges are deleted."""
        self.gone_edges.extend(old)
        self.edge_counts.subtract((key[1], made[0]) for key, made in old.items())
