"""The shortest chain of calls from one symbol to another, searched from both ends. Reads the graph only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Node

MAX_STEPS = 10
MAX_VISITED = 20_000
"""Symbols visited from both ends; a longer search says that nothing was found within it."""
_TYPES = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.OVERRIDES)
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of the chain: it leads to `node`; `path` and `line` locate the call."""

    node: Node
    path: str
    line: int
    strategy: str
    confidence: float


async def find_path(reader: Reader, starts: Sequence[str], ends: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps of a shortest chain of calls; () where there is none within the bounds.

    A class starts and ends a chain with each of its members. A call of a method may run what overrides it.
    """
    forward: dict[str, Edge | None] = dict.fromkeys([*starts, *await _members(reader, starts)])
    backward: dict[str, Edge | None] = dict.fromkeys([*ends, *await _members(reader, ends)])
    ahead, behind = list(forward), list(backward)
    for _ in range(MAX_STEPS):
        if met := next((uid for uid in forward if uid in backward), None):
            return await _chain(reader, met, forward, backward)
        if not ahead or not behind or len(forward) + len(backward) > MAX_VISITED:
            break
        if len(ahead) <= len(behind):
            ahead = await _expand(reader, ahead, forward, Direction.OUT)
        else:
            behind = await _expand(reader, behind, backward, Direction.IN)
    met = next((uid for uid in forward if uid in backward), None)
    return await _chain(reader, met, forward, backward) if met else ()


async def _members(reader: Reader, uids: Sequence[str]) -> list[str]:
    return [edge.node.row.uid for edge in await reader.store.edges(uids, Direction.OUT, _HOLDS, 500)]


async def _expand(
    reader: Reader, level: Sequence[str], known: dict[str, Edge | None], direction: Direction
) -> list[str]:
    """Follow calls one step in a direction; overrides are followed against their edges, from base to override."""
    found = await reader.store.edges(level, direction, (EdgeType.CALLS,), MAX_VISITED)
    against = Direction.IN if direction == Direction.OUT else Direction.OUT
    found += await reader.store.edges(level, against, (EdgeType.OVERRIDES,), MAX_VISITED)
    new: list[str] = []
    for edge in found:
        uid = edge.node.row.uid
        if uid not in known:
            known[uid] = edge
            new.append(uid)
    return new


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
        steps.append(Step(nodes[target], source.row.path, row.line, row.strategy, row.confidence))
    return tuple(steps)


def _other(edge: Edge, uid: str) -> str:
    return edge.row.source if edge.row.target == uid else edge.row.target
