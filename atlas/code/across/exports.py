"""What an npm package exports by each name that another project imports: default, renamed and star exports.

A manifest names what is built, which the tree mostly does not hold; the module that it is built from is looked for by
its path. What a name means there is asked of the linker, by a file beside the package's files that imports it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from atlas.code.across.packages import PackageLink, ProjectView, ProvidedPackage
from atlas.code.reader import Reader
from atlas.core.model import EdgeType, Filter, Match, Node
from atlas.parsing.together import CrossEdge, LinkedTree

EXPORTED, RE_EXPORTED = "export", "re-export"
LANGUAGES = frozenset(("typescript", "tsx", "javascript", "jsx"))
MAX_FILES = 3_000
"""Files of a package that are linked when a question is asked; a millisecond or two each."""
MAX_NAMES = 2_000
MAX_ENTRIES = 6
"""Modules that one name of a package may be built from."""
MAX_MANIFEST = 1 << 20
MAX_PATHS = 200
MAX_FOLDERS = 8
"""Folders of a path that a manifest names; a deeper one is left out."""
_FIELDS = ("source", "module", "main", "types", "typings")
_SOURCES = ("src/", "source/", "lib/", "")
_ENTRIES = ("index", "src/index", "lib/index", "src/main", "main", "src/lib", "source/index")
_ENDINGS = (
    ".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".jsx", "/index.ts", "/index.tsx", "/index.js", ".d.ts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Export:
    """A definition that a package exports."""

    node: Node
    rest: int
    """How many parts of the imported name are behind the exported one."""
    rule: str
    """`EXPORTED` if the module of the package itself defines it, else `RE_EXPORTED`."""


@dataclass(frozen=True, slots=True)
class PackageExports:
    """What the names that a project imports of a package mean, by name."""

    names: Mapping[str, Export] = field(default_factory=dict[str, Export])
    left_out: int = 0
    """Files of the package, if these are too many to be linked."""


async def exports(consumer: ProjectView, provider: ProjectView, link: PackageLink) -> PackageExports:
    """Return what the names that a project imports of a package mean. Raises store errors."""
    reader = consumer.reader
    if link.package.ecosystem != "npm" or provider.reader.outline is None:
        return PackageExports()
    states = await provider.reader.store.projects()
    generation = next((one.generation for one in states if one.project == provider.reader.project), 0)
    key = f"exports {provider.reader.root} {link.package.manifest} {generation}"
    return await reader.cache.get(reader.store, reader.project, key, lambda: _read(reader, provider.reader, link))


async def _read(consumer: Reader, provider: Reader, link: PackageLink) -> PackageExports:
    package = link.package
    wanted = [(name, parts) for name in await _imported_names(consumer) if (parts := _below(name, package.name))]
    manifest = await manifest_of(provider, package)
    forms = {"/".join(parts[:depth]) for _, parts in wanted[:MAX_NAMES] for depth in range(len(parts))}
    entries = {form: await _modules(provider, package, manifest, form) for form in sorted(forms)}
    probes = {
        f"{place}.ts": (name, entry, parts, len(parts) - depth - 1)
        for name, parts in wanted[:MAX_NAMES]
        for depth in reversed(range(len(parts)))
        for entry in entries["/".join(parts[:depth])]
        for place in [f"{len(parts) - depth}-{entry}-{name}".replace("/", "_")]
    }
    return await _asked(provider, package, probes) if probes else PackageExports()


async def _imported_names(reader: Reader) -> list[str]:
    query = "MATCH (d:ExternalSymbol) RETURN d.qualified_name"
    rows = (await reader.store.cypher(query, {}, 20_000, 10.0, reader.project)).rows
    return sorted({str(row[0]).removeprefix("ext:") for row in rows})


async def _asked(
    reader: Reader, package: ProvidedPackage, probes: Mapping[str, tuple[str, str, Sequence[str], int]]
) -> PackageExports:
    """Ask the linker what files import that name one export of one module each."""
    records = await reader.store.manifest(reader.project)
    inside = f"{package.folder}/".lstrip("/")
    paths = [one.path for one in records.values() if one.language in LANGUAGES and one.path.startswith(inside)]
    paths = [path for path in paths if not records[path].is_test]
    outline = reader.outline
    if len(paths) > MAX_FILES or outline is None:
        return PackageExports(left_out=len(paths))
    texts = {place: _probe(entry, parts[-1 - rest]) for place, (_, entry, parts, rest) in probes.items()}
    tree = LinkedTree(await reader.store.content(reader.project, paths))
    try:
        found = await asyncio.to_thread(outline.link, LinkedTree(texts), tree)
    except TimeoutError:
        return PackageExports(left_out=len(paths))
    answered = {one.source.path: one for one in found if one.edge.type == EdgeType.IMPORTS}
    exported: dict[str, Export] = {}
    for place, (name, entry, _, rest) in probes.items():
        one = answered.get(place)
        node = await _stored(reader, one) if one is not None and name not in exported else None
        if node is not None:
            exported[name] = Export(node, rest, EXPORTED if node.row.path == entry else RE_EXPORTED)
    return PackageExports(exported)


def _probe(entry: str, name: str) -> bytes:
    module = entry.removesuffix(".ts").removesuffix(".tsx").removesuffix(".d")
    return f'import {{ {name} as it }} from "../{module}";\n'.encode()


async def _stored(reader: Reader, one: CrossEdge) -> Node | None:
    where = Filter(project=reader.project, path=one.target.path)
    nodes = await reader.store.find(one.target.qualified_name, Match.EXACT, where, 40)
    same = [node for node in nodes if (node.row.path, node.row.line) == (one.target.path, one.target.line)]
    return same[0] if same else None


def _below(name: str, package: str) -> list[str]:
    """Return the parts of an imported name behind that of the package; [] for a name of another package."""
    if not name.startswith((f"{package}.", f"{package}/")):
        return []
    return [part for part in name.removeprefix(package).replace("/", ".").strip(".").split(".") if part.isidentifier()]


async def manifest_of(reader: Reader, package: ProvidedPackage) -> Mapping[str, Any]:
    """Return the manifest of a package, {} for one that cannot be read. Raises store errors."""
    contents = await reader.store.content(reader.project, [package.manifest])
    text = contents.get(package.manifest, b"")
    try:
        read: Any = json.loads(text) if len(text) <= MAX_MANIFEST else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}


async def _modules(reader: Reader, package: ProvidedPackage, manifest: Mapping[str, Any], below: str) -> list[str]:
    """Return the indexed modules that the package's name, or a path below it, may be built from; code first."""
    prefix = f"{package.folder}/".lstrip("/")
    paths = [f"{prefix}{path}" for path in _candidates(manifest, below)]
    known = await reader.store.records(reader.project, paths)
    found = [path for path in dict.fromkeys(paths) if path in known and known[path].language in LANGUAGES]
    return sorted(found, key=lambda path: ".d." in path)[:MAX_ENTRIES]


