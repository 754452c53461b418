"""What the comparison reads of an index: definitions, CALLS edges between them, and the lines of unresolved calls."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atlas_bench.process import run

CALLABLE = frozenset({"Function", "Method", "Class"})
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})
Line = tuple[str, int]
"""Path from the root and line from one."""

_SUFFIX = re.compile(r"#\d+(?=\.|$)")


@dataclass(frozen=True, slots=True)
class CalledNode:
    """A definition of the index."""

    uid: str
    label: str
    name: str
    path: str
    line: int
    start_line: int
    same_as: str
    """Equal for the overloads of one name, and for a class and its constructors."""


@dataclass(frozen=True, slots=True)
class CallEdge:
    """An edge on one line; a target outside of the tree is None."""

    line: Line
    name: str
    target: CalledNode | None
    strategy: str
    confidence: float


@dataclass(slots=True)
class CallGraph:
    """The calls of the chosen languages."""

    languages: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> language of every file of these languages."""
    by_line: dict[Line, list[CalledNode]] = field(default_factory=lambda: defaultdict(list))
    """The definitions whose name or text begins on a line."""
    edges: dict[Line, list[CallEdge]] = field(default_factory=lambda: defaultdict(list))
    unresolved: dict[Line, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Line -> names of its unresolved calls."""
    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """`same_as` of a class -> those of its direct bases."""

    def ancestors(self, one: str) -> frozenset[str]:
        """Return a class and all it inherits from, by `same_as`."""
        found, left = {one}, [one]
        while left:
            new = self.bases.get(left.pop(), set()) - found
            found |= new
            left += new
        return frozenset(found)


def index_calls(root: Path, data: Path, languages: frozenset[str], *, tests: bool = True) -> CallGraph:
    """Index a tree into `data` and return its calls; without `tests`, callers in tests are left out.

    Raises AtlasError if the tree cannot be indexed.
    """
    run(["index", str(root), "--data-dir", str(data)])
    _, output = run(["export", "--format", "jsonl", "--canonical", "--project", str(root), "--data-dir", str(data)])
    return read_calls(map(json.loads, output.splitlines()), languages, tests=tests)


def read_calls(rows: Iterable[Mapping[str, Any]], languages: frozenset[str], *, tests: bool = True) -> CallGraph:
    """Return the calls in the rows of a canonical export."""
    graph, nodes = CallGraph(), dict[str, Mapping[str, Any]]()
    edges = list[Mapping[str, Any]]()
    for row in rows:
        if "uid" in row:
            nodes[row["uid"]] = row
        elif row.get("type") in ("CALLS", "INHERITS"):
            edges.append(row)
    called = {uid: _node(uid, row) for uid, row in nodes.items()}
    for uid, row in nodes.items():
        if row.get("language") not in languages or not row.get("path"):
            continue
        graph.languages[row["path"]] = row["language"]
        if row["label"] in CALLABLE or row["label"] == "Value":
            for line in {row["line"], row["start_line"]}:
                graph.by_line[row["path"], line].append(called[uid])
        if tests or not row["is_test"]:
            for name, lines in _unresolved(row):
                for line in lines:
                    graph.unresolved[row["path"], line].add(name)
    for row in edges:
        source, target = nodes.get(row["source"]), nodes.get(row["target"])
        if source is None or target is None:
            continue
        if row["type"] == "INHERITS":
            graph.bases[called[row["source"]].same_as].add(called[row["target"]].same_as)
        elif source.get("language") in languages and (tests or not source["is_test"]):
            inside = called[row["target"]] if target.get("path") else None
            for number in row["lines"] or [row["line"]]:
                line = (source["path"], number)
                graph.edges[line].append(CallEdge(line, target["name"], inside, row["strategy"], row["confidence"]))
    return graph


def _node(uid: str, row: Mapping[str, Any]) -> CalledNode:
    same = _SUFFIX.sub("", uid)
    if row.get("kind") == "constructor" or row["name"] in CONSTRUCTORS:
        same = _SUFFIX.sub("", same.rpartition(".")[0])
    return CalledNode(
        uid, row["label"], row["name"], row.get("path") or "", row.get("line", 0), row.get("start_line", 0), same
    )


def _unresolved(row: Mapping[str, Any]) -> Iterable[tuple[str, list[int]]]:
    """Yield name and lines of a node's unresolved calls."""
    properties: Any = json.loads(row["properties"]) if row.get("properties") else {}
    for name, groups in properties.get("unresolved", {}).items():
        for group in groups:
            yield name, [line for line in group if isinstance(line, int)]
