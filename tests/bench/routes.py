"""The routes that the detectors find in a tree, compared with the routes that an application really has.

`python -m tests.bench.routes TREE [--under FOLDER] [--truth FILE] [--list]` links the tree and prints how many routes
each framework has. A file of truth has one `METHOD /path` a line, with parameters in any notation; `ANY` matches every
method. With it, precision and recall are printed, and the routes that are missing or too many.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from atlas import _parser
from atlas.code.index.detectors import built_in
from atlas.parsing import load_languages
from atlas.parsing.scanning import scan_project

MAX_BYTES = 2_000_000
_PARAMETER = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|<[^>]*>|:[A-Za-z_]\w*(?:\([^)]*\))?[?*+]?|\[[^\]]*\]|\*\w*")


@dataclass(frozen=True, slots=True)
class FoundRoute:
    """A route of the graph."""

    method: str
    path: str
    framework: str
    handler: str
    place: str

    @property
    def key(self) -> tuple[str, str]:
        return (self.method, shape(self.path))


def shape(path: str) -> str:
    """Return a path with `{}` for each parameter, without a slash at the end."""
    return "/" + re.sub(r"/+", "/", _PARAMETER.sub("{}", path)).strip("/").replace("{}{}", "{}")


def find_routes(tree: Path) -> list[FoundRoute]:
    """Link the files of a tree and return the routes outside of tests."""
    languages = load_languages(detectors=built_in())
    linker = _parser.Linker("p", languages)
    subprojects = scan_project(tree, languages).subprojects
    linker.set_subprojects([(one.folder, one.kind, one.name) for one in subprojects])
    paths = (path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    kept = [path for path in paths if path.stat().st_size < MAX_BYTES and "node_modules" not in path.parts]
    names = {str(path.relative_to(tree)): path for path in kept}
    linker.update(
        [
            _parser.parse_bytes(languages, name, path.read_bytes())
            for name, path in names.items()
            if languages.of_path(name) is not None
        ]
    )
    nodes: dict[str, tuple[str, dict[str, str], str, bool]] = {}
    handlers: dict[str, str] = {}
    for path in linker.digests():
        unit = linker.unit(path)
        for row in unit.nodes():
            if row[0].partition(":")[2].startswith("route:"):
                nodes[row[0]] = (path, json.loads(row[24] or "{}"), str(row[8]), "test" in path.lower())
        for source, target, kind, *_ in unit.edges():
            if kind == "HANDLES_ROUTE":
                handlers[target] = source.partition(":")[2]
    found: list[FoundRoute] = []
    for uid, (path, properties, line, is_test) in nodes.items():
        if not is_test:
            method, at, framework = properties["method"], properties["path"], properties["framework"]
            found.append(FoundRoute(method, at, framework, handlers.get(uid, ""), f"{path}:{line}"))
    return found


def compare(
    found: Iterable[FoundRoute], truth: Iterable[tuple[str, str]]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]], int, int]:
    """Return the missing and the surplus routes, and how many of the found and of the true ones match."""
    keys, real = {each.key for each in found}, {(method, shape(path)) for method, path in truth}
    any_found, any_real = {path for method, path in keys if method == "ANY"}, {path for _, path in real}
    all_real = {path for method, path in real if method == "ANY"}
    paths_found = {path for _, path in keys}
    missing = {
        (method, path)
        for method, path in real
        if not ((method, path) in keys or path in any_found or (method == "ANY" and path in paths_found))
    }
    surplus = {
        (method, path)
        for method, path in keys
        if not ((method, path) in real or path in all_real or (method == "ANY" and path in any_real))
    }
    return missing, surplus, len(keys) - len(surplus), len(real) - len(missing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--under", default="", help="only routes registered below this folder")
    parser.add_argument("--framework", default="", help="only routes of these frameworks, separated by commas")
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    wanted = [word for word in options.framework.split(",") if word]
    found = [
        each
        for each in find_routes(options.tree)
        if each.place.startswith(options.under) and (not wanted or each.framework in wanted)
    ]
    print(dict(Counter(each.framework for each in found)))
    if options.list:
        for each in sorted(found, key=lambda each: (each.path, each.method)):
            print(f"{each.method} {each.path}  {each.handler}  {each.place}  [{each.framework}]")
    if options.truth is None:
        return
    lines = (line.split(maxsplit=1) for line in options.truth.read_text("utf-8").splitlines() if line.strip())
    truth = [(method, path.strip()) for method, path in lines if method not in ("HEAD", "OPTIONS")]
    found = [each for each in found if each.method not in ("HEAD", "OPTIONS")]
    missing, surplus, right, hit = compare(found, truth)
    for word, routes in (("missing", missing), ("surplus", surplus)):
        for method, path in sorted(routes, key=lambda route: (route[1], route[0])):
            print(f"{word}: {method} {path}")
    keys = len({each.key for each in found})
    real = len({(method, shape(path)) for method, path in truth})
    print(f"P {right}/{keys} = {right / max(keys, 1):.3f}  R {hit}/{real} = {hit / max(real, 1):.3f}")


if __name__ == "__main__":
    main()
