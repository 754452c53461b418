"""Which project of a workspace provides a package: by the names in its manifests, and the names that code imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from atlas.code.graph.declarations import Declaration, normal_name, read_declarations
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Node

MAX_PROJECTS = 2_000
"""Projects of a repository whose packages are read."""
BY_IMPORT_NAME = frozenset(("python", "rust", "ruby"))
"""Ecosystems in which names are compared without regard to case and separators."""
DECLARED, UNDECLARED, OTHER_VERSION = 0.97, 0.8, 0.75
"""How sure a package is the one of the other project: declared with a range that its version is in, or of which one of
the two is unknown; imported without a declaration; declared with a range that its version is not in."""
_NAMING_FILES = (".csproj", ".fsproj", ".vbproj")
"""Endings of manifests whose packages are called like the file where they state no name."""
_NUMBERS = lazy_regex(r"\d+")
_CLAUSE = lazy_regex(r"(===|==|~=|!=|>=|<=|=|>|<|\^|~>|~)?\s*v?(\d+(?:\.\d+){0,5}(?:\.[*x])?)")


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project of the workspace as links see it."""

    label: str
    """How answers name it."""
    reader: Reader


@dataclass(frozen=True, slots=True)
class ProvidedPackage:
    """A package that a project's manifest names."""

    ecosystem: str
    name: str
    version: str
    manifest: str

    @property
    def folder(self) -> str:
        """The folder of the manifest, "" for the root of the repository."""
        return self.manifest.rpartition("/")[0]

    @property
    def key(self) -> str:
        """The name as it is compared."""
        return normal_name(self.name) if self.ecosystem in BY_IMPORT_NAME else self.name


@dataclass(frozen=True, slots=True)
class ManifestFolder:
    """A folder of a project with a manifest."""

    folder: str
    """"" for the root of the repository."""
    name: str


@dataclass(frozen=True, slots=True)
class PackageLink:
    """A package that one project imports or declares and another one provides."""

    package: ProvidedPackage
    declared: Declaration | None
    """None where it is imported without being declared."""

    @property
    def confidence(self) -> float:
        """How sure it is that this package is meant."""
        if self.declared is None:
            return UNDECLARED
        return OTHER_VERSION if self.is_other_version else DECLARED

    @property
    def is_other_version(self) -> bool:
        """Whether the declared range is known not to hold the version that the other project has now."""
        if self.declared is None:
            return False
        return allows(self.declared.range, self.package.version) is False

    @property
    def said(self) -> str:
        """Name, version and how it is declared."""
        version = f" {self.package.version}" if self.package.version else ""
        if self.declared is None:
            return f"{self.package.name}{version}, not declared"
        range_ = f", declared {self.declared.range}" if self.declared.range else ", declared"
        other = ", which that version is not in" if self.is_other_version else ""
        return f"{self.package.name}{version}{range_}{other}"


async def provided_by(view: ProjectView) -> tuple[ProvidedPackage, ...]:
    """Return the packages that the project's manifests name. Raises store errors."""
    reader = view.reader
    return await reader.cache.get(reader.store, reader.project, "provides", partial(_read_provided, reader))


async def _read_provided(reader: Reader) -> tuple[ProvidedPackage, ...]:
    nodes = await _project_nodes(reader)
    found = [package for node in nodes for package in _packages(node)]
    named = {package.folder for package in found}
    found += await _named_by_file(reader, [part for part in _parts_of(nodes) if part.folder not in named])
    return tuple(sorted(set(found), key=lambda one: (one.manifest, one.ecosystem, one.name)))


async def _project_nodes(reader: Reader) -> Sequence[Node]:
    query = "MATCH (p:Project) RETURN p.uid"
    rows = (await reader.store.cypher(query, {}, MAX_PROJECTS, 10.0, reader.project)).rows
    return await reader.store.symbols([str(row[0]) for row in rows])


async def project_parts(reader: Reader) -> tuple[ManifestFolder, ...]:
    """Return the parts of a project that have a manifest. Raises store errors."""
    return _parts_of(await _project_nodes(reader))


def _parts_of(nodes: Sequence[Node]) -> tuple[ManifestFolder, ...]:
    folders = [(node.row.qualified_name.removeprefix("project:"), node.row.name) for node in nodes]
    return tuple(ManifestFolder("" if folder == "." else folder, name) for folder, name in folders)


async def _named_by_file(reader: Reader, parts: Sequence[ManifestFolder]) -> list[ProvidedPackage]:
    """Return the packages whose name is that of the manifest's file, because the manifest states none."""
    paths = {f"{part.folder}/{part.name}{end}".lstrip("/"): part for part in parts for end in _NAMING_FILES}
    known = await reader.store.records(reader.project, list(paths))
    return [ProvidedPackage("dotnet", part.name, "", path) for path, part in paths.items() if path in known]


def _packages(node: Node) -> Iterable[ProvidedPackage]:
    try:
        entries: Any = json.loads(node.row.properties)["provides"]
    except (ValueError, KeyError, TypeError):
        return
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        match entry:
            case [str() as ecosystem, str() as name, str() as version, str() as manifest]:
                yield ProvidedPackage(ecosystem, name, version, manifest)
            case _:
                pass


async def links_to(consumer: ProjectView, provider: ProjectView) -> tuple[PackageLink, ...]:
    """Return the packages of the provider that the consumer declares, or imports by their name. Raises store errors."""
    provided = await provided_by(provider)
    if not provided:
        return ()
    declared = [one for one in await read_declarations(consumer.reader, consumer.reader.project) if not one.is_inner]
    imported = await _imported(consumer.reader)
    found: list[PackageLink] = []
    for package in provided:
        own = [one for one in declared if _is_of(one, package)]
        if own:
            found.append(PackageLink(package, min(own, key=lambda one: (one.kind != "runtime", one.path, one.line))))
        elif any(_is_imported(node, package) for node in imported):
            found.append(PackageLink(package, None))
    return tuple(found)


