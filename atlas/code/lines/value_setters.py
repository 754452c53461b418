"""Where values that stand in a type are changed: the functions that take an object of it.

`What are the defaults of the pool, and how do I change them` is answered by the defaults, and by what the object that
holds them is passed to. Reads the graph only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.line_report import shown
from atlas.code.lines.plain_values import PlainValue
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match

MOST_EDGES = 200
MOST_SETTERS = 4
_ASKS = lazy_regex(
    r"\bhow (?:do|can|could|would|should|to|does)(?: (?:i|we|you|one|a user))? (?:change|set|configure|override|adjust"
    r"|tune|alter|raise|lower|increase|customi[sz]e|modify)\b",
    re.IGNORECASE,
)


async def setters_of(reader: Reader, text: str, values: Sequence[PlainValue], where: Filter) -> tuple[PlainValue, ...]:
    """Return the functions outside of the types of values that take one of these; () unless it is asked how to."""
    if _ASKS.search(text) is None or not values:
        return ()
    names = dict.fromkeys(name for each in values for name in each.inside.split(".") if name[:1].isupper())
    found: dict[tuple[str, int], PlainValue] = {}
    types = Filter(project=where.project or reader.project, labels=(Label.CLASS,))
    for name in names:
        nodes = [node for node in await reader.store.find(name, Match.SUFFIX, types, 3) if node.row.path]
        if len(nodes) != 1:
            continue
        edges = await reader.store.edges([nodes[0].row.uid], Direction.IN, (EdgeType.USES_TYPE,), MOST_EDGES)
        taken = re.compile(rf":\s?[^,()]{{0,40}}\b{re.escape(name)}\b|[(,]\s?(?:const )?{re.escape(name)}\b")
        for row in (edge.node.row for edge in edges):
            is_function = row.label in (Label.METHOD, Label.FUNCTION) and row.path and not row.is_test
            parameters = row.signature.rpartition("->")[0] or row.signature
            if is_function and row.exported and name not in row.qualified_name and taken.search(parameters):
                inside = row.qualified_name.rpartition(".")[0]
                place = (row.path, row.line or row.start_line)
                found[place] = PlainValue(*place, inside, f"takes it: {shown(_called(row.name, row.signature))}")
    return tuple(found[place] for place in sorted(found))[:MOST_SETTERS]


def _called(name: str, signature: str) -> str:
    """Return a signature with the name, which that of some languages has."""
    return signature if re.search(rf"\b{re.escape(name)}\s?[<(]", signature) else f"{name}{signature}"
