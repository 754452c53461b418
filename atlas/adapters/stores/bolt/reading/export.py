"""Units and vectors for a copy to another store. Each function takes an open transaction."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.reading.read import check_project, current_models
from atlas.adapters.stores.bolt.rows import (
    RECORD,
    decision_of,
    edge_of,
    literal,
    node_of,
    record_of,
    unit_key,
    unpacked,
    with_properties,
)
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.model import Decision, EdgeRow, GraphDelta, NodeRow, VectorRow


async def units(transaction: Transaction, project: str, paths: Sequence[str]) -> list[GraphDelta]:
    """See `Store.units`."""
    await check_project(transaction, project)
    read, keys = cypher_statements("units"), [unit_key(project, path) for path in dict.fromkeys(paths)]
    nodes: dict[str, list[NodeRow]] = {}
    decisions: dict[str, list[Decision]] = {}
    for key, decision, *row in await transaction.rows(read["nodes"], keys=keys):
        node = node_of(row).row
        nodes.setdefault(key, []).append(node)
        if decision is not None:
            decisions.setdefault(key, []).append(decision_of(node.uid, decision))
    edges: dict[str, list[EdgeRow]] = {}
    for name in ("edges", "pending"):
        for key, *row in await transaction.rows(read[name], keys=keys):
            edges.setdefault(key, []).append(edge_of(row))
    found: list[GraphDelta] = []
    for content, *row in await transaction.rows(read["records"].replace("%record%", RECORD), keys=keys):
        record = record_of(row)
        key = unit_key(project, record.path)
        found.append(
            GraphDelta(
                project,
                record.path,
                record,
                sorted(nodes.get(key, ()), key=lambda node: node.uid),
                sorted(edges.get(key, ())),
                content=unpacked(content) if content is not None else None,
                decisions=sorted(decisions.get(key, ())),
            )
        )
    place = {key: position for position, key in enumerate(keys)}
    return sorted(found, key=lambda delta: place[unit_key(project, delta.path)])


async def vectors(transaction: Transaction, project: str, limit: int, after: str, space: str) -> list[VectorRow]:
    """See `Store.vectors`. The numbers were made from 16-bit floats and convert back without loss."""
    await check_project(transaction, project)
    current = (await current_models(transaction)).get(space)
    if current is None:
        return []
    key, model = current
    text = with_properties(cypher_statements("units")["vectors"], space).replace("%property%", literal(key))
    asked: dict[str, Any] = {"project": unit_key(project, ""), "model": key, "after": after, "limit": max(limit, 0)}
    rows = await transaction.rows(text, **asked)
    return [VectorRow(uid, digest, struct.pack(f"<{model.dimension}e", *numbers)) for uid, digest, numbers in rows]
