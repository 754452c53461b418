"""Measure CALLS on a small project per language: `python -m tests.bench.call_fixtures [--set SET] [LANGUAGE...]`.

A folder of `data/fixtures` or `data/fixtures_second` is a project with `expected.tsv`: caller, callee, and `optional` for
an edge that may be there or not. A name is the end of a qualified name, with `file::` before it where it is not the only
one; a file stands for the code at its top level. A class stands for its constructors and initialisers. A call through an
interface or a base class goes to the method that the static type names; the edge to its only implementation is optional.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.surfaces.processes import COMMAND, Place, atlas, environment

DATA = Path(__file__).parent / "data"
SETS = {"first": DATA / "fixtures", "second": DATA / "fixtures_second"}
EXPECTED = "expected.tsv"
UNNAMED = re.compile(r"\.(<[^<>]*>)?(?=\.)|#\d+")

Row = dict[str, Any]
Pair = tuple[str, str]


class UnknownNameError(ValueError):
    """A name of `expected.tsv` that stands for no definition, or for several."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a fixture's table says, in keys of the graph."""

    required: frozenset[Pair]
    optional: frozenset[Pair]


@dataclass(frozen=True, slots=True)
class Score:
    """Right, wrong and missing pairs of a language."""

    right: int
    wrong: dict[Pair, str]
    missing: frozenset[Pair]

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + len(self.missing))


class Graph:
    """Definitions of a fixture under one key each, and the pairs that CALLS connects."""

    def __init__(self, rows: list[Row]) -> None:
        self.nodes = {row["uid"]: row for row in rows if row.get("path")}
        self.calls = [row for row in rows if row.get("type") == "CALLS"]
        self.declared = {row["qualified_name"] for row in self.nodes.values() if row["path"].endswith((".h", ".hpp"))}

    def key(self, uid: str) -> str:
        """The definition that a node stands for: its class for a constructor, one key for declaration and definition."""
        row = self.nodes[uid]
        if row["label"] in ("File", "Module") and row["kind"] in ("file", "module") and row["start_line"] <= 1:
            return f"{row['path']}::"
        name = row["qualified_name"]
        path = "" if name in self.declared else row["path"]
        if row["kind"] in ("constructor", "initializer"):
            name = name.rpartition(".")[0]
        return f"{path}::{UNNAMED.sub('', name)}"

    def pairs(self) -> Iterator[tuple[Pair, str]]:
        """Each pair of different definitions with an edge, and the rule that made it."""
        for row in self.calls:
            if row["source"] in self.nodes and row["target"] in self.nodes:
                yield (self.key(row["source"]), self.key(row["target"])), row["strategy"]

    def find(self, name: str) -> str:
        """The key of a name of the table."""
        file, _, end = name.rpartition("::")
        values = {self.key(uid) for uid, row in self.nodes.items() if row["label"] == "Value"}
        keys = {self.key(uid) for uid in self.nodes}
        found = {key for key in keys if _ends(key.split("::", 1)[1], end) and _ends(key.split("::", 1)[0], file, "/")}
        found = found - values or found
        found = found or {key for key in keys if key.endswith("::") and _ends(key[:-2], name, "/")}
        if len(found) != 1:
            raise UnknownNameError(f"{name}: {sorted(found)}")
        return found.pop()


def _ends(text: str, end: str, mark: str = ".") -> bool:
    return not end or text == end or text.endswith(mark + end)


def read_graph(fixture: Path) -> Graph:
    """Index a copy of a fixture."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / fixture.name, Path(folder) / "data")
        shutil.copytree(fixture, place.root, ignore=shutil.ignore_patterns(EXPECTED))
        atlas("index", "--yes", *place.options).check_returncode()
        command = [*COMMAND, "export", "--canonical", *place.options]
        text = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout
    return Graph([json.loads(line) for line in text.splitlines()])


def read_expected(fixture: Path, graph: Graph) -> Expected:
    """The table of a fixture."""
    required: set[Pair] = set()
    optional: set[Pair] = set()
    for line in (fixture / EXPECTED).read_text().splitlines():
        caller, callee, *mark = line.split("\t")
        try:
            pair = graph.find(caller), graph.find(callee)
        except UnknownNameError as error:
            if not mark:
                print(f"  unknown name  {error}")
                required.add((caller, callee))
            continue
        (optional if mark else required).add(pair)
    return Expected(frozenset(required), frozenset(optional - required))


def score(graph: Graph, expected: Expected) -> Score:
    """Compare the graph with the table."""
    found = dict(graph.pairs())
    wrong = {pair: rule for pair, rule in found.items() if pair not in expected.required | expected.optional}
    return Score(len(expected.required & found.keys()), wrong, expected.required - found.keys())


def add_strategies(strategies: dict[str, list[float]], graph: Graph, scored: Score) -> None:
    """Add right pairs, wrong pairs and stated confidences of a language to the numbers of each strategy."""
    for row in graph.calls:
        if row["source"] in graph.nodes and row["target"] in graph.nodes:
            pair = graph.key(row["source"]), graph.key(row["target"])
            numbers = strategies.setdefault(row["strategy"], [0, 0, 0.0])
            numbers[0 if pair not in scored.wrong else 1] += 1
            numbers[2] += row["confidence"]


def main() -> None:
    """Print precision and recall per language, with every miss and every wrong edge."""
    parser = argparse.ArgumentParser(description="Measure CALLS on a small project per language.")
    parser.add_argument("languages", nargs="*", help="folders of the set; all of them by default")
    parser.add_argument("--set", choices=SETS, default="first", help="which projects")
    parser.add_argument("--quiet", action="store_true", help="print only the numbers")
    parser.add_argument("--json", action="store_true", help="print one JSON document, with numbers of each strategy")
    options = parser.parse_args()
    fixtures = SETS[options.set]
    scores: list[Score] = []
    strategies: dict[str, list[float]] = {}
    languages: list[Row] = []
    for name in options.languages or sorted(path.name for path in fixtures.iterdir()):
        graph = read_graph(fixtures / name)
        scores.append(one := score(graph, read_expected(fixtures / name, graph)))
        languages.append({"name": name, "right": one.right, "wrong": len(one.wrong), "missing": len(one.missing)})
        add_strategies(strategies, graph, one)
        if options.json:
            continue
        print(f"{name}: pairs {one.right + len(one.missing)}, P {one.precision:.3f}, R {one.recall:.3f}", flush=True)
        if not options.quiet:
            for caller, callee in sorted(one.missing):
                print(f"  missing  {caller} -> {callee}")
            for (caller, callee), rule in sorted(one.wrong.items()):
                print(f"  wrong    {caller} -> {callee}  {rule}")
    if options.json:
        print(json.dumps({"languages": languages, "strategies": strategies}))
        return
    right, wrong = sum(one.right for one in scores), sum(len(one.wrong) for one in scores)
    missing = sum(len(one.missing) for one in scores)
    print(f"all: pairs {right + missing}, P {right / (right + wrong):.3f}, R {right / (right + missing):.3f}")


if __name__ == "__main__":
    main()
