"""A way between two ends that a question tells in words: each end becomes symbols, and calls lead between them.

An end with a name is the symbol of that name which has most of the words around it; an end without one is what a search
for its words finds, and is said to be a guess. Reads the graph and the indexes of words and meanings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.paths.call_path import (
    MAX_STEPS,
    Step,
    called,
    find_path,
    find_path_by_name,
    is_for_errors,
)
from atlas.code.graph.paths.commands import find_command, started_by
from atlas.code.graph.paths.meeting import notes_on_meeting
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.subjects import find_subject
from atlas.code.graph.targets import Targets
from atlas.code.question.parse_question import route
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.requests.ends import PathEnds
from atlas.code.question.written_names import NameShape, read_names
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import by_meaning, by_words, gather
from atlas.code.retrieve.fuse import fuse_rrf
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MOST_GUESSES = 5
"""Symbols that an end without a name may be, best first."""
OTHER_GUESSES = 3
MOST_OF_NAME = 8
"""Symbols of one name that an end may be, where the words around it do not tell them apart."""
MOST_GUESSED_STEPS = 8
"""Steps of a way to or from a guess; a longer one leads anywhere."""
MOST_SEARCHED = 30
MOST_REACHED, LEAST_WORDS, LEAST_GUESSES = 100, 2, 2
"""Symbols in reach of an end with a name that a guess is looked for among, words of the question that it has, and
guesses that a way to it leads over."""
NEXT_TO_END = 5
"""Calls beside an end that are listed where no way was found."""
MOST_MEMBERS = 200
_RECEIVER = lazy_regex(r"[$@]?\w+(?:->|\.|::)\w")
_IN_OWNER = lazy_regex(r"\b(?:in|of|by|inside|within) (?:the|an?|its|our) (?P<words>(?:[a-z]+ ){1,2}[a-z]+)")
_ONE_WORD = lazy_regex(r"[a-z]\w{2,60}")
_LEAST_STEPS = 2
LONGER = 2
"""Steps by which another way may be longer."""
_IN_NAME = 2
"""Weight of a word that the name of a symbol has; one that only its description has counts once."""
_SYMBOLS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD))
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_HOW = {
    "usual calls": "",
    "calls": "",
    "handed over": "a step may be a function that is handed over as a value, and called elsewhere",
    "channels": "a step over a channel or queue leads to a function that uses the same one: which of them puts in and"
    " which takes out is not told apart",
    "names": "a step marked `name` is an unresolved call of that name, which makes the way likely, not certain",
}
_FOR_GUESSES = ("usual calls", "calls", "channels")


@dataclass(frozen=True, slots=True)
class WayEnd:
    """What one end of a way may be."""

    text: str
    nodes: tuple[Node, ...]
    is_named: bool
    declared: str = ""
    """Where a manifest declares the command that a name stands for: `setup.py:33 as shop.cli:main`."""

    def said(self, node: Node) -> str:
        """Return the words of the question and what they are taken for."""
        row = node.row
        name = f"{row.kind} {row.qualified_name} {row.path}:{row.line or row.start_line}"
        how = f"declared in {self.declared}: " if self.declared else "" if self.is_named else "a guess: "
        return f'"{self.text}" ({how}{name})'


async def answer_described_path(reader: Reader, ends: PathEnds, where: Filter, text: str) -> EdgeAnswer | None:
    """Return the way between the ends of a question. Raises store errors.

    `text` is the whole question: of several ways, its words choose. None where it names none of the ends, or where no
    calls lead from one to what the other may be.
    """
    first, last = await _named(reader, ends.start, where), await _named(reader, ends.end, where)
    if first is None and last is None:
        return None
    start = await _chosen(reader, first, last) if first is not None else await _guessed(reader, ends.start, where)
    end = await _chosen(reader, last, first) if last is not None else await _guessed(reader, ends.end, where)
    if not start.nodes or not end.nodes:
        return None
    if (answer := await _way(reader, ends, start, end, text)) is not None:
        return answer
    if start.is_named and end.is_named:
        return await _unknown(reader, ends, start, end)
    start = start if start.is_named else await _within_reach(reader, ends.start, end, Direction.IN, where)
    end = end if end.is_named else await _within_reach(reader, ends.end, start, Direction.OUT, where)
    return await _way(reader, ends, start, end, text, LEAST_GUESSES) if start.nodes and end.nodes else None


async def _way(
    reader: Reader, ends: PathEnds, start: WayEnd, end: WayEnd, text: str, least: int = 1
) -> EdgeAnswer | None:
    """Return the way between symbols that the ends may be, over at least so many guesses; None without any."""
    for how in _HOW if start.is_named and end.is_named else _FOR_GUESSES:
        if (attempt := await _attempt(reader, how, start, end, least)) is not None:
            first, last, steps = attempt
            steps = _to_first(steps) if end.is_named else steps
            ways = await _with_others(reader, how, steps, first, last)
            return await _found(reader, ends, start, end, _by_words(reader, ways, text), how)
    return None


async def _attempt(
    reader: Reader, how: str, start: WayEnd, end: WayEnd, least: int
) -> tuple[Sequence[Node], Sequence[Node], Sequence[Step]] | None:
    """Return a way of one kind with its ends; None without any.

    Each guess is tried by itself, the nearest need not be meant: that counts whose way leads through most of the
    others, which are steps to it, and the nearest of several.
    """
    firsts = [start.nodes] if start.is_named else [(node,) for node in start.nodes]
    lasts = [end.nodes] if end.is_named else [(node,) for node in end.nodes]
    guesses = {node.row.uid for each in (start, end) if not each.is_named for node in each.nodes}
    found: list[tuple[int, Sequence[Node], Sequence[Node], Sequence[Step]]] = []
    for first in firsts:
        for last in lasts:
            steps = await _steps(reader, how, first, last)
            if not steps or (guesses and len(steps) > MOST_GUESSED_STEPS):
                continue
            if (over := sum(uid in guesses for uid in _names(steps))) >= least or not guesses:
                found.append((over, first, last, steps))
            if not guesses:
                break
    best = max(found, key=lambda each: each[0], default=None)
    return best[1:] if best is not None else None


async def _steps(reader: Reader, how: str, first: Sequence[Node], last: Sequence[Node]) -> tuple[Step, ...]:
    starts, ends = [node.row.uid for node in first], [node.row.uid for node in last]
    if set(starts) & set(ends):
        return ()
    match how:
        case "usual calls":
            return await find_path(reader, starts, ends, avoids_errors=True)
        case "calls":
            return await find_path(reader, starts, ends)
        case "handed over":
            return await find_path(reader, starts, ends, hands_over=True)
        case "channels":
            return await find_path(reader, starts, ends, crosses_channels=True)
        case _:
            return await find_path_by_name(reader, starts, last)


async def _with_others(
    reader: Reader, how: str, steps: Sequence[Step], first: Sequence[Node], last: Sequence[Node]
) -> list[Sequence[Step]]:
    """Return a way and those that begin or end with another call."""
    found = [steps]
    if how not in ("usual calls", "calls") or len(steps) < _LEAST_STEPS:
        return found
    starts, ends = [node.row.uid for node in first], [node.row.uid for node in last]
    for step in (steps[0], steps[-1]):
        other = await find_path(
            reader, starts, ends, avoids_errors=how == "usual calls", without=(step.source, step.node.row.uid)
        )
        if other and len(other) <= len(steps) + LONGER and all(_names(other) != _names(each) for each in found):
            found.append(other)
    return found


def _names(steps: Sequence[Step]) -> list[str]:
    return [step.node.row.uid for step in steps]


def _by_words(reader: Reader, ways: Sequence[Sequence[Step]], text: str) -> list[Sequence[Step]]:
    """Return ways in the order of how many words of the question are in the names between their ends, then as found."""
    asked = _roots(reader, text)

    def words(steps: Sequence[Step]) -> int:
        between = {root for step in steps[:-1] for root in _roots(reader, step.node.row.name)}
        return len(between & asked)

    return sorted(ways, key=words, reverse=True)


def _to_first(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps until the first that has the name of the end: what overrides it is one of several."""
    name = steps[-1].node.row.name
    return steps[: next(number for number, step in enumerate(steps, 1) if step.node.row.name == name)]


async def _found(
    reader: Reader, ends: PathEnds, start: WayEnd, end: WayEnd, ways: Sequence[Sequence[Step]], how: str
) -> EdgeAnswer:
    steps, *otherwise = ways
    first = next((node for node in start.nodes if node.row.uid == steps[0].source), None)
    if first is None:
        first = (await reader.store.symbols([steps[0].source]) or [start.nodes[0]])[0]
    related = tuple(
        RelatedSymbol(step.node, step.path, (step.line,) if step.line else (), step.strategy, step.confidence, depth)
        for depth, step in enumerate(steps, 1)
    )
    title = f"way from {start.said(first)} to {end.said(steps[-1].node)}: {counted(len(steps), 'step')}"
    others = [*_others(start, first), *_others(end, steps[-1].node)]
    note = f"the guess may as well be {', '.join(others)}" if others else ""
    other_ways = (f"another way: {' > '.join(called(step) for step in each)}" for each in otherwise)
    return replace(_answer(ends, title), related=related, notes=tuple(filter(None, (_HOW[how], note, *other_ways))))


def _others(end: WayEnd, node: Node) -> list[str]:
    """Return what else an end without a name may be."""
    rows = [] if end.is_named else [each.row for each in end.nodes if each.row.uid != node.row.uid]
    return [f"{row.qualified_name} {row.path}:{row.line or row.start_line}" for row in rows[:OTHER_GUESSES]]


async def _unknown(reader: Reader, ends: PathEnds, start: WayEnd, end: WayEnd) -> EdgeAnswer:
    """Return that no way was found, with the calls beside both ends."""
    title = f"way from {start.said(start.nodes[0])} to {end.said(end.nodes[0])}: unknown"
    beside = (
        ("the beginning calls", await _beside(reader, start.nodes, Direction.OUT)),
        ("the end is called by", await _beside(reader, end.nodes, Direction.IN)),
    )
    uids = ([node.row.uid for node in each.nodes] for each in (start, end))
    notes = (
        f"no chain of resolved calls or channels within {MAX_STEPS} steps: unknown rather than none",
        *await notes_on_meeting(reader, *uids),
        *(f"{what}: {', '.join(names)}" for what, names in beside if names),
    )
    return replace(_answer(ends, title), notes=notes, is_unknown=True)


def _answer(ends: PathEnds, title: str) -> EdgeAnswer:
    intent = RelationIntent(Kind.PATH, ends.start, ends.end, certain=True)
    return EdgeAnswer(intent, Targets(ends.start, ()), Targets(ends.end, ()), title=title)


async def _beside(reader: Reader, nodes: Sequence[Node], direction: Direction) -> list[str]:
    edges = await reader.store.edges([node.row.uid for node in nodes], direction, (EdgeType.CALLS,), MOST_SEARCHED)
    rows = [edge.node.row for edge in edges if edge.node.row.path and not edge.node.row.is_test]
    names = dict.fromkeys(f"{row.qualified_name} {row.path}:{row.line or row.start_line}" for row in rows)
    return [*names][:NEXT_TO_END]


async def _named(reader: Reader, text: str, where: Filter) -> WayEnd | None:
    """Return the symbols of the names of an end; None where it has none."""
    nodes: list[Node] = []
    if (command := await find_command(reader, text, where.project)) is not None:
        started = await started_by(reader, command, where.project)
        if started is not None:
            return WayEnd(text, (started,), is_named=True, declared=command.declared)
    for written in read_names(text, reader.languages).names:
        if written.shape < NameShape.CODE:
            continue
        subject = await find_subject(reader, written, where.project)
        if subject is None and _RECEIVER.match(written.text):
            # the member of a variable: `$logger->info()`
            member = replace(written, name=written.name.rpartition(".")[2])
            subject = await find_subject(reader, member, where.project)
        if subject is not None:
            uids = [uid for target in subject.targets for uid in target.uids]
            nodes += [node for node in await reader.store.symbols(uids) if node.row.label in _SYMBOLS]
    if not nodes and _ONE_WORD.fullmatch(text.strip("`'\"")):
        # `main`: no name for certain, but what a way begins or ends with
        where = replace(where, labels=_CALLABLE)
        found = await reader.store.find(text.strip("`'\""), Match.SUFFIX, where, MOST_OF_NAME)
        nodes = [node for node in found if not node.row.is_test]
    return WayEnd(text, tuple(_without_owners(nodes)), is_named=True) if nodes else None


def _without_owners(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return the members of classes that an end names as well, where there are some: `the cart's total()`."""
    owners = tuple(f"{node.row.qualified_name}." for node in nodes if node.row.label == Label.CLASS)
    inside = [node for node in nodes if owners and node.row.qualified_name.startswith(owners)]
    return inside or nodes


async def _chosen(reader: Reader, end: WayEnd, other: WayEnd | None) -> WayEnd:
    """Return an end with those of its symbols that have most of the words around the name.

    Members of what the other end names are none of them: `calling Apply` ... `the FSM sees it`.
    """
    others = other.nodes if other is not None else ()
    owners = [f"{node.row.qualified_name}." for node in others if node.row.label == Label.CLASS]
    kept = [node for node in end.nodes if not any(node.row.qualified_name.startswith(owner) for owner in owners)]
    words = _roots(reader, end.text) - {word for node in end.nodes for word in _roots(reader, node.row.name)}
    return replace(end, nodes=tuple(await _best(reader, kept or end.nodes, words)))


async def _guessed(reader: Reader, text: str, where: Filter) -> WayEnd:
    """Return the functions that a search for the words of an end finds."""
    return WayEnd(text, tuple((await _searched(reader, text, where, MOST_SEARCHED))[:MOST_GUESSES]), is_named=False)


async def _within_reach(reader: Reader, text: str, other: WayEnd, direction: Direction, where: Filter) -> WayEnd:
    """Return those that a wider search finds among the few symbols that calls lead to from the other end, or from it.

    Each has several words of the end, if only in its path: the best hits may be other functions of the same subject.
    """
    reached = {node.row.uid for node in other.nodes}
    held = await reader.store.edges(list(reached), Direction.OUT, _HOLDS, MOST_MEMBERS)
    level = [*reached, *(edge.node.row.uid for edge in held)]
    for _ in range(MOST_GUESSED_STEPS):
        edges = await reader.store.edges(level, direction, (EdgeType.CALLS,), MOST_REACHED) if level else []
        level = list(dict.fromkeys(edge.node.row.uid for edge in edges if edge.node.row.uid not in reached))
        reached.update(level)
        if len(reached) > MOST_REACHED:
            return WayEnd(text, (), is_named=False)
    words = _roots(reader, text)
    found = await _searched(reader, text, where, MOST_REACHED)
    kept = [node for node in found if node.row.uid in reached and _has_several(reader, node, words)]
    own = {node.row.uid for node in other.nodes}
    return WayEnd(text, tuple(node for node in kept if node.row.uid not in own)[:MOST_GUESSES], is_named=False)


async def _searched(reader: Reader, text: str, where: Filter, most: int) -> list[Node]:
    """Return the functions outside tests that a search for words finds, best first."""
    query = route(text, reader.split_words, reader.languages)
    code = replace(where, labels=_CALLABLE)
    rankings = await gather(
        ("words", by_words(reader, query, code, most)),
        ("meaning", by_meaning(reader, query, code, most)),
    )
    hits = fuse_rrf([each.hits for each in rankings])
    found = [node for node in await reader.store.symbols([hit.uid for hit in hits]) if not node.row.is_test]
    owners = [f"{name}." for name in await _spelled_owners(reader, text, where)]
    inside = [node for node in found if any(f".{node.row.qualified_name}".find(f".{each}") >= 0 for each in owners)]
    found = inside or found
    return [node for node in found if not is_for_errors(node)] or found


async def _spelled_owners(reader: Reader, text: str, where: Filter) -> list[str]:
    """Return the names of classes that an end spells behind a preposition: `the write in the stream handler`."""
    match = _IN_OWNER.search(text)
    words = match["words"].split() if match is not None else []
    classes = Filter(project=where.project, labels=(Label.CLASS,))
    for count in range(len(words), 1, -1):
        name = "".join(word.capitalize() for word in words[:count])
        if any(node.row.name == name for node in await reader.store.find(name, Match.SUFFIX, classes, 5)):
            return [name]
    return []


async def _best(reader: Reader, nodes: Sequence[Node], words: set[str]) -> list[Node]:
    """Return the symbols that have most of the words; of a class, its members whose names have some."""
    most = max(_score(reader, node, words) for node in nodes)
    best = [node for node in nodes if _score(reader, node, words) == most]
    classes = [node.row.uid for node in best if node.row.label == Label.CLASS]
    members = await reader.store.edges(classes, Direction.OUT, _HOLDS, MOST_MEMBERS) if classes else []
    inside = [edge.node for edge in members if edge.node.row.label in _CALLABLE]
    named = [node for node in inside if words & _roots(reader, node.row.name)]
    return (named or best)[:MOST_OF_NAME]


def _score(reader: Reader, node: Node, words: set[str]) -> int:
    """Return how many of the words a symbol has: its owner's name counts more than its file and description."""
    row = node.row
    name = _roots(reader, ".".join(row.qualified_name.split(".")[-2:]))
    said = _roots(reader, f"{row.path} {row.signature} {row.docstring}")
    return sum(_IN_NAME if word in name else word in said for word in words)


def _has_several(reader: Reader, node: Node, words: set[str]) -> bool:
    """Return whether a symbol has several of the words, in its name, path or description."""
    row = node.row
    return len(words & _roots(reader, f"{row.qualified_name} {row.path} {row.docstring}")) >= LEAST_WORDS


def _roots(reader: Reader, text: str) -> set[str]:
    return {root_of(word) for word in reader.split_words(text) if word not in STOP_WORDS}
