"""From the name that one project imports to the definition in the project that provides the package.

A name is walked part by part from where the package begins: to what a module defines or exports again, to members of a
class and its bases, and from a function to what it returns. A step that could mean several things ends the walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.across.exports import EXPORTED, RE_EXPORTED, Export
from atlas.code.across.packages import BY_IMPORT_NAME, PackageLink, ProjectView, ProvidedPackage, normal_name
from atlas.code.graph.return_types import result_of
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MAX_STEPS = 12
"""Re-exports and bases that one name leads through."""
MAX_SAME = 40
"""Symbols of one name that are compared."""
MAX_EDGES = 2_000
INHERITED, RETURNED, NAMED = "inherited", "returned", "package-name"
CONFIDENCE = {EXPORTED: 0.98, RE_EXPORTED: 0.97, INHERITED: 0.95, RETURNED: 0.93, NAMED: 0.8}
"""Rules of a walk, from the surest to the least sure; that of a whole walk is its least sure one."""
_MODULES = (Label.MODULE, Label.PACKAGE)
_ENTRIES = ("index", "src/index", "lib/index", "src/main", "main", "src/lib", "source/index")
"""Modules that the name of an npm package means, without endings, where the tree holds what it is built from."""
_SOURCES = ("", "src/", "lib/", "source/")


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means in the other project, and by which rule."""

    node: Node
    rule: str
    """One of the keys of `CONFIDENCE`."""


async def definition_of(
    provider: ProjectView, link: PackageLink, name: str, owners: Sequence[str], exported: Export | None = None
) -> Found | None:
    """Return what an external name means in the provider, None if it does not have it or it is not certain.

    `owners`: the packages that the consumer knows the name to belong to, the innermost first. `exported`: what the
    beginning of the name is known to mean. Raises store errors.
    """
    package = link.package
    walk = _Walk(provider.reader, package)
    if package.ecosystem == "go":
        inside = [one for one in owners if _is_below(one, package.name) and f"{name}.".startswith(f"{one}.")]
        owner = max(inside, key=len, default="")
        if not owner:
            return None
        return await walk.from_folder(owner.removeprefix(package.name).strip("/"), _parts(name.removeprefix(owner)))
    if package.ecosystem == "npm":
        if name != package.name and not name.startswith((f"{package.name}.", f"{package.name}/")):
            return None
        if exported is not None:
            parts = _parts(name)
            return await walk.onward(exported, parts[len(parts) - exported.rest :])
        return await walk.from_entry(_parts(name.removeprefix(package.name)))
    if package.ecosystem == "rust":
        first, _, rest = name.partition(".")
        return await walk.from_crate(_parts(rest)) if normal_name(first) == package.key else None
    return await walk.from_root(_parts(name))


def belongs(name: str, owners: Sequence[str], link: PackageLink) -> bool:
    """Return whether an external name may belong to a package, by names alone."""
    package = link.package
    imported = link.declared.import_name if link.declared is not None else ""
    names = {package.name, imported} - {""}
    if package.ecosystem == "go":
        return any(_is_below(owner, package.name) for owner in owners)
    if package.ecosystem == "npm":
        return any(owner in names for owner in owners)
    if package.ecosystem in BY_IMPORT_NAME:
        # the folder of a declared Python package may have another name than its distribution: the walk tells
        is_open = package.ecosystem == "python" and link.declared is not None and bool(owners)
        return is_open or normal_name(name.partition(".")[0]) in map(normal_name, names)
    return bool(owners)


