"""Converts a unit's rows, plain tuples of the extension, to the NamedTuples of the model with the same fields."""

from __future__ import annotations

from atlas._parser import Unit
from atlas.model import EdgeRow, NodeRow, SearchText


def rows_of(unit: Unit, content: bytes) -> tuple[list[NodeRow], list[EdgeRow], list[SearchText]]:
    """Return nodes, outgoing edges and search texts of a unit; its facts were made from the bytes `content`."""
    return (
        [NodeRow._make(row) for row in unit.nodes()],
        [EdgeRow._make(row) for row in unit.edges()],
        [SearchText._make(row) for row in unit.texts(content)],
    )
