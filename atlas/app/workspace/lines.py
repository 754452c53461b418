"""What the other projects of a workspace add to an answer about one project, as lines of its evidence.

An answer is read for what it is about: symbols, routes, packages, or a name that the project does not have. Each line
names the project, what links both, and how sure that is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas.answers.evidence import IN_PROJECT
from atlas.code.across.exports import exports
from atlas.code.across.joined import joined
from atlas.code.across.packages import PackageLink, ProjectView, links_to
from atlas.code.across.requests import (
    RequestMatch,
    event_edges,
    is_procedure,
    matched,
    requests_of,
    routes_handled_by,
    routes_of,
    served_procedures,
    unread_requests,
)
from atlas.code.across.uses import OutsideUse, definitions_of, importers_of, uses_of
from atlas.code.changes.impact import Seed, trace_impact
from atlas.code.question.relation_kinds import EDGES, Kind
from atlas.code.tools.citations import local_name, place_of
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.symbol.symbol_answers import ContextAnswer, NodeAnswer
from atlas.core.invisible import escaped
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted
from atlas.parsing import match_routes

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.code.reader import Reader

SHOWN = 8
"""Places of one project that a line names."""
MAX_LINES = 6
"""Lines of evidence of one place."""
MAX_SUBJECTS = 20
MAX_NAMES = 2
"""Names that a project does not have which are looked up in the others."""
MAX_MEMBERS = 500
_USES = EDGES[Kind.USAGES][0]
_INWARD = (
    Kind.CALLERS, Kind.USAGES, Kind.INSTANTIATIONS, Kind.RETURNERS, Kind.TESTS, Kind.SUBTYPES, Kind.HIERARCHY,
    Kind.OVERRIDES, Kind.IMPORTERS, Kind.DEPENDENTS, Kind.IMPACT,
)  # fmt: skip
_MODULES = (Label.MODULE, Label.PACKAGE, Label.FILE)
_EVENT = lazy_regex(r"\bevent:\S{1,300}")
_EVENTS = (EdgeType.EMITS_EVENT, EdgeType.HANDLES_EVENT)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What an answer is about."""

    kind: Kind
    uids: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Names that the project does not have."""
    is_about_packages: bool = False
    events: tuple[str, ...] = ()
    """Qualified names of events that the answer shows."""


def concerns_others(answer: Answer) -> bool:
    """Return whether other projects may have something to add to an answer: only then are they opened."""
    subject = _subject_of(answer)
    if subject is None:
        return False
    return bool(subject.uids or subject.routes or subject.names or subject.is_about_packages or subject.events)


async def lines_across(own: ProjectView, others: Sequence[ProjectView], answer: Answer) -> tuple[str, ...]:
    """Return what other projects add to an answer of the own one, the surest first. Raises store errors."""
    subject = _subject_of(answer)
    if subject is None or not others:
        return ()
    nodes = await own.reader.store.symbols(list(subject.uids[:MAX_SUBJECTS])) if subject.uids else []
    outside = [node for node in nodes if node.row.label in EXTERNAL_LABELS]
    inside = [node for node in nodes if node.row.label not in EXTERNAL_LABELS]
    routes = await own.reader.store.symbols(list(subject.routes)) if subject.routes else []
    lines = [line async for line in _definitions(own, others, outside)]
    if inside and subject.kind in _INWARD:
        routes += await routes_handled_by(own.reader, inside)
        for other in others:
            lines += [line async for line in _uses(own, other, others, inside, subject.kind)]
    if inside and subject.kind in (Kind.CALLEES, Kind.USAGES, Kind.IMPACT):
        lines += [line async for line in _called(own, others, inside)]
    if routes:
        for other in others:
            lines += [line async for line in _clients(own, other, routes)]
    lines += [line async for line in _events(own, others, inside, subject.events)]
    if subject.is_about_packages:
        lines += [line async for line in _packages(own, others)]
    for name in subject.names[:MAX_NAMES]:
        lines += [line async for line in _elsewhere(others, name)]
    return tuple(escaped(" ".join(line.split())) for line in lines)


def _subject_of(answer: Answer) -> _Subject | None:
    """Return what an answer is about, None where other projects have nothing to add."""
    match answer:
        case RelationAnswer():
            kind = Kind(answer.kind)
            uids = tuple(each.uid for each in answer.subjects)
            return _Subject(kind, uids, answer.routes, _missing(answer))
        case ContextAnswer() | NodeAnswer():
            symbol = answer.symbol if isinstance(answer, ContextAnswer) else answer.node and answer.node.symbol
            named = (*answer.lookup.candidates, *answer.lookup.near)
            candidates = tuple(each.uid for each in named if each.kind == "external_symbol")
            return _Subject(Kind.USAGES, (symbol.uid,) if symbol else candidates, (), _missing(answer))
        case ReportAnswer() if answer.report.kind == "impact":
            return _Subject(Kind.IMPACT, answer.report.subjects, answer.report.routes)
        case ReportAnswer() if answer.report.kind == "packages":
            return _Subject(Kind.DEPENDENCIES, is_about_packages=True)
        case SearchAnswer():
            hits = [hit.symbol for hit in answer.hits[:5] if hit.symbol.kind.startswith("external")]
            events = tuple(dict.fromkeys(name for line in answer.card for name in _EVENT.findall(line)))
            return _Subject(Kind.DEFINITION, tuple(each.uid for each in hits), (), _missing(answer), events=events)
        case _:
            return None


def _missing(answer: Answer) -> tuple[str, ...]:
    """Return the names that the project does not have."""
    result = answer.result()
    return tuple(name for name in result.asked if name) if result.is_missing or result.is_empty else ()


async def _definitions(own: ProjectView, others: Sequence[ProjectView], nodes: Sequence[Node]) -> AsyncIterator[str]:
    """Say where other projects define what the own one only imports."""
    found = await definitions_of(own, others, nodes) if nodes else {}
    for node in nodes:
        meant = found.get(node.row.uid, [])
        if len(meant) > 1:
            yield f"{_name(node)} is provided by {len(meant)} projects of the workspace, not known which is installed:"
        for other in others if not meant else ():
            named = [(link, link.package.name) for link in await links_to(own, other)]
            links = [link for link, name in named if f"{_name(node)}.".startswith((f"{name}.", f"{name}/"))]
            if links and (said := await _unlinked(own, other, links)):
                yield f"{_name(node)} may be of project {other.label} ({links[0].said}){said}"
        for one in meant:
            row = one.node.row
            yield (
                f"{_name(node)} is {row.kind} {row.qualified_name} {place_of(row)} in project {one.provider.label} "
                f"({one.link.said}; {one.rule} {one.confidence:.2f})"
            )


async def _uses(
    own: ProjectView, other: ProjectView, others: Sequence[ProjectView], nodes: Sequence[Node], kind: Kind
) -> AsyncIterator[str]:
    """Say what uses definitions of the own project in another one; what lies behind the uses, for an impact."""
    links = await links_to(other, own)
    if not links:
        return
    nodes = await _with_members(own.reader, nodes, kind)
    types = _USES if kind in (Kind.IMPACT, Kind.USAGES, Kind.DEPENDENTS) else EDGES[kind][0]
    types = _USES if kind is Kind.TESTS else (EdgeType.INHERITS,) if kind is Kind.OVERRIDES else types
    uses = await uses_of(other, own, nodes, types)
    if kind is Kind.TESTS:
        uses = [one for one in uses if one.edge.node.row.is_test]
    said = "; ".join(link.said for link in links)
    also = [third.label for third in others if third is not other and await _provides(other, third, own)]
    doubt = f"; also provided by {', '.join(also)}: not known which one is installed" if also else ""
    word = "uses" if kind is Kind.IMPACT else kind.value
    left_out = (await joined(other, own, links)).left_out
    doubt += f"; uses in {counted(left_out, 'file')} of both are not compared: too many" if left_out else ""
    doubt += await _unlinked(other, own, links)
    if not uses:
        unseen = "calls on values of unknown type are not seen"
        yield f"{IN_PROJECT}{other.label} ({said}): no {word} known; {unseen}{doubt}"
        return
    grouped = list(_by_symbol(uses))
    behind = await _behind(other.reader, [one.edge.node for one in uses]) if kind is Kind.IMPACT else ""
    more = f", and {len(grouped) - SHOWN} more: ask with project {other.label}" if len(grouped) > SHOWN else ""
    places = ", ".join(_shown(each) for each in grouped[:SHOWN])
    yield f"{IN_PROJECT}{other.label} ({said}): {word} {len(grouped)}: {places}{more}{behind}{doubt}"


async def _unlinked(consumer: ProjectView, provider: ProjectView, links: Sequence[PackageLink]) -> str:
    """Say what a package's names are followed without: the linker, where its files are too many."""
    left_out = max([(await exports(consumer, provider, link)).left_out for link in links], default=0)
    return (
        f"; exports are followed by names alone: {counted(left_out, 'file')} are too many to be linked"
        if left_out
        else ""
    )


