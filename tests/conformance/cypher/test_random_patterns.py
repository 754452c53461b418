"""Random small graphs and patterns against a matcher that tries every assignment: joins, walks, uniqueness, OPTIONAL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.cypher import run
from tests.conformance.cypher.shop import GraphFile

LABELS = ("Class", "Function")
TYPES = ("CALLS", "INHERITS")
Edge = tuple[int, str, int, int]


@dataclass(frozen=True)
class Hop:
    type: str
    direction: str
    low: int
    high: int
    fixed: bool

    def text(self) -> str:
        kind = f":{self.type}" if self.type else ""
        inner = f"[{kind}{'' if self.fixed else f'*{self.low}..{self.high}'}]"
        return {"out": f"-{inner}->", "in": f"<-{inner}-", "both": f"-{inner}-"}[self.direction]


@dataclass(frozen=True)
class Chain:
    nodes: tuple[tuple[str, str], ...]
    hops: tuple[Hop, ...]

    def text(self) -> str:
        parts = [f"({name}{f':{label}' if label else ''})" for name, label in self.nodes]
        return parts[0] + "".join(hop.text() + part for hop, part in zip(self.hops, parts[1:], strict=True))


hops = st.builds(
    lambda kind, way, low, extra, fixed: Hop(kind, way, 1 if fixed else low, 1 if fixed else low + extra, fixed),
    st.sampled_from(("", *TYPES)),
    st.sampled_from(("out", "in", "both")),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from((True, True, False)),
)
nodes = st.tuples(st.sampled_from("abc"), st.sampled_from(("", "", *LABELS)))
chains = st.integers(0, 2).flatmap(
    lambda size: st.builds(Chain, st.tuples(*[nodes] * (size + 1)), st.tuples(*[hops] * size))
)
graphs = st.tuples(
    st.lists(st.sampled_from(LABELS), min_size=1, max_size=4),
    st.sets(st.tuples(st.integers(0, 3), st.sampled_from(TYPES), st.integers(0, 3), st.integers(1, 2)), max_size=7),
)


def assignments(
    labels: list[str], edges: list[Edge], chain: Chain, bound: dict[str, int], used: frozenset[Edge]
) -> Iterator[tuple[dict[str, int], frozenset[Edge]]]:
    def place(
        position: int, node: int, bound: dict[str, int], used: frozenset[Edge]
    ) -> Iterator[tuple[dict[str, int], frozenset[Edge]]]:
        name, label = chain.nodes[position]
        if bound.get(name, node) != node or (label and labels[node] != label):
            return
        known = {**bound, name: node}
        if position == len(chain.hops):
            yield known, used
            return
        hop = chain.hops[position]
        for end, taken in walk(node, hop, 0, used):
            yield from place(position + 1, end, known, taken)

    def walk(node: int, hop: Hop, length: int, used: frozenset[Edge]) -> Iterator[tuple[int, frozenset[Edge]]]:
        if length >= hop.low:
            yield node, used
        if length == hop.high:
            return
        for edge in edges:
            source, kind, target, _ = edge
            if edge in used or (hop.type and kind != hop.type):
                continue
            ends = set()
            if hop.direction != "in" and source == node:
                ends.add(target)
            if hop.direction != "out" and target == node:
                ends.add(source)
            for end in ends:
                yield from walk(end, hop, length + 1, used | {edge})

    for start in range(len(labels)):
        yield from place(0, start, bound, used)


def naive(labels: list[str], edges: list[Edge], parts: list[Chain]) -> list[dict[str, int]]:
    found: list[tuple[dict[str, int], frozenset[Edge]]] = [({}, frozenset())]
    for chain in parts:
        found = [result for bound, used in found for result in assignments(labels, edges, chain, bound, used)]
    return [bound for bound, _ in found]


def build(labels: list[str], edges: set[Edge]) -> tuple[apsw.Connection, list[Edge]]:
    graph = GraphFile(Path(":memory:"), "random")
    graph.file("a.py", "python")
    for index, label in enumerate(labels):
        graph.node(f"n{index}", label, label.lower(), "a.py", index + 1, index + 1, {})
    for source, kind, target, line in sorted(edges):
        graph.edge(f"n{source}", kind, f"n{target}", line, "x", 1.0)
    visible = [edge for edge in sorted(edges) if edge[0] < len(labels) and edge[2] < len(labels)]
    return graph.connection, visible


def answer(connection: apsw.Connection, query: str) -> Counter[tuple[object, ...]]:
    return Counter(run(connection, query, {}, 100_000, 20.0).rows)


def shown(bound: dict[str, int], names: list[str]) -> tuple[object, ...]:
    return tuple(f"n{bound[name]}" if name in bound else None for name in names)


relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(graphs, st.lists(chains, min_size=1, max_size=2))
def test_match_equals_trying_everything(graph: tuple[list[str], set[Edge]], parts: list[Chain]) -> None:
    connection, edges = build(*graph)
    names = sorted({name for chain in parts for name, _ in chain.nodes})
    pattern = ", ".join(chain.text() for chain in parts)
    columns = ", ".join(f"{name}.name" for name in names)
    expected = Counter(shown(bound, names) for bound in naive(graph[0], edges, parts))
    assert answer(connection, f"MATCH {pattern} RETURN {columns}") == expected
    assert answer(connection, f"MATCH {pattern} RETURN DISTINCT {columns}") == Counter(set(expected))
    assert answer(connection, f"MATCH {pattern} RETURN count(*)") == Counter({(sum(expected.values()),): 1})
    connection.close()


@relaxed
@given(graphs, chains, chains)
def test_optional_match_keeps_every_row(graph: tuple[list[str], set[Edge]], first: Chain, second: Chain) -> None:
    connection, edges = build(*graph)
    names = sorted({name for chain in (first, second) for name, _ in chain.nodes})
    expected: Counter[tuple[object, ...]] = Counter()
    for bound in naive(graph[0], edges, [first]):
        more = [result for result, _ in assignments(graph[0], edges, second, bound, frozenset())]
        expected.update(shown(result, names) for result in more or [bound])
    columns = ", ".join(f"{name}.name" for name in names)
    query = f"MATCH {first.text()} OPTIONAL MATCH {second.text()} RETURN {columns}"
    assert answer(connection, query) == expected
    connection.close()


@relaxed
@given(graphs, chains, chains)
def test_pattern_predicates_filter(graph: tuple[list[str], set[Edge]], first: Chain, second: Chain) -> None:
    connection, edges = build(*graph)
    names = sorted({name for name, _ in first.nodes})
    expected: Counter[tuple[object, ...]] = Counter()
    for bound in naive(graph[0], edges, [first]):
        if next(assignments(graph[0], edges, second, bound, frozenset()), None) is not None:
            expected[shown(bound, names)] += 1
    columns = ", ".join(f"{name}.name" for name in names)
    query = f"MATCH {first.text()} WHERE EXISTS {{ MATCH {second.text()} }} RETURN {columns}"
    assert answer(connection, query) == expected
    connection.close()
