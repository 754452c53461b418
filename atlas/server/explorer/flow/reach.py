"""What a route, an event or a symbol leads to: queries, events that are sent, and requests to other routes.

Calls are followed from the handlers of a route or event, or from the symbol. A query is a call of a database's package
(`queries.toml`), or a line that holds a statement of SQL; what is shown is the calls that lead there, once each.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from atlas.code.reader import Reader
from atlas.code.tools.citations import shortened
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node, NodeRow
from atlas.core.wording import counted
from atlas.server.explorer.flow.conditions import CallText, Texts, block_below
from atlas.server.explorer.flow.ladder import FlowStep

STEPS, FOLLOWED, MAX_EDGES = 8, 2_000, 20_000
"""Calls that are followed from a start, symbols in all, and edges of one step."""
READ = 400
"""Functions whose lines are read for statements of SQL."""
SHOWN = 60
"""Steps on a page; the rest is counted."""
HANDLERS = 20
MAX_LINE = 2_000
"""Characters of a line that are looked at."""
_FOLLOWED = (EdgeType.CALLS, EdgeType.EMITS_EVENT, EdgeType.CALLS_ROUTE)
_ENDS = {EdgeType.EMITS_EVENT: "event", EdgeType.CALLS_ROUTE: "request"}
HANDLED = {Label.ROUTE: EdgeType.HANDLES_ROUTE, Label.EVENT: EdgeType.HANDLES_EVENT}
"""Labels of what is handled, and the edges of what handles it."""
_STATEMENT = lazy_regex(
    r"[\"'`]\s{0,20}(?:SELECT\s|INSERT\s{1,9}INTO\s|DELETE\s{1,9}FROM\s|UPDATE\s{1,9}\S{1,90}\s{1,9}SET\s|"
    r"select\s[^\"'`]{1,300}\sfrom\s|insert\s{1,9}into\s|delete\s{1,9}from\s|update\s{1,9}\S{1,90}\s{1,9}set\s|"
    r"(?:CREATE|ALTER|DROP|create|alter|drop)\s{1,9}(?:TABLE|table)\s)"
)
"""A string that begins with a statement of SQL."""
BY_TEXT = "text 0.60"
"""Strategy and confidence of a statement that only its text tells."""


Spans = tuple[tuple[int, int], ...]
"""First and last lines."""


@dataclass(frozen=True, slots=True)
class Leads:
    """What a start leads to."""

    subject: str
    """What was asked about, in words."""
    steps: tuple[FlowStep, ...]
    ends: int
    """Queries, events and requests that were found."""
    left: int
    """Steps that are not shown."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """A query, an event that is sent or a request, with the lines where a symbol does that."""

    kind: str
    name: str
    uid: str
    lines: tuple[int, ...]
    how: str


@dataclass(slots=True)
class _FollowedCalls:
    """Symbols on the way, how each was reached first, and the ends behind them."""

    reader: Reader
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    reached: dict[str, Edge | None] = field(default_factory=dict[str, "Edge | None"])
    """Uid -> the edge that led there, None for a start."""
    inner: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Uid -> what it was the first to lead to."""
    ends: dict[str, list[_End]] = field(default_factory=dict[str, list[_End]])
    """Uid -> what it does itself."""
    spans: dict[str, Spans] = field(default_factory=dict[str, Spans])
    """Of a start that handles inside of a larger one: its lines."""
    is_cut: bool = False
    _leading: dict[str, bool] = field(default_factory=dict[str, bool])

    def add(self, uid: str, end: _End) -> None:
        """Note what a symbol does itself."""
        self.ends[uid] = [*self.ends.get(uid, []), end]

    def leads(self, uid: str) -> bool:
        """Return whether a symbol, or what it was the first to lead to, does anything that is looked for."""
        if uid not in self._leading:
            self._leading[uid] = bool(self.ends.get(uid)) or any(self.leads(each) for each in self.inner.get(uid, ()))
        return self._leading[uid]

    def lines(self, edge: Edge) -> tuple[int, ...]:
        """Return the lines of an edge that belong to what handles, all of them for other symbols."""
        spans = self.spans.get(edge.row.source, ())
        return tuple(line for line in edge.row.lines if _is_inside(line, spans)) if spans else edge.row.lines


async def find_subject(reader: Reader, name: str) -> list[Node]:
    """Return the symbols, routes or events that a text names: uid, `path:line`, or name (routes and events first)."""
    if found := await reader.store.symbols([name]):
        return found
    where = Filter(project=reader.project, labels=(*HANDLED,))
    for match in (Match.EXACT, Match.SUFFIX):
        if entries := [each for each in await reader.store.find(name, match, where, HANDLERS) if each.row.name == name]:
            return entries
    path, _, line = name.rpartition(":")
    if path and line.isdigit():
        row = await Texts(reader).around(path, int(line))
        return await reader.store.symbols([row.uid]) if row is not None else []
    labels = (Label.CLASS, Label.FUNCTION, Label.METHOD)
    found = await reader.store.find(name, Match.SUFFIX, Filter(project=reader.project, labels=labels), HANDLERS)
    return [each for each in found if not each.row.is_test] or found


