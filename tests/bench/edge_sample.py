"""Draw edges of an export at random, each with the lines it leads from and to, for a person to judge.

python -m tests.bench.edge_sample EXPORT SOURCE [--language NAME] [--types A,B] [--seed N] [--count N]

EXPORT is what `atlas export --canonical` prints for the folder SOURCE. A draw depends only on the seed and the edges.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def rows(export: Iterable[str], types: Collection[str]) -> tuple[dict[str, Row], list[Row]]:
    """Nodes by identifier, and the edges of some types between two of them."""
    nodes: dict[str, Row] = {}
    edges: list[Row] = []
    for line in export:
        row = json.loads(line)
        if "uid" in row:
            nodes[row["uid"]] = row
        elif row.get("type") in types:
            edges.append(row)
    return nodes, [edge for edge in edges if edge["source"] in nodes and edge["target"] in nodes]


def draw(edges: list[Row], seed: int, count: int) -> list[Row]:
    """The same `count` edges for the same seed, in the order of the export."""
    chosen = random.Random(seed).sample(range(len(edges)), min(count, len(edges)))
    return [edges[number] for number in sorted(chosen)]


def described(nodes: dict[str, Row], edges: list[Row], folder: Path) -> Iterator[str]:
    """Three lines an edge: its rule, the line that refers, the line that defines."""

    @cache
    def lines(path: str) -> list[str]:
        return (folder / path).read_text(errors="replace").splitlines()

    def quoted(path: str, number: int) -> str:
        text = lines(path)[number - 1].strip() if path and 0 < number <= len(lines(path)) else "-"
        return f"{path}:{number}  {text[:140]}"

    for number, edge in enumerate(edges, 1):
        source, target = nodes[edge["source"]], nodes[edge["target"]]
        yield f"{number}. {edge['type']} {source['qualified_name']} -> {target['qualified_name']} ({edge['strategy']})"
        yield f"   {quoted(source['path'], edge['line'])}"
        yield f"   {quoted(target['path'], target['line'])}"


def main() -> None:
    """Print the draw."""
    parser = argparse.ArgumentParser(description="Draw edges of an export for a person to judge.")
    parser.add_argument("export", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="", help="only edges that begin in a file of this language")
    parser.add_argument("--types", default="CALLS,IMPORTS,REFERENCES", help="types of edges, by comma")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    with options.export.open(encoding="utf-8") as export:
        nodes, edges = rows(export, options.types.split(","))
    if options.language:
        edges = [edge for edge in edges if nodes[edge["source"]]["language"] == options.language]
    for line in described(nodes, draw(edges, options.seed, options.count), options.folder):
        print(line)


if __name__ == "__main__":
    main()