async def _imported(reader: Reader) -> tuple[Node, ...]:
    """Return the packages that code of a project imports."""
    return await reader.cache.get(reader.store, reader.project, "imported packages", partial(_read_imported, reader))


async def _read_imported(reader: Reader) -> tuple[Node, ...]:
    query = "MATCH (d:ExternalPackage) RETURN d.uid"
    rows = (await reader.store.cypher(query, {}, 20_000, 10.0, reader.project)).rows
    nodes = await reader.store.symbols([str(row[0]) for row in rows])
    return tuple(node for node in nodes if not _is_standard(node))


def _is_of(declared: Declaration, package: ProvidedPackage) -> bool:
    names = {declared.package, declared.name}
    if package.ecosystem in BY_IMPORT_NAME:
        return package.key in map(normal_name, names)
    if package.ecosystem == "dotnet":
        return package.name.casefold() in map(str.casefold, names)
    if package.ecosystem == "maven":
        return package.name in names or package.name.lstrip(":") in {name.partition(":")[2] for name in names}
    return package.name in names


def _is_imported(node: Node, package: ProvidedPackage) -> bool:
    ecosystems = node.row.properties.partition('"ecosystem":"')[2].partition('"')[0].split()
    if package.ecosystem not in ecosystems:
        return False
    name = external_name(node)
    if package.ecosystem == "go":
        return name == package.name or name.startswith(f"{package.name}/")
    if package.ecosystem in BY_IMPORT_NAME:
        return normal_name(name) == package.key
    return name == package.name


def external_name(node: Node) -> str:
    """Return the name of an external package or symbol as code writes it."""
    return node.row.qualified_name.removeprefix("ext:")


def allows(range_: str, version: str) -> bool | None:
    """Return whether a declared range holds a version; None where that cannot be told.

    Reads clauses of comparisons, `^` and `~`, as ecosystems write them; alternatives are tried each.
    """
    numbers = tuple(map(int, (part[:9] for part in _NUMBERS.findall(version.partition("+")[0].partition("-")[0])[:6])))
    if not numbers or not range_.strip() or len(range_) > 200 or re.search(r"[${}():/@]", range_):
        return None
    answers = [_allows_all(part, numbers) for part in range_.split("||")]
    return True if True in answers else None if None in answers else False


def _allows_all(part: str, version: tuple[int, ...]) -> bool | None:
    clauses = [_CLAUSE.fullmatch(clause.strip()) for clause in re.split(r",|(?<=[\dx*]) +(?=[\d<>=!~^])", part.strip())]
    if any(clause is None for clause in clauses):
        return None
    return all(_holds(clause[1] or "", clause[2], version) for clause in clauses if clause is not None)


def _holds(sign: str, written: str, version: tuple[int, ...]) -> bool:
    parts = [int(part[:9]) for part in written.split(".") if part.isdigit()]
    is_open = not written[-1].isdigit()
    width = max(len(parts), len(version))
    low, own = _padded(parts, width), _padded(version, width)
    match sign:
        case ">=":
            return own >= low
        case "<=":
            return own <= low
        case ">":
            return own > low
        case "<":
            return own < low
        case "!=":
            return own != low
        case "^" | "":
            # a plain version is exact for some ecosystems and a least version for others
            first = next((at for at, number in enumerate(parts) if number), len(parts) - 1)
            return own[: first + 1] == low[: first + 1] and own >= low
        case "~" | "~=" | "~>":
            kept = max(1, len(parts) - 1) if sign != "~" else min(2, len(parts))
            return own[:kept] == low[:kept] and own >= low
        case _:
            return own[: len(parts)] == low[: len(parts)] if is_open else own == low


def _padded(parts: Sequence[int], width: int) -> tuple[int, ...]:
    return (*parts, *(0,) * (width - len(parts)))


async def owners_of(reader: Reader, nodes: Sequence[Node]) -> dict[str, list[str]]:
    """Return the names of the packages that external symbols belong to, the innermost first, by uid.

    Symbols of standard libraries belong to none. Raises store errors.
    """
    found: dict[str, list[str]] = {node.row.uid: [] for node in nodes}
    standard: set[str] = set()
    for node in nodes:
        if node.row.label == Label.EXTERNAL_PACKAGE:
            found[node.row.uid].append(external_name(node))
            standard.update([node.row.uid] if _is_standard(node) else ())
    level = {node.row.uid: {node.row.uid} for node in nodes}
    for _ in range(2):
        edges = await reader.store.edges(list(level), Direction.IN, (EdgeType.CONTAINS,), 5_000)
        above: dict[str, set[str]] = {}
        for edge in edges:
            if edge.node.row.label != Label.EXTERNAL_PACKAGE:
                continue
            name, below = external_name(edge.node), level.get(edge.row.target, set[str]())
            for uid in below:
                found[uid] += [name] if name not in found[uid] else []
            standard |= below if _is_standard(edge.node) else set()
            above.setdefault(edge.node.row.uid, set()).update(below)
        level = above
        if not level:
            break
    return {uid: [] if uid in standard else names for uid, names in found.items()}


def _is_standard(node: Node) -> bool:
    return '"standard"' in node.row.properties


def external_filter(project: str) -> Filter:
    """Return the filter of what a project only imports."""
    return Filter(project=project, labels=(Label.EXTERNAL_SYMBOL, Label.EXTERNAL_PACKAGE))