async def handlers_of(reader: Reader, subject: Node) -> list[Edge]:
    """Return the edges from what handles a route or an event, of code rather than of tests; [] for other symbols."""
    type_ = HANDLED.get(Label(subject.row.label))
    if type_ is None:
        return []
    edges = await reader.store.edges([subject.row.uid], Direction.IN, (type_,), MAX_EDGES)
    return [each for each in edges if not each.node.row.is_test] or edges


async def first_steps(reader: Reader, subject: Node) -> list[tuple[FlowStep, str]]:
    """Return the first steps from a route or an event, each with the uid of the symbol that it leads to."""
    texts, found = Texts(reader), list[tuple[FlowStep, str]]()
    for edge in await handlers_of(reader, subject):
        row, spans = edge.node.row, await _spans(texts, edge)
        if not spans:
            call = await texts.call(row.path, edge.row.line)
            place = f"{row.path}:{edge.row.line}"
            how = f"{edge.row.strategy} {edge.row.confidence:.2f}"
            found.append(
                (FlowStep(shortened(row.qualified_name, row.path), row.uid, place, call.text, (), how), row.uid)
            )
            continue
        for each in await reader.store.edges([row.uid], Direction.OUT, (EdgeType.CALLS,), MAX_EDGES):
            at, to = next((line for line in each.row.lines if _is_inside(line, spans)), 0), each.node.row
            if at and to.path:
                call, how = await texts.call(row.path, at), f"{each.row.strategy} {each.row.confidence:.2f}"
                name = shortened(to.qualified_name, to.path)
                found.append((FlowStep(name, to.uid, f"{row.path}:{at}", call.text, call.conditions, how), to.uid))
    return found


async def _spans(texts: Texts, edge: Edge) -> Spans:
    """Return the lines of a handler without a name of its own, below those that register it; () for others."""
    row = edge.node.row
    if row.label in (Label.FUNCTION, Label.METHOD, Label.CLASS):
        return ()
    lines = await texts.lines(row.path)
    return tuple(block_below(lines, line) for line in edge.row.lines if 0 < line <= len(lines))


def _is_inside(line: int, spans: Spans) -> bool:
    return any(first <= line <= last for first, last in spans)


async def find_leads(reader: Reader, subject: Node) -> Leads:
    """Return what a route, an event or a symbol leads to. Raises store errors."""
    walk, texts = _FollowedCalls(reader), Texts(reader)
    starts: list[tuple[Node, Edge | None]] = [(subject, None)]
    notes: list[str] = []
    if subject.row.label in HANDLED:
        own = await handlers_of(reader, subject)
        starts = [(each.node, each) for each in own[:HANDLERS]]
        if len(own) > HANDLERS:
            notes.append(counted(len(own) - HANDLERS, "more handler"))
        if not starts:
            notes.append("no handler of it is known: unknown rather than none")
    for node, edge in starts:
        walk.nodes[node.row.uid] = node
        if edge is not None and (spans := await _spans(texts, edge)):
            walk.spans[node.row.uid] = spans
    await _follow(walk, [node for node, _ in starts])
    await _read_statements(walk, texts)
    left = [SHOWN]
    shown = [await _start(walk, texts, node, edge, left) for node, edge in starts]
    ends = sum(len(found) for found in walk.ends.values())
    if starts and not ends:
        notes.append(
            f"no query, event or request within {STEPS} resolved calls and {FOLLOWED} symbols: unknown "
            "rather than none, because unresolved calls are not followed"
        )
    if walk.is_cut:
        notes.append(f"more than {FOLLOWED} symbols are reached: what lies behind them is unknown")
    return Leads(_title(subject.row), tuple(shown), ends, max(-left[0], 0), tuple(notes))


def _title(row: NodeRow) -> str:
    return f"{row.kind} {row.name if row.label in HANDLED else row.qualified_name}"


async def _follow(walk: _FollowedCalls, starts: Sequence[Node]) -> None:
    store = walk.reader.store
    for node in starts:
        walk.reached[node.row.uid] = None
    level = list(walk.reached)
    for uid, members in [
        (each.row.uid, await _members(walk, each)) for each in starts if each.row.label == Label.CLASS
    ]:
        walk.inner[uid] = members
        level += members
    for _ in range(STEPS):
        if not level:
            return
        found = await store.edges(level, Direction.OUT, _FOLLOWED, MAX_EDGES)
        overriding = await store.edges(level, Direction.IN, (EdgeType.OVERRIDES,), MAX_EDGES)
        level = list[str]()
        for edge in [each for each in found if walk.lines(each)] + overriding:
            source, uid = edge.row.source, edge.node.row.uid
            if edge.row.type == EdgeType.OVERRIDES:
                source = edge.row.target
            kind = _ENDS.get(EdgeType(edge.row.type), "query" if is_query(edge.node.row) else "")
            if kind:
                how = f"{edge.row.strategy} {edge.row.confidence:.2f}"
                name = edge.node.row.qualified_name.removeprefix("ext:")
                walk.add(source, _End(kind, name, uid, walk.lines(edge), how))
            elif uid not in walk.reached and edge.node.row.path and not edge.node.row.is_test:
                if len(walk.reached) >= FOLLOWED:
                    walk.is_cut = True
                    continue
                walk.reached[uid] = edge
                walk.nodes[uid] = edge.node
                walk.inner.setdefault(source, []).append(uid)
                level.append(uid)


