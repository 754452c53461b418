"""The corpus of queries through the Bolt store on a real Neo4j: the rows that the embedded store gives, and its refusals.

Marked `memgraph`, the same on a Memgraph; what Memgraph does not know has to be refused there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

import pytest
import yaml

from atlas.adapters.stores.bolt.connection import Address
from atlas.adapters.stores.bolt.reading.query import prepared
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.contracts import Store
from atlas.core.errors import QueryError
from atlas.core.model import EdgeRow, FileRecord, GraphDelta, NodeRow
from tests.conformance.cypher.test_corpus import CASES, HERE, key
from tests.memgraph_rules import broken
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.memgraph import empty_memgraph, memgraph_uri
from tests.neo4j.server import open_uri

GRAPH = yaml.safe_load((HERE / "graph.yaml").read_text(encoding="utf-8"))
REFUSED = yaml.safe_load((HERE / "refused.yaml").read_text(encoding="utf-8"))
PROJECT = GRAPH["project"]


def deltas() -> list[GraphDelta]:
    """The shop as units."""
    files = GRAPH["files"]
    nodes: dict[str, list[NodeRow]] = {path: [] for path in files}
    edges: dict[str, list[EdgeRow]] = {path: [] for path in files}
    for name, label, kind, path, line, end_line, more in GRAPH["nodes"]:
        texts = [more.get("name", name.rsplit(".", 1)[-1]), name, path, files[path]["language"]]
        flags = [bool(more.get(flag)) for flag in ("is_test", "is_generated", "exported")]
        place = [line, line, end_line, 0, 0]
        said = [more.get("signature", ""), more.get("docstring", "")]
        last = [more.get("modifiers", ""), *[""] * 6]
        nodes[path].append(NodeRow._make([f"{PROJECT}:{name}", label, kind, *texts, *place, *said, *flags, *last, ""]))
    home = {row.uid: path for path, rows in nodes.items() for row in rows}
    for source, kind, target, line, strategy, confidence in GRAPH["edges"] + GRAPH["invisible_edges"]:
        edge = EdgeRow(f"{PROJECT}:{source}", f"{PROJECT}:{target}", kind, line, strategy, confidence)
        if edge.source in home:
            edges[home[edge.source]].append(edge)
    return [
        GraphDelta(PROJECT, path, FileRecord(path, values["language"], values["digest"]), nodes[path], edges[path])
        for path, values in files.items()
    ]


def without_order(row: Iterable[object]) -> list[object]:
    """The row with its lists sorted."""
    return [sorted(cell, key=key) if isinstance(cell, list) else cell for cell in row]


def not_for_memgraph(query: str) -> bool:
    """Whether a query is refused here already, or sent with something that Memgraph is known not to take."""
    try:
        return bool(broken(prepared(query, {}, memgraph=True).text))
    except QueryError:
        return True


def test_memgraph_takes_most_of_the_corpus() -> None:
    assert sum(not_for_memgraph(str(case.values[0]["query"])) for case in CASES) == 10


SERVERS: dict[str, tuple[Callable[[], Awaitable[BoltStore]], Callable[[], str]]] = {
    "neo4j": (empty_neo4j, open_uri),
    "memgraph": (empty_memgraph, memgraph_uri),
}


async def _write_shop(server: str) -> None:
    store = await SERVERS[server][0]()
    await store.open_project(PROJECT, "/nowhere")
    await store.apply(deltas())
    await store.aclose()


@pytest.fixture(scope="module", params=["neo4j", pytest.param("memgraph", marks=pytest.mark.memgraph)])
def shop_on(request: pytest.FixtureRequest) -> str:
    """The shop is what the server holds while this module runs."""
    asyncio.run(_write_shop(request.param))
    return request.param


@pytest.fixture
async def store(shop_on: str) -> AsyncIterator[Store]:
    opened = await BoltStore.open(Address(SERVERS[shop_on][1]()), writing=False)
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("case", CASES)
async def test_rows_equal_those_of_the_embedded_store(store: Store, shop_on: str, case: dict[str, object]) -> None:
    if shop_on == "memgraph" and not_for_memgraph(str(case["query"])):
        with pytest.raises(QueryError):
            await store.cypher(str(case["query"]), case.get("params", {}), 1000, 20.0)
        return
    table = await store.cypher(str(case["query"]), case.get("params", {}), 1000, 20.0)
    assert list(table.columns) == case["columns"]
    # what collect() gathers without an ORDER BY has no order of its own
    open_lists = "collect(" in str(case["query"]) and "ORDER BY" not in str(case["query"])
    found = [key(without_order(row) if open_lists else row) for row in table.rows]
    expected = [key(without_order(row) if open_lists else row) for row in case["rows"]]
    if not case.get("ordered"):
        found, expected = sorted(found), sorted(expected)
    assert found == expected
    assert not table.truncated


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["query"][:60])
async def test_refused_queries_are_refused(store: Store, case: dict[str, object]) -> None:
    with pytest.raises(QueryError) as caught:
        await store.cypher(str(case["query"]), case.get("params", {}), 1000, 20.0)
    assert caught.value.message


async def test_the_stores_own_nodes_are_not_seen(store: Store) -> None:
    everything = await store.cypher("MATCH (n) RETURN count(n), count(n.uid)", {}, 10, 5.0)
    assert everything.rows == ((len(GRAPH["nodes"]), len(GRAPH["nodes"])),)
    for query in (
        "MATCH (n:AtlasEntry) RETURN n",
        "MATCH (n) WHERE n:Symbol RETURN n",
        "MATCH (n:Class|AtlasUnit) RETURN n",
    ):
        with pytest.raises(QueryError, match="internal to the store"):
            await store.cypher(query, {}, 10, 5.0)


async def test_rows_are_capped_and_time_is_bounded(store: Store) -> None:
    capped = await store.cypher("MATCH (n) RETURN n.name ORDER BY n.uid", {}, 3, 5.0)
    assert (len(capped.rows), capped.truncated) == (3, True)
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b < 0 RETURN count(*)"
    with pytest.raises(QueryError, match="timeout"):
        await store.cypher(endless, {}, 3, 0.5)
