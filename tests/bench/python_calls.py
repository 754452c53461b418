"""Compare CALLS edges of a Python tree with pyright's resolution: `python -m tests.bench.python_calls TREE`.

A pair is a definition that calls and one of the tree that is called: a function, a method or a class, which its
constructor stands for; reading a property calls it. An edge counts as wrong only if pyright resolves every call on its
lines. Without the tree's dependencies (`--paths DIR`) pyright resolves less, and the numbers mean less.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atlas_bench.edges.language_server import ORACLES, LanguageServer, Location

from tests.bench.call_sites import Definition, Key, PythonFile, Site, read_files
from tests.surfaces.processes import COMMAND, Place, atlas, environment

Pair = tuple[Key, Key]
CALLABLE = frozenset({"Function", "Method", "Class"})


@dataclass(slots=True)
class Resolved:
    """What a type checker says about the sites of some files."""

    pairs: dict[Pair, int] = field(default_factory=dict)
    """Caller and callee, with the first line of such a call."""
    open_lines: set[Key] = field(default_factory=set)
    """Path and line of calls that it cannot resolve to a function, method or class."""
    known: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of the graph between two definitions of the tree."""

    pair: Pair
    lines: tuple[int, ...]
    strategy: str


def resolve(
    root: Path, files: dict[str, PythonFile], chosen: Iterable[str], paths: tuple[Path, ...]
) -> Iterator[tuple[str, list[tuple[Site, list[Location]]]]]:
    """Each chosen file with its sites and what pyright says they refer to."""
    properties = {
        one.qualified_name.rpartition(".")[2] for file in files.values() for one in file.definitions if one.is_property
    }
    analysis = {"extraPaths": [str(path) for path in paths], "diagnosticMode": "openFilesOnly"}
    settings = {"python": {"analysis": analysis}, "python.analysis": analysis}
    with LanguageServer.started(ORACLES["pyright"], root, settings) as server:
        for name in chosen:
            sites = [site for site in files[name].sites if site.is_call or site.name in properties]
            positions = [(site.line - 1, site.column) for site in sites]
            yield name, list(zip(sites, server.definitions(root / name, positions), strict=True))


def judge(
    root: Path,
    files: dict[str, PythonFile],
    answers: Iterable[tuple[str, list[tuple[Site, list[Location]]]]],
) -> Resolved:
    """Turn locations into pairs of definitions."""
    known = definitions_by_key(files)
    resolved = Resolved()
    for name, sites in answers:
        resolved.open_lines |= {(name, line) for line in files[name].unnamed}
        for site, locations in sites:
            inside = [one for one in locations if one.path.is_relative_to(root)]
            named = [(known.get((one.path.relative_to(root).as_posix(), one.line + 1)), one) for one in inside]
            # A parameter stands on the line of its function.
            targets = [target for target, one in named if target and target.column == one.column]
            if not site.is_call:
                targets = [target for target in targets if target.is_property]
            elif not locations or len(targets) < len(inside):
                resolved.unknown += 1
                resolved.open_lines.add((name, site.line))
            else:
                resolved.known += 1
            for target in targets:
                resolved.pairs.setdefault((site.caller, target.stands_for), site.line)
    return resolved


def definitions_by_key(files: dict[str, PythonFile]) -> dict[Key, Definition]:
    """All definitions of the files."""
    return {one.key: one for file in files.values() for one in file.definitions}


