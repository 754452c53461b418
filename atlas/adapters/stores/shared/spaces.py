"""Which nodes belong to which vector space, which of their text is embedded, and whether vectors fit a model. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain

from atlas.core.errors import StoreError
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import CODE, DOCUMENTS, PASSAGE, PROSE, PROSE_LABELS, QUALITY, TEXT, Label, ModelInfo, VectorRow

SPACES = (CODE, DOCUMENTS, PROSE, QUALITY)
"""In the order of names."""
SPACE_LABELS = {DOCUMENTS: sorted(DOCUMENT_LABELS), PROSE: sorted(PROSE_LABELS)}
"""Labels of the nodes of a space; all other nodes but some chunks are in the space of code."""
SPACE_CHUNKS = {DOCUMENTS: TEXT, PROSE: PASSAGE}
"""Kind of the `Chunk` nodes of a space."""

CHUNK_CHARACTERS = 3000
FILE_LABELS = frozenset(
    {Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.DOC_SECTION, Label.ADR, Label.CHUNK}
)
"""Labels whose chunk name begins with a path."""


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


def chunk_text(data: bytes, start: int, end: int) -> str:
    """Return the first 3,000 characters of the text of `data[start:end]`; a character has at most four bytes."""
    return data[start : min(end, start + 4 * CHUNK_CHARACTERS)].decode("utf8", "replace")[:CHUNK_CHARACTERS]


def own_end(label: str, start: int, end: int, sections: Sequence[int]) -> int:
    """Return where the text of a node ends that is embedded with it; `sections` are the sorted starts of its file's.

    A section ends where the next one begins, a document where its second one does: a vector of all sections of a page
    finds none of them (MRR@10 of Django's headings .18 with subsections, .52 without, by cosine alone;
    docs/measurements/retrieval.md).
    """
    if label not in DOCUMENT_LABELS:
        return end
    after = bisect_right(sections, start) if label == Label.DOC_SECTION else 1
    return min(end, sections[after]) if after < len(sections) else end
