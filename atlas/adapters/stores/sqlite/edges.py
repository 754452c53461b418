"""The read verbs on SQLite that follow edges: `edges` and `degrees`.

A symbol may have 17,000 callers, so edges are first counted on the index alone. Where there are more than requested,
only the best are selected, and nodes are read only for the edges returned. Each verb takes a connection inside a read
transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import nodes_by_id
from atlas.adapters.stores.sqlite.rows import fetch, lines_of, select
from atlas.core.model import Direction, Edge, EdgeRow

_TIE_MARGIN = 16
"""Extra edges to read beyond the limit, because edges of equal confidence, path and line are ordered by uid, and each
uid costs a lookup."""


class _SortedEdge(NamedTuple):
    """An edge with its sort keys; `own` and `far` are node ids."""

    own: int
    type: str
    line: int
    strategy: str
    confidence: float
    further_lines: str
    properties: str
    far: int
    far_path: str
    far_uid: str


def edges(
    connection: apsw.Connection, uids: Sequence[str], direction: Direction, types: Sequence[str], limit: int, each: int
) -> list[Edge]:
    """See `Store.edges`."""
    if limit <= 0:
        return []
    most = min(each, limit) if each > 0 else limit
    own: dict[int, tuple[int, str]] = {}
    few: list[tuple[int, str]] = []
    found: list[_SortedEdge] = []
    for node, position, uid, edge_type, count in _counts(connection, "counts", uids, direction, types):
        own[node] = (position, uid)
        if count <= most:
            few.append((node, edge_type))
        else:
            found += _best(connection, direction, node, edge_type, most)
    if few:
        found += map(_SortedEdge._make, select(connection, _text("all", direction), {"pairs": json.dumps(few)}))
    found.sort(key=lambda edge: (own[edge.own][0], edge.type, *_order(edge)))
    del found[limit:]
    far = list(dict.fromkeys(edge.far for edge in found))
    nodes = dict(zip(far, nodes_by_id(connection, far), strict=True))
    return [Edge(_row(edge, own[edge.own][1], direction), nodes[edge.far]) for edge in found]


def edge_lines(
    connection: apsw.Connection, uids: Sequence[str], types: Sequence[str], least: float, limit: int
) -> set[tuple[str, int]]:
    """See `Store.edge_lines`."""
    bindings = {"uids": _json(uids), "types": _json(types), "least": least, "limit": limit}
    rows = select(connection, statements("edges")["lines_in"], bindings)
    return {(path, number) for path, line, further in rows for number in (line, *lines_of(further)) if number}


def degrees(
    connection: apsw.Connection, uids: Sequence[str], direction: Direction, types: Sequence[str]
) -> dict[str, dict[str, int]]:
    """See `Store.degrees`."""
    found: dict[str, dict[str, int]] = {}
    counted = "degrees" if direction is Direction.OUT else "counts"
    for _, _, uid, edge_type, count in _counts(connection, counted, uids, direction, types):
        found.setdefault(uid, {})[edge_type] = count
    return found


def _counts(
    connection: apsw.Connection, name: str, uids: Sequence[str], direction: Direction, types: Sequence[str]
) -> Iterable[tuple[int, int, str, str, int]]:
    """Return (node id, position among the uids, uid, type, count) for every uid and type with edges."""
    bindings = {"uids": _json(uids)}
    if not types:
        return fetch(connection, _text(name, direction), bindings)
    bindings["types"] = _json(types)
    return fetch(connection, _text(name, direction, "_of_types"), bindings)


def _best(connection: apsw.Connection, direction: Direction, node: int, edge_type: str, most: int) -> list[_SortedEdge]:
    """Return the first edges of one type at one node. Ties at the cut are read in full and ordered by uid."""
    limit = most + _TIE_MARGIN
    while True:
        bindings: dict[str, Any] = {"own": node, "type": edge_type, "limit": limit}
        found = [_SortedEdge._make(row) for row in select(connection, _text("best", direction), bindings)]
        found.sort(key=_order)
        if len(found) < limit or _order(found[most - 1])[:3] != _order(found[-1])[:3]:
            return found[:most]
        limit *= 8


def _order(edge: _SortedEdge) -> tuple[float, str, int, str]:
    return (-edge.confidence, edge.far_path, edge.line, edge.far_uid)


def _row(edge: _SortedEdge, own: str, direction: Direction) -> EdgeRow:
    source, target = (own, edge.far_uid) if direction is Direction.OUT else (edge.far_uid, own)
    further = lines_of(edge.further_lines)
    return EdgeRow(source, target, edge.type, edge.line, edge.strategy, edge.confidence, further, edge.properties)


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(values)), ensure_ascii=False)


def _text(name: str, direction: Direction, of: str = "") -> str:
    return statements("edges")[f"{name}_{direction.value}{of}"]
