"""Untested definitions of a project or a part of it: no test reaches them, not even by a call in two steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.graph.unreached import (
    MAX_EXAMINED,
    find_definitions,
    find_mentioned,
    find_part,
    kinds_of,
    left_out,
    title_of,
)
from atlas.code.question.relation_kinds import RelationIntent
from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Node

_BY_TEST = " AND ".join(
    (
        "NOT (n)<-[:TESTS]-()",
        "NOT EXISTS { MATCH (n)<-[:CALLS|REFERENCES]-(t) WHERE t.is_test }",
        "NOT EXISTS { MATCH (n)<-[:CALLS]-()<-[:CALLS]-(t) WHERE t.is_test }",
        "NOT EXISTS { MATCH (n)-[:OVERRIDES]->()<-[:CALLS|TESTS]-(t) WHERE t.is_test }",
    )
)
"""No test reaches `n`: by a call in one or two steps, or by a call of the method that it overrides."""
_MEMBERS = (
    "NOT EXISTS { MATCH (n)-[:DEFINES_METHOD]->()<-[:TESTS]-() }"
    " AND NOT EXISTS { MATCH (n)-[:DEFINES_METHOD]->()<-[:CALLS]-(t) WHERE t.is_test }"
)
"""A class is tested if a test calls one of its methods."""


async def find_untested(reader: Reader, intent: RelationIntent, where: Filter) -> EdgeAnswer:
    """Return the definitions that no test reaches, in order of file and line. Raises store errors."""
    part = await find_part(reader, intent.within, where.project)
    if not part.is_known:
        return EdgeAnswer(intent, Targets(part.text, (), reasons=("no file, folder, module or class of that name",)))
    labels = tuple(label for label in intent.labels if label != Label.VALUE) or kinds_of(intent)
    if labels != (Label.CLASS,) and len(labels) > 2:
        # methods say which part of a class has no tests
        labels = (Label.FUNCTION, Label.METHOD)
    condition = f"{_BY_TEST} AND {_MEMBERS}" if labels == (Label.CLASS,) else _BY_TEST
    nodes, total = await find_definitions(reader, part, labels, condition, where)
    reasons: Counter[str] = Counter()
    bodies: list[Node] = []
    constructors = reader.languages.constructors
    for node in nodes:
        row = node.row
        if {"declaration", "overload", "abstract"} & set(row.modifiers.split()):
            reasons["declarations"] += 1
        elif row.label != Label.CLASS and (row.name in constructors or row.name[:2] == row.name[-2:] == "__"):
            reasons["constructors and special methods"] += 1
        else:
            bodies.append(node)
    notes: list[str] = []
    if len(bodies) > MAX_EXAMINED:
        notes.append(
            f"the first {MAX_EXAMINED} of {len(bodies)} in order of path were examined: name a folder or module"
        )
    bodies = bodies[:MAX_EXAMINED]
    named = await find_mentioned(reader, bodies, in_tests=True)
    reasons["named in tests without an edge"] += len(named)
    found = [node for node in bodies if node.row.uid not in named]
    notes += left_out(+reasons)
    if found:
        notes.append("candidates: longer chains, unresolved calls and measured coverage are not seen")
    title = title_of(
        "untested", replace(intent, labels=labels), part, len(found), total, "that no test calls within two steps"
    )
    related = tuple(RelatedSymbol(node, node.row.path, ()) for node in found)
    return EdgeAnswer(intent, Targets(part.text, ()), related=related, notes=tuple(notes), title=title)
