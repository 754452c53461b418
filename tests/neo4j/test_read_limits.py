"""Nothing that is read from a server goes on for ever: time, rows and hops end, on a real Neo4j and for every verb."""

from __future__ import annotations

import inspect
import random
import struct
import time
from collections.abc import Awaitable, Callable
from functools import reduce
from typing import Any

import pytest

from atlas.adapters.stores.bolt import connection
from atlas.adapters.stores.bolt.connection import Address
from atlas.adapters.stores.bolt.schema import VERSION
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.errors import QueryError, StoreError
from atlas.core.model import Direction, EdgeRow, EdgeType, Filter, Match, NodeRow
from tests.conformance.rows import MODEL, PROJECT, edge, node, unit
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.scripted_server import MEMGRAPH, ScriptedServer
from tests.neo4j.server import open_uri

UID = f"{PROJECT}:a.one"
VECTOR = struct.pack("<4f", 1, 0, 0, 0)
READS: dict[str, Callable[[BoltStore], Awaitable[object]]] = {
    "identity": lambda store: store.identity(),
    "manifest": lambda store: store.manifest(PROJECT),
    "paths": lambda store: store.paths(PROJECT),
    "records": lambda store: store.records(PROJECT, ["a.py"]),
    "projects": lambda store: store.projects(),
    "skipped": lambda store: store.skipped(PROJECT),
    "symbol_digests": lambda store: store.symbol_digests(PROJECT, ["a.py"]),
    "decisions": lambda store: store.decisions([UID]),
    "content": lambda store: store.content(PROJECT, ["a.py"]),
    "count_words": lambda store: store.count_words(["word"], Filter(project=PROJECT)),
    "symbols": lambda store: store.symbols([UID]),
    "find": lambda store: store.find("one", Match.SUFFIX, Filter(), 5),
    "edges": lambda store: store.edges([UID], Direction.IN),
    "edge_lines": lambda store: store.edge_lines([UID], [EdgeType.CALLS]),
    "degrees": lambda store: store.degrees([UID], Direction.IN),
    "search_text": lambda store: store.search_text(["one"], Filter(), 5),
    "search_vector": lambda store: store.search_vector(VECTOR, Filter(), 5),
    "stale_chunks": lambda store: store.stale_chunks(PROJECT, MODEL, 5),
    "units": lambda store: store.units(PROJECT, ["a.py"]),
    "vectors": lambda store: store.vectors(PROJECT, 5),
    "stats": lambda store: store.stats(PROJECT),
    "cypher": lambda store: store.cypher("MATCH (n) RETURN n.name", {}, 3, 1.5),
}
WRITES = {"open", "open_project", "apply", "apply_batches", "finish", "put_vectors", "drop_project", "aclose"}
ANSWERS: dict[str, list[list[Any]]] = {
    "m.version": [[VERSION]],
    "m.current": [["v_1", "test", "tiny", 4, "one"]],
    "p.ordinal": [[PROJECT, "/x", 1, "", 0, "", False]],
    "p.decisions, p.skipped": [["/x", 1, "", "{}", "[]"]],
    "p.skipped": [["[]"]],
    "sum(c.begun)": [[0, 0]],
    "RETURN seen": [[0, 0.0, 0, []]],
    "sum(matched)": [[0, []]],
    "collect(": [[[]]],
}
"""By a part of the statement."""


def answer(text: str) -> list[list[Any]]:
    return next((rows for part, rows in ANSWERS.items() if part in text), list[list[Any]]())


def test_all_verbs_are_here() -> None:
    verbs = {name for name, _ in inspect.getmembers(BoltStore, inspect.isfunction) if not name.startswith("_")}
    assert set(READS) == verbs - WRITES


@pytest.mark.parametrize("agent", [MEMGRAPH, "Neo4j/5.26.0"])
@pytest.mark.parametrize("verb", READS)
async def test_every_read_has_a_time_limit_and_cannot_write(verb: str, agent: str) -> None:
    async with ScriptedServer([], answer) as server:
        server.agent = agent
        store = await BoltStore.open(Address(server.uri, read_seconds=1.5), writing=False)
        server.heard.clear()
        await READS[verb](store)
        await store.aclose()
    begun = [fields[0] for name, fields in server.heard if name == "BEGIN"]
    assert begun and {(each["mode"], each["tx_timeout"]) for each in begun} == {("r", 1500)}
    inside = False
    for name, _ in server.heard:
        inside = name == "BEGIN" or (inside and name not in ("COMMIT", "ROLLBACK", "RESET"))
        assert inside or name != "RUN"