async def _provides(consumer: ProjectView, third: ProjectView, own: ProjectView) -> bool:
    ours = {(link.package.ecosystem, link.package.key) for link in await links_to(consumer, own)}
    return any((link.package.ecosystem, link.package.key) in ours for link in await links_to(consumer, third))


async def _with_members(reader: Reader, nodes: Sequence[Node], kind: Kind) -> list[Node]:
    """Return nodes with what they define, where uses of that are uses of them: modules, and classes that change."""
    wanted = [
        node
        for node in nodes
        if node.row.label in _MODULES or (node.row.label == Label.CLASS and kind in (Kind.IMPACT, Kind.OVERRIDES))
    ]
    found = list(nodes)
    types = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
    level = [node.row.uid for node in wanted]
    for _ in range(2):
        edges = await reader.store.edges(level, Direction.OUT, types, MAX_MEMBERS) if level else []
        found += [edge.node for edge in edges]
        level = [edge.node.row.uid for edge in edges if edge.node.row.label in (*_MODULES, Label.CLASS)]
    return list({node.row.uid: node for node in found}.values())


async def _behind(reader: Reader, nodes: Sequence[Node]) -> str:
    """Return how many symbols and tests of the other project depend on the users in turn."""
    users = {node.row.uid: node.row.qualified_name for node in nodes if node.row.label not in _MODULES}
    if not users:
        return ""
    traced = await trace_impact(reader, [Seed(name, (uid,)) for uid, name in users.items()])
    behind = [one for one in traced.affected if one.node.row.uid not in users]
    tests = {one.node.row.path for one in traced.tests}
    parts = [counted(len(behind), "symbol")] if behind else []
    parts += [f"tests {', '.join(sorted(tests)[:3])}{' ...' if len(tests) > 3 else ''}"] if tests else []
    return f"; behind these: {', '.join(parts)}" if parts else ""


