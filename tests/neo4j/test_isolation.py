"""Readers during writes on a real Neo4j, which has no snapshots: every answer is of one state, never of two."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from atlas.adapters.stores.bolt.reading import consistent_reads
from atlas.core.contracts import Store
from atlas.core.model import Direction, Filter, GraphDelta, Match
from tests.conformance.rows import MODEL, PROJECT, digest, edge, node, unit
from tests.neo4j.empty import empty_neo4j, reopened_neo4j

SIZE = 40
SECONDS = 2.0
PATIENCE = 20.0
"""Longer, when a busy server has not written twice by then."""


def state(number: int) -> list[GraphDelta]:
    """Two files of many nodes whose texts and edges all tell which state they are of: 0 or 1."""
    deltas: list[GraphDelta] = []
    for path in ("a.py", "b.py"):
        module = path[0]
        said = f"state {number}"
        nodes = [node(f"{module}.n{at}", path, docstring=said, text=said, line=number + 1) for at in range(SIZE)]
        nodes += [node(f"{module}.only{number}", path, name="only", docstring=said, text=said, line=number + 1)]
        edges = [edge(f"{module}.n{at}", f"a.n{(at + 1 + number) % SIZE}", line=number + 1) for at in range(SIZE)]
        deltas.append(unit(path, nodes, edges, content=said.encode()))
    return deltas


async def write(store: Store, done: asyncio.Event, swaps: list[int]) -> None:
    """Swap the states until the readers are done; put down each."""
    while not done.is_set():
        await store.apply(state((len(swaps) + 1) % 2))
        swaps.append(len(swaps))


async def seen_in_symbols(store: Store) -> set[object]:
    uids = [f"{PROJECT}:{module}.n{at}" for module in "ab" for at in range(SIZE)]
    return {found.row.docstring for found in await store.symbols(uids)}


async def seen_in_find(store: Store) -> set[object]:
    found = await store.find("only", Match.SUFFIX, Filter(PROJECT), 10)
    assert len(found) == 2  # the old nodes and the new ones never miss together
    return {(hit.row.qualified_name[-1], hit.row.docstring[-1]) for hit in found}


async def seen_in_edges(store: Store) -> set[object]:
    uids = [f"{PROJECT}:{module}.n{at}" for module in "ab" for at in range(SIZE)]
    found = await store.edges(uids, Direction.OUT)
    assert len(found) == 2 * SIZE
    return {line for hit in found for line in (hit.row.line, hit.node.row.line)}


async def seen_in_records(store: Store) -> set[object]:
    found = await store.records(PROJECT, ["a.py", "b.py"])
    return {record.digest for record in found.values()}


async def seen_in_stale_chunks(store: Store) -> set[object]:
    """A text under the digest of another would be embedded, and never again."""
    found = await store.stale_chunks(PROJECT, MODEL, 1000)
    assert {chunk.digest == digest(chunk.name, chunk.text) for chunk in found} == {True}
    return {chunk.text for chunk in found}


LOOKS = (seen_in_symbols, seen_in_find, seen_in_edges, seen_in_records, seen_in_stale_chunks)


@pytest.mark.parametrize("look", LOOKS)
async def test_no_answer_mixes_two_states(look: Callable[[Store], Awaitable[set[object]]]) -> None:
    await check_answers(look)


async def test_no_answer_mixes_two_states_under_a_writer_that_never_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that a commit has disturbed once is not tried again while others commit: it holds them back."""
    monkeypatch.setattr(consistent_reads, "_ATTEMPTS", 1)
    await check_answers(seen_in_stale_chunks)


async def check_answers(look: Callable[[Store], Awaitable[set[object]]]) -> None:
    writer, reader = await empty_neo4j(), await reopened_neo4j()
    await writer.open_project(PROJECT, "/somewhere")
    await writer.apply(state(0))
    done = asyncio.Event()
    swaps: list[int] = []
    writing = asyncio.create_task(write(writer, done, swaps))
    clock = asyncio.get_running_loop().time
    until, answers = clock() + SECONDS, 0
    mixed: list[set[object]] = []
    try:
        while clock() < until or (len(swaps) < 2 and clock() < until + PATIENCE):
            seen = await look(reader)
            answers += 1
            if len(seen) != 1:
                mixed.append(seen)
    finally:
        done.set()
        await writing
        await writer.aclose()
        await reader.aclose()
    assert not mixed
    assert min(answers, len(swaps)) > 1
