"""Calls by URL or of procedures and routes of two projects, matched by the linker's rule; events of equal names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from atlas.code.across.packages import ProjectView
from atlas.code.across.wrapped import wrapped_calls
from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node

MatchRoutes = Callable[[Sequence[tuple[str, str]], Sequence[tuple[str, str]]], list[tuple[list[int], bool]]]
"""(calls as path and methods, routes as method and path) -> for each call the routes that fit best, and whether they
have segments before those of the call (`atlas.parsing.match_routes`)."""

BASE = "/{}:"
"""The unknown beginning of a path."""
MAX_NODES = 100_000
MAX_EQUAL = 3
"""Routes that fit one call equally well; beyond it none is meant."""
LEAST_SERVED = 3
"""Different calls of one host that fit routes, from which on the host is taken for that of the server."""
CONFIDENCE = {"rpc-client": 0.85, "route-path": 0.85, "route-end": 0.65, "route-one-of": 0.4}
"""Lower than inside of one project, where the call and the route are known to belong together."""
_DESCRIBED = "openapi"
_PROCEDURE = "RPC"
"""The method of routes that are remote procedures."""
_REQUESTS = "MATCH (n) WHERE n.label IN ['Function', 'Method', 'Module', 'File', 'Class', 'Value'] RETURN n.uid"


@dataclass(frozen=True, slots=True)
class UnroutedRequest:
    """A call by URL that fits no route of its own project."""

    caller: Node
    methods: str
    path: str
    line: int
    host: str = ""
    """The host that is written if it is not one of the project's own."""
    is_described: bool = False
    """Whether the project has a description of the procedure, without anything that serves it."""


@dataclass(frozen=True, slots=True)
class RequestMatch:
    """A call by URL and a route of another project that it fits."""

    request: UnroutedRequest
    route: Node
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Requests:
    calls: tuple[UnroutedRequest, ...]
    unread: str


async def requests_of(view: ProjectView) -> tuple[UnroutedRequest, ...]:
    """Return the calls by URL that fit no route of their own project. Raises store errors."""
    return (await _requests_in(view)).calls


async def unread_requests(view: ProjectView) -> str:
    """Return why calls by URL may be missing among those of a project, "" if none. Raises store errors."""
    return (await _requests_in(view)).unread


async def _requests_in(view: ProjectView) -> _Requests:
    reader = view.reader
    return await reader.cache.get(reader.store, reader.project, "requests", partial(_read_requests, reader))


async def _read_requests(reader: Reader) -> _Requests:
    read = await reader.store.cypher(_REQUESTS, {}, MAX_NODES, 10.0, reader.project)
    nodes = await reader.store.symbols([str(row[0]) for row in read.rows], '"requests"')
    through = await wrapped_calls(reader)
    wrapped = [UnroutedRequest(one.caller, one.methods, one.path, one.line, one.host) for one in through.calls]
    places = {(one.caller.row.path, one.line) for one in wrapped}
    own = [request for node in nodes for request in _requests(node)]
    found = [*wrapped, *(one for one in own if (one.caller.row.path, one.line) not in places)]
    found += await _procedures_called(reader)
    found.sort(key=lambda one: (one.caller.row.is_test, one.caller.row.path, one.line, one.path))
    reasons = [f"only {MAX_NODES:,} symbols are looked at"] if read.truncated else []
    reasons += [f"calls through functions are not looked for: {through.unread}"] if through.unread else []
    return _Requests(tuple(found), "; ".join(reasons))


async def _procedures_called(reader: Reader) -> list[UnroutedRequest]:
    """Return the calls of procedures that the project only describes: each client has its copy of the description."""
    served = await served_procedures(reader)
    described = {node.row.uid: node for node in await _procedures(reader) if node.row.uid not in served}
    edges = await reader.store.edges(list(described), Direction.IN, (EdgeType.CALLS_ROUTE,), MAX_NODES)
    return [
        UnroutedRequest(edge.node, _PROCEDURE, route_form(described[edge.row.target])[1], line, is_described=True)
        for edge in edges
        for line in edge.row.lines
    ]


async def _procedures(reader: Reader) -> list[Node]:
    scope = Filter(project=reader.project, labels=(Label.ROUTE,))
    return list(await reader.store.find(f"{_PROCEDURE} /", Match.PREFIX, scope, 20_000))


def is_procedure(route: Node) -> bool:
    """Return whether a route is a remote procedure."""
    return route_form(route)[0] == _PROCEDURE


async def served_procedures(reader: Reader) -> frozenset[str]:
    """Return the uids of the procedures that a project serves. Raises store errors."""

    async def read() -> frozenset[str]:
        uids = [node.row.uid for node in await _procedures(reader)]
        edges = await reader.store.edges(uids, Direction.IN, (EdgeType.HANDLES_ROUTE,), MAX_NODES) if uids else []
        return frozenset(edge.row.target for edge in edges)

    return await reader.cache.get(reader.store, reader.project, "served procedures", read)


