"""Variable-length relationships and shortest paths, followed in Python over `Graph.neighbours`.

All walks are trails: no relationship repeats. They are generated lazily in a fixed order (shorter prefixes first, then
by key), so that LIMIT and the timeout stop them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from atlas.adapters.stores.sqlite.cypher.context import QueryContext
from atlas.adapters.stores.sqlite.cypher.graph import Types
from atlas.adapters.stores.sqlite.cypher.meter import ENTRY
from atlas.adapters.stores.sqlite.cypher.values import Edge

MAX_HOPS = 15
"""Maximum depth of `*` and `*n..` where every path counts; reachability and shortest paths need no limit."""
ARRIVAL = 400
"""Bytes per arrival at a node: relationship, list and entries."""
_BATCH = 200
"""Nodes whose neighbours one statement reads."""
_BACK = {"out": "in", "in": "out", "both": "both"}
_Arrivals = dict[int, list[tuple[Edge, int]]]


@dataclass(frozen=True, slots=True)
class Walk:
    """The relationships that may be followed; `allowed` returns whether a single relationship matches."""

    direction: str
    types: Types
    allowed: Callable[[Edge], bool] | None

    def reverse(self) -> Walk:
        """Return the same walk from the other end."""
        return Walk(_BACK[self.direction], self.types, self.allowed)


def steps(walk: Walk, node: int, context: QueryContext) -> Iterator[tuple[Edge, int]]:
    """Yield (relationship, next node) from a node."""
    context.tick()
    for edge, far in context.graph.neighbours(node, walk.direction, walk.types):
        if walk.allowed is None or walk.allowed(edge):
            yield edge, far


def trails(
    walk: Walk,
    start: int,
    hops: tuple[int, int | None],
    used: frozenset[Edge],
    target: int | None,
    context: QueryContext,
) -> Iterator[tuple[tuple[Edge, ...], int]]:
    """Yield (relationships, end) of every trail from `start` within `hops` that avoids `used` and ends at `target`."""
    low, high = hops[0], MAX_HOPS if hops[1] is None else hops[1]
    left = None if target is None else distances(walk.reverse(), target, high, context)
    if low == 0 and (target is None or target == start):
        yield (), start
    if high < 1 or (left is not None and left.get(start, high + 1) > high):
        return
    path: list[Edge] = []
    taken = set(used)
    stack = [steps(walk, start, context)]
    while stack:
        following = next(stack[-1], None)
        if following is None:
            stack.pop()
            if path:
                taken.discard(path.pop())
            continue
        edge, node = following
        depth = len(path) + 1
        if edge in taken or (left is not None and left.get(node, high + 1) > high - depth):
            continue
        if depth >= low and (target is None or node == target):
            yield (*path, edge), node
        if depth < high:
            path.append(edge)
            taken.add(edge)
            stack.append(steps(walk, node, context))
        elif hops[1] is None and any(more not in taken and more != edge for more, _ in steps(walk, node, context)):
            context.guard.note_cut()


def distances(walk: Walk, start: int, high: int, context: QueryContext) -> dict[int, int]:
    """Return the minimum number of hops from `start` to every node within `high`."""
    found = {start: 0}
    frontier = [start]
    for depth in range(1, high + 1):
        following: list[int] = []
        for node in frontier:
            for _, far in steps(walk, node, context):
                if far not in found:
                    found[far] = depth
                    following.append(far)
        if not following:
            break
        context.charge(ENTRY * len(following))
        frontier = following
    context.charge(ENTRY * (1 - len(found)))
    return found


def reachable(walk: Walk, start: int, hops: tuple[int, int | None], context: QueryContext) -> Iterator[int]:
    """Yield every node that a trail of `hops[0]` (0 or 1) to `hops[1]` hops reaches, nearest first."""
    visited = {start}
    returned = hops[0] == 0
    if returned:
        yield start
    frontier, depth = [start], 0
    while frontier and (hops[1] is None or depth < hops[1]):
        following: list[int] = []
        for index in range(0, len(frontier), _BATCH):
            ends = _ends(walk, frontier[index : index + _BATCH], context)
            if not returned and walk.direction != "both" and start in ends:
                returned = True
                yield start
            fresh = context.graph.existing([node for node in ends if node not in visited])
            visited.update(fresh)
            following += fresh
            yield from fresh
        context.charge(ENTRY * len(following))
        frontier, depth = following, depth + 1
    context.charge(ENTRY * (1 - len(visited)))
    # Undirected: the way back must use another relationship than the way out, so search for a closed trail.
    if not returned and walk.direction == "both" and next(trails(walk, start, hops, frozenset(), start, context), None):
        yield start


def _ends(walk: Walk, nodes: list[int], context: QueryContext) -> list[int]:
    if walk.allowed is None:
        context.tick()
        return context.graph.ends(nodes, walk.direction, walk.types)
    return list(dict.fromkeys(far for node in nodes for _, far in steps(walk, node, context)))


@dataclass(slots=True)
class ShortestPaths:
    """Breadth-first search from one node, extended on demand and shared by all targets."""

    walk: Walk
    start: int
    high: int | None
    depth: int = 0
    arrivals: _Arrivals = field(default_factory=_Arrivals)
    """Node -> (relationship, previous node) for every shortest way to it."""
    depths: dict[int, int] = field(default_factory=dict[int, int])
    frontier: list[int] = field(default_factory=list[int])
    held: int = 0
    """Bytes charged for this search."""

    def to(self, target: int, low: int, every: bool, context: QueryContext) -> Iterator[tuple[Edge, ...]]:
        """Yield the shortest trail to `target`, or all of that length; none from a node to itself unless `low` is 0."""
        if not self.depths:
            self.depths[self.start] = 0
            self.frontier = [self.start]
        if target == self.start:
            if low == 0:
                yield ()
            return
        while target not in self.depths and self.frontier and (self.high is None or self.depth < self.high):
            self._deepen(context)
        if target in self.depths:
            for trail in self._back(target, context):
                yield trail
                if not every:
                    return

    def _deepen(self, context: QueryContext) -> None:
        self.depth += 1
        following: list[int] = []
        for node in self.frontier:
            arrived = 0
            for edge, far in steps(self.walk, node, context):
                if far not in self.depths:
                    self.depths[far] = self.depth
                    following.append(far)
                if self.depths[far] == self.depth:
                    self.arrivals.setdefault(far, []).append((edge, node))
                    arrived += 1
            context.charge(ARRIVAL * arrived)
            self.held += ARRIVAL * arrived
        self.frontier = following

    def _back(self, target: int, context: QueryContext) -> Iterator[tuple[Edge, ...]]:
        stack: list[tuple[int, tuple[Edge, ...]]] = [(target, ())]
        while stack:
            context.tick()
            node, trail = stack.pop()
            if node == self.start:
                yield trail
                continue
            for edge, previous in reversed(self.arrivals[node]):
                stack.append((previous, (edge, *trail)))
