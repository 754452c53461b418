"""Vectors as written to a Bolt server."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import asdict

from atlas.adapters.stores.bolt.batches import StatementBatches
from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.reading.read import current_models
from atlas.adapters.stores.bolt.rows import unit_key, vector_properties, with_properties
from atlas.adapters.stores.bolt.schema import vector_name
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.model import QUALITY, ModelInfo, VectorRow

_VECTORS = 500
"""Vectors per UNWIND."""


async def put_vectors(
    transaction: Transaction, project: str, model: ModelInfo, vectors: Sequence[VectorRow]
) -> list[str]:
    """Store vectors in place of those of other models; return the space's other models without remaining vectors."""
    key, read, write = vector_name(model), cypher_statements("read"), cypher_statements("write")
    # Without this comparison writers would wait for each other at the model's node.
    if (await current_models(transaction)).get(model.space) != (key, model):
        await transaction.rows(write["add_model"], key=key, **asdict(model))
    known = [row for row in await transaction.rows(read["models"]) if row[0] != key]
    is_second = model.space == QUALITY
    others = [other for other, space in known if (space == QUALITY) == is_second]
    made_by, made_of = vector_properties(model.space)
    rows = (
        {
            "uid": row.uid,
            "digest": row.digest,
            "properties": {
                **dict.fromkeys(others),
                key: list(struct.unpack(f"<{model.dimension}e", row.data)),
                made_by: key,
                made_of: row.digest,
            },
        }
        for row in vectors
    )
    nothing = dict.fromkeys((*others, key, made_by, made_of))
    async with StatementBatches(transaction) as batches:
        mine = unit_key(project, "")
        await batches.send(write["put_vectors"], "rows", rows, size=_VECTORS, project=mine, nothing=nothing)
        rivals = [other for other, space in known if space == model.space]
        used = with_properties(read["vectors_of_model"], model.space)
        return [other for other in rivals if not await batches.rows(used, key=other)]