def _requests(node: Node) -> list[UnroutedRequest]:
    try:
        entries: Any = json.loads(node.row.properties)["requests"]
    except (ValueError, KeyError, TypeError):
        return []
    found: list[UnroutedRequest] = []
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
        match entry:
            case [str() as methods, str() as path, int() as line]:
                found.append(UnroutedRequest(node, methods, path, line))
            case _:
                pass
    return found


async def routes_of(view: ProjectView) -> tuple[Node, ...]:
    """Return the routes of a project that are not those of tests. Raises store errors."""
    reader = view.reader
    return await reader.cache.get(
        reader.store, reader.project, "routes outside of tests", partial(_read_routes, reader)
    )


async def _read_routes(reader: Reader) -> tuple[Node, ...]:
    rows = (await reader.store.cypher("MATCH (r:Route) RETURN r.uid", {}, 20_000, 10.0, reader.project)).rows
    nodes = await reader.store.symbols([str(row[0]) for row in rows])
    return tuple(node for node in nodes if not node.row.is_test)


async def matched(
    client: ProjectView, server: ProjectView, match: MatchRoutes, of: Sequence[UnroutedRequest] = ()
) -> tuple[RequestMatch, ...]:
    """Return the calls of the client, or some of them, with the routes of the server that they fit.

    The root fits every server and counts for none. Raises store errors.
    """
    requests, routes = of or await requests_of(client), await routes_of(server)
    calls = [one for one in requests if any(part and part != "{}:" for part in one.path.split("/"))]
    if not calls or not routes:
        return ()
    known = await _hosts_served(client, routes, match)
    forms = [route_form(node) for node in routes]
    fits = _fits(calls, forms, match)
    found: list[RequestMatch] = []
    for request, (places, is_below) in zip(calls, fits, strict=True):
        best = _code_first([routes[place] for place in places])
        if not best or len(best) > MAX_EQUAL or (is_below and len({route_form(node) for node in best}) > 1):
            continue
        if request.host and (is_below or request.host not in known):
            continue
        whole = "rpc-client" if request.methods == _PROCEDURE else "route-path"
        rule = "route-end" if is_below else whole if len(best) == 1 else "route-one-of"
        found += (RequestMatch(request, node, rule, CONFIDENCE[rule]) for node in best)
    return tuple(found)


def _fits(
    calls: Sequence[UnroutedRequest], forms: Sequence[tuple[str, str]], match: MatchRoutes
) -> list[tuple[list[int], bool]]:
    """Return the routes that each call fits; of one that fits none, those below an unknown beginning.

    What comes before all paths of a client may stand in a configuration, a proxy, or a value that no rule follows.
    """
    fits = match([(one.path, one.methods) for one in calls], forms)
    below = match([(f"{BASE}{one.path}", one.methods) for one in calls], forms)
    return [
        fit if fit[0] or one.host or one.path.startswith(BASE) else (under[0], True)
        for one, fit, under in zip(calls, fits, below, strict=True)
    ]


async def _hosts_served(client: ProjectView, routes: Sequence[Node], match: MatchRoutes) -> frozenset[str]:
    """Return the hosts that the client writes and whose paths are mostly routes of the server.

    A name on the internet says nothing about the project that serves it; many equal paths do.
    """
    calls = [one for one in await requests_of(client) if one.host]
    forms = [route_form(node) for node in routes]
    fits = match([(one.path, one.methods) for one in calls], forms) if calls else []
    served: dict[str, set[str]] = {}
    asked: dict[str, set[str]] = {}
    for one, (places, is_below) in zip(calls, fits, strict=True):
        asked.setdefault(one.host, set()).add(f"{one.methods} {one.path}")
        if places and not is_below:
            served.setdefault(one.host, set()).add(f"{one.methods} {one.path}")
    return frozenset(
        host for host, own in served.items() if len(own) >= LEAST_SERVED and 2 * len(own) >= len(asked[host])
    )


def route_form(node: Node) -> tuple[str, str]:
    """Return method and path of a route."""
    method, _, path = node.row.qualified_name.partition(" ")
    return method, path


def _code_first(routes: list[Node]) -> list[Node]:
    """Leave out descriptions of routes where code registers the same ones."""
    own = [node for node in routes if f'"framework":"{_DESCRIBED}"' not in node.row.properties]
    return own or routes


async def event_edges(view: ProjectView, names: Sequence[str]) -> list[Edge]:
    """Return what emits or handles events of these qualified names in a project. Raises store errors."""
    uids = [f"{view.reader.project}:{name}" for name in names]
    types = (EdgeType.EMITS_EVENT, EdgeType.HANDLES_EVENT)
    return list(await view.reader.store.edges(uids, Direction.IN, types, 1_000)) if uids else []


async def routes_handled_by(reader: Reader, nodes: Sequence[Node]) -> list[Node]:
    """Return the routes that functions serve. Raises store errors."""
    uids = [node.row.uid for node in nodes]
    types = (EdgeType.HANDLES_ROUTE,)
    found: dict[str, Node] = {}
    for direction in (Direction.OUT, Direction.IN):
        for edge in await reader.store.edges(uids, direction, types, 500) if uids else ():
            if edge.node.row.label == "Route":
                found[edge.node.row.uid] = edge.node
    return list(found.values())
