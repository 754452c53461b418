"""The shortest chain of calls from one symbol to another, searched from both ends. Reads the graph only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.absence.unresolved import find_unresolved
from atlas.code.graph.mentions import find_mentions
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Node

MAX_STEPS = 24
"""Levels of both searches together: a call through an interface takes two."""
MAX_VISITED = 20_000
"""Symbols visited from both ends; a longer search says that nothing was found within it."""
NAMED_STEPS = 4
"""Calls before the end of a chain of which unresolved ones may be."""
MOST_NAMED = 12
"""Unresolved calls of one name; more of them mean many things."""
DISTINCT_WORDS = 3
"""The whole and two parts of a name that means little else."""
BY_NAME = "name"
"""Strategy of a step that only the name tells."""
NAMED_CONFIDENCE = 0.4
PASSED = "passed"
"""Strategy of an edge from a function to what its callers hand it."""
_OF_ERRORS = lazy_regex(r"(?:^|[_a-z])(?:[eE]rror|[eE]xception|[fF]ail(?:ed|ure)?|[pP]anic|[aA]bort)")
"""Names of what runs where something goes wrong, which a way seldom means."""
MOST_USERS = 8
"""Functions that use one channel; what more of them use, such as a signal to stop, connects everything."""
_CHANNEL = lazy_regex(r"\bchan\b|[Cc]hannel\b|[Qq]ueue\b|[Dd]eque\b|\b(?:[Mm]ailbox|mpsc|oneshot|Sender|Receiver)\b")
_CHANNEL_NAME = lazy_regex(r"(?:[a-z]Ch|[cC]han|[cC]hannel|[qQ]ueue|_ch)$")
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of the chain: it leads from the symbol `source` to `node`; `path` and `line` locate the call."""

    source: str
    node: Node
    path: str
    line: int
    strategy: str
    confidence: float


async def find_path(
    reader: Reader,
    starts: Sequence[str],
    ends: Sequence[str],
    *,
    hands_over: bool = False,
    crosses_channels: bool = False,
    avoids_errors: bool = False,
    without: tuple[str, str] = ("", ""),
) -> tuple[Step, ...]:
    """Return the steps of a shortest chain of calls; () where there is none within the bounds.

    A class starts and ends a chain with each of its members. A call of a method may run what overrides it. With
    `hands_over` a function also leads to one that it hands over as a value: `run_in_thread(self.lookup)`. With
    `crosses_channels` it leads over a channel or queue to the functions that use the same one. With `avoids_errors` no
    step is a function for errors. `without`: the uids of an edge, source and target, that is not followed.
    """
    types = (EdgeType.CALLS, EdgeType.REFERENCES) if hands_over else (EdgeType.CALLS,)
    forward: dict[str, Edge | None] = dict.fromkeys([*starts, *await _members(reader, starts)])
    backward: dict[str, Edge | None] = dict.fromkeys([*ends, *await _members(reader, ends)])
    ahead, behind = list(forward), list(backward)
    for _ in range(MAX_STEPS):
        if met := next((uid for uid in forward if uid in backward), None):
            return await _chain(reader, met, forward, backward)
        if not ahead or not behind or len(forward) + len(backward) > MAX_VISITED:
            break
        if len(ahead) <= len(behind):
            found = await _expand(reader, ahead, forward, Direction.OUT, types, crosses=crosses_channels)
            ahead = _new(_but(found, without), forward, avoids_errors=avoids_errors)
        else:
            found = await _expand(reader, behind, backward, Direction.IN, types, crosses=crosses_channels)
            behind = _new(_but(found, without), backward, avoids_errors=avoids_errors)
    met = next((uid for uid in forward if uid in backward), None)
    return await _chain(reader, met, forward, backward) if met else ()


def called(step: Step) -> str:
    """Return the name that a step calls, with the place of the call."""
    row = step.node.row
    name = ".".join(row.qualified_name.split(".")[-2:]) if row.label == Label.METHOD else row.name
    return f"{name} {step.path}:{step.line}"