def _candidates(manifest: Mapping[str, Any], below: str) -> Iterator[str]:
    for written in _named_files(manifest, below):
        folders, _, file = written.removeprefix("./").rpartition("/")
        if ".." in folders or written.startswith("/") or written.count("/") > MAX_FOLDERS:
            continue
        yield written.removeprefix("./")
        parts = [*folders.split("/"), file.partition(".")[0]] if folders else [file.partition(".")[0]]
        for first in range(min(1, len(parts) - 1), len(parts)):
            yield from _with_endings("/".join(parts[first:]), _SOURCES)
    if below:
        yield from _with_endings(below, _SOURCES)
    else:
        for entry in _ENTRIES:
            yield from _with_endings(entry, ("",))


def _with_endings(stem: str, folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for ending in _ENDINGS:
            yield f"{folder}{stem}{ending}"


def _named_files(manifest: Mapping[str, Any], below: str) -> list[str]:
    """Return the files that a manifest names for the package or for a path below it, in its order."""
    own = manifest.get("exports")
    fields = [] if below else [manifest.get(field) for field in _FIELDS]
    if isinstance(own, dict) and any(str(key).startswith(".") for key in cast("dict[str, Any]", own)):
        own = cast("dict[str, Any]", own).get(f"./{below}" if below else ".")
    elif below:
        own = None
    return list(dict.fromkeys(_leaves([fields[:1], own, fields[1:]])))[:MAX_PATHS]


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    match value:
        case str():
            yield value[:1_000]
        case list() | dict() if depth < 8:
            inner = (
                cast("list[Any]", value) if isinstance(value, list) else list(cast("dict[str, Any]", value).values())
            )
            for one in inner[:MAX_PATHS]:
                yield from _leaves(one, depth + 1)
        case _:
            pass
