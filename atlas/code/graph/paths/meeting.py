"""What lies beside and behind chains of calls: a caller of both ends, a chain the other way, and one level further.

A loop that calls both ends, an event or a queue lets one follow the other without a call. Reads the graph only.
"""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.paths.call_path import Step, called, find_path
from atlas.code.graph.relation import RelatedSymbol
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Node
from atlas.core.wording import counted

MOST_LEVELS = 6
"""Calls between a common caller and what it reaches; from further away, `main` reaches everything."""
MOST_CALLERS = 2_000
MOST_OF_LEVEL = 2_000
"""Edges of a level that are counted."""
_HANDED_OVER = " (a step may be a function that is handed over as a value)"
_RUNS = (EdgeType.CALLS, EdgeType.REFERENCES)
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


async def notes_on_meeting(reader: Reader, starts: Sequence[str], ends: Sequence[str]) -> tuple[str, ...]:
    """Return what is known instead of a chain of calls from one symbol to another. Raises store errors."""
    back, remark = await _way(reader, ends, starts)
    if back:
        return (f"a chain leads the other way: {await _written(reader, back)}{remark}",)
    common = await _common_caller(reader, starts, ends)
    if common is None:
        return ()
    uid = [common.row.uid]
    to_start, remark = await _way(reader, uid, starts)
    to_end, other = await _way(reader, uid, ends)
    if not to_start or not to_end:
        return ()
    row = common.row
    where = f"{row.kind} {row.qualified_name} {row.path}:{row.line or row.start_line}"
    ways = "; and ".join([" > ".join(map(called, steps)) for steps in (to_start, to_end)])
    return (f"both are reached from {where}: {ways}{remark or other}",)


async def _way(reader: Reader, starts: Sequence[str], ends: Sequence[str]) -> tuple[tuple[Step, ...], str]:
    """Return a chain of calls and no remark, else one in which a function may be handed over, with the remark."""
    if steps := await find_path(reader, starts, ends):
        return steps, ""
    return await find_path(reader, starts, ends, hands_over=True), _HANDED_OVER


async def _written(reader: Reader, steps: Sequence[Step]) -> str:
    first = await reader.store.symbols([steps[0].source])
    return " > ".join([*(node.row.name for node in first), *map(called, steps)])


async def _common_caller(reader: Reader, starts: Sequence[str], ends: Sequence[str]) -> Node | None:
    """Return the nearest symbol outside of tests from which calls lead to both."""
    sides = [await _with_members(reader, starts), await _with_members(reader, ends)]
    known = [dict[str, Node | None](dict.fromkeys(side)) for side in sides]
    for _ in range(MOST_LEVELS):
        for at, other in ((0, 1), (1, 0)):
            sides[at] = await _callers(reader, sides[at], known[at])
            met = [node for uid in sides[at] if uid in known[other] and (node := known[at][uid]) is not None]
            if met:
                return min(met, key=lambda node: (node.row.path, node.row.start_line))
    return None


async def _callers(reader: Reader, level: Sequence[str], known: dict[str, Node | None]) -> list[str]:
    """Add the callers of a level that are new and no tests, and return them."""
    if not level or len(known) > MOST_CALLERS:
        return []
    edges = await reader.store.edges(level, Direction.IN, _RUNS, MOST_CALLERS)
    edges += await reader.store.edges(level, Direction.OUT, (EdgeType.OVERRIDES,), MOST_CALLERS)
    new = {edge.node.row.uid: edge.node for edge in edges if not edge.node.row.is_test}
    new = {uid: node for uid, node in new.items() if uid not in known}
    known.update(new)
    return list(new)


async def _with_members(reader: Reader, uids: Sequence[str]) -> list[str]:
    held = await reader.store.edges(uids, Direction.OUT, _HOLDS, MOST_CALLERS)
    return [*uids, *(edge.node.row.uid for edge in held)]


async def note_on_cut_level(
    reader: Reader, related: Sequence[RelatedSymbol], depth: int, direction: Direction, types: Sequence[EdgeType]
) -> tuple[str, ...]:
    """Return a note that counts what the symbols at `depth` edges lead to; () where that is nothing new."""
    last = [each.node.row.uid for each in related if each.depth == depth]
    known = {each.node.row.uid for each in related}
    edges = await reader.store.edges(last, direction, types, MOST_OF_LEVEL) if last else []
    new = {edge.node.row.uid for edge in edges} - known
    count = counted(len(new), "more symbol", more=len(edges) >= MOST_OF_LEVEL)
    return (f"cut at depth {depth}: {count} at depth {depth + 1}",) if new else ()
