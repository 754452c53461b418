"""Answer who calls a route, and which routes a part of the project calls: by the edges `CALLS_ROUTE`.

Procedures (gRPC) are routes that code calls by the name of a method, so they are part of answers about callers, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.question.client_forms import ClientQuestion
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_CALLS = 5_000
"""Calls of routes that are read."""
_IS_PROCEDURE = "RPC /"
_PROCEDURE_NAME = lazy_regex(r"^(?:(?P<service>/?[\w.]+)[./])?(?P<method>\w+)$")
_WORDS = {
    "frontend": "frontend front-end front client web webapp ui app site www",
    "client": "client frontend web ui app",
    "web": "web webapp frontend client ui www site",
    "ui": "ui frontend client web webapp app",
    "mobile": "mobile app android ios",
    "backend": "backend server api services",
}
"""Names that folders of a part have, by the word of a question."""


async def calls_of(reader: Reader, routes: Sequence[Node]) -> list[Edge]:
    """Return the calls of routes; the node of each edge is the client. Raises store errors."""
    uids = [node.row.uid for node in routes]
    return list(await reader.store.edges(uids, Direction.IN, (EdgeType.CALLS_ROUTE,), MAX_CALLS)) if uids else []


async def answer_clients(
    reader: Reader, asked: str, routes: Sequence[Node], intent: RelationIntent, where: Filter
) -> EdgeAnswer:
    """Return the clients of routes. Without any it is unknown, as a URL may be composed in ways that no rule reads."""
    calls = [edge for edge in await calls_of(reader, routes) if keeps(where, edge.node)]
    names = {node.row.uid: node.row.name for node in routes}
    calls.sort(key=lambda edge: (edge.node.row.is_test, -edge.row.confidence, edge.node.row.path, edge.row.lines))
    related = tuple(_related(edge, names[edge.row.target]) for edge in calls)
    if related:
        title = f"clients of `{asked}`: {len(related)}"
        return EdgeAnswer(intent, Targets(asked, ()), related=related, title=title, routes=tuple(names))
    note = "no call by URL fits: unknown rather than none, because clients elsewhere and computed URLs are not seen"
    title = f"clients of `{asked}`: unknown"
    return EdgeAnswer(intent, Targets(asked, ()), notes=(note,), is_unknown=True, title=title, routes=tuple(names))


async def through_procedures(reader: Reader, uids: Sequence[str], direction: Direction) -> list[RelatedSymbol]:
    """Return who calls the procedures that symbols serve, or, outwards, what serves those that they call.

    A procedure that nothing here serves stands for itself. Raises store errors.
    """
    near, far = EdgeType.HANDLES_ROUTE, EdgeType.CALLS_ROUTE
    near, far = (near, far) if direction == Direction.IN else (far, near)
    edges = await reader.store.edges(list(uids), Direction.OUT, (near,), MAX_CALLS)
    routes = {each.node.row.uid: each for each in edges if each.node.row.name.startswith(_IS_PROCEDURE)}
    beyond = await reader.store.edges(list(routes), Direction.IN, (far,), MAX_CALLS) if routes else []
    found: dict[str, RelatedSymbol] = {}
    for edge in beyond:
        first = routes[edge.row.target]
        related = _related(edge, first.node.row.name)
        surest = min(edge.row.confidence, first.row.confidence)
        lines = edge.row.lines if direction == Direction.IN else ()
        strategy = edge.row.strategy if direction == Direction.IN else first.row.strategy
        found[edge.node.row.uid] = replace(related, lines=lines, strategy=strategy, confidence=surest)
    if direction == Direction.OUT:
        served = {edge.row.target for edge in beyond}
        for uid, edge in routes.items():
            if uid not in served:
                found[uid] = RelatedSymbol(edge.node, edge.node.row.path, (), edge.row.strategy, edge.row.confidence)
    return list(found.values())


async def procedures_named(reader: Reader, name: str) -> list[Node]:
    """Return the procedures with a name: `Charge`, `Payment.Charge`, `/shop.Payment/Charge`. Raises store errors."""
    match = _PROCEDURE_NAME.match(name)
    if match is None:
        return []
    scope = Filter(project=reader.project, labels=(Label.ROUTE,))
    found: list[Node] = []
    for node in await reader.store.find(_IS_PROCEDURE, Match.PREFIX, scope, MAX_CALLS):
        service, _, method = node.row.name.removeprefix(_IS_PROCEDURE).partition("/")
        asked = (match["service"] or "").lstrip("/")
        if method == match["method"] and (not asked or f".{service}".endswith(f".{asked}")):
            found.append(node)
    return found


async def answer_part(
    reader: Reader, question: ClientQuestion, routes: Sequence[Node], where: Filter
) -> EdgeAnswer | None:
    """Return the routes that a part of the project calls, None if no call by URL is known. Raises store errors."""
    edges = [edge for edge in await calls_of(reader, routes) if keeps(where, edge.node)]
    calls = [edge for edge in edges if not edge.node.row.is_test] or edges
    part = re.sub(r"[- ]|app$", "", question.part) if "/" not in question.part else question.part
    words = _WORDS.get(part, part).split()
    mine: list[Edge] = []
    for word in words:
        mine = [edge for edge in calls if _is_below(edge.node.row.path, word)]
        if mine:
            break
    if not mine and "/" not in question.part:
        # a frontend without a folder of that name is usually written in another language
        spoken = {node.row.uid: node.row.language for node in routes}
        mine = [edge for edge in calls if edge.node.row.language != spoken[edge.row.target]]
    if not mine:
        return None
    names = {node.row.uid: node.row.name for node in routes}
    mine.sort(key=lambda edge: (edge.node.row.path, edge.row.lines))
    related = tuple(_related(edge, names[edge.row.target]) for edge in mine)
    title = f"{counted(len({edge.row.target for edge in mine}), 'route')} called by `{question.part}`"
    return EdgeAnswer(RelationIntent(Kind.CALLERS, ""), Targets("", ()), related=related, title=title)


def _related(edge: Edge, route: str) -> RelatedSymbol:
    row = edge.row
    return RelatedSymbol(edge.node, edge.node.row.path, row.lines, row.strategy, row.confidence, of=route)


def _is_below(path: str, word: str) -> bool:
    return path.lower().startswith(f"{word.rstrip('/')}/") if "/" in word else word in path.lower().split("/")[:-1]