async def find_path_by_name(reader: Reader, starts: Sequence[str], ends: Sequence[Node]) -> tuple[Step, ...]:
    """Return a chain of calls of which steps near its end are calls that no rule resolves; () where there is none.

    Such a step calls the name of what comes next, and few others call that name. Raises store errors.
    """
    behind: dict[str, tuple[Step, ...]] = {node.row.uid: () for node in ends}
    level = list(ends)
    for _ in range(NAMED_STEPS):
        before: list[Node] = []
        for node, step in await _steps_to(reader, level[:MOST_NAMED]):
            if node.row.uid not in behind:
                behind[node.row.uid] = (step, *behind[step.node.row.uid])
                before.append(node)
        if not before:
            break
        uids = [node.row.uid for node in before]
        if (met := next((uid for uid in uids if uid in starts), None)) is not None:
            return behind[met]
        steps = await find_path(reader, starts, uids)
        if steps and steps[-1].node.row.uid in behind:
            return (*steps, *behind[steps[-1].node.row.uid])
        level = before
    return ()


async def _steps_to(reader: Reader, level: Sequence[Node]) -> list[tuple[Node, Step]]:
    """Return what calls symbols, resolved or by name, each with the step."""
    nodes = {node.row.uid: node for node in level}
    edges = await reader.store.edges(list(nodes), Direction.IN, (EdgeType.CALLS,), MAX_VISITED)
    found = [
        (
            edge.node,
            Step(edge.node.row.uid, nodes[row.target], edge.node.row.path, row.line, row.strategy, row.confidence),
        )
        for edge in edges
        if (row := edge.row).target in nodes and not edge.node.row.is_test
    ]
    for node in level:
        for caller, line in await _named_calls(reader, node):
            found.append((caller, Step(caller.row.uid, node, caller.row.path, line, BY_NAME, NAMED_CONFIDENCE)))
    return found


async def _named_calls(reader: Reader, node: Node) -> list[tuple[Node, int]]:
    """Return what calls the name of a symbol without a rule that resolves it, with a line; none if it is common."""
    found = await find_unresolved(reader, node.row.name, node.project)
    calls = [(call.caller, call.lines[0]) for call in found.calls if not call.caller.row.is_test]
    if not calls and len(set(reader.split_words(node.row.name))) >= DISTINCT_WORDS:
        where = Filter(project=node.project, labels=(Label.FUNCTION, Label.METHOD))
        mentions = await find_mentions(reader, node.row.name, where, {node.row.uid}, calls=True, tests=False)
        calls = [(each.node, each.lines[0]) for each in mentions]
    return calls if not found.more and len(calls) <= MOST_NAMED else []


async def _members(reader: Reader, uids: Sequence[str]) -> list[str]:
    return [edge.node.row.uid for edge in await reader.store.edges(uids, Direction.OUT, _HOLDS, 500)]


async def _expand(
    reader: Reader,
    level: Sequence[str],
    known: dict[str, Edge | None],
    direction: Direction,
    types: Sequence[EdgeType],
    *,
    crosses: bool,
) -> list[Edge]:
    """Follow calls one step in a direction; overrides are followed against their edges, from base to override."""
    found = await reader.store.edges(level, direction, types, MAX_VISITED)
    against = Direction.IN if direction == Direction.OUT else Direction.OUT
    found += await reader.store.edges(level, against, (EdgeType.OVERRIDES,), MAX_VISITED)
    if crosses:
        # what a function is handed runs for one caller, and a long way would mix those of all
        found = [edge for edge in found if edge.row.strategy != PASSED]
        found += await _over_channels(reader, level, known)
    return found


def _but(found: Sequence[Edge], without: tuple[str, str]) -> Sequence[Edge]:
    return [edge for edge in found if (edge.row.source, edge.row.target) != without] if without[0] else found


def _new(found: Sequence[Edge], known: dict[str, Edge | None], *, avoids_errors: bool) -> list[str]:
    """Add what edges lead to for the first time, and return it."""
    new: list[str] = []
    for edge in found:
        uid = edge.node.row.uid
        if uid not in known and not (avoids_errors and is_for_errors(edge.node)):
            known[uid] = edge
            new.append(uid)
    return new


