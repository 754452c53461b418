"""Find where a function is handed over as a value: a callback that is registered, an entry of a table.

Whoever receives it may call it, which no edge says. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from atlas.code.graph.occurrences import TextPlace
from atlas.code.graph.proof import SHOWN, is_prose, unaccounted
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Label, Node
from atlas.core.wording import counted

MAX_EDGES = 1_000
_NO_CODE = (Label.CHUNK, Label.DOC_SECTION, Label.DOC_FILE, Label.ADR)
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_DATA = re.compile(r"\.(?:ya?ml|json|toml|md|mdx|rst|txt|html?|cfg|ini|xml)$")
_NO_VALUE = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|use\s|using\b|export\s*[{*]|export\s+default\b|#\s*include|require\b|alias\b)"
    r"|.*\b(?:def|func|fn|fun|function|class|interface|sub)\s"
)
"""An import or a definition."""


async def handed_over(
    reader: Reader, nodes: Sequence[Node], known: Collection[tuple[str, int]], *, by_text: bool
) -> tuple[str, ...]:
    """Return a note with the places where functions are handed over as values; () where there are none.

    `known` are the lines (path, number) of their calls. `by_text`: the name means nothing else, so that lines without
    an edge count as well. Raises store errors.
    """
    if any(node.row.label not in _CALLABLE for node in nodes):
        return ()
    uids = [node.row.uid for node in nodes]
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.REFERENCES,), MAX_EDGES)
    places = {
        (edge.node.row.path, line): edge.node.row.name
        for edge in sorted(edges, key=lambda edge: (edge.node.row.is_test, edge.node.row.path))
        for line in edge.row.lines
        if (edge.node.row.path, line) not in known
    }
    more = False
    if by_text:
        name = nodes[0].row.name
        left = await unaccounted(reader, nodes, Kind.CALLERS, known)
        value = re.compile(rf"(?<![\w$'\"`/]){re.escape(name)}(?![\w$'\"`]|\s*[(!?]|\s*<[^<>]*>\()")
        code = [each for each in left.places if _is_value(each, value)]
        places |= {(each.path, each.line): each.node.row.name if each.node else "" for each in code}
        more = left.more
    if not places:
        return ()
    shown = [f"{path}:{line}" + (f" in `{name}`" if name else "") for (path, line), name in places.items()]
    rest = f", and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    count = counted(len(shown), "place", more=more)
    return (f"also handed over as a value, so that others may call it, in {count}: {', '.join(shown[:SHOWN])}{rest}",)


def _is_value(place: TextPlace, pattern: re.Pattern[str]) -> bool:
    row = place.node.row if place.node is not None else None
    if is_prose(place) or _NO_VALUE.match(place.text) or _DATA.search(place.path):
        return False
    if row is None or row.is_test or row.label in _NO_CODE:
        return False
    return pattern.search(place.text) is not None
