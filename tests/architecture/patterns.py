"""Every regular expression of `atlas/`: those in the modules' values, data files included, and those of calls.

The import of all modules gives the compiled patterns that they hold, also in lists, tables and dataclasses; the syntax
tree gives the calls `re.match("...", text)` and says how each named pattern is used. What neither sees, a pattern that
is put together inside of a function, is named by the function that it stands in.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import atlas
from atlas.core.lazy_regex import LazyRegex

ROOT = Path(atlas.__file__).parent
ANCHORED = {"match", "fullmatch"}
METHODS = {*ANCHORED, "search", "sub", "subn", "split", "findall", "finditer"}
PROPERTIES = {"pattern", "flags", "groups", "groupindex"}
DEPTH = 4


@dataclass(frozen=True)
class Found:
    """A pattern, and how it is used: any of `METHODS`; all of them if that is unknown."""

    place: str
    """`folder/module.py: name`"""
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    @property
    def search(self) -> bool:
        return not self.methods <= ANCHORED

    @property
    def whole(self) -> bool:
        return self.methods == {"fullmatch"}


@dataclass(frozen=True)
class Composed:
    """A call of `re` in a function whose pattern is no constant."""

    place: str
    """`folder/module.py: function`"""


def modules() -> Iterator[ModuleType]:
    """Yield every module of the package whose dependencies are installed."""
    for each in pkgutil.walk_packages([str(ROOT)], "atlas."):
        if each.name in ("atlas.__main__",):
            continue
        try:
            yield importlib.import_module(each.name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "atlas":
                raise


def all_patterns() -> tuple[list[Found], list[Composed]]:
    """Return the patterns, each once, and the calls whose pattern is not known."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    uses = _uses(trees)
    found: dict[tuple[str, str], Found] = {}
    composed: list[Composed] = []
    values: dict[Path, Mapping[str, object]] = {}
    for module in modules():
        values[Path(str(module.__file__))] = vars(module)
        file = Path(str(module.__file__))
        path, imported = str(file.relative_to(ROOT)), _imported(trees.get(file))
        for name, value in vars(module).items():
            if name in imported:
                continue
            for number, pattern in enumerate(_held(value, DEPTH)):
                single = isinstance(value, (re.Pattern, LazyRegex))
                methods = uses.get((module.__name__, name), METHODS) if single else METHODS
                key = (str(pattern.pattern), str(pattern.flags))
                known = found.get(key)
                place = f"{path}: {name}{'' if single else f' {number}'}"
                if known is None:
                    found[key] = Found(place, pattern, frozenset(methods))
                elif known.place.partition(": ")[2] != name or not single:
                    found[key] = dataclasses.replace(known, methods=known.methods | methods)
    for path, tree in trees.items():
        place = str(path.relative_to(ROOT))
        for owner, call in _calls(tree):
            one = _constant(call, f"{place}: {owner}", values.get(path, {}))
            if not owner:  # a value of the module
                continue
            if isinstance(one, Composed):
                composed.append(one)
                continue
            key = (f"{one.pattern.pattern} in {place}", str(one.pattern.flags))
            found[key] = dataclasses.replace(one, methods=one.methods | (found[key].methods if key in found else set()))
    return list(found.values()), composed


def _held(value: object, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, LazyRegex):
        yield re.compile(value.pattern, value.given_flags)
    elif isinstance(value, re.Pattern):
        yield value
    elif depth == 0 or isinstance(value, (str, bytes, type, ModuleType)):
        return
    elif isinstance(value, Mapping):
        for key, inner in list(value.items()):
            yield from _held(key, depth - 1)
            yield from _held(inner, depth - 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _held(inner, depth - 1)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _held(getattr(value, field.name, None), depth - 1)


def _uses(trees: Mapping[Path, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """Return the methods that are called on each (module, name); a name that is used otherwise has all of them."""
    uses: dict[tuple[str, str], set[str]] = {}
    for path, tree in trees.items():
        own = ".".join(("atlas", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        homes = _imported(tree)
        called: set[int] = set()
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute))]
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in METHODS | PROPERTIES:
                called.add(id(node.value))
                uses.setdefault(_home(node.value, homes, own), set()).update({node.attr} & METHODS)
        for node in nodes:
            if id(node) not in called and isinstance(node.ctx, ast.Load) and _name(node).isupper():
                uses.setdefault(_home(node, homes, own), set()).update(METHODS)
    return uses


def _imported(tree: ast.Module | None) -> dict[str, str]:
    """Return the module of each name that is imported from one."""
    homes: dict[str, str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {each.asname or each.name: node.module for each in node.names}
    return homes


def _home(node: ast.expr, homes: Mapping[str, str], own: str) -> tuple[str, str]:
    """Return the module and name that an expression names: `NAME`, or `module.NAME`."""
    if isinstance(node, ast.Attribute):
        module = _name(node.value)
        return (f"{homes[module]}.{module}" if module in homes else module, node.attr)
    return (homes.get(_name(node), own), _name(node))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def misplaced_calls() -> list[str]:
    """Return where a module compiles a pattern when it is imported, and where a function makes one lazily."""
    found: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT)
        found += [
            f"{place}:{call.lineno}" for owner, call in _calls(tree) if not owner and _name(call.func) == "compile"
        ]
        functions = [one for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
        calls = [one for each in functions for one in ast.walk(each) if isinstance(one, ast.Call)]
        found += [f"{place}:{call.lineno}" for call in calls if _name(call.func) == "lazy_regex"]
    return found


def _calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call of a function of `re`, with the qualified name of the function that it stands in."""

    def visit(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            inner = owner
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{owner}.{child.name}".lstrip(".")
            if (
                isinstance(child, ast.Call)
                and isinstance(child.func, ast.Attribute)
                and _name(child.func.value) == "re"
                and child.func.attr in METHODS | {"compile"}
            ):
                yield owner, child
            yield from visit(child, inner)

    return visit(tree, "")


def _constant(call: ast.Call, place: str, names: Mapping[str, object]) -> Found | Composed:
    """Return the pattern of a call if it is put together from values of the module only."""
    try:
        text = eval(compile(ast.Expression(call.args[0]), place, "eval"), dict(names))
        if not isinstance(text, (str, bytes)):
            return Composed(place)
        flags = 0
        for node in [*call.args[1:], *(each.value for each in call.keywords if each.arg == "flags")]:
            for each in ast.walk(node):
                if isinstance(each, ast.Attribute) and _name(each.value) == "re":
                    flag = getattr(re, each.attr)
                    flags |= flag if isinstance(flag, re.RegexFlag) else 0
        assert isinstance(call.func, ast.Attribute)
        method = call.func.attr
        return Found(place, re.compile(text, flags), frozenset(METHODS if method == "compile" else {method}))
    except (NameError, AttributeError):
        return Composed(place)
