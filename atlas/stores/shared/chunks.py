"""Chunks: the text of a node that is embedded, and the nodes whose chunk name is a path. Pure."""

from __future__ import annotations

from atlas.model import Label

CHUNK_CHARACTERS = 3000

FILE_LABELS = frozenset(
    {Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.DOC_SECTION, Label.ADR, Label.CHUNK}
)
"""Labels whose chunk name is a path."""


def chunk_text(data: bytes, start: int, end: int) -> str:
    """Return the first 3,000 characters of the text of `data[start:end]`; a character has at most four bytes."""
    return data[start : min(end, start + 4 * CHUNK_CHARACTERS)].decode("utf8", "replace")[:CHUNK_CHARACTERS]
