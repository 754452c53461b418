"""Which nodes belong to which vector space, and whether vectors fit its model. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.errors import StoreError
from atlas.model import CODE, PASSAGE, PROSE, PROSE_LABELS, ModelInfo, VectorRow, is_prose

SPACES = (CODE, PROSE)
"""In the order of names."""

_LABELS = ", ".join(f"'{label}'" for label in sorted(PROSE_LABELS))


def space_of(label: str, kind: str) -> str:
    """Return the space of the nodes of a label and kind."""
    return PROSE if is_prose(label, kind) else CODE


def sql_is_prose(node: str) -> str:
    """Return the SQL condition that a row of `node` is prose, 0 or 1."""
    return f"{node}.label IN ({_LABELS}) OR ({node}.label = 'Chunk' AND {node}.kind = '{PASSAGE}')"


def check_lengths(model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
    """Raise StoreError if a vector does not have the dimension of its model."""
    wrong = next((row for row in vectors if len(row.data) != 2 * model.dimension), None)
    if wrong is not None:
        raise StoreError(
            f"the vector of {wrong.uid} has {len(wrong.data)} bytes, {model.model} makes {2 * model.dimension}"
        )
