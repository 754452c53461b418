"""Say how many symbols lie on the level behind the last one that an answer follows. Reads the graph only."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.relation import RelatedSymbol
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType
from atlas.core.wording import counted

MAX_EDGES = 2_000


async def note_on_cut_level(
    reader: Reader, related: Sequence[RelatedSymbol], depth: int, direction: Direction, types: Sequence[EdgeType]
) -> tuple[str, ...]:
    """Return a note that counts what the symbols at `depth` edges lead to; () where that is nothing new."""
    last = [each.node.row.uid for each in related if each.depth == depth]
    known = {each.node.row.uid for each in related}
    edges = await reader.store.edges(last, direction, types, MAX_EDGES) if last else []
    new = {edge.node.row.uid for edge in edges} - known
    count = counted(len(new), "more symbol", more=len(edges) >= MAX_EDGES)
    return (f"cut at depth {depth}: {count} at depth {depth + 1}",) if new else ()
