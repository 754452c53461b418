"""What leads on from a symbol where no call does: a constant, field or type that few functions use on both sides.

`How does the number given to OrderAttribute decide in which order work items run`: one function sets a key that another
reads. It is no proof that one follows from the other, and is said as what both use. Reads the graph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.graph.absence.name_lines import find_name_lines
from atlas.code.graph.subjects import Subject
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Label, Node

LEVELS = 2
"""Calls from the symbol that are followed: further ones lead to everything."""
MOST_REACHED = 300
MOST_EDGES = 5_000
MOST_SHARING = 16
"""Functions that use one constant or type; what more of them use connects everything."""
LEAST_WORDS = 2
"""Words of the question that a function on the other side has, in its name or in those of what it calls."""
MOST_SHOWN = 2
_HOW = lazy_regex(r"\bhow\b", re.IGNORECASE)
_COMES_OF = lazy_regex(
    r"\b(?:influenc|affect|mak(?:es?|ing)\b|caus|lead|led\b|ends? up|reach|arriv|trigger|wak|gets? (?:to|from|into)\b"
    r"|becom|notic|learn|propagat|travel|flow|turns? into|tak(?:es?) effect|decid|determin|control)"
    r"|\b(?:trace|follow) (?:it|this|that|the)\b",
    re.IGNORECASE,
)
"""Asks how one thing comes of another."""
_CODE = frozenset((Label.FUNCTION, Label.METHOD))
_SHARED = frozenset((Label.VALUE, Label.CLASS))
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_USES = (EdgeType.REFERENCES, EdgeType.USES_TYPE)


@dataclass(frozen=True, slots=True)
class _OtherSide:
    """A function that uses what a function on the side of the symbol uses, too."""

    thing: Node
    near: Edge
    """The use on the side of the symbol."""
    far: Edge
    score: int
    calls: tuple[Edge, ...]
    """What it calls that has a word of the question."""


def asks_trace(text: str) -> bool:
    """Return whether a question asks how one thing comes of another."""
    return _HOW.search(text) is not None and _COMES_OF.search(text) is not None


async def shared_lines(reader: Reader, text: str, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """Return what leads on from the one certain symbol of a question, a line each; () for none. Raises store errors."""
    if len(subjects) != 1 or subjects[0].total != 1 or not asks_trace(text):
        return ()
    start = subjects[0].targets[0].node
    if start.row.label not in (*_CODE, Label.CLASS) or not start.row.path:
        return ()
    asked = _roots(reader, text) - _roots(reader, f"{subjects[0].written.name} {_owner(start)}")
    ahead, nodes = await _ahead(reader, list(subjects[0].targets[0].uids))
    sides = await _other_sides(reader, start, ahead, nodes, asked)
    if not sides:
        return ()
    best = max(each.score for each in sides)
    chosen = [each for each in sides if each.score == best and each.thing.row.uid == sides[0].thing.row.uid]
    return tuple([await _line(reader, start, ahead, nodes, chosen[:MOST_SHOWN])])


async def _ahead(reader: Reader, starts: Sequence[str]) -> tuple[dict[str, Edge | None], dict[str, Node]]:
    """Return the symbol, its members and what they call, each with the edge that led to it."""
    held = await reader.store.edges(starts, Direction.OUT, _HOLDS, MOST_REACHED)
    inner = [edge.node.row.uid for edge in held if edge.node.row.label in _CODE]
    ahead: dict[str, Edge | None] = dict.fromkeys([*starts, *inner])
    level = list(ahead)
    for _ in range(LEVELS):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.CALLS,), MOST_EDGES)
        edges += await reader.store.edges(level, Direction.IN, (EdgeType.OVERRIDES,), MOST_EDGES)
        level = list[str]()
        for edge in edges:
            row = edge.node.row
            is_code = row.label in _CODE and row.path and not row.is_test
            if is_code and row.uid not in ahead and len(ahead) < MOST_REACHED:
                ahead[row.uid] = edge
                level.append(row.uid)
    return ahead, {node.row.uid: node for node in await reader.store.symbols(list(ahead))}


async def _other_sides(
    reader: Reader, start: Node, ahead: dict[str, Edge | None], nodes: dict[str, Node], asked: set[str]
) -> list[_OtherSide]:
    """Return the functions on the other side of what few functions use, best first."""
    own = start.row.qualified_name if start.row.label == Label.CLASS else start.row.qualified_name.rpartition(".")[0]
    used = await reader.store.edges(list(ahead), Direction.OUT, _USES, MOST_EDGES)
    near: dict[str, Edge] = {}
    for edge in used:
        row = edge.node.row
        is_own = row.qualified_name == own or row.qualified_name.startswith(f"{own}.")
        if row.label in _SHARED and row.path and not is_own and not row.is_test:
            near.setdefault(row.uid, edge)
    users: dict[str, dict[str, Edge]] = {}
    for edge in await reader.store.edges(list(near), Direction.IN, _USES, MOST_EDGES) if near else []:
        if edge.node.row.label in _CODE and not edge.node.row.is_test:
            users.setdefault(edge.row.target, {}).setdefault(edge.node.row.uid, edge)
    few = {uid: found for uid, found in users.items() if len(found) <= MOST_SHARING}
    others = {uid: edge for found in few.values() for uid, edge in found.items() if uid not in ahead}
    called: dict[str, list[Edge]] = {}
    for edge in await reader.store.edges(list(others), Direction.OUT, (EdgeType.CALLS,), MOST_EDGES) if others else []:
        if edge.node.row.path and _roots(reader, edge.node.row.name) & asked:
            called.setdefault(edge.row.source, []).append(edge)
    found = [
        _OtherSide(near[uid].node, near[uid], edge, score, tuple(calls[:MOST_SHOWN]))
        for uid, by in few.items()
        for other, edge in by.items()
        if other not in ahead
        and _owner(nodes[near[uid].row.source]) != _owner(edge.node)
        and not _roots(reader, near[uid].node.row.name) <= _roots(reader, edge.node.row.name)  # what makes it
        for calls in (sorted(called.get(other, ()), key=lambda each: each.row.line),)
        if (score := _score(reader, edge.node, calls, asked)) >= LEAST_WORDS
    ]
    return sorted(found, key=lambda each: (-each.score, len(few[each.thing.row.uid]), each.far.node.row.path))


def _score(reader: Reader, node: Node, calls: Sequence[Edge], asked: set[str]) -> int:
    """Return how many words of the question a function has, in its name, its owner's, and in those that it calls."""
    names = [".".join(node.row.qualified_name.split(".")[-2:]), *(edge.node.row.name for edge in calls)]
    return len(asked & {root for name in names for root in _roots(reader, name)})


