"""The tests of a setting or field: those that write its name, before the many that reach code which reads it.

Each test of a scheduler reaches what reads its settings; it tests a setting if it sets or checks it. Reads the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.code.graph.absence.name_lines import find_name_lines, with_symbols
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Label, Node
from atlas.core.wording import counted

BY_NAME = "named"
"""Strategy of a test that writes the name of a value."""
CONFIDENCE = 0.9
MAX_CALLERS = 200
_DOUBTS = ("no resolved", "at least:")
"""How notes begin that tell of lines which stand in the answer now."""
_CALLABLE = (Label.FUNCTION, Label.METHOD)


async def with_tests_of_value(reader: Reader, found: EdgeAnswer) -> EdgeAnswer:
    """Return an answer about the tests of a value with those that name it first. Raises store errors.

    A helper that names it stands with the tests that call it. Tests that only reach what reads the value are counted.
    """
    targets = found.targets.targets
    if not targets or found.scope or any(target.node.row.label != Label.VALUE for target in targets):
        return found
    row, project = targets[0].node.row, targets[0].node.project
    text = await find_name_lines(reader, row.name, project, prose=False)
    lines = [each for each in await with_symbols(reader, text.lines, project) if each.inside is not None]
    naming: dict[str, tuple[Node, set[int]]] = {}
    for each in lines:
        if each.inside is not None and each.inside.row.is_test and each.inside.row.label in _CALLABLE:
            naming.setdefault(each.inside.row.uid, (each.inside, set()))[1].add(each.line)
    if not naming:
        return found
    named = [RelatedSymbol(node, node.row.path, tuple(sorted(at)), BY_NAME, CONFIDENCE) for node, at in naming.values()]
    related = (*named, *await _callers(reader, named))
    listed = {each.node.row.uid for each in related}
    others = sum(each.node.row.uid not in listed for each in found.related)
    reach = "reaches" if others == 1 else "reach"
    note = f"{counted(others, 'more test')} only {reach} code that uses it" if others else ""
    notes = tuple(each for each in (*found.notes, note) if each and not each.startswith(_DOUBTS))
    return replace(found, related=related, unscoped=len(related), is_unknown=False, notes=notes)


async def _callers(reader: Reader, named: Sequence[RelatedSymbol]) -> list[RelatedSymbol]:
    """Return the tests that call a helper which names a value."""
    helpers = {each.node.row.uid: each.node.row.qualified_name for each in named}
    edges = await reader.store.edges(list(helpers), Direction.IN, (EdgeType.CALLS,), MAX_CALLERS)
    return [
        RelatedSymbol(
            edge.node,
            edge.node.row.path,
            edge.row.lines,
            edge.row.strategy,
            edge.row.confidence,
            2,
            helpers[edge.row.target],
        )
        for edge in edges
        if edge.node.row.is_test and edge.node.row.uid not in helpers
    ]