async def _clients(own: ProjectView, other: ProjectView, routes: Sequence[Node]) -> AsyncIterator[str]:
    """Say which calls by URL of another project fit routes of the own one."""
    wanted = {route.row.uid for route in routes}
    matches = [one for one in await matched(other, own, match_routes) if one.route.row.uid in wanted]
    if unread := await unread_requests(other):
        yield f"{IN_PROJECT}{other.label}: more calls are possible, {unread}"
    for route in dict.fromkeys(one.route.row.name for one in matches):
        calls = [one for one in matches if one.route.row.name == route]
        more = f", and {len(calls) - SHOWN} more" if len(calls) > SHOWN else ""
        shown = ", ".join(_call(one) for one in calls[:SHOWN])
        yield f"{IN_PROJECT}{other.label}: calls of {route} {len(calls)}: {shown}{more}"


async def _called(own: ProjectView, others: Sequence[ProjectView], nodes: Sequence[Node]) -> AsyncIterator[str]:
    """Say which routes of other projects symbols of the own one call by URL."""
    uids = {node.row.uid for node in nodes}
    requests = [one for one in await requests_of(own) if one.caller.row.uid in uids]
    unread = await unread_requests(own)
    if unread and any([await routes_of(other) for other in others]):
        yield f"calls of routes of other projects may be missing, {unread}"
    found: list[tuple[ProjectView, RequestMatch, bool]] = []
    for other in others if requests else ():
        served = await served_procedures(other.reader)
        found.extend(
            (other, one, not is_procedure(one.route) or one.route.row.uid in served)
            for one in await matched(own, other, match_routes, requests)
        )
    for other, one, is_served in found:
        # each project may have its copy of a procedure's description
        copies = [each for each in found if each[1].request == one.request and not is_served]
        if copies and (one.request.is_described or copies[0][1] is not one or _is_served(found, one)):
            continue
        row = one.route.row
        yield (
            f"{local_name(one.request.caller.row)} {one.request.line} calls route {row.name} {place_of(row)} in "
            f"project {other.label} ({one.rule} {one.confidence:.2f})"
        )