class _Walk:
    """One walk in the provider. Every step is a read of its index."""

    def __init__(self, reader: Reader, package: ProvidedPackage) -> None:
        self._reader, self._package = reader, package
        self._prefix = f"{package.folder}/" if package.folder else ""
        self._steps = 0

    async def from_root(self, parts: Sequence[str]) -> Found | None:
        """Walk a qualified name from its first module or namespace: the longest beginning that is one node."""
        for end in range(len(parts), 0, -1):
            nodes = await self._exactly(".".join(parts[:end]))
            if nodes:
                return await self._onward(_preferred(nodes), parts[end:], EXPORTED)
        return None

    async def from_folder(self, folder: str, parts: Sequence[str]) -> Found | None:
        """Walk from the package in a folder below the manifest: names of all its files."""
        where = f"{self._prefix}{folder}".rstrip("/")
        if not parts:
            return None
        named = await self._named(parts[0], where)
        nodes = [node for node in named if _folder(node) == where and node.row.qualified_name.count(".") == 1]
        own = [node for node in nodes if not node.row.is_test]
        return await self._onward(own[0], parts[1:], EXPORTED) if len(own) == 1 else None

    async def from_crate(self, parts: Sequence[str]) -> Found | None:
        """Walk from the root module of a crate."""
        for path in (f"{self._prefix}src/lib.rs", f"{self._prefix}lib.rs"):
            module = await self._module_at(path)
            if module is not None:
                return await self._onward(module, parts, EXPORTED)
        return None

    async def from_entry(self, parts: Sequence[str]) -> Found | None:
        """Walk from the modules that the name of a package means, or from a module below it that the name states."""
        for end in range(len(parts), 0, -1):
            below = "/".join(parts[:end])
            if modules := await self._modules([f"{source}{below}" for source in _SOURCES]):
                found = await self._onward(modules[0], parts[end:], EXPORTED)
                if found is not None:
                    return found
        entries = await self._modules(_ENTRIES)
        for entry in entries:
            if (found := await self._onward(entry, parts, EXPORTED)) is not None:
                return found
        if not parts or parts[0] == "default":
            return None
        # built elsewhere than from an index file: the only exported definition of the name
        named = [node for node in await self._named(parts[0]) if _is_top(node) and node.row.exported]
        own = [node for node in named if not node.row.is_test]
        return await self._onward(own[0], parts[1:], NAMED) if len(own) == 1 else None

    async def onward(self, exported: Export, parts: Sequence[str]) -> Found | None:
        """Walk from what a package exports."""
        return await self._onward(exported.node, parts, exported.rule)

    async def _onward(self, node: Node, parts: Sequence[str], rule: str) -> Found | None:
        """Return what the parts mean below a node."""
        self._steps += 1
        if not parts:
            return Found(node, rule)
        if self._steps > MAX_STEPS:
            return None
        name, rest = parts[0], parts[1:]
        child = await self._child(node, name)
        if child is not None:
            return await self._onward(child, rest, rule)
        if node.row.label in _MODULES:
            return await self._exported(node, parts, rule)
        if node.row.label == Label.CLASS:
            return await self._beyond(node, parts, EdgeType.INHERITS, _less_sure(rule, INHERITED))
        if node.row.label in (Label.FUNCTION, Label.METHOD):
            return await self._beyond(node, parts, EdgeType.USES_TYPE, _less_sure(rule, RETURNED))
        return None

    async def _child(self, node: Node, name: str) -> Node | None:
        nodes = await self._exactly(f"{node.row.qualified_name}.{name}")
        if not nodes and node.row.label == Label.CLASS:
            # methods of a type that are defined in other modules, as in Rust
            types = (EdgeType.DEFINES_METHOD, EdgeType.DEFINES)
            edges = await self._reader.store.edges([node.row.uid], Direction.OUT, types, MAX_EDGES)
            nodes = [edge.node for edge in edges if edge.node.row.name == name]
        return _preferred(nodes) if nodes else None

    async def _exported(self, node: Node, parts: Sequence[str], rule: str) -> Found | None:
        """Follow what a module imports by the name, or all that it imports as a whole."""
        edges = await self._reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.IMPORTS,), MAX_EDGES)
        targets = [edge.node for edge in edges if not edge.node.row.label.startswith("External")]
        named = [target for target in targets if target.row.name == parts[0]]
        found: dict[str, Found] = {}
        for target in named:
            if (one := await self._onward(target, parts[1:], _less_sure(rule, RE_EXPORTED))) is not None:
                found[one.node.row.uid] = one
        for target in targets if not named else ():
            if target.row.label in _MODULES and target.row.uid != node.row.uid:
                one = await self._onward(target, parts, _less_sure(rule, RE_EXPORTED))
                if one is not None:
                    found[one.node.row.uid] = one
        return next(iter(found.values())) if len(found) == 1 else None

    async def _beyond(self, node: Node, parts: Sequence[str], kind: EdgeType, rule: str) -> Found | None:
        """Look for a member in the bases of a class, or in the type that a function declares to return."""
        edges = await self._reader.store.edges([node.row.uid], Direction.OUT, (kind,), MAX_EDGES)
        types = [edge.node for edge in edges if edge.node.row.label == Label.CLASS]
        if kind is EdgeType.USES_TYPE:
            result = result_of(node.row.signature, node.row.name)
            types = [one for one in types if _has_word(result, one.row.name)]
            if len(types) != 1:
                return None
        for one in types:
            if (found := await self._onward(one, parts, rule)) is not None:
                return found
        return None

    async def _exactly(self, name: str) -> list[Node]:
        where = Filter(project=self._reader.project, path=self._prefix)
        nodes = await self._reader.store.find(name, Match.EXACT, where, MAX_SAME)
        return [node for node in nodes if not node.row.label.startswith("External") and not _is_text(node)]

    async def _named(self, name: str, folder: str = "") -> list[Node]:
        where = Filter(project=self._reader.project, path=f"{folder}/" if folder else self._prefix)
        nodes = await self._reader.store.find(name, Match.SUFFIX, where, MAX_SAME)
        return [node for node in nodes if node.row.name == name and node.row.path and not _is_text(node)]

    async def _module_at(self, path: str) -> Node | None:
        where = Filter(project=self._reader.project)
        nodes = await self._reader.store.find(path, Match.PATH, where, MAX_SAME)
        return next((node for node in nodes if node.row.label in _MODULES), None)

    async def _modules(self, stems: Sequence[str]) -> list[Node]:
        """Return the modules at paths below the manifest, without endings, in this order."""
        paths = [f"{self._prefix}{stem}{end}" for stem in stems for end in _ENDINGS]
        known = await self._reader.store.records(self._reader.project, paths)
        found = [await self._module_at(path) for path in paths if path in known]
        return [node for node in found if node is not None]


_ENDINGS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".jsx", ".vue", "/index.ts", "/index.tsx", "/index.js")


def _preferred(nodes: Sequence[Node]) -> Node:
    """Return a definition rather than a module of the same name, code rather than a test."""
    return min(nodes, key=lambda node: (node.row.is_test, node.row.label in _MODULES, node.row.path, node.row.line))


def _less_sure(rule: str, other: str) -> str:
    return min(rule, other, key=lambda one: CONFIDENCE[one])


def _is_text(node: Node) -> bool:
    return node.row.label in (Label.FILE, Label.CHUNK, Label.DOC_FILE, Label.DOC_SECTION, Label.ADR, Label.PROJECT)


def _is_top(node: Node) -> bool:
    return node.row.label in (Label.CLASS, Label.FUNCTION, Label.VALUE) and node.row.kind != "field"


def _is_below(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}/")


def _parts(name: str) -> list[str]:
    return [part for part in name.replace("/", ".").strip(".").split(".") if part]


def _folder(node: Node) -> str:
    return node.row.path.rpartition("/")[0]


def _has_word(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not (before.isalnum() or before in ("_", ".")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(word, at + 1)
    return False
