"""From a definition to the places in another project that use it, and from an imported name to its definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from atlas.code.across.exports import EXPORTED, exports
from atlas.code.across.joined import JoinedEdge, joined
from atlas.code.across.packages import (
    BY_IMPORT_NAME,
    PackageLink,
    ProjectView,
    external_filter,
    external_name,
    links_to,
    owners_of,
)
from atlas.code.across.symbols import CONFIDENCE, Found, belongs, definition_of
from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Label, Match, Node

MAX_NAMED = 400
"""External symbols with the name of a definition that are walked to what they mean."""
MAX_EDGES = 5_000


@dataclass(frozen=True, slots=True)
class OutsideUse:
    """An edge of another project that ends at what the definition is there: an imported name."""

    edge: Edge
    """Its node is the symbol of the other project."""
    link: PackageLink
    rule: str
    confidence: float
    """Of the edge, of the walk and of the package together."""


@dataclass(frozen=True, slots=True)
class OutsideDefinition:
    """What an imported name means in another project."""

    provider: ProjectView
    node: Node
    link: PackageLink
    rule: str
    confidence: float


async def uses_of(
    consumer: ProjectView, provider: ProjectView, nodes: Sequence[Node], types: Collection[EdgeType]
) -> list[OutsideUse]:
    """Return the edges of the consumer that end at definitions of the provider. Raises store errors."""
    links = await links_to(consumer, provider)
    wanted = {node.row.uid for node in nodes}
    if not links or not wanted:
        return []
    meant: dict[str, tuple[PackageLink, Found]] = {}
    for name in dict.fromkeys(node.row.name.partition("#")[0] for node in nodes):
        found = await consumer.reader.store.find(
            name, Match.SUFFIX, external_filter(consumer.reader.project), MAX_NAMED
        )
        for uid, link, one in await _walked(consumer, provider, links, found):
            if one.node.row.uid in wanted:
                meant[uid] = (link, one)
    for uid, link, one in await _exported_as(consumer, provider, links, wanted):
        meant.setdefault(uid, (link, one))
    between = [one for one in (await joined(consumer, provider, links)).edges if one.edge.row.type in types]
    uses = [_joined_use(one) for one in between if one.edge.row.target in wanted or one.owner in wanted]
    modules = [node for node in nodes if node.row.label in (Label.MODULE, Label.PACKAGE)]
    if modules and EdgeType.IMPORTS in types:
        for uid, link in await _inside_of(consumer, links, modules):
            meant.setdefault(uid, (link, Found(modules[0], EXPORTED)))
    edges = await consumer.reader.store.edges(list(meant), Direction.IN, tuple(types), MAX_EDGES) if meant else []
    return [*(_use(edge, *meant[edge.row.target]) for edge in edges if edge.node.row.path), *uses]


async def _exported_as(
    consumer: ProjectView, provider: ProjectView, links: Sequence[PackageLink], wanted: Collection[str]
) -> list[tuple[str, PackageLink, Found]]:
    """Return the external names under which a package exports definitions: `default`, or a name of its own."""
    reader = consumer.reader
    found: list[tuple[str, PackageLink, Found]] = []
    for link in links:
        for name, one in (await exports(consumer, provider, link)).names.items():
            if not one.rest and one.node.row.uid in wanted:
                found.append((f"{reader.project}:ext:{name}", link, Found(one.node, one.rule)))
    return found


async def _inside_of(
    consumer: ProjectView, links: Sequence[PackageLink], modules: Sequence[Node]
) -> list[tuple[str, PackageLink]]:
    """Return the external names that stand below modules: `from shop import Cart` imports something of `shop`."""
    names = {node.row.qualified_name for node in modules}
    found: list[tuple[str, PackageLink]] = []
    for link in links:
        if link.package.ecosystem not in BY_IMPORT_NAME:
            continue
        for root in {name.partition(".")[0] for name in names}:
            uids = await _contents(consumer.reader, [f"{consumer.reader.project}:ext:{root}"])
            nodes = await consumer.reader.store.symbols(uids)
            found += [(node.row.uid, link) for node in nodes if external_name(node).rpartition(".")[0] in names]
    return found


async def _contents(reader: Reader, uids: Sequence[str]) -> list[str]:
    """Return packages with what they contain, two levels deep."""
    inside = list(dict.fromkeys(uids))
    level = inside
    for _ in range(2):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.CONTAINS,), MAX_EDGES)
        level = [edge.node.row.uid for edge in edges if edge.node.row.uid not in inside]
        inside = [*inside, *level]
    return inside


async def importers_of(consumer: ProjectView, provider: ProjectView) -> list[tuple[PackageLink, list[Edge]]]:
    """Return the packages of the provider that the consumer uses, with its imports of them. Raises store errors."""
    found: list[tuple[PackageLink, list[Edge]]] = []
    reader = consumer.reader
    for link in await links_to(consumer, provider):
        uids = [link.declared.target] if link.declared is not None else []
        uids += [
            f"{reader.project}:ext:{link.package.name}",
            f"{reader.project}:ext:{link.package.name.replace('-', '_')}",
        ]
        inside = await _contents(reader, uids)
        found.append((link, list(await reader.store.edges(inside, Direction.IN, (EdgeType.IMPORTS,), MAX_EDGES))))
    return found


async def definitions_of(
    consumer: ProjectView, providers: Sequence[ProjectView], nodes: Sequence[Node]
) -> dict[str, list[OutsideDefinition]]:
    """Return what external symbols of the consumer mean in other projects, by uid. Raises store errors.

    Several for a package that several projects provide.
    """
    found: dict[str, list[OutsideDefinition]] = {}
    for provider in providers:
        links = await links_to(consumer, provider)
        for uid, link, one in await _walked(consumer, provider, links, nodes) if links else ():
            confidence = round(link.confidence * CONFIDENCE[one.rule], 2)
            found.setdefault(uid, []).append(OutsideDefinition(provider, one.node, link, one.rule, confidence))
    return found


async def _walked(
    consumer: ProjectView, provider: ProjectView, links: Sequence[PackageLink], nodes: Sequence[Node]
) -> list[tuple[str, PackageLink, Found]]:
    """Return what external nodes mean in the provider; those that mean nothing there are omitted."""
    owners = await owners_of(consumer.reader, nodes) if nodes else {}
    walked: list[tuple[str, PackageLink, Found]] = []
    exported = {link: (await exports(consumer, provider, link)).names for link in links} if nodes else {}
    for node in nodes:
        name, own = external_name(node), owners.get(node.row.uid, [])
        for link in links:
            if not belongs(name, own, link):
                continue
            one = await definition_of(provider, link, name, own, exported[link].get(name))
            if one is not None:
                walked.append((node.row.uid, link, one))
                break
    return walked


def _joined_use(one: JoinedEdge) -> OutsideUse:
    confidence = round(one.edge.row.confidence * one.link.confidence, 2)
    return OutsideUse(one.edge, one.link, one.edge.row.strategy, confidence)


def _use(edge: Edge, link: PackageLink, found: Found) -> OutsideUse:
    confidence = round(edge.row.confidence * CONFIDENCE[found.rule] * link.confidence, 2)
    return OutsideUse(edge, link, found.rule, confidence)
