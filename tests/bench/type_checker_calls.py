"""Compare CALLS edges of JavaScript and TypeScript with what TypeScript's own checker resolves.

python -m tests.bench.type_checker_calls --typescript FOLDER [--misses N] TREE ...

FOLDER holds `node_modules/typescript` (`npm install typescript @types/node`). A pair is a caller and a callee inside of
the tree. The caller is the innermost function with a name around the call, or the module; the callee what the name or
the signature of the call leads to, the implementation where there are overloads. Accessors that are read or set, and
variables that hold a function from outside, are right but not expected. *Judged* leaves out pairs whose calls
the checker does not resolve (`any`). Tests and `.d.ts` files are part of a tree if the index has them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CALLER_LABELS = {"Function", "Method"}
SCRIPT = Path(__file__).with_suffix(".mjs")
ENDINGS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


@dataclass(slots=True)
class Graph:
    """Nodes and CALLS edges of an export, and which nodes a line of a file has."""

    nodes: dict[str, Row]
    edges: list[Row]
    by_line: dict[tuple[str, int], list[Row]] = field(default_factory=lambda: defaultdict(list))
    functions: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for node in self.nodes.values():
            if node["label"] in {"Module", "File"}:
                continue
            for line in {node["line"], node["start_line"]}:
                self.by_line[node["path"], line].append(node)
            if node["label"] in CALLER_LABELS:
                self.functions[node["path"]].append(node)

    def caller(self, uid: str) -> str:
        """The function that a source is or stands in, or the path of its file for the module."""
        node = self.nodes[uid]
        if node["label"] in CALLER_LABELS:
            return uid
        around = [
            one
            for one in self.functions[node["path"]]
            if one["start_byte"] <= node["start_byte"] and node["end_byte"] <= one["end_byte"]
        ]
        is_file = node["label"] in {"Module", "File"}
        return node["path"] if is_file or not around else max(around, key=lambda one: one["start_byte"])["uid"]

    def at(self, place: Row, labels: set[str] | None = None) -> list[str]:
        """Nodes of a name at a line; of any name if there is only one."""
        lines = {place["line"], place["first"], *place.get("inner", ["", 0])[1:]} - {0}
        names = {place["name"], *place.get("inner", [""])[:1]}
        nodes = {one["uid"]: one for line in lines for one in self.by_line[place["path"], line]}
        fitting = [one for one in nodes.values() if labels is None or one["label"] in labels]
        named = [one["uid"] for one in fitting if one["name"] in names]
        callable_nodes = [one["uid"] for one in fitting if one["label"] in {*CALLER_LABELS, "Class"}]
        return named or (callable_nodes if len(callable_nodes) == 1 else [])


@dataclass(slots=True)
class Comparison:
    """Pairs of a tree: those of the checker, those of the graph, and how they differ."""

    found: int = 0
    right: int = 0
    unjudged: int = 0
    expected: int = 0
    hit: int = 0
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """One row of numbers."""
        judged = self.found - self.unjudged
        return (
            f"{name:24} pairs of the checker {self.expected:5}, of the graph {self.found:5} (judged {judged:5})  "
            f"P {self.right / max(1, self.found):.3f} judged {self.right / max(1, judged):.3f}  "
            f"R {self.hit / max(1, self.expected):.3f}"
        )


def compare(graph: Graph, sites: list[Row]) -> Comparison:
    """Compare the edges of a graph with the checker's call sites."""
    result = Comparison()
    expected: dict[tuple[str, tuple[str, ...]], Row] = {}
    accepted: set[tuple[str, str]] = set()
    resolved_lines: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for site in sites:
        resolved_lines[site["path"], site["line"]].append(site)
        caller = _caller_of(graph, site)
        accepted.update((caller, uid) for place in site["neutral"] for uid in graph.at(place))
        if not site["found"]:
            continue
        targets = sorted({uid for place in site["found"] for uid in graph.at(place)})
        names = tuple(targets) or tuple(f"{place['path']}:{place['line']}" for place in site["found"])
        expected.setdefault((caller, names), site)
        accepted.update((caller, target) for target in targets)
    pairs: dict[tuple[str, str], Row] = {}
    for edge in graph.edges:
        pairs.setdefault((graph.caller(edge["source"]), edge["target"]), edge)
    result.expected, result.found = len(expected), len(pairs)
    for (caller, names), site in sorted(expected.items(), key=lambda item: (item[1]["path"], item[1]["line"])):
        if any((caller, name) in pairs for name in names):
            result.hit += 1
            continue
        reason = "no caller" if caller.startswith("?") else "no node" if ":" not in names[0] else "no edge"
        reason = "no node" if names[0] not in graph.nodes else reason
        result.missing.append(
            f"{reason}: {site['path']}:{site['line']} {site['text']}  {caller} -> {' | '.join(names)}"
        )
    for (caller, target), edge in pairs.items():
        if (caller, target) in accepted:
            result.right += 1
            continue
        path = graph.nodes[edge["source"]]["path"]
        lines = [site for line in edge["lines"] for site in resolved_lines[path, line]]
        is_open = any(not site["found"] and not site["isOutside"] for site in lines)
        result.unjudged += is_open
        kind = "unjudged" if is_open else "wrong"
        place = f"{path}:{','.join(map(str, edge['lines']))}"
        result.wrong.append(f"{kind} {edge['strategy']}: {place}  {caller} -> {target}")
    return result


def _caller_of(graph: Graph, site: Row) -> str:
    if not site["callers"]:
        return site["path"]
    innermost = site["callers"][0]
    return next(
        iter(graph.at(innermost, CALLER_LABELS)), f"?{innermost['path']}:{innermost['line']}:{innermost['name']}"
    )


def read_graph(tree: Path, scratch: Path) -> Graph:
    """Index a tree and read its nodes and the CALLS edges between two of them."""
    command = [sys.executable, "-m", "atlas"]
    place = ["--project", str(tree), "--data-dir", str(scratch / "data")]
    subprocess.run([*command, "index", "--yes", *place], check=True, capture_output=True)
    text = subprocess.run(
        [*command, "export", "--canonical", *place], check=True, capture_output=True, text=True
    ).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    nodes = {row["uid"]: row for row in rows if row.get("path", "").endswith(ENDINGS)}
    edges = [row for row in rows if row.get("type") == "CALLS" and row["source"] in nodes and row["target"] in nodes]
    return Graph(nodes, edges)


def read_sites(tree: Path, paths: Iterable[str], typescript: Path, scratch: Path) -> list[Row]:
    """Ask the checker for every call in some files."""
    listed = scratch / "files.txt"
    listed.write_text("\n".join(sorted(paths)))
    command = ["node", str(SCRIPT), str(typescript.resolve()), str(tree), str(listed)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def main() -> None:
    """Print a row per tree."""
    parser = argparse.ArgumentParser(description="Compare CALLS edges with what TypeScript's checker resolves.")
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--typescript", type=Path, required=True, help="folder with node_modules/typescript")
    parser.add_argument("--misses", action="store_true", help="also print every missing and wrong pair")
    options = parser.parse_args()
    for tree in options.trees:
        with tempfile.TemporaryDirectory(prefix="atlas-calls-") as folder:
            graph = read_graph(tree.resolve(), Path(folder))
            paths = {node["path"] for node in graph.nodes.values()}
            result = compare(graph, read_sites(tree.resolve(), paths, options.typescript, Path(folder)))
        print(result.line(tree.name), flush=True)
        if options.misses:
            print(Counter(line.split(":", 1)[0] for line in result.missing + result.wrong).most_common())
            print("\n".join(f"  {line}" for line in [*result.missing, *result.wrong]))


if __name__ == "__main__":
    main()
