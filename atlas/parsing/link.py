"""A unit's rows as values of the model: plain tuples of the extension come in, NamedTuples of the same shape go out."""

from __future__ import annotations

from atlas._parser import Unit
from atlas.model import EdgeRow, NodeRow, SearchText


def rows_of(unit: Unit, content: bytes) -> tuple[list[NodeRow], list[EdgeRow], list[SearchText]]:
    """Return nodes, outgoing edges and search texts of a unit; `content` must be the bytes its facts were made from."""
    return (
        [NodeRow._make(row) for row in unit.nodes()],
        [EdgeRow._make(row) for row in unit.edges()],
        [SearchText._make(row) for row in unit.texts(content)],
    )
