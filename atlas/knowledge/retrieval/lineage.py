"""Lineage: the shortest chains of relations between two claims, followed in both directions.

A chain may lead over papers: two claims with one source, or with sources that cite one another. Fewer relations come
first, then fewer steps over papers, then the higher product of the confidences, then the ids. A chain passes no claim
twice; of several relations between two claims it takes the most certain one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.core.contracts import Store
from atlas.core.model import Direction, EdgeRow, EdgeType
from atlas.core.paper_source import PaperLinks
from atlas.knowledge.retrieval.papers import CROSSINGS, paper_edges

RELATIONS = ("SUPPORTS", "REFUTES", "EXTENDS", "IMPLIES", "CONTRADICTS", "SUPERSEDES", "RELATES")
_FOLLOWED = (*RELATIONS, EdgeType.SOURCE)
MAX_STEPS = 8
"""Relations of a chain: longer ones are not evidence."""
MAX_CLAIMS = 5_000
"""Claims that are looked at: bounds time and memory in a dense graph."""
_MAX_PARTIAL = 50_000
_EDGES_EACH = 200


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain. `relations[n]` leads from `uids[n]` to `uids[n + 1]`, or back if its source is the latter."""

    uids: tuple[str, ...]
    relations: tuple[EdgeRow, ...]

    @property
    def confidence(self) -> float:
        """The product of the confidences of the relations."""
        product = 1.0
        for relation in self.relations:
            product *= relation.confidence
        return product


@dataclass(frozen=True, slots=True)
class Lineage:
    """The chains found, best first."""

    chains: tuple[Chain, ...]
    is_complete: bool
    """False if a limit of chains or claims was reached: there may be further chains of up to `MAX_STEPS`."""


Graph = dict[str, dict[str, EdgeRow]]


async def find_lineage(
    store: Store, start: str, end: str, max_chains: int, *, project: str = "", papers: PaperLinks | None = None
) -> Lineage:
    """Return the best chains between two claims by uid, none between a claim and itself.

    `papers` knows the links between papers of `project`.
    """
    if start == end:
        return Lineage((), is_complete=True)
    graph, is_whole = await _neighbourhood(store, start, end, project, papers)
    chains, is_exhausted = _best_chains(graph, start, end, max_chains)
    return Lineage(tuple(chains), is_complete=is_whole and is_exhausted)


async def _neighbourhood(
    store: Store, start: str, end: str, project: str, papers: PaperLinks | None
) -> tuple[Graph, bool]:
    """Return claims and papers within half of `MAX_STEPS` of either end with their relations.

    The flag is False if a limit has left some of them out. Otherwise every chain of `MAX_STEPS` is among them.
    """
    graph: Graph = {start: {}, end: {}}
    frontier = [start, end]
    for _ in range(MAX_STEPS // 2):
        found = [
            edge.row
            for direction in (Direction.OUT, Direction.IN)
            for edge in await store.edges(frontier, direction, _FOLLOWED, limit=MAX_CLAIMS * 4, each=_EDGES_EACH)
        ]
        found += await paper_edges(papers, project, frontier)
        frontier = _add(graph, found)
        if len(graph) > MAX_CLAIMS or len(found) >= MAX_CLAIMS * 4:
            return graph, False
        if not frontier:
            break
    return graph, True


def _add(graph: Graph, rows: Sequence[EdgeRow]) -> list[str]:
    """Add relations in both directions; return the claims that are new."""
    new: list[str] = []
    for row in rows:
        for near, far in ((row.source, row.target), (row.target, row.source)):
            if near not in graph:
                graph[near] = {}
                new.append(near)
            known = graph[near].get(far)
            if known is None or (-row.confidence, row.type) < (-known.confidence, known.type):
                graph[near][far] = row
    return new


def _distances(graph: Mapping[str, Mapping[str, EdgeRow]], end: str) -> dict[str, int]:
    distances, frontier = {end: 0}, [end]
    while frontier:
        near = frontier
        frontier = list[str]()
        for uid in near:
            for other in graph[uid]:
                if other not in distances:
                    distances[other] = distances[uid] + 1
                    frontier.append(other)
    return distances


def _best_chains(graph: Graph, start: str, end: str, most: int) -> tuple[list[Chain], bool]:
    """Return up to `most` chains in order, and whether there are no others; A* with the exact remaining distance."""
    distances = _distances(graph, end)
    if start not in distances:
        return [], True
    queue: list[tuple[int, int, float, tuple[str, ...]]] = [(distances[start], 0, -1.0, (start,))]
    found: list[Chain] = []
    for _ in range(_MAX_PARTIAL):
        if not queue:
            return found, True
        _, crossings, confidence, path = heapq.heappop(queue)
        if path[-1] == end:
            if len(found) == most:
                return found, False
            found.append(Chain(path, tuple(graph[one][other] for one, other in pairwise(path))))
            continue
        for other, row in graph[path[-1]].items():
            length = len(path) + distances.get(other, MAX_STEPS)
            if other not in path and length <= MAX_STEPS:
                crossed = crossings + (row.type in CROSSINGS)
                heapq.heappush(queue, (length, crossed, confidence * row.confidence, (*path, other)))
    return found, False