async def _over_channels(reader: Reader, level: Sequence[str], known: dict[str, Edge | None]) -> list[Edge]:
    """Return the edges from functions to the channels that they use, and from channels to what else uses them."""
    held = [uid for uid in level if (edge := known[uid]) is not None and edge.node.row.label == Label.VALUE]
    used = await reader.store.edges(level, Direction.OUT, (EdgeType.REFERENCES,), MAX_VISITED)
    channels = [edge for edge in used if edge.node.row.uid not in known and is_channel(edge.node)]
    wanted = list(dict.fromkeys([*held, *(edge.node.row.uid for edge in channels)]))
    users = await reader.store.edges(wanted, Direction.IN, (EdgeType.REFERENCES,), MAX_VISITED) if wanted else []
    code = [edge for edge in users if not edge.node.row.is_test]
    count = Counter(edge.row.target for edge in code)
    passed = [edge for edge in channels if count[edge.node.row.uid] <= MOST_USERS]
    return [*passed, *(edge for edge in code if edge.row.target in held)]


def is_for_errors(node: Node) -> bool:
    """Return whether something runs where something goes wrong, by its name."""
    return _OF_ERRORS.search(node.row.name) is not None


def is_channel(node: Node) -> bool:
    """Return whether a value hands things from one function to another, as its type or name says."""
    row = node.row
    if row.label != Label.VALUE:
        return False
    return _CHANNEL.search(row.signature) is not None or _CHANNEL_NAME.search(row.name) is not None


async def _chain(
    reader: Reader, met: str, forward: dict[str, Edge | None], backward: dict[str, Edge | None]
) -> tuple[Step, ...]:
    """Return the edges from a start to an end through the symbol where both searches met."""
    rows: list[tuple[str, Edge]] = []
    uid = met
    while (edge := forward[uid]) is not None:
        rows.append((uid, edge))
        uid = _other(edge, uid)
    rows.reverse()
    uid = met
    while (edge := backward[uid]) is not None:
        following = _other(edge, uid)
        rows.append((following, edge))
        uid = following
    uids = list(dict.fromkeys([*(target for target, _ in rows), *(_other(edge, target) for target, edge in rows)]))
    nodes = {node.row.uid: node for node in await reader.store.symbols(uids)}
    steps: list[Step] = []
    for target, edge in rows:
        row = edge.row
        source = nodes[row.source] if row.source in nodes else nodes[target]
        steps.append(Step(_other(edge, target), nodes[target], source.row.path, row.line, row.strategy, row.confidence))
    return tuple(steps)


def _other(edge: Edge, uid: str) -> str:
    return edge.row.source if edge.row.target == uid else edge.row.target


async def in_call_order(reader: Reader, found: EdgeAnswer) -> EdgeAnswer:
    """Return the callees of one symbol in the order of the lines that call them. Raises store errors."""
    if found.intent.kind != Kind.CALLEES or found.targets.total != 1 or found.scope:
        return found
    edges = await reader.store.edges(found.targets.uids, Direction.OUT, (EdgeType.CALLS,), MAX_VISITED)
    lines: dict[str, set[int]] = {}
    for edge in edges:
        lines.setdefault(edge.node.row.uid, set()).update(edge.row.lines)
    path = found.targets.targets[0].node.row.path
    called = [
        replace(each, path=path, lines=tuple(sorted(lines[each.node.row.uid])))
        for each in found.related
        if lines.get(each.node.row.uid)
    ]
    called.sort(key=lambda each: each.lines)
    left = [each for each in found.related if not lines.get(each.node.row.uid)]
    note = "in the order of the lines that call them: branches and loops may run them in another one, or not at all"
    ignored = tuple(word for word in found.ignored if word not in ("order", "sequence"))
    return replace(found, related=(*called, *left), notes=(*found.notes, note), is_in_order=True, ignored=ignored)
