"""The calls from one symbol to another as a ladder: each with its line, its conditions, and what else leads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.reader import Reader
from atlas.code.tools.symbol.symbols import RelatedLine
from atlas.core.model import Direction, Edge, EdgeType, NodeRow
from atlas.server.explorer.flow.conditions import Conditions, Texts

FOLLOWED, BESIDE = 2_000, 8
"""Symbols that are followed to find what leads to the end of a flow, and alternatives to a step that are shown."""


@dataclass(frozen=True, slots=True)
class FlowStep:
    """A symbol on the way, with the line that leads to it and the lines around that one."""

    name: str
    uid: str
    """Its qualified name, if it is not known which one of that name it is."""
    place: str
    """`path:line` of the call, "" if there is none."""
    call: str
    conditions: Conditions
    how: str
    others: tuple[tuple[str, str, str], ...] = ()
    """What the caller calls instead, and that leads to the end as well: (uid, name, place)."""
    kind: str = ""
    """Of an end: query, event or request."""
    steps: tuple[FlowStep, ...] = ()
    """What the symbol leads to."""


async def steps_of(reader: Reader, start: str, found: Sequence[tuple[str, RelatedLine]]) -> list[FlowStep]:
    """Return the steps of a chain of calls, given as (path, step). `start`: its first symbol, "" if unknown."""
    chain, others = await alternatives(reader, start, [one for _, one in found])
    texts = Texts(reader)
    return [
        await _step(texts, path, one, uid, beside)
        for (path, one), uid, beside in zip(found, chain, others, strict=True)
    ]


async def alternatives(
    reader: Reader, start: str, steps: Sequence[RelatedLine]
) -> tuple[list[str], list[tuple[tuple[str, str, str], ...]]]:
    """Return the uid of each step of a chain of calls, and what its caller calls instead and that leads to the end too.

    What leads to the end is followed as far back as the chain is long, and at most over `FOLLOWED` symbols. A step that
    is no call of its own, such as one to what overrides a method, ends the search.
    """
    chain, called = [start], list[list[Edge]]()
    for one in steps if start else ():
        edges = await reader.store.edges([chain[-1]], Direction.OUT, (EdgeType.CALLS,), FOLLOWED)
        called.append(edges)
        named = (each for each in edges if each.row.line in one.lines and _is_named(each.node.row, one.name))
        if (step := next(named, None)) is None:
            return [*chain[1:], *[""] * (len(steps) - len(chain) + 1)], [()] * len(steps)
        chain.append(step.row.target)
    leads = await _leading(reader, chain[-1], len(chain))
    found: list[tuple[tuple[str, str, str], ...]] = []
    for edges, (caller, callee) in zip(called, pairwise(chain), strict=True):
        beside = {
            edge.row.target: (edge.row.target, edge.node.row.name, f"{edge.node.row.path}:{edge.node.row.start_line}")
            for edge in edges
            if edge.row.target in leads and edge.row.target not in (caller, callee)
        }
        found.append(tuple(beside.values())[:BESIDE])
    return chain[1:] or [""] * len(steps), found or [()] * len(steps)


def _is_named(row: NodeRow, name: str) -> bool:
    """Return whether a symbol has a name that a report shows: without what its path says."""
    return row.qualified_name == name or row.qualified_name.endswith(f".{name}")


async def _leading(reader: Reader, end: str, steps: int) -> set[str]:
    """Return the symbols that lead to one over at most some calls, and itself."""
    leads, frontier = {end}, [end]
    for _ in range(steps):
        edges = await reader.store.edges(frontier, Direction.IN, (EdgeType.CALLS,), FOLLOWED) if frontier else []
        frontier = list(dict.fromkeys(edge.row.source for edge in edges if edge.row.source not in leads))
        leads.update(frontier)
        if len(leads) > FOLLOWED:
            break
    return leads


async def _step(
    texts: Texts, path: str, one: RelatedLine, uid: str, others: tuple[tuple[str, str, str], ...]
) -> FlowStep:
    how = f"{one.strategy} {one.confidence:.2f}" if one.strategy else ""
    call = await texts.call(path, one.lines[0]) if one.lines else None
    if call is None or not call.text:
        return FlowStep(one.name, uid or one.symbol, path, "", (), how, others)
    return FlowStep(one.name, uid or one.symbol, f"{path}:{one.lines[0]}", call.text, call.conditions, how, others)
