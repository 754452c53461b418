"""Names that Python packages export from their `__init__.py`: read as a syntax tree, never imported."""

from __future__ import annotations

import ast
from collections.abc import Mapping

MAX_BYTES = 1 << 20
MAX_HOPS = 6
"""Modules through which a name is passed on."""
STAR = "*"


class Exports:
    """Where the modules of a package get their names from, and by which shortest name each symbol is reached."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        """By exported name its full name in the module that it comes from."""
        self._stars: dict[str, list[str]] = {}
        """By package the modules of which it exports everything."""

    def read(self, module: str, data: bytes) -> None:
        """Take the imports of the `__init__.py` of a package; what is no Python is left out."""
        if len(data) > MAX_BYTES:
            return
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in _imports(tree):
            source = _absolute(node, module)
            if not source or source.partition(".")[0] != module.partition(".")[0]:
                continue
            for alias in node.names:
                if alias.name == STAR:
                    self._stars.setdefault(module, []).append(source)
                else:
                    self._sources[f"{module}.{alias.asname or alias.name}"] = f"{source}.{alias.name}"

    def public_names(self) -> Mapping[str, str]:
        """Return by full name of a symbol the shortest name under which a package exports it."""
        found: dict[str, str] = {}
        for name in self._sources:
            target, hops = name, 0
            while target in self._sources and hops < MAX_HOPS:
                target, hops = self._sources[target], hops + 1
            best = found.get(target, "")
            if not best or (name.count("."), len(name), name) < (best.count("."), len(best), best):
                found[target] = name
        return found

    def exporter(self, module: str) -> str:
        """Return the package that exports everything of a module, "" if none does; the shortest one."""
        packages = [package for package, modules in self._stars.items() if module in modules]
        return min(packages, key=lambda one: (one.count("."), one), default="")


def _imports(tree: ast.Module) -> list[ast.ImportFrom]:
    """Return the imports of a module, also those within `if` and `try` of its first level."""
    found: list[ast.ImportFrom] = []
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If | ast.Try):
            pending.extend(reversed([*node.body, *node.orelse]))
    return found


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])]) if parts else ""