def graph_edges(root: Path, files: dict[str, PythonFile]) -> list[Edge]:
    """The CALLS edges of a new index of the tree between definitions of the files."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(root, Path(folder) / "data")
        atlas("index", *place.options, timeout=1800).check_returncode()
        export = Path(folder) / "export"
        with export.open("w") as out:
            command = [*COMMAND, "export", "--canonical", *place.options]
            subprocess.run(command, stdout=out, env=environment(), check=True)
        return list(edges_of(export, files))


def edges_of(export: Path, files: dict[str, PythonFile]) -> Iterator[Edge]:
    """The same of an export."""
    known = definitions_by_key(files)
    nodes: dict[str, Any] = {}
    calls = []
    with export.open() as lines:
        for line in lines:
            row = json.loads(line)
            if "uid" in row:
                nodes[row["uid"]] = row
            elif row["type"] == "CALLS":
                calls.append(row)
    for row in calls:
        source, target = nodes[row["source"]], nodes[row["target"]]
        callee = known.get((target["path"], target["line"]))
        if callee is None or source["path"] not in files or target["label"] not in CALLABLE:
            continue
        # A class called stands for its constructor, wherever that is inherited from.
        if row["strategy"] == "constructor" and target["label"] == "Method":
            continue
        caller = known.get((source["path"], source["line"]))
        file = files[source["path"]]
        start = caller.stands_for if caller and source["label"] in CALLABLE else file.enclosing(row["line"])
        yield Edge((start, callee.stands_for), tuple(row["lines"]), row["strategy"])


def compare(resolved: Resolved, edges: list[Edge], chosen: set[str]) -> tuple[list[Edge], list[Edge], list[Pair]]:
    """Right edges, wrong edges, and pairs without an edge."""
    ours = [edge for edge in edges if edge.pair[0][0] in chosen]
    right = [edge for edge in ours if edge.pair in resolved.pairs]
    found = {edge.pair for edge in right}
    wrong = [
        edge
        for edge in ours
        if edge.pair not in resolved.pairs
        and not any((edge.pair[0][0], line) in resolved.open_lines for line in edge.lines)
    ]
    return right, wrong, [pair for pair in resolved.pairs if pair not in found]


def main() -> None:
    """Print precision and recall, and with --show each difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--paths", type=Path, nargs="*", default=[], help="folders with installed dependencies")
    parser.add_argument("--sample", type=int, help="resolve only so many files, drawn with seed 15")
    parser.add_argument("--under", default="", help="only callers below this path")
    parser.add_argument("--answers", type=Path, help="keep pyright's answers in this file, or read them from it")
    parser.add_argument("--export", type=Path, help="judge this output of `atlas export --canonical`, not a new index")
    parser.add_argument("--show", action="store_true", help="print each wrong edge and each pair without an edge")
    asked = parser.parse_args()
    root = asked.tree.resolve()
    asked.paths = [path for path in (root / "src", root, *asked.paths) if path.is_dir()]
    files = read_files(root)
    chosen = sorted(name for name in files if name.startswith(asked.under))
    if asked.sample:
        chosen = sorted(random.Random(15).sample(chosen, min(asked.sample, len(chosen))))
    resolved = judge(root, files, _answers(root, files, chosen, asked))
    edges = list(edges_of(asked.export, files)) if asked.export else graph_edges(root, files)
    right, wrong, missed = compare(resolved, edges, set(chosen))
    pairs = {edge.pair for edge in right}
    bad = {edge.pair for edge in wrong} - pairs
    print(f"{len(chosen)} files, {resolved.known} calls resolved by pyright, {resolved.unknown} not")
    print(f"pairs {len(resolved.pairs)}, right {len(pairs)}, wrong {len(bad)}, missed {len(missed)}")
    print(f"precision {len(pairs) / (len(pairs) + len(bad)):.3f}, recall {len(pairs) / len(resolved.pairs):.3f}")
    by_rule = defaultdict(Counter[str])
    for verdict, edges in (("right", right), ("wrong", wrong)):
        for edge in edges:
            by_rule[edge.strategy][verdict] += 1
    for rule, counts in sorted(by_rule.items(), key=lambda item: -item[1]["wrong"]):
        print(f"  {rule:20}{counts['right']:7} right{counts['wrong']:6} wrong")
    if asked.show:
        for line in _differences(root, files, resolved, wrong, missed):
            print(line)


def _answers(
    root: Path, files: dict[str, PythonFile], chosen: list[str], asked: argparse.Namespace
) -> Iterator[tuple[str, list[tuple[Site, list[Location]]]]]:
    """pyright's answers, from a file if they are kept there."""
    kept: Path | None = asked.answers
    if kept and kept.exists():
        for name, rows in json.loads(kept.read_text()):
            yield (
                name,
                [
                    (Site((site[0][0], site[0][1]), *site[1:]), [Location(Path(one[0]), *one[1:]) for one in places])
                    for site, places in rows
                ],
            )
        return
    rows = []
    for name, sites in resolve(root, files, chosen, tuple(path.resolve() for path in asked.paths)):
        rows.append(
            (name, [(_row(site), [(str(one.path), one.line, one.column) for one in places]) for site, places in sites])
        )
        yield name, sites
    if kept:
        kept.write_text(json.dumps(rows))


def _row(site: Site) -> tuple[Key, str, int, int, bool]:
    return site.caller, site.name, site.line, site.column, site.is_call


def _differences(
    root: Path, files: dict[str, PythonFile], resolved: Resolved, wrong: list[Edge], missed: list[Pair]
) -> Iterator[str]:
    known = definitions_by_key(files)

    def named(key: Key) -> str:
        return known[key].qualified_name if key in known else "<module>"

    def quoted(path: str, line: int) -> str:
        return f"{path}:{line}  {(root / path).read_text(errors='replace').splitlines()[line - 1].strip()[:150]}"

    for edge in wrong:
        caller, callee = edge.pair
        yield f"WRONG {edge.strategy}: {named(caller)} -> {named(callee)} ({callee[0]}:{callee[1]})"
        yield f"    {quoted(caller[0], edge.lines[0])}"
    for pair in missed:
        caller, callee = pair
        yield f"MISSED: {named(caller)} -> {named(callee)} ({callee[0]}:{callee[1]})"
        yield f"    {quoted(caller[0], resolved.pairs[pair])}"


if __name__ == "__main__":
    main()
