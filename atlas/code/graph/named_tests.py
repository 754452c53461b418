"""Tests that have the name of a function, where no edge leads to it: `TestCreateUser` may call it over HTTP."""

from __future__ import annotations

import re
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer
from atlas.code.reader import Reader
from atlas.core.model import Filter, Match

MAX_SHOWN = 5
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


async def add_named_tests(reader: Reader, relation: EdgeAnswer, where: Filter) -> EdgeAnswer:
    """Return an empty answer about tests with a note about test functions of the symbol's name. Raises store errors."""
    name = relation.targets.name.rpartition(".")[2]
    if relation.related or not name:
        return relation
    found = [
        node
        for spelled in _spellings(name)
        for node in await reader.store.find(spelled, Match.SUFFIX, Filter(project=where.project), MAX_SHOWN)
        if node.row.is_test
    ]
    if not found:
        return relation
    shown = ", ".join(f"{node.row.name} {node.row.path}:{node.row.line}" for node in found[:MAX_SHOWN])
    return replace(relation, notes=(*relation.notes, f"tests of that name, by other means than calls: {shown}"))


def _spellings(name: str) -> tuple[str, ...]:
    """Return how tests of a function are named: `TestSave`, `Test_save`, `test_save`, `testSave`."""
    snake = "_".join(word.lower() for word in _WORD.findall(name))
    upper = name[:1].upper() + name[1:]
    return tuple(dict.fromkeys((f"Test{upper}", f"Test_{name}", f"test_{snake}", f"test{upper}", f"{upper}Test")))
