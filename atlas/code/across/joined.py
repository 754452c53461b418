"""Uses of one project's definitions in another where no index records the names: both are linked as one.

An index keeps the names of packages that imports tell apart. Types behind a namespace, constants, and imports below a
package that both projects have are no such names; the linker resolves them only with the files of both at hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from atlas.code.across.packages import PackageLink, ProjectView, external_name, project_parts
from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeRow, EdgeType, Filter, Label, Match, Node, NodeRow
from atlas.parsing.together import CrossEdge, LinkedTree

LANGUAGES = {"maven": ("java", "kotlin", "scala"), "dotnet": ("csharp",), "ruby": ("ruby",)}
"""Languages by the ecosystem of their packages: those whose names an index does not record."""
MAX_FILES = 3_000
"""Files of both projects that are linked when a question is asked; some milliseconds each."""
MAX_SAME = 40
_BY_NAME_ALONE = "unique-name"
_STRUCTURE = (EdgeType.CONTAINS, EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


@dataclass(frozen=True, slots=True)
class JoinedEdge:
    """An edge of a project to a definition of another one."""

    edge: Edge
    """Its node is the symbol of the using project; its target is the uid of the definition in the other one."""
    owner: str
    """The uid of the class if the definition is a constructor, which counts as its class; else ""."""
    link: PackageLink


@dataclass(frozen=True, slots=True)
class Joined:
    """What linking both projects as one has found."""

    edges: tuple[JoinedEdge, ...] = ()
    left_out: int = 0
    """Files of both projects, if these are too many to be linked."""


async def joined(consumer: ProjectView, provider: ProjectView, links: Sequence[PackageLink]) -> Joined:
    """Return the edges between two projects in languages whose names no index records. Raises store errors."""
    own = [link for link in links if link.package.ecosystem in LANGUAGES]
    reader = consumer.reader
    if not own or reader.outline is None:
        return Joined()
    states = await provider.reader.store.projects()
    generation = next((one.generation for one in states if one.project == provider.reader.project), 0)
    key = f"joined {provider.reader.root} {generation}"
    return await reader.cache.get(reader.store, reader.project, key, lambda: _read(consumer, provider, own))


async def _read(consumer: ProjectView, provider: ProjectView, links: Sequence[PackageLink]) -> Joined:
    languages = {language for link in links for language in LANGUAGES[link.package.ecosystem]}
    kinds = {link.package.ecosystem for link in links}
    used = await _paths(consumer.reader, languages, with_tests=True)
    provided = await _paths(provider.reader, languages, with_tests=False)
    if not used or not provided:
        return Joined()
    if len(used) + len(provided) > MAX_FILES:
        return Joined(left_out=len(used) + len(provided))
    outline = consumer.reader.outline
    assert outline is not None
    user, other = [await _tree(*one, kinds) for one in ((consumer.reader, used), (provider.reader, provided))]
    try:
        found = await asyncio.to_thread(outline.link, user, other)
    except TimeoutError:
        return Joined(left_out=len(used) + len(provided))
    found = [one for one in found if _is_certain(one)]
    foreign = await _foreign_imports(consumer.reader, {one.source.path for one in found}, links)
    found = [one for one in found if (one.source.path, one.edge.type, one.edge.line) not in foreign]
    sources = await _nodes_of(consumer.reader, (one.source for one in found))
    targets = await _nodes_of(provider.reader, (one.target for one in found))
    return Joined(tuple(_joined(one, sources, targets, links) for one in found if _has_both(one, sources, targets)))


def _is_certain(one: CrossEdge) -> bool:
    """Return whether an edge is a use of what the other project exports, by more than a name that nothing else has."""
    return one.edge.type not in _STRUCTURE and one.target.exported and one.edge.strategy != _BY_NAME_ALONE


async def _paths(reader: Reader, languages: Collection[str], *, with_tests: bool) -> list[str]:
    manifest = await reader.store.manifest(reader.project)
    return [one.path for one in manifest.values() if one.language in languages and (with_tests or not one.is_test)]


async def _tree(reader: Reader, paths: Sequence[str], kinds: Collection[str]) -> LinkedTree:
    contents = await reader.store.content(reader.project, paths)
    parts = await project_parts(reader)
    return LinkedTree(contents, [(part.folder, kind, part.name) for part in parts for kind in sorted(kinds)])


async def _foreign_imports(
    reader: Reader, paths: Collection[str], links: Sequence[PackageLink]
) -> set[tuple[str, str, int]]:
    """Return where files import other packages, by their own index: a part of a path may be equal by chance."""
    names = {link.package.name for link in links}
    query = "MATCH (d:ExternalPackage) RETURN d.uid"
    rows = (await reader.store.cypher(query, {}, 20_000, 10.0, reader.project)).rows
    nodes = await reader.store.symbols([str(row[0]) for row in rows])
    uids = [node.row.uid for node in nodes if external_name(node) not in names]
    found = await reader.store.edges(uids, Direction.IN, (EdgeType.IMPORTS,), 20_000) if uids else []
    return {
        (edge.node.row.path, edge.row.type, line)
        for edge in found
        if edge.node.row.path in paths
        for line in edge.row.lines
    }


async def _nodes_of(reader: Reader, rows: Iterable[NodeRow]) -> dict[str, Node]:
    """Return the stored nodes of rows, by the uids of the rows; those that the store does not have are left out."""
    wanted = {row.uid: row for row in rows}
    uids = {uid: f"{reader.project}:{_stored_name(row)}" for uid, row in wanted.items()}
    stored = {node.row.uid: node for node in await reader.store.symbols(list(uids.values()))}
    found: dict[str, Node] = {}
    for uid, row in wanted.items():
        node = stored.get(uids[uid])
        if node is None or (node.row.path, node.row.line) != (row.path, row.line):
            node = await _at(reader, row)
        if node is not None:
            found[uid] = node
    return found


def _stored_name(row: NodeRow) -> str:
    """Return the qualified name of a row in its own index: that of a file is its path."""
    return row.path if row.label in (Label.FILE, Label.MODULE) and "/" in row.qualified_name else row.qualified_name


async def _at(reader: Reader, row: NodeRow) -> Node | None:
    """Return the node of the same place and name: equal names of both projects may be numbered otherwise."""
    where = Filter(project=reader.project, path=row.path)
    name = row.name.partition("#")[0]
    nodes = await reader.store.find(name, Match.SUFFIX, where, MAX_SAME)
    same = [node for node in nodes if (node.row.path, node.row.line, node.row.label) == (row.path, row.line, row.label)]
    return same[0] if len(same) == 1 else None


def _has_both(one: CrossEdge, sources: Mapping[str, Node], targets: Mapping[str, Node]) -> bool:
    return one.source.uid in sources and one.target.uid in targets


def _joined(
    one: CrossEdge, sources: Mapping[str, Node], targets: Mapping[str, Node], links: Sequence[PackageLink]
) -> JoinedEdge:
    source, target = sources[one.source.uid], targets[one.target.uid]
    row = EdgeRow(source.row.uid, target.row.uid, *one.edge[2:])
    owner = target.row.uid.rpartition(".")[0] if target.row.kind == "constructor" else ""
    inside = [link for link in links if f"{target.row.path}".startswith(f"{link.package.folder}/".lstrip("/"))]
    link = max(inside or links, key=lambda link: len(link.package.folder))
    return JoinedEdge(Edge(row, source), owner, link)
