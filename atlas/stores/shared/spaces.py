"""Which nodes belong to which vector space, and whether vectors fit its model. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.errors import StoreError
from atlas.model import CODE, PROSE, PROSE_LABELS, ModelInfo, VectorRow

SPACES = (CODE, PROSE)
"""In the order of names."""

_LABELS = ", ".join(f"'{label}'" for label in sorted(PROSE_LABELS))


def space_of(label: str) -> str:
    """Return the space of the nodes of a label."""
    return PROSE if label in PROSE_LABELS else CODE


def sql_is_prose(column: str) -> str:
    """Return the SQL condition that a column holds a label of prose."""
    return f"{column} IN ({_LABELS})"


def check_lengths(model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
    """Raise StoreError if a vector does not have the dimension of its model."""
    wrong = next((row for row in vectors if len(row.data) != 2 * model.dimension), None)
    if wrong is not None:
        raise StoreError(
            f"the vector of {wrong.uid} has {len(wrong.data)} bytes, {model.model} makes {2 * model.dimension}"
        )
