"""Which nodes belong to which vector space, in SQL, and whether vectors fit their model. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from atlas.core.errors import StoreError
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import CODE, DOCUMENTS, PASSAGE, PROSE, PROSE_LABELS, QUALITY, TEXT, ModelInfo, VectorRow

SPACES = (CODE, DOCUMENTS, PROSE, QUALITY)
"""In the order of names."""
SPACE_LABELS = {DOCUMENTS: sorted(DOCUMENT_LABELS), PROSE: sorted(PROSE_LABELS)}
"""Labels of the nodes of a space; all other nodes but some chunks are in the space of code."""
SPACE_CHUNKS = {DOCUMENTS: TEXT, PROSE: PASSAGE}
"""Kind of the `Chunk` nodes of a space."""


def sql_in_space(space: str, node: str) -> str:
    """Return the SQL condition that a row of `node` is in a space."""
    if space == QUALITY:
        return f"NOT ({sql_in_space(PROSE, node)})"
    if space == CODE:
        labels, kinds = _listed(chain(*SPACE_LABELS.values())), _listed(SPACE_CHUNKS.values())
        return f"{node}.label NOT IN ({labels}) AND NOT ({node}.label = 'Chunk' AND {node}.kind IN ({kinds}))"
    labels = _listed(SPACE_LABELS[space])
    return f"{node}.label IN ({labels}) OR ({node}.label = 'Chunk' AND {node}.kind = '{SPACE_CHUNKS[space]}')"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def check_lengths(model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
    """Raise StoreError if a vector does not have the dimension of its model."""
    wrong = next((row for row in vectors if len(row.data) != 2 * model.dimension), None)
    if wrong is not None:
        raise StoreError(
            f"the vector of {wrong.uid} has {len(wrong.data)} bytes, {model.model} makes {2 * model.dimension}"
        )