async def _line(
    reader: Reader, start: Node, ahead: dict[str, Edge | None], nodes: dict[str, Node], sides: Sequence[_OtherSide]
) -> str:
    first = sides[0]
    steps: list[str] = []
    uid = first.near.row.source
    while (edge := ahead.get(uid)) is not None:
        before = edge.row.source if edge.row.target == uid else edge.row.target
        steps.insert(0, f"{_name(nodes[uid])} {nodes[before].row.path}:{edge.row.line}")
        uid = before
    steps.insert(0, _name(nodes[uid]) if uid in nodes else _name(start))
    near, thing = nodes[first.near.row.source], first.thing
    here = f"{' > '.join(steps)} uses `{_name(thing)}` {near.row.path}:{first.near.row.line}"
    there: list[str] = []
    for each in sides:
        calls = ", ".join(dict.fromkeys(f"{edge.node.row.name} {edge.row.line}" for edge in each.calls))
        named = await _handed(reader, each.far.node)
        more = "; ".join(filter(None, (f"calls {calls}" if calls else "", named)))
        there.append(
            f"{_name(each.far.node)} {each.far.node.row.path}:{each.far.row.line}{f' ({more})' if more else ''}"
        )
    return f"no call leads on, but both use one name, which may be the way: {here}; so does {', '.join(there)}"


async def _handed(reader: Reader, node: Node) -> str:
    """Return where a function without callers is named, as one that is handed over is."""
    if await reader.store.edges([node.row.uid], Direction.IN, (EdgeType.CALLS,), 1):
        return ""
    known = {(node.row.path, node.row.line)}
    found = await find_name_lines(reader, node.row.name, node.project, known, prose=False)
    beside = (each for each in found.lines if each.path == node.row.path)
    line = next((each for each in beside if f"{node.row.name}(" not in each.text), None)
    return f"handed over at {line.path}:{line.line}" if line is not None else ""


def _owner(node: Node) -> str:
    """Return the class of a method, which shares what it has with all of its methods; a file for a function."""
    return node.row.qualified_name.rpartition(".")[0] if node.row.label == Label.METHOD else node.row.path


def _name(node: Node) -> str:
    row = node.row
    return ".".join(row.qualified_name.split(".")[-2:]) if row.label in (Label.METHOD, Label.VALUE) else row.name


def _roots(reader: Reader, text: str) -> set[str]:
    return {root_of(word) for word in reader.split_words(text) if word not in STOP_WORDS}
