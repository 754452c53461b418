"""Files that depend on each other in a circle: none in Python, at most three files in Rust.

The graph of Rust files is read from the text: `use` declarations and paths in code, with `crate::`, `self::`, `super::`, the
names of our crates and of child modules resolved along the tree of `mod` declarations. A module begins with its crate. A declaration `mod x;` is no dependency; a path to a
re-export (`pub use`) leads to what is re-exported. Modules of tests do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "atlas"
RUST = ROOT / "rust-parser"

LARGEST_RUST_CIRCLE = 3

OURS = "atlas_"
"""How the names of our crates begin."""

Module = tuple[str, ...]
Graph = Mapping[Module, set[Module]]


def circles(graph: Graph) -> list[list[Module]]:
    """Strongly connected components of more than one node (Tarjan 1972), the largest first."""
    order: dict[Module, int] = {}
    lowest: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[list[Module]] = []

    def visit(node: Module) -> None:
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], order[other])
        if lowest[node] == order[node]:
            start = stack.index(node)
            if len(stack) - start > 1:
                found.append(stack[start:])
            del stack[start:]

    for node in graph:
        if node not in order:
            visit(node)
    return sorted(found, key=len, reverse=True)


# --- Python


def python_graph(root: Path) -> Graph:
    """Which files import which, also inside functions and for type checking only."""
    modules = {module_of(path, root.parent): path for path in root.rglob("*.py")}
    return {
        module: {
            target for name in imported(path, module) if (target := defined_in(name, modules)) and target != module
        }
        for module, path in modules.items()
    }


def module_of(path: Path, root: Path) -> Module:
    parts = path.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("__init__", "mod", "lib") else parts


def imported(path: Path, module: Module) -> Iterator[Module]:
    package = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            start += tuple((node.module or "").split(".")) if node.module else ()
            yield from ((*start, alias.name) for alias in node.names)


def defined_in(name: Module, modules: Mapping[Module, object]) -> Module | None:
    """The longest part of a dotted name that is a module."""
    return next((name[:end] for end in range(len(name), -1, -1) if name[:end] in modules), None)


# --- Rust

USE = re.compile(r"^[ ]*(pub(?:\([^)]*\))?[ ]+)?use[ ]+([^;]+);", re.MULTILINE)
VISIBILITY = re.compile(r"\bpub\([^)]*\)")
ROOTED = re.compile(r"(?<![\w:])(?:crate|self|super)(?:::\w+)+")
RELATIVE = re.compile(r"(?<![\w:.])[a-z_]\w*(?:::\w+)+")
IGNORED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(?P<marks>\#*)".*?"(?P=marks) | b?"(?:\\.|[^"\\])*" """, re.VERBOSE | re.DOTALL
)


def rust_graph(root: Path) -> Graph:
    files = {path: path.relative_to(root).parts[0] for path in root.glob("*/src/**/*.rs")}
    return rust_graph_of(
        {(crate, *module_of(path, root / crate / "src")): path.read_text() for path, crate in files.items()}
    )


def rust_graph_of(texts: Mapping[Module, str]) -> Graph:
    """Which files name which; `texts` by path of the module."""
    re_exports: dict[Module, Module] = {}
    names: dict[Module, set[Module]] = {}
    for module, text in texts.items():
        code = IGNORED.sub("", text).split("#[cfg(test)]\nmod tests {")[0]
        local: dict[str, Module] = {}
        for visibility, tree in USE.findall(code):
            for path, name in branches(" ".join(tree.split())):
                if target := absolute(path, module, texts):
                    local[name] = target
                    if visibility:
                        re_exports[(*module, name)] = target
        body = VISIBILITY.sub("", USE.sub("", code))
        found = [absolute(path, module, texts) for path in ROOTED.findall(body)]
        for path in RELATIVE.findall(body):
            first, *rest = path.split("::")
            found.append((*local[first], *rest) if first in local else absolute(path, module, texts))
        names[module] = {*local.values(), *(path for path in found if path)}
    return {
        module: {target for name in found if (target := file_of(name, texts, re_exports)) not in (None, module)}
        for module, found in names.items()
    }


