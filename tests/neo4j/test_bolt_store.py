"""The Bolt store against a real Neo4j where the shared suite does not look: the way in, the schema, refusals, leftovers."""

from __future__ import annotations

import asyncio
import socket

import pytest

from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import IndexIdentity, Neo4jDialect
from atlas.adapters.stores.bolt.schema import create_vector_index, indexes, vector_name
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.errors import ConfigError, SchemaMismatch, StoreError, Unavailable
from atlas.core.model import Direction, Filter, Match, ModelInfo
from tests.conformance.rows import MODEL, PROJECT, edge, gone, node, query, unit, vector
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import PASSWORD, guarded_uri, open_uri


async def rows(text: str, **parameters: object) -> list[tuple[object, ...]]:
    """Rows of a statement on the open server."""
    link = BoltConnection(Address(open_uri()))

    async def work(transaction: Transaction) -> list[tuple[object, ...]]:
        return await transaction.rows(text, **parameters)

    found = await link.write(work)
    await link.aclose()
    return found


async def test_a_wrong_password_is_said_at_once() -> None:
    with pytest.raises(ConfigError, match="rejected the user or password"):
        await BoltStore.open(Address(guarded_uri(), auth=("neo4j", "wrong")), writing=True)


async def test_the_right_password_and_database_open() -> None:
    store = await BoltStore.open(Address(guarded_uri(), "neo4j", ("neo4j", PASSWORD)), writing=True)
    await store.open_project("opened", "/opened")
    assert "opened" in {state.project for state in await store.projects()}
    await store.drop_project("opened")
    await store.aclose()
    await store.aclose()


async def test_another_database_is_named() -> None:
    with pytest.raises(StoreError, match="nowhere"):
        await BoltStore.open(Address(open_uri(), "nowhere"), writing=True)


async def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(Unavailable, match="cannot reach"):
        await BoltStore.open(Address(f"bolt://127.0.0.1:{port}"), writing=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense", ""])
async def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError):
        await BoltStore.open(Address(url), writing=False)


async def test_a_reading_store_does_not_write() -> None:
    await (await empty_neo4j()).aclose()
    store = await BoltStore.open(Address(open_uri()), writing=False)
    for write in (store.open_project(PROJECT, "/x"), store.apply([]), store.put_vectors(PROJECT, MODEL, [])):
        with pytest.raises(StoreError, match="opened for reading"):
            await write
    await store.aclose()


async def test_a_graph_of_another_version_is_refused() -> None:
    await (await empty_neo4j()).aclose()
    await rows("MATCH (m:AtlasMeta) SET m.version = 99")
    for writing in (True, False):
        with pytest.raises(SchemaMismatch, match="99"):
            await BoltStore.open(Address(open_uri()), writing=writing)


async def test_a_read_transaction_cannot_write() -> None:
    link = BoltConnection(Address(open_uri()))
    with pytest.raises(StoreError):
        await link.read(lambda transaction: transaction.rows("CREATE (n:Stray) RETURN n"))
    await link.aclose()


async def test_a_new_model_takes_the_place_of_the_old_one() -> None:
    """The old model's index is dropped when its last vector has been replaced, not before."""
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    one, two = node("a.one"), node("a.two")
    await store.apply([unit("a.py", [one, two])])
    await store.put_vectors(PROJECT, MODEL, [vector(one, 1, 0, 0, 0), vector(two, 0, 1, 0, 0)])
    other = ModelInfo("test", "tiny", 2, "two")
    link, dialect = BoltConnection(Address(open_uri())), Neo4jDialect()
    old, new = (IndexIdentity("vector", vector_name(model)) for model in (MODEL, other))
    await store.put_vectors(PROJECT, other, [vector(one, 1, 0)])
    assert {old, new} <= await indexes(link, dialect)
    await store.put_vectors(PROJECT, other, [vector(two, 0, 1)])
    present = await indexes(link, dialect)
    assert new in present and old not in present
    assert await rows(f"MATCH (e:AtlasEntry) WHERE e.{old.name} IS NOT NULL RETURN e.uid") == []
    assert [hit.uid for hit in await store.search_vector(query(0, 1), Filter(), 1)] == [two.uid]
    assert await create_vector_index(link, dialect, other) == new.name
    await link.aclose()
    await store.aclose()


async def test_vectors_stay_on_the_server() -> None:
    """No property of a node that a query can see is a vector."""
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    row = node("a.one")
    await store.apply([unit("a.py", [row])])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    table = await store.cypher("MATCH (n) RETURN n, properties(n), keys(n)", {}, 10, 5.0)
    assert "v_" not in repr(table.rows) and "text_" not in repr(table.rows)
    await store.aclose()


async def test_a_cancelled_write_leaves_nothing() -> None:
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    writing = asyncio.create_task(store.apply([unit("a.py", [node(f"a.n{number}") for number in range(3000)])]))
    await asyncio.sleep(0.2)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await store.manifest(PROJECT) == {}
    await store.apply([unit("a.py", [node("a.one")])])
    assert list(await store.manifest(PROJECT)) == ["a.py"]
    await store.aclose()


@pytest.mark.parametrize("size", [3_000, 9_000, 40_000])
async def test_a_name_too_long_for_an_index_does_not_fail_its_batch(size: int) -> None:
    """Its node is left out, and edges at it; all else is there, and the unit can be written again and go."""
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    long, fits = f"a.{'n' * size}", size < 8_000
    nodes = [node(long), node("a.short"), node("a.other")]
    edges = [edge("a.short", long), edge(long, "a.short"), edge("a.short", "a.other"), edge("a.short", "x" * size)]
    for _ in range(2):
        await store.apply([unit("a.py", nodes, edges)])
        assert len(await store.symbols([row.uid for row in nodes])) == 2 + fits
        assert [row.row.qualified_name for row in await store.find(long, Match.EXACT, Filter(), 5)] == [long] * fits
        assert len(await store.edges([nodes[1].uid], Direction.OUT)) == 1 + fits
    await store.apply([gone("a.py")])
    assert await store.manifest(PROJECT) == {}
    await store.aclose()


async def test_nothing_is_left_of_what_was_deleted() -> None:
    """Entries, waiting edges and records go with their unit: only the project, its count of commits and the schema's version stay."""
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    await store.apply(
        [
            unit("a.py", [node("a.one")], [edge("a.one", "b.x"), edge("a.one", "never")]),
            unit("b.py", [node("b.x", "b.py")], [edge("b.x", "a.one")]),
        ]
    )
    await store.apply([gone("a.py")])
    assert await rows("MATCH (w:AtlasPending) RETURN w.source, w.target") == [("p:b.x", "p:a.one")]
    await store.apply([gone("b.py")])
    left = await rows("MATCH (n) RETURN DISTINCT labels(n) AS label ORDER BY label")
    assert left == [(["AtlasCommit"],), (["AtlasMeta"],), (["AtlasProject"],)]
    await store.aclose()