@pytest.mark.parametrize("rows", [[[1]] * 9, [[[1] * 9]]], ids=["rows", "a list in a row"])
@pytest.mark.parametrize("verb", READS)
async def test_every_read_has_a_row_cap(verb: str, rows: list[list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([], lambda text: answer(text) if "m.version" in text else rows) as server:
        store = await BoltStore.open(Address(server.uri), writing=False)
        monkeypatch.setattr(connection, "ROW_CAP", 8)
        if verb == "cypher":
            table = await store.cypher("MATCH (n) RETURN n.name", {}, 3, 1.5)
            assert len(table.rows) <= 3
        else:
            with pytest.raises(StoreError, match="more than 8 rows"):
                await READS[verb](store)
        await store.aclose()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["x" * 60_000]] * 1_000, "the result has more than 16 MB"),
        ([[[["x" * 600] * 10] * 9]] * 1_000, "the result has more than 16 MB"),
        ([[reduce(lambda inner, _: [inner], range(100), [1])]], "nested more than 50 levels deep"),
    ],
    ids=["strings", "lists", "nesting"],
)
async def test_rows_are_counted_in_bytes_as_they_arrive(rows: list[list[Any]], said: str) -> None:
    async with ScriptedServer([], lambda text: answer(text) if "m.version" in text else rows) as server:
        store = await BoltStore.open(Address(server.uri), writing=False)
        with pytest.raises(QueryError, match=said):
            await store.cypher("MATCH (n) RETURN n.name", {}, 1_000, 5.0)
        await store.aclose()


async def stored(nodes: list[NodeRow], edges: list[EdgeRow]) -> BoltStore:
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    await store.apply([unit("a.py", nodes, edges)])
    return store


async def test_a_walk_without_end_ends_as_on_the_embedded_store() -> None:
    store = await stored([node(f"a.f{at}") for at in range(30)], [edge(f"a.f{at}", f"a.f{at + 1}") for at in range(29)])
    start = "(a {name: 'f0'})-[:CALLS*]->(b)"
    capped = await store.cypher(f"MATCH p = {start} RETURN length(p)", {}, 100, 5.0)
    assert (len(capped.rows), capped.truncated) == (15, True)
    counted = await store.cypher(f"OPTIONAL MATCH {start} RETURN count(*) AS n", {}, 100, 5.0)
    assert (counted.rows, counted.truncated) == (((15,),), True)
    whole = await store.cypher("MATCH (a {name: 'f20'})-[:CALLS*2..]->(b) RETURN b.name", {}, 100, 5.0)
    assert (len(whole.rows), whole.truncated) == (8, False)
    reached = await store.cypher(f"MATCH {start} RETURN DISTINCT b.name", {}, 100, 5.0)
    assert (len(reached.rows), reached.truncated) == (29, False)
    shortest = "MATCH p = shortestPath((a {name: 'f0'})-[:CALLS*]->(b {name: 'f29'})) RETURN length(p)"
    assert (await store.cypher(shortest, {}, 100, 5.0)).rows == ((29,),)
    await store.aclose()


async def test_more_paths_than_time_do_not_hold_the_server() -> None:
    choose = random.Random(3)
    pairs = [(at, target) for at in range(300) for target in choose.sample(range(300), 12)]
    store = await stored([node(f"a.f{at}") for at in range(300)], [edge(f"a.f{at}", f"a.f{to}") for at, to in pairs])
    began = time.monotonic()
    for query in ("MATCH (a)-[:CALLS*]->(b) RETURN count(*)", "MATCH p = (a)-[:CALLS*]->(b) RETURN collect(p)"):
        with pytest.raises(QueryError, match=r"timeout|memory"):
            await store.cypher(query, {}, 100, 0.5)
    first = await store.cypher("MATCH (a)-[:CALLS*]->(b) RETURN b.name", {}, 5, 5.0)
    assert (len(first.rows), first.truncated) == (5, True)
    assert time.monotonic() - began < 20
    link = connection.BoltConnection(Address(open_uri()))
    assert len(await link.command("SHOW TRANSACTIONS YIELD transactionId")) == 1
    await link.aclose()
    await store.aclose()