def branches(tree: str) -> Iterator[tuple[str, str]]:
    """The paths of a `use` tree, each with the name that it gives."""
    opened = tree.find("{")
    if opened >= 0:
        prefix = tree[:opened]
        for part in comma_separated(tree[opened + 1 : tree.rindex("}")]):
            yield from branches(prefix + part)
        return
    path, _, alias = tree.partition(" as ")
    path = path.strip().removesuffix("::self")
    yield path, alias.strip() or path.rpartition("::")[2]


def comma_separated(text: str) -> Iterator[str]:
    start = depth = 0
    for position, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    if last := text[start:].strip():
        yield last


def absolute(path: str, module: Module, modules: Mapping[Module, object]) -> Module | None:
    """A path from the root of its crate; None for one that leads out of our crates."""
    first, *rest = path.split("::")
    if first == "crate":
        return (module[0], *rest)
    if first.startswith(OURS):
        return (first.removeprefix(OURS), *rest)
    if first in ("self", "super"):
        here = module if first == "self" else module[:-1]
        while rest and rest[0] == "super":
            here, rest = here[:-1], rest[1:]
        return (*here, *rest)
    return (*module, first, *rest) if (*module, first) in modules else None


def file_of(
    name: Module, modules: Mapping[Module, object], re_exports: Mapping[Module, Module], depth: int = 8
) -> Module | None:
    """The file that defines what a path names."""
    for end in range(len(name), 0, -1):
        if depth and (target := re_exports.get(name[:end])) and target != name[:end]:
            return file_of((*target, *name[end:]), modules, re_exports, depth - 1)
    return defined_in(name, modules)


EXAMPLE: Mapping[Module, str] = {
    ("x",): "mod a;\nmod b;\nmod c;\npub use c::inner::Deep;",
    ("x", "a"): "mod sub;\nuse crate::b::{self, Thing as Other};\nfn f() { sub::g() }",
    ("x", "a", "sub"): "pub(in crate::c) fn g() { let _ = super::super::b::h(); } // crate::c::no\n",
    ("x", "b"): 'use crate::Deep;\nconst S: &str = "crate::a::no";\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}',
    ("x", "c"): "pub mod inner;",
    ("x", "c", "inner"): "use super::super::a;\nfn f() { a::f() }",
    ("y",): "use atlas_x as other;\nfn f() { other::b::g(); atlas_x::Deep::new() }",
}


def test_the_graph_of_rust_files_is_read_from_their_text() -> None:
    graph = rust_graph_of(EXAMPLE)
    assert graph == {
        ("x",): {("x", "c", "inner")},
        ("x", "a"): {("x", "b"), ("x", "a", "sub")},
        ("x", "a", "sub"): {("x", "b")},
        ("x", "b"): {("x", "c", "inner")},
        ("x", "c"): set(),
        ("x", "c", "inner"): {("x", "a")},
        ("y",): {("x",), ("x", "b"), ("x", "c", "inner")},
    }
    assert [sorted(circle) for circle in circles(graph)] == [
        [("x", "a"), ("x", "a", "sub"), ("x", "b"), ("x", "c", "inner")]
    ]


@pytest.mark.parametrize(
    ("graph_of", "root", "largest"),
    [
        (python_graph, PYTHON, 1),
        (python_graph, ROOT / "benchmarks/atlas_bench", 1),
        (rust_graph, RUST, LARGEST_RUST_CIRCLE),
    ],
)
def test_no_circle_of_files_is_too_large(graph_of: Callable[[Path], Graph], root: Path, largest: int) -> None:
    graph = graph_of(root)
    too_large = [sorted(".".join(module) for module in circle) for circle in circles(graph) if len(circle) > largest]
    assert not too_large, f"{len(too_large)} circles of more than {largest} files: {too_large}"
    assert any(graph.values())
