"""Chunks: the text of a node that is embedded, and the nodes whose chunk name begins with a path. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import Label

CHUNK_CHARACTERS = 3000

FILE_LABELS = frozenset(
    {Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.DOC_SECTION, Label.ADR, Label.CHUNK}
)
"""Labels whose chunk name begins with a path."""


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
