"""A real Memgraph where the shared suite does not look: the release, the schema, and what it says of bad requests."""

from __future__ import annotations

import pytest

from atlas.adapters.stores.bolt.connection import Address, BoltConnection
from atlas.adapters.stores.bolt.dialect import IndexIdentity, MemgraphDialect
from atlas.adapters.stores.bolt.schema import indexes, vector_name
from atlas.core.errors import QueryError, StoreError
from atlas.core.model import Filter, ModelInfo
from tests.conformance.rows import MODEL, PROJECT, node, query, unit, vector, words
from tests.neo4j.memgraph import empty_memgraph, memgraph_uri, reopened_memgraph

pytestmark = pytest.mark.memgraph


async def test_it_is_the_release_that_the_dialect_is_written_for() -> None:
    link = BoltConnection(Address(memgraph_uri()))
    assert "Memgraph" in await link.agent()
    ((version,),) = await link.command("SHOW VERSION")
    assert str(version).startswith("3.12.")
    await link.aclose()


async def test_the_schema_is_there_and_opening_again_changes_nothing() -> None:
    await (await empty_memgraph()).aclose()
    await (await reopened_memgraph()).aclose()
    link, dialect = BoltConnection(Address(memgraph_uri())), MemgraphDialect()
    assert {index for index, _ in dialect.schema()} <= await indexes(link, dialect)
    await link.aclose()


async def test_a_read_transaction_cannot_write() -> None:
    link = BoltConnection(Address(memgraph_uri()))
    with pytest.raises(StoreError):
        await link.read(lambda transaction: transaction.rows("CREATE (n:Stray) RETURN n"))
    await link.aclose()


async def test_a_new_model_takes_the_place_of_the_old_one() -> None:
    store = await empty_memgraph()
    await store.open_project(PROJECT, "/x")
    row = node("a.one")
    await store.apply([unit("a.py", [row])])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    other = ModelInfo("test", "tiny", 2, "two")
    await store.put_vectors(PROJECT, other, [vector(row, 1, 0)])
    link, dialect = BoltConnection(Address(memgraph_uri())), MemgraphDialect()
    vectors = {index for index in await indexes(link, dialect) if index.kind == "vector"}
    assert vectors == {IndexIdentity("vector", vector_name(other))}
    assert [hit.uid for hit in await store.search_vector(query(1, 0), Filter(), 1)] == [row.uid]
    await link.aclose()
    await store.aclose()


@pytest.mark.parametrize("text", ["(", 'a"b', "and or not", "x" * 100_000, "[a TO b]", "data.text_name:x", "日本語"])
async def test_no_text_breaks_a_search(text: str) -> None:
    store = await empty_memgraph()
    await store.open_project(PROJECT, "/x")
    row = node("a.parse")
    await store.apply([unit("a.py", [row], texts=[words(row)])])
    assert [hit.uid for hit in await store.search_text([text, "parse"], Filter(), 5)] == [row.uid]
    await store.aclose()


@pytest.mark.parametrize(
    "text", ["MATCH (n RETURN n", "CREATE (n)", "MATCH (n) RETURN missing(n)", "CALL mg.procedures()"]
)
async def test_bad_queries_are_refused(text: str) -> None:
    store = await reopened_memgraph()
    with pytest.raises(QueryError):
        await store.cypher(text, {}, 5, 5.0)
    await store.aclose()