def _is_served(found: Iterable[tuple[ProjectView, RequestMatch, bool]], one: RequestMatch) -> bool:
    return any(is_served and each.request == one.request for _, each, is_served in found)


async def _events(
    own: ProjectView, others: Sequence[ProjectView], nodes: Sequence[Node], asked: Sequence[str]
) -> AsyncIterator[str]:
    """Say who handles in other projects what symbols of the own one emit, and the other way round."""
    names = [*asked, *(node.row.qualified_name for node in nodes if node.row.label == Label.EVENT)]
    uids = [node.row.uid for node in nodes]
    edges = await own.reader.store.edges(uids, Direction.OUT, _EVENTS, 200) if uids else []
    roles = {edge.node.row.qualified_name: edge.row.type for edge in edges}
    for other in others if names or roles else ():
        for edge in await event_edges(other, [*names, *roles]):
            event = edge.row.target.partition(":")[2]
            if roles.get(event) == edge.row.type:
                continue  # both emit it, or both handle it
            verb = "handled" if edge.row.type == EdgeType.HANDLES_EVENT else "emitted"
            row = edge.node.row
            yield (
                f"{event} is {verb} in project {other.label} by {local_name(row)} {row.path}:{edge.row.line} "
                f"(equal name {edge.row.confidence * 0.8:.2f})"
            )


async def _packages(own: ProjectView, others: Sequence[ProjectView]) -> AsyncIterator[str]:
    """Say which packages of other projects the own one depends on, and which projects depend on its own."""
    for other in others:
        for link in await links_to(own, other):
            at = f"{link.declared.path}:{link.declared.line}" if link.declared is not None else "imports"
            yield f"depends on project {other.label}: {link.said} ({at}, package name {link.confidence:.2f})"
        for link, imports in await importers_of(other, own):
            at = f"{link.declared.path}:{link.declared.line}" if link.declared is not None else "imports only"
            files = len({edge.node.row.path for edge in imports})
            used = f", imported in {counted(files, 'file')}" if files else ", no import known"
            yield f"project {other.label} depends on it: {link.said} ({at}{used}, package name {link.confidence:.2f})"


async def _elsewhere(others: Sequence[ProjectView], name: str) -> AsyncIterator[str]:
    """Say where other projects define a name that the own one does not have."""
    for other in others:
        where = Filter(project=other.reader.project)
        found = await other.reader.store.find(name.replace("::", "."), Match.SUFFIX, where, 40)
        own = [node for node in found if node.row.path and node.row.label in _DEFINITIONS]
        if own:
            row = own[0].row
            more = f" (the first of {len(own)})" if len(own) > 1 else ""
            said = f"{row.kind} {row.qualified_name} {place_of(row)}{more}"
            yield f"project {other.label} has {said}: ask with project {other.label}"


_DEFINITIONS = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE, Label.MODULE, Label.PACKAGE, Label.ROUTE)


@dataclass(slots=True)
class _UsingSymbol:
    node: Node
    lines: set[int]
    best: OutsideUse


def _by_symbol(uses: Iterable[OutsideUse]) -> Iterator[_UsingSymbol]:
    """Yield the using symbols, code before tests, by place; each with all lines."""
    found: dict[str, _UsingSymbol] = {}
    for use in uses:
        node = use.edge.node
        known = found.setdefault(node.row.uid, _UsingSymbol(node, set(), use))
        known.lines.update(use.edge.row.lines)
        known.best = max(known.best, use, key=lambda one: one.confidence)
    yield from sorted(
        found.values(),
        key=lambda one: (one.node.row.is_test, one.node.row.path, min(one.lines, default=0), one.node.row.name),
    )


def _shown(each: _UsingSymbol) -> str:
    lines = sorted(each.lines)
    more = "..." if len(lines) > MAX_LINES else ""
    at = ",".join(map(str, lines[:MAX_LINES]))
    kind = str(each.best.edge.row.type).lower().replace("_", " ")
    return f"{each.node.row.path}:{at}{more} {local_name(each.node.row)} ({kind} {each.best.confidence:.2f})"


def _call(one: RequestMatch) -> str:
    caller = one.request.caller.row
    return f"{caller.path}:{one.request.line} {local_name(caller)} ({one.rule} {one.confidence:.2f})"


def _name(node: Node) -> str:
    return node.row.qualified_name.removeprefix("ext:")
