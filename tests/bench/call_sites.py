"""Definitions, call sites and reads of properties in Python files, from the syntax tree of the standard library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Key = tuple[str, int]
"""A definition: path and line of its name. Line 0 is the module."""

PROPERTIES = frozenset({"property", "cached_property", "classproperty", "lazy_property", "setter"})
CONSTRUCTORS = frozenset({"__init__", "__new__"})
KEYWORDS = {ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def ", ast.ClassDef: "class "}
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class.

    A constructor stands for its class, and what has the name of an earlier definition (an overload, the other branch of
    a condition) for that one.
    """

    key: Key
    qualified_name: str
    stands_for: Key
    is_property: bool
    column: int
    """Where its name begins."""
    last_line: int


@dataclass(frozen=True, slots=True)
class Site:
    """A call, or a read of what may be a property: who calls, and where the name of the callee stands."""

    caller: Key
    name: str
    line: int
    column: int
    is_call: bool


class PythonFile:
    """What one file defines and calls."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.definitions: list[Definition] = []
        self.sites: list[Site] = []
        self.unnamed: set[int] = set()
        """Lines of calls whose callee has no name: a result, an element."""
        self._first: dict[str, Key] = {}
        self._visit_all(tree.body, (path, 0), "", None)

    def enclosing(self, line: int) -> Key:
        """The innermost definition around a line. Decorators and default values on lines of their own are outside."""
        around = [one for one in self.definitions if one.key[1] <= line <= one.last_line]
        return around[-1].stands_for if around else (self.path, 0)

    def _visit_all(self, nodes: list[ast.stmt], caller: Key, prefix: str, owner: Key | None) -> None:
        for node in nodes:
            self._visit(node, caller, prefix, owner)

    def _visit(self, node: ast.AST, caller: Key, prefix: str, owner: Key | None) -> None:
        if isinstance(node, Scope):
            self._define(node, caller, prefix, owner)
            return
        inner: Iterator[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.Call):
            self._add_site(node.func, caller, is_call=True)
            if isinstance(node.func, ast.Attribute):
                inner = iter([node.func.value, *node.args, *node.keywords])
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            self._add_site(node, caller, is_call=False)
        for child in inner:
            self._visit(child, caller, prefix, owner)

    def _define(self, node: Scope, caller: Key, prefix: str, owner: Key | None) -> None:
        key = (self.path, node.lineno)
        qualified = f"{prefix}{node.name}"
        original = self._first.setdefault(qualified, key)
        names = {name for decorator in node.decorator_list for name in _names(decorator)}
        stands_for = owner if owner and node.name in CONSTRUCTORS else original
        is_property = bool(names & PROPERTIES)
        column = node.col_offset + len(KEYWORDS[type(node)])
        last = node.end_lineno or node.lineno
        self.definitions.append(Definition(key, qualified, stands_for, is_property, column, last))
        for outer in [*node.decorator_list, *_outer_parts(node)]:
            self._visit(outer, caller, prefix, owner)
        self._visit_all(node.body, stands_for, f"{qualified}.", original if isinstance(node, ast.ClassDef) else None)

    def _add_site(self, callee: ast.expr, caller: Key, *, is_call: bool) -> None:
        if isinstance(callee, ast.Name):
            self.sites.append(Site(caller, callee.id, callee.lineno, callee.col_offset, is_call))
        elif isinstance(callee, ast.Attribute) and callee.end_lineno and callee.end_col_offset:
            column = callee.end_col_offset - len(callee.attr)
            self.sites.append(Site(caller, callee.attr, callee.end_lineno, column, is_call))
        else:
            self.unnamed.add(callee.lineno)


def read_files(root: Path) -> dict[str, PythonFile]:
    """What the Python files below a folder define and call, by path; files of another syntax are left out."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            found[name] = PythonFile(name, ast.parse(path.read_text(encoding="utf-8")))
        except (SyntaxError, UnicodeDecodeError):
            continue
    return found


def _outer_parts(node: Scope) -> Iterator[ast.AST]:
    """The parts of a definition that run in the scope around it."""
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *node.keywords)
        return
    yield from node.args.defaults
    yield from (default for default in node.args.kw_defaults if default)


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr
