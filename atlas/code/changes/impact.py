"""Find what changed symbols affect: callers, users, subclasses, tests, documents, by level. Reads the graph only.

A call of a method may run whatever overrides it, so callers of a method are also looked for at the methods that it
overrides. Importing a name executes nothing of it: an importer is listed, but not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.packages import parts_of
from atlas.code.notes.about import NoteAbout, notes_about
from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Label, Node
from atlas.core.wording import counted

DEFAULT_DEPTH = 3
MAX_DEPTH = 8
MOST_BEYOND = 8
"""Symbols of a level beyond the depth that are still listed, where nobody has said how deep to go."""
_FURTHER_FOR_TESTS = 3
MAX_AFFECTED = 600
"""Symbols that are followed. An answer of some thousand tokens lists fewer."""
MAX_LEVEL_EDGES = 1_500
MAX_EDGES_EACH = 150
"""Edges of one type read at one symbol, most certain first: a symbol of a large tree may have 17,000 callers."""
_MAX_BASES = 3
_FOLLOWED = (
    EdgeType.CALLS,
    EdgeType.REFERENCES,
    EdgeType.USES_TYPE,
    EdgeType.INHERITS,
    EdgeType.OVERRIDES,
    EdgeType.IMPORTS,
    EdgeType.TESTS,
)
_DOCUMENTS = (EdgeType.DOCUMENTS, EdgeType.AFFECTS)
_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE)


@dataclass(frozen=True, slots=True)
class Seed:
    """A changed symbol in the graph; its nodes are one symbol (overloads, a class with its constructor)."""

    name: str
    """The name that chains end with."""
    uids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Affected:
    """A symbol that a change may affect, reached over its shortest and most certain chain of edges."""

    node: Node
    depth: int
    lines: tuple[int, ...]
    """Lines of the evidence in the symbol's own file; () for structure."""
    type: str
    strategy: str
    confidence: float
    certainty: float
    """Product of the confidences along the chain."""
    via: tuple[str, ...]
    """Qualified names from the next symbol to the changed one."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change affects, nearest and most certain first."""

    affected: tuple[Affected, ...]
    """Affected code other than tests."""
    tests: tuple[Affected, ...]
    documents: tuple[Affected, ...]
    """Documents and decisions that mention a changed symbol, or the class or file that it is in."""
    notes: tuple[str, ...] = ()
    about: tuple[NoteAbout, ...] = ()
    """Notes about the changed symbols, which may no longer hold."""


@dataclass(slots=True)
class _Reached:
    certainty: float
    via: tuple[str, ...]


async def trace_impact(reader: Reader, seeds: Sequence[Seed], depth: int = 0) -> Impact:
    """Follow what uses the changed symbols up to `depth` edges. Raises store errors.

    Without a depth, up to `DEFAULT_DEPTH` edges and on through levels of few symbols. A note counts the symbols of the
    first level that is left out.
    """
    reached = {uid: _Reached(1.0, (seed.name,)) for seed in seeds for uid in seed.uids}
    if packages := [uid for uid in reached if ":ext:" in uid]:
        for uid in await parts_of(reader, packages):
            reached.setdefault(uid, _Reached(1.0, (seeds[0].name,)))
    start = await _with_constructors(reader, reached)
    found: dict[str, Affected] = {}
    notes: list[str] = []
    level = list(start)
    deepest = min(depth or DEFAULT_DEPTH, MAX_DEPTH)
    cut_at, within = 0, dict[str, _Reached]()
    for steps in range(1, MAX_DEPTH + 2):
        is_tested = steps > deepest + _FURTHER_FOR_TESTS or any(each.node.row.is_test for each in found.values())
        if cut_at and (depth or is_tested):
            break
        edges, cut = await _edges(reader, level, reached)
        if cut:
            notes.append(f"level {steps}: the most certain {len(edges)} of {len(edges) + cut} edges are followed")
        new = _merged(edges, reached, found, steps)
        code = sum(not each.node.row.is_test for each in new.values())
        if steps > deepest and not cut_at and code and (depth or code > MOST_BEYOND or steps > MAX_DEPTH):
            cut_at, within = steps, dict(reached)
            notes.append(_on_cut(steps, code, more=cut > 0))
        if depth and steps > deepest:
            break
        # without a nearer test, levels behind the cut are followed for tests alone
        found.update(
            {uid: each for uid, each in new.items() if not cut_at or (each.node.row.is_test and not is_tested)}
        )
        level = [uid for uid, each in new.items() if each.node.row.label not in _FILES and not each.node.row.is_test]
        for uid in level:
            each = new[uid]
            reached[uid] = _Reached(each.certainty, (each.node.row.qualified_name, *each.via))
        level += _owners_of_constructors(reader, level, reached)
        if not level:
            break
        if len(found) > MAX_AFFECTED:
            notes.append(f"followed to the first {len(found)} symbols: there are more at {steps + 1} edges and beyond")
            break
    found.update(await _routes(reader, within or reached))
    ranked = sorted(found.values(), key=_rank)
    about = await notes_about(reader, [uid for seed in seeds for uid in seed.uids])
    return Impact(
        tuple(each for each in ranked if not each.node.row.is_test),
        tuple(each for each in ranked if each.node.row.is_test),
        await _documents(reader, seeds),
        tuple(notes),
        tuple(note for note in about if note.node.row.label != Label.ADR),
    )


def _on_cut(depth: int, symbols: int, *, more: bool) -> str:
    deeper = f"; depth={depth} lists them" if depth <= MAX_DEPTH else ""
    return f"cut at depth {depth - 1}: {counted(symbols, 'more symbol', more=more)} at depth {depth}{deeper}"


def _rank(each: Affected) -> tuple[object, ...]:
    return (each.depth, -round(each.certainty, 2), each.node.row.path, each.lines[:1], each.node.row.qualified_name)


async def _edges(reader: Reader, level: Sequence[str], reached: dict[str, _Reached]) -> tuple[list[Edge], int]:
    """Return the edges that lead to the symbols of a level and to the methods that they override, and how many more."""
    ends, near_level = set(level), list(level)
    for _ in range(_MAX_BASES):
        bases = await reader.store.edges(near_level, Direction.OUT, (EdgeType.OVERRIDES,), MAX_LEVEL_EDGES)
        uids: list[str] = []
        for edge in bases:
            row = edge.row
            if row.target not in reached:
                near = reached[row.source]
                reached[row.target] = _Reached(near.certainty * 0.5, (edge.node.row.qualified_name, *near.via))
            if row.target not in ends:
                ends.add(row.target)
                uids.append(row.target)
        if not uids:
            break
        near_level = uids
    # an override of a base is a sibling, which does not run what changed: only callers of a base are read
    reads = ((list(level), _FOLLOWED), (sorted(ends - set(level)), (EdgeType.CALLS, EdgeType.REFERENCES)))
    found: list[Edge] = []
    more = 0
    for ordered, types in reads:
        if ordered:
            edges = await reader.store.edges(ordered, Direction.IN, types, MAX_LEVEL_EDGES, MAX_EDGES_EACH)
            if len(edges) >= MAX_LEVEL_EDGES or _any_full(edges):
                degrees = await reader.store.degrees(ordered, Direction.IN, types)
                more += sum(sum(counts.values()) for counts in degrees.values()) - len(edges)
            found += edges
    return found, more


def _any_full(edges: Iterable[Edge]) -> bool:
    counts: dict[tuple[str, str], int] = {}
    for edge in edges:
        key = (edge.row.target, edge.row.type)
        counts[key] = counts.get(key, 0) + 1
    return any(count >= MAX_EDGES_EACH for count in counts.values())


def _merged(
    edges: Iterable[Edge], reached: Mapping[str, _Reached], found: Mapping[str, Affected], depth: int
) -> dict[str, Affected]:
    """Return the symbols that are new at a level, each with all of its lines and its most certain edge."""
    new: dict[str, Affected] = {}
    for edge in edges:
        row, far = edge.row, edge.node.row
        if far.uid in reached or far.uid in found:
            continue
        near = reached[row.target]
        certainty = near.certainty * row.confidence
        lines = row.lines
        known = new.get(far.uid)
        if known is None:
            new[far.uid] = Affected(
                edge.node, depth, lines, row.type, row.strategy, row.confidence, certainty, near.via
            )
            continue
        lines = tuple(sorted({*known.lines, *lines}))
        if certainty > known.certainty or (known.type == EdgeType.IMPORTS and row.type != EdgeType.IMPORTS):
            new[far.uid] = Affected(
                edge.node, depth, lines, row.type, row.strategy, row.confidence, certainty, near.via
            )
        else:
            new[far.uid] = replace(known, lines=lines)
    return _without_plain_importers(new)


def _without_plain_importers(new: Mapping[str, Affected]) -> dict[str, Affected]:
    """Leave out files that import a symbol where a symbol of the file uses it: the use is the better evidence."""
    using = {each.node.row.path for each in new.values() if each.node.row.label not in _FILES}
    return {
        uid: each
        for uid, each in new.items()
        if each.node.row.label not in _FILES or each.type != EdgeType.IMPORTS or each.node.row.path not in using
    }


async def _with_constructors(reader: Reader, reached: dict[str, _Reached]) -> list[str]:
    """Add the constructors of changed classes and the classes of changed constructors: a call names either."""
    constructors = reader.languages.constructors
    for edge in await reader.store.edges(list(reached), Direction.OUT, (EdgeType.DEFINES_METHOD,), 5_000):
        if edge.node.row.name in constructors:
            reached.setdefault(edge.row.target, reached[edge.row.source])
    _owners_of_constructors(reader, list(reached), reached)
    return list(reached)


def _owners_of_constructors(reader: Reader, uids: Iterable[str], reached: dict[str, _Reached]) -> list[str]:
    owners: list[str] = []
    for uid in uids:
        owner, _, name = uid.rpartition(".")
        if name in reader.languages.constructors and owner not in reached:
            reached[owner] = reached[uid]
            owners.append(owner)
    return owners


async def _routes(reader: Reader, reached: Mapping[str, _Reached]) -> dict[str, Affected]:
    """Return the routes and events that the changed and the affected symbols handle, and the clients of the routes."""
    types = (EdgeType.HANDLES_ROUTE, EdgeType.HANDLES_EVENT)
    found: dict[str, Affected] = {}
    for edge in await reader.store.edges(list(reached), Direction.OUT, types, MAX_LEVEL_EDGES):
        row, far, near = edge.row, edge.node.row, reached[edge.row.source]
        lines = (far.line,) if far.line else ()
        found.setdefault(
            far.uid,
            Affected(
                edge.node, len(near.via), lines, row.type, row.strategy, row.confidence,
                near.certainty * row.confidence, near.via,
            ),
        )  # fmt: skip
    routes = [uid for uid, each in found.items() if each.node.row.label == Label.ROUTE]
    for edge in await reader.store.edges(routes, Direction.IN, (EdgeType.CALLS_ROUTE,), MAX_LEVEL_EDGES):
        row, route = edge.row, found[edge.row.target]
        if edge.node.row.uid not in reached:
            found.setdefault(
                edge.node.row.uid,
                Affected(
                    edge.node, route.depth + 1, row.lines, row.type, row.strategy, row.confidence,
                    route.certainty * row.confidence, (route.node.row.name, *route.via),
                ),
            )  # fmt: skip
    return found


async def _documents(reader: Reader, seeds: Sequence[Seed]) -> tuple[Affected, ...]:
    """Return the documents of the changed symbols, then those of what they are part of."""
    names = {uid: seed.name for seed in seeds for uid in seed.uids}
    owners: dict[str, str] = {}
    held = await reader.store.edges(list(names), Direction.IN, (EdgeType.DEFINES, EdgeType.DEFINES_METHOD), 5_000)
    for edge in held:
        if edge.row.source not in names:
            owners.setdefault(edge.row.source, edge.node.row.qualified_name)
    found: dict[str, Affected] = {}
    for depth, group in enumerate((names, owners), 1):
        for edge in await reader.store.edges(list(group), Direction.IN, _DOCUMENTS, MAX_LEVEL_EDGES):
            row = edge.row
            lines = row.lines
            known = found.get(edge.node.row.uid)
            if known is None:
                found[edge.node.row.uid] = Affected(
                    edge.node, depth, lines, row.type, row.strategy, row.confidence, row.confidence,
                    (group[row.target],),
                )  # fmt: skip
            elif known.depth == depth:
                via = known.via if group[row.target] in known.via else (*known.via, group[row.target])
                found[edge.node.row.uid] = replace(known, lines=tuple(sorted({*known.lines, *lines})), via=via)
    return tuple(sorted(found.values(), key=_rank))
