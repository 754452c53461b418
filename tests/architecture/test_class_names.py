"""A class name means one thing (ADR 0023)."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2] / "atlas"
SHARED = {
    "Edge": "of the graph's model, and a value of Cypher",
    "Match": "how a store compares names, and the clause of Cypher",
    "Node": "of the graph's model, and a value of Cypher",
    "Query": "what a question asks, and a query of Cypher",
}
"""Names that two domains define in their own words."""


def test_no_two_classes_have_the_same_name() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SHARED} == {}
    assert [name for name in SHARED if len(places[name]) != 2] == []
