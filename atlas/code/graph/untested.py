"""Untested definitions of a project or a part of it: no test reaches them, not even by a call in two steps.

Where no edge leads from a test to a function, a test may have its name: `TestCreateUser` may call it over HTTP.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from atlas.code.graph.mentions import BY_TEXT, TEXT_CONFIDENCE
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
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

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
MAX_NAMED = 5
"""Tests that are shown by their name."""
_PART = lazy_regex(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


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
        "untested",
        replace(intent, labels=labels),
        part,
        len(found),
        total,
        "that no test calls within two steps",
        certain=not +reasons,
    )
    related = tuple(RelatedSymbol(node, node.row.path, ()) for node in found)
    is_unknown = not found and bool(+reasons)
    return EdgeAnswer(
        intent, Targets(part.text, ()), related=related, notes=tuple(notes), is_unknown=is_unknown, title=title
    )


async def add_named_tests(reader: Reader, relation: EdgeAnswer, where: Filter) -> EdgeAnswer:
    """Return an answer about tests with test functions and files of the symbol's name. Raises store errors.

    They are the answer where no edge leads to the symbol, else a note names those that the answer lacks.
    """
    name = relation.targets.name.rpartition(".")[2]
    if not name:
        return relation
    if relation.related:
        known = {each.path for each in relation.related}
        more = [node.row.path for node in await _test_files(reader, name, where.project) if node.row.path not in known]
        note = f"named like its tests, without an edge: {', '.join(more)}"
        return replace(relation, notes=(*relation.notes, note)) if more else relation
    edges = await reader.store.edges(
        relation.targets.uids, Direction.IN, (EdgeType.CALLS, EdgeType.REFERENCES), MAX_CALLS
    )
    called = {
        edge.node.row.uid: RelatedSymbol(
            edge.node, edge.node.row.path, edge.row.lines, edge.row.strategy, edge.row.confidence
        )
        for edge in edges
        if _NAMED_AS_TEST.search(edge.node.row.path) or _NAMED_AS_TEST.search(edge.node.row.name)
    }
    if called:
        return replace(relation, related=tuple(called.values()), notes=(_BY_NAME_OF_FILE,), is_unknown=False)
    found = [
        node
        for spelled in _test_names(name)
        for node in await reader.store.find(spelled, Match.SUFFIX, Filter(project=where.project), MAX_NAMED)
        if node.row.is_test
    ]
    inside = {node.row.path for node in found}
    files = await _test_files(reader, relation.targets.name, where.project)
    found += [node for node in files or await _test_files(reader, name, where.project) if node.row.path not in inside]
    if not found:
        return relation
    related = tuple(RelatedSymbol(each, each.row.path, (), BY_TEXT, TEXT_CONFIDENCE) for each in found[:MAX_NAMED])
    notes = (*relation.notes, "these are tests by their name, of which no edge leads to it")
    return replace(relation, related=related, unscoped=len(related), is_unknown=False, notes=notes)


async def _test_files(reader: Reader, name: str, project: str) -> list[Node]:
    """Return the test files called like a symbol: `streaming_test.rb`, `StreamingTest.java`, `streaming.spec.ts`."""
    wanted = _folded(name)
    paths = [path for path in await reader.store.paths(project) if _folded(_stem(path)) == wanted]
    paths = [path for path in paths if _NAMED_AS_TEST.search(path) or _MARKED.search(path)][:MAX_NAMED]
    held = [await reader.store.find(path, Match.PATH, Filter(project=project, labels=_FILES), 1) for path in paths]
    return [node for nodes in held for node in nodes if node.row.is_test]


def _stem(path: str) -> str:
    """Return the name of a test file without its ending and the words that mark it as a test."""
    return _MARKED.sub("", path.rpartition("/")[2].rpartition(".")[0])


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


_FILES = (Label.MODULE, Label.FILE)
_MARKED = lazy_regex(
    r"^(?:tests?|spec)[-_.]|[-_.](?:tests?|specs?)(?=$|\.)|(?<=[a-z0-9])(?:Tests?|Spec)(?=$|\.)", re.IGNORECASE
)
_NAMED_AS_TEST = lazy_regex(r"(?:^|[/_.])tests?(?:$|[/_.])|^[Tt]est(?=[A-Z_]|\w*\.\w+$)")
_BY_NAME_OF_FILE = "callers in files or functions that are named as tests: no test framework marks them"
MAX_CALLS = 200


def _test_names(name: str) -> tuple[str, ...]:
    """Return how tests of a function are named: `TestSave`, `Test_save`, `test_save`, `testSave`."""
    snake = "_".join(word.lower() for word in _PART.findall(name))
    upper = name[:1].upper() + name[1:]
    return tuple(dict.fromkeys((f"Test{upper}", f"Test_{name}", f"test_{snake}", f"test{upper}", f"{upper}Test")))