async def _members(walk: _FollowedCalls, node: Node) -> list[str]:
    edges = await walk.reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.DEFINES_METHOD,), HANDLERS * 10)
    for edge in edges:
        walk.reached.setdefault(edge.node.row.uid, edge)
        walk.nodes[edge.node.row.uid] = edge.node
    return [edge.node.row.uid for edge in edges]


async def _read_statements(walk: _FollowedCalls, texts: Texts) -> None:
    """Find the lines of the reached functions that hold a statement of SQL: queries that no edge tells."""
    for uid in [*walk.reached][:READ]:
        row = walk.nodes[uid].row
        spans = walk.spans.get(uid, ((row.start_line, row.end_line),))
        if not row.path or (row.label not in (Label.FUNCTION, Label.METHOD) and uid not in walk.spans):
            continue
        known = {line for end in walk.ends.get(uid, ()) for line in end.lines}
        lines = await texts.lines(row.path)
        for number in (line for first, last in spans for line in range(max(first, 1), min(last, len(lines)) + 1)):
            around = await texts.around(row.path, number)
            is_own = uid in walk.spans or around is None or around.uid == uid
            if is_own and number not in known and _STATEMENT.search(lines[number - 1][:MAX_LINE]):
                walk.add(uid, _End("query", "a statement of SQL", "", (number,), BY_TEXT))


async def _start(walk: _FollowedCalls, texts: Texts, node: Node, edge: Edge | None, left: list[int]) -> FlowStep:
    """Return the step of a start, with all that it leads to."""
    row = node.row
    place = f"{row.path}:{edge.row.line if edge is not None and edge.row.line else row.line or row.start_line}"
    how = f"{edge.row.strategy} {edge.row.confidence:.2f}" if edge is not None else ""
    name = shortened(row.qualified_name, row.path)
    inner = await _inner(walk, texts, row, left)
    text = ""
    if edge is not None and edge.row.line:
        text = (await texts.call(row.path, edge.row.line)).text
    return FlowStep(name, row.uid, place if row.path else "", text, (), how, steps=inner)


async def _inner(walk: _FollowedCalls, texts: Texts, row: NodeRow, left: list[int]) -> tuple[FlowStep, ...]:
    """Return the steps that lead from a symbol to an end, in the order of the lines that take them."""
    found: list[tuple[int, FlowStep]] = []
    for end in walk.ends.get(row.uid, ()):
        call = await texts.call(row.path, end.lines[0]) if end.lines else CallText("", ())
        place = f"{row.path}:{end.lines[0]}" if end.lines else row.path
        step = FlowStep(end.name, end.uid, place, call.text, call.conditions, end.how, kind=end.kind)
        found.append((end.lines[0] if end.lines else 0, step))
    for uid in walk.inner.get(row.uid, ()):
        if not walk.leads(uid):
            continue
        node, edge = walk.nodes[uid].row, walk.reached[uid]
        # an override or a member has no line in the one that leads to it
        at = next(iter(walk.lines(edge)), 0) if edge is not None and edge.row.type == EdgeType.CALLS else 0
        call = await texts.call(row.path, at) if at else CallText("", ())
        place = f"{row.path}:{at}" if at else f"{node.path}:{node.line or node.start_line}"
        how = f"{edge.row.strategy} {edge.row.confidence:.2f}" if edge is not None and edge.row.strategy else ""
        step = FlowStep(shortened(node.qualified_name, node.path), uid, place, call.text, call.conditions, how)
        found.append((at, step))
    shown: list[FlowStep] = []
    for _, step in sorted(found, key=lambda each: each[0]):
        left[0] -= 1
        if left[0] >= 0:
            inner = () if step.kind else await _inner(walk, texts, walk.nodes[step.uid].row, left)
            shown.append(replace(step, steps=inner))
    return tuple(shown)


def is_query(row: NodeRow) -> bool:
    """Return whether a symbol outside of the project is one that asks a database."""
    name = row.qualified_name.removeprefix("ext:")
    called = re.split(r"[.:\\]", name)[-1]
    return any(
        name.startswith(package) and not name[len(package) :][:1].isalnum() and _is_call(called, calls)
        for package, calls in _packages()
        if not row.path
    )


def _is_call(called: str, calls: Iterable[str]) -> bool:
    return any(called == each or (each.endswith("*") and called.startswith(each[:-1])) for each in calls)


@cache
def _packages() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the packages of databases with the calls that are queries."""
    listed = tomllib.loads(Path(__file__).with_name("queries.toml").read_text(encoding="utf-8"))
    return tuple((name, tuple(each["calls"])) for each in listed["packages"] for name in each["names"])
