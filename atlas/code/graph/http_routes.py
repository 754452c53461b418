"""Answer questions about routes, events and commands from the graph: `which route handles GET /users/42`.

A concrete path matches the templates of the index (`/users/{id}`, `/users/:id`, `/users/<int:id>`); a name matches
handlers. `route_forms` reads the questions about routes; those about events count only if the index has the event.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from atlas.code.graph.absence.proof import prove_no_routes
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.route_clients import answer_clients, answer_part, calls_of
from atlas.code.graph.targets import Targets
from atlas.code.question.client_forms import ClientQuestion
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.code.question.route_forms import RouteQuestion, stems_of
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.code.retrieve.resolve import resolve
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import STRUCTURE_PATH, Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_ROUTES = 20_000
MAX_HANDLERS = 500
_METHODS = (
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY", "TRACE", "CONNECT", "WEBSOCKET", "RPC",
)  # fmt: skip
"""Names of routes begin with one of these."""
_NAME = r"(?:the )?[`'\"]?(?P<name>[\w.:/-]*\w)[`'\"]?"
_WORD = r"(?P<word>signals?|events?|tasks?|messages?|topics?|queues?|commands?)"
_WHO = (
    r"^(?:show |list |find )?(?:me )?"
    r"(?:(?:what|who|which|where)(?: \w+){0,2}?|handlers?|listeners?|receivers?|subscribers?)"
)
_EVENT_FORMS = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        rf"{_WHO} (?:(?:is|are) )?(?:handles?|listens? (?:to|for|on)|receives?|reacts? to|responds? to|subscribes? to"
        rf"|consumes?|implements?|runs?|executes?|(?:registered|connected|subscribed) (?:for|to|with)|of|for|to)"
        rf" {_NAME}(?: {_WORD})?\??$",
        rf"{_WHO} (?:(?:is|are) )?(?:handles?|listens? (?:to|for|on)|receives?|reacts? to|subscribes? to|consumes?"
        rf"|implements?|runs?|executes?|of|for|to) (?:the )?{_WORD} {_NAME}\??$",
        rf"^where (?:is|are) (?:the )?{_WORD} {_NAME} (?:handled|implemented|defined|registered|received)\??$",
        rf"^where (?:is|are) {_NAME} {_WORD} (?:handled|implemented|defined|registered|received)\??$",
        rf"^where (?:is|are) {_NAME}(?: (?P<word>))? (?:handled|received|listened to)\??$",
        rf"^(?:what|which \w+) (?:does|function does) (?:the )?{_WORD} {_NAME} (?:run|call|execute|do)\??$",
    )
)
_EMIT_FORMS = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        rf"^(?:what|who|which \w+|where) (?:emits?|sends?|fires?|triggers?|publish(?:es)?|dispatch(?:es)?|queues?"
        rf"|enqueues?) {_NAME}(?: {_WORD})?\??$",
        rf"^where (?:is|are) {_NAME}(?: {_WORD})? (?:emitted|sent|fired|triggered|published|dispatched|queued)\??$",
        rf"^(?:emitters?|senders?|publishers?) of {_NAME}(?: {_WORD})?\??$",
    )
)
_LIST_OF = lazy_regex(
    r"^(?:(?:what|which|list|show|all)(?: me)?(?: all)?(?: of)?(?: the)? )(?:[\w-]+ ){0,2}?"
    r"(?:sub)?(?P<word>commands|events|signals|tasks)"
    r"(?: (?:(?:are )?(?:there|defined|available|registered|supported|provided)|exist"
    r"|do(?:es)? .{1,40} (?:have|define|offer|provide|register|support)|(?:of|in) .{1,40}))?\??$",
    re.IGNORECASE,
)
"""Words in front, such as `CLI` or `celery`, only say more about the kind, which the index knows."""

_VERB = (
    r"(?:get|post|put|patch|delete|head|options|route|any|all|websocket|handle(?:func)?|map\w+|add_\w*route|endpoint"
    r"|url)"
)
_ROUTE_LIKE = lazy_regex(
    rf"@\w[\w.]*\(\s*r?[\"'`]/|[@.:]{_VERB}\(\s*r?[\"'`]|@\w*(?:Mapping|Path|Route)\b|\[(?:Http\w+|Route)\b"
    rf"|\b(?:re_)?path\(\s*r?[\"']|\burl\(\s*r?[\"']|#\[{_VERB}\(|^\s*{_VERB}\s+[\"']/|^\s*resources?\s+:",
    re.IGNORECASE,
)
"""A line that may register a route: decorators, attributes, calls and the words of a router."""
_SHOWN = 5

_PARAMETER = lazy_regex(r"^(?:\{.*\}|<.*>|:\w+.*|\[.*\])$")
_PARTS = lazy_regex(r"\{[^{}]*\}|<[^<>]*>|:\w+")
_GLOB = lazy_regex(r"[*?\[]")
_MANY = lazy_regex(r"^(?:\{.*\*\}|\{\*.*\}|<path:.*>|\*.*|\[\.\.\..*\]|\{.*:path\})$")


async def answer_routes(
    reader: Reader, question: RouteQuestion, intent: RelationIntent | None, where: Filter
) -> EdgeAnswer | None:
    """Return the routes that a question asks for, None if the index has none that fit. Raises store errors."""
    nodes = await _nodes(reader, Label.ROUTE, where)
    if not nodes and not question.name:
        return None if question.path or question.words else await _without_routes(reader, intent, where)
    intent = replace(intent or _intent(question.path or question.name), kind=Kind.ROUTES)
    kept = [node for node in nodes if keeps(where, node) and _in_tests(node, intent)]
    notes: tuple[str, ...] = ()
    asked = f"{question.method} {question.path}".strip()
    if question.path:
        scored = [(score, node) for node in kept if (score := _fits(question, node)) is not None]
        # a literal segment is a closer match than a parameter
        scored.sort(key=lambda each: (-each[0], each[1].row.path, each[1].row.line))
        found, notes = _without_catch_alls([node for _, node in scored])
        below = [node for node in kept if question.path.rstrip("/").lower() in _path_of(node).lower()]
        if question.is_prefix and below:
            found, notes = below, ()
        elif below and (not found or all(_is_catch_all(node) for node in found)):
            notes = (f"no route matches `{asked}` as a whole: these contain it",)
            found = below
        if not found:
            return None
        if question.clients:
            closest = [node for score, node in scored if score == scored[0][0]] or found
            return await answer_clients(reader, asked, closest[:MAX_HANDLERS], intent, where)
        return EdgeAnswer(
            intent,
            Targets(asked, ()),
            related=await _with_handlers(reader, found[:MAX_HANDLERS]),
            notes=notes,
            title=f"routes that match `{asked}`: {len(found)}",
            routes=tuple(node.row.uid for node in found[:MAX_HANDLERS]),
        )
    if question.words:
        return await _of_words(reader, question.words, intent, [node for node in kept if not node.row.is_test])
    if question.name:
        return await _of_handler(reader, question.name, intent, nodes, where)
    kept = _without_descriptions(kept)
    own = [node for node in kept if not node.row.is_test]
    notes = (f"{counted(len(kept) - len(own), 'route')} of tests left out",) if own and len(own) < len(kept) else ()
    found = own or kept
    if not found:
        return None
    found = sorted(found, key=lambda node: (node.row.path, node.row.line))
    return EdgeAnswer(
        intent,
        Targets("", ()),
        related=await _with_handlers(reader, found),
        notes=notes,
        title=f"routes: {len(found)}",
    )


async def answer_called(reader: Reader, question: ClientQuestion, where: Filter) -> EdgeAnswer | None:
    """Return the routes that a part of the project calls, None if none is known. Raises store errors."""
    return await answer_part(reader, question, await _nodes(reader, Label.ROUTE, where), where)


async def _without_routes(reader: Reader, intent: RelationIntent | None, where: Filter) -> EdgeAnswer | None:
    """Return that routes are unknown where the project has a framework for them; None without one."""
    absence = await prove_no_routes(reader, where.project)
    if absence is None:
        return None
    intent = replace(intent or _intent(""), kind=Kind.ROUTES)
    return EdgeAnswer(intent, Targets("", ()), notes=(absence.sentence,), is_unknown=True, title="routes: unknown")


def _without_descriptions(nodes: Sequence[Node]) -> list[Node]:
    """Return routes without those that a description repeats."""
    served = {node.row.name for node in nodes if not _is_described(node)}
    return [node for node in nodes if node.row.name not in served or not _is_described(node)]


def _is_described(node: Node) -> bool:
    return '"openapi"' in node.row.properties


async def _of_words(
    reader: Reader, words: Sequence[str], intent: RelationIntent, nodes: Sequence[Node]
) -> EdgeAnswer | None:
    """Return the routes whose path or handler has all the words, None without any."""
    related = await _with_handlers(reader, nodes)
    found = [
        each
        for each in related
        if set(words) <= set(stems_of(f"{each.node.row.name} {each.of.partition(' ')[0].rpartition('.')[2]}"))
    ]
    if not found:
        return None
    title = f"routes with the words `{' '.join(words)}`: {len(found)}"
    return EdgeAnswer(intent, Targets("", ()), related=tuple(found[:MAX_HANDLERS]), title=title)


async def answer_events(reader: Reader, text: str, where: Filter) -> EdgeAnswer | None:
    """Return handlers or emitters of an event, or all events of a kind; None for another question."""
    if len(text) > 200:
        return None
    if (listed := _LIST_OF.match(text)) is not None:
        return await _listed_events(reader, listed["word"].lower().rstrip("s"), where)
    for forms, edge, verb in (
        (_EMIT_FORMS, EdgeType.EMITS_EVENT, "emitters"),
        (_EVENT_FORMS, EdgeType.HANDLES_EVENT, "handlers"),
    ):
        for form in forms:
            match = form.match(text)
            if match is None:
                continue
            name = match["name"].rpartition(".")[2] if "." in match["name"] else match["name"]
            events = await _events_named(reader, name, (match["word"] or "").lower(), where)
            if not events:
                continue
            edges = await reader.store.edges([node.row.uid for node in events], Direction.IN, (edge,), MAX_ROUTES)
            if not edges:
                continue
            related = [
                RelatedSymbol(each.node, each.node.row.path, each.row.lines, each.row.strategy, each.row.confidence)
                for each in edges
                if keeps(where, each.node)
            ]
            title = f"{verb} of the {events[0].row.kind} `{name}`: {len(related)}"
            return EdgeAnswer(_intent(name), Targets(name, ()), related=tuple(related), title=title)
    return None


async def _listed_events(reader: Reader, word: str, where: Filter) -> EdgeAnswer | None:
    kinds = (word, "dom_event", "message") if word == "event" else (word,)
    events = [node for node in await _nodes(reader, Label.EVENT, where) if node.row.kind in kinds]
    if not events:
        return None
    names = {node.row.uid: node.row.name for node in events}
    edges = await reader.store.edges(list(names), Direction.IN, (EdgeType.HANDLES_EVENT,), MAX_ROUTES)
    related = tuple(
        RelatedSymbol(
            each.node,
            each.node.row.path,
            each.row.lines,
            each.row.strategy,
            each.row.confidence,
            of=names[each.row.target],
        )
        for each in edges
        if keeps(where, each.node)
    )
    return EdgeAnswer(_intent(""), Targets("", ()), related=related, title=f"handlers of {word}s: {len(related)}")


async def _events_named(reader: Reader, name: str, word: str, where: Filter) -> list[Node]:
    found = await reader.store.find(name, Match.SUFFIX, Filter(project=where.project, labels=(Label.EVENT,)), 20)
    events = [node for node in found if node.row.label == Label.EVENT and node.row.name == name]
    of_kind = [node for node in events if word and node.row.kind.startswith(word.rstrip("s"))]
    return of_kind or events


async def _of_handler(
    reader: Reader, name: str, intent: RelationIntent, nodes: Sequence[Node], where: Filter
) -> EdgeAnswer | None:
    """Return the routes that a function, a class with its methods, or the registrations of a file serve."""
    resolution = await resolve(reader, name, Filter(project=where.project))
    if not resolution.nodes or resolution.how == "near":
        return None
    uids = [node.row.uid for node in resolution.nodes[:20]]
    members = await reader.store.edges(uids, Direction.OUT, (EdgeType.DEFINES, EdgeType.DEFINES_METHOD), MAX_HANDLERS)
    uids += [each.node.row.uid for each in members]
    edges = await reader.store.edges(list(dict.fromkeys(uids)), Direction.OUT, (EdgeType.HANDLES_ROUTE,), MAX_ROUTES)
    paths = {node.row.path for node in resolution.nodes if node.row.label in (Label.MODULE, Label.FILE)}
    found = {each.node.row.uid: each.node for each in edges}
    found |= {node.row.uid: node for node in nodes if node.row.path in paths}
    related = await _with_handlers(reader, list(found.values()))
    if found:
        return EdgeAnswer(intent, Targets(name, ()), related=related, title=f"routes of `{name}`: {len(found)}")
    lines = await _like_routes(reader, resolution.nodes)
    if not lines:
        return EdgeAnswer(intent, Targets(name, ()), title=f"routes of `{name}`: none") if nodes else None
    places = f"{', '.join(lines[:_SHOWN])}{f' and {len(lines) - _SHOWN} more' if len(lines) > _SHOWN else ''}"
    note = f"no resolved routes: unknown rather than none, because lines look like routes: {places}"
    title = f"routes of `{name}`: unknown"
    return EdgeAnswer(intent, Targets(name, ()), notes=(note,), is_unknown=True, title=title)


async def _like_routes(reader: Reader, nodes: Sequence[Node]) -> list[str]:
    """Return the lines of symbols and their decorators that look like routes."""
    spans = {node.row.path: (node.row.start_line, node.row.end_line) for node in nodes if node.row.path}
    contents = await reader.store.content(nodes[0].project, sorted(spans))
    whole = {node.row.path for node in nodes if node.row.label in (Label.MODULE, Label.FILE, Label.PACKAGE)}
    found: list[str] = []
    for path, content in contents.items():
        first, last = (1, 1 << 30) if path in whole else spans[path]
        numbered = list(enumerate(content.decode("utf-8", "replace").split("\n"), 1))[first - 1 : last]
        found += (f"{path}:{at}" for at, line in numbered if _ROUTE_LIKE.search(line[:500]))
    return found


async def _with_handlers(reader: Reader, routes: Sequence[Node]) -> tuple[RelatedSymbol, ...]:
    """Return one entry per route; `of` is its handler with its place."""
    edges = await reader.store.edges(
        [node.row.uid for node in routes], Direction.IN, (EdgeType.HANDLES_ROUTE,), MAX_ROUTES
    )
    handlers: dict[str, tuple[str, str, float]] = {}
    for each in edges:
        far = each.node.row
        # the node around an anonymous function says little
        name = "" if far.label in (Label.MODULE, Label.FILE) else f"{far.qualified_name} ({far.path}:{far.line})"
        handlers[each.row.target] = (name, each.row.strategy, each.row.confidence)
    calls = Counter(edge.row.target for edge in await calls_of(reader, routes))
    found: list[RelatedSymbol] = []
    for node in routes:
        name, strategy, confidence = handlers.get(node.row.uid, ("", "", 1.0))
        if clients := calls[node.row.uid]:
            name = f"{name}, {counted(clients, 'client')}".removeprefix(", ")
        found.append(RelatedSymbol(node, node.row.path, (node.row.line,), strategy, confidence, of=name))
    return tuple(found)


async def _nodes(reader: Reader, label: Label, where: Filter) -> list[Node]:
    """Return all routes or events."""
    scope = Filter(project=where.project, labels=(label,))
    if label == Label.EVENT:
        return list(await reader.store.find(STRUCTURE_PATH, Match.PATH, scope, MAX_ROUTES))
    found: list[Node] = []
    for method in _METHODS:
        found += await reader.store.find(f"{method} /", Match.PREFIX, scope, MAX_ROUTES)
    return found


def _fits(question: RouteQuestion, node: Node) -> int | None:
    """Return how closely a route matches, None if it does not: a literal segment counts more than a parameter."""
    method = node.row.name.partition(" ")[0]
    if question.method and method not in (question.method, "ANY", "ALL", "WEBSOCKET"):
        return None
    asked, template = _segments(question.path), _segments(_path_of(node))
    score = 1 if method == question.method else 0
    for at, part in enumerate(template):
        if _MANY.match(part):
            return score
        if at >= len(asked):
            return None
        if part.lower() == asked[at].lower() or (_PARAMETER.match(part) and _PARAMETER.match(asked[at])):
            score += 3
        elif _PARAMETER.match(part):
            score += 1
        elif not re.search(r"[{<:]", part) or not _is_mixed(part, asked[at]):
            return None
    return score if len(template) == len(asked) else None


def _without_catch_alls(nodes: list[Node]) -> tuple[list[Node], tuple[str, ...]]:
    """Return the routes without those that match every path below theirs, if others are left, and a note about them."""
    wide = [node for node in nodes if _is_catch_all(node)]
    if not wide or len(wide) == len(nodes):
        return nodes, ()
    shown = ", ".join(f"{node.row.name} {node.row.path}:{node.row.line}" for node in wide[:3])
    more = f" and {len(wide) - 3} more" if len(wide) > 3 else ""
    return [node for node in nodes if node not in wide], (f"routes for every path below match as well: {shown}{more}",)


def _is_catch_all(node: Node) -> bool:
    return any(_MANY.match(part) for part in _segments(_path_of(node))[-1:])


def _is_mixed(part: str, asked: str) -> bool:
    """Match a segment with a parameter inside: `{name}.json`."""
    # a glob is matched in linear time; routes are what a repository says
    return fnmatchcase(asked, "?*".join(_GLOB.sub(r"[\g<0>]", literal) for literal in _PARTS.split(part)))


def _path_of(node: Node) -> str:
    try:
        return str(json.loads(node.row.properties)["path"])
    except (ValueError, KeyError, TypeError):
        return node.row.name.partition(" ")[2]


def _segments(path: str) -> list[str]:
    return [part for part in path.partition("?")[0].split("/") if part]


def _in_tests(node: Node, intent: RelationIntent) -> bool:
    return not (
        (intent.tests == TestScope.ONLY and not node.row.is_test)
        or (intent.tests == TestScope.EXCLUDED and node.row.is_test)
    )


def _intent(name: str) -> RelationIntent:
    return RelationIntent(Kind.ROUTES, name)
