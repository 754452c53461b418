"""One writer a project, whatever clocks and leases say: the store's own numbers, on a real Neo4j."""

from __future__ import annotations

import asyncio

import pytest

from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.errors import LeaseLost
from atlas.core.model import ModelInfo
from tests.conformance.rows import MODEL, PROJECT, node, unit, vector
from tests.neo4j.empty import empty_neo4j, reopened_neo4j
from tests.neo4j.held import held
from tests.neo4j.server import open_uri

OTHER = "other"


async def two_writers() -> tuple[BoltStore, BoltStore]:
    """The one that opened the project first, and its successor."""
    first = await empty_neo4j()
    await first.open_project(PROJECT, "/x")
    await first.open_project(OTHER, "/y")
    second = await reopened_neo4j()
    await second.open_project(PROJECT, "/x")
    return first, second


async def test_who_opened_first_writes_no_more() -> None:
    first, second = await two_writers()
    await second.apply([unit("a.py", [node("a.two")])])
    for write in (first.apply([unit("a.py", [node("a.one")])]), first.finish(PROJECT, [])):
        with pytest.raises(LeaseLost, match="another process has become the writer of p"):
            await write
    assert [found.row.uid for found in await second.symbols(["p:a.one", "p:a.two"])] == ["p:a.two"]
    await second.apply([unit("b.py", [node("b.x", "b.py")])])
    await first.aclose()
    await second.aclose()


async def test_other_projects_are_not_concerned() -> None:
    first, second = await two_writers()
    assert await first.apply([unit("a.py", [node("a.one", project=OTHER)], project=OTHER)]) > 0
    await first.aclose()
    await second.aclose()


async def test_who_opens_again_writes_again() -> None:
    first, second = await two_writers()
    await first.open_project(PROJECT, "/x")
    await first.apply([unit("a.py", [node("a.one")])])
    with pytest.raises(LeaseLost):
        await second.apply([unit("a.py", [node("a.two")])])
    await first.aclose()
    await second.aclose()


async def test_a_store_that_never_opened_the_project_counts_from_its_first_write() -> None:
    first, second = await two_writers()
    third = await reopened_neo4j()
    await third.apply([unit("a.py", [node("a.one")])])
    await second.apply([unit("a.py", [node("a.two")])])
    await first.open_project(PROJECT, "/x")
    with pytest.raises(LeaseLost):
        await third.apply([unit("a.py", [node("a.one")])])
    for store in (first, second, third):
        await store.aclose()


async def test_a_write_that_waited_while_another_became_the_writer_is_refused() -> None:
    """The number is read behind the lock: what was committed while it waited counts."""
    first, second = await two_writers()
    link = BoltConnection(Address(open_uri()))
    began, may_end = asyncio.Event(), asyncio.Event()

    async def become_writer_slowly(transaction: Transaction) -> None:
        await transaction.rows(
            "MATCH (p:AtlasProject {name: $name}) SET p.fence = p.fence + 1 RETURN p.fence", name=PROJECT
        )
        began.set()
        await may_end.wait()

    becoming = asyncio.create_task(link.write(become_writer_slowly))
    await began.wait()
    writing = asyncio.create_task(second.apply([unit("a.py", [node("a.two")])]))
    await asyncio.sleep(0.5)
    assert not writing.done()
    may_end.set()
    await becoming
    with pytest.raises(LeaseLost):
        await writing
    assert await second.manifest(PROJECT) == {}
    await link.aclose()
    await first.aclose()
    await second.aclose()


async def test_two_who_open_at_once_get_different_numbers() -> None:
    first, second = await two_writers()
    stores = [first, second, *[await reopened_neo4j() for _ in range(4)]]
    await asyncio.gather(*(store.open_project(PROJECT, "/x") for store in stores))
    written = await asyncio.gather(
        *(store.apply([unit("a.py", [node(f"a.n{n}")])]) for n, store in enumerate(stores)), return_exceptions=True
    )
    refused = [one for one in written if isinstance(one, LeaseLost)]
    assert len(refused) == len(stores) - 1, written
    for store in stores:
        await store.aclose()


async def test_vectors_come_from_anybody_and_only_for_the_text_that_is_there() -> None:
    first, second = await two_writers()
    row = node("a.one")
    await second.apply([unit("a.py", [row])])
    await first.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    assert await second.stale_chunks(PROJECT, MODEL, 10) == []
    await second.apply([unit("a.py", [row._replace(chunk_digest="another")])])
    await first.put_vectors(PROJECT, MODEL, [vector(row, 0, 1, 0, 0)])
    assert [chunk.digest for chunk in await second.stale_chunks(PROJECT, MODEL, 10)] == ["another"]
    await first.aclose()
    await second.aclose()


async def test_a_vector_of_a_text_that_changes_meanwhile_is_dropped() -> None:
    """The digest is compared behind the lock of the node: what was committed while it waited counts."""
    first, second = await two_writers()
    row = node("a.one")
    await second.apply([unit("a.py", [row])])
    await second.put_vectors(PROJECT, MODEL, [])
    link = BoltConnection(Address(open_uri()))
    began, may_end = asyncio.Event(), asyncio.Event()

    async def change_slowly(transaction: Transaction) -> None:
        await transaction.rows("MATCH (e:AtlasEntry {uid: $uid}) SET e.chunk_digest = ''", uid=row.uid)
        began.set()
        await may_end.wait()

    changing = asyncio.create_task(link.write(change_slowly))
    await began.wait()
    putting = asyncio.create_task(first.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)]))
    await asyncio.sleep(0.5)
    may_end.set()
    await asyncio.gather(changing, putting)
    left = await link.read(
        lambda transaction: transaction.rows("MATCH (e:AtlasEntry) WHERE e.vector_digest IS NOT NULL RETURN e.uid")
    )
    assert left == []
    await link.aclose()
    await first.aclose()
    await second.aclose()


async def test_many_write_vectors_side_by_side() -> None:
    first, second = await two_writers()
    rows = [node(f"a.n{number}") for number in range(200)]
    await second.apply([unit("a.py", rows)])
    stores = [first, second, *[await reopened_neo4j() for _ in range(2)]]
    parts = [rows[number::4] for number in range(4)]
    await asyncio.gather(
        *(
            store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for row in (*part, *rows[:20])])
            for store, part in zip(stores, parts, strict=True)
        )
    )
    assert await second.stale_chunks(PROJECT, MODEL, 10) == []
    for store in stores:
        await store.aclose()


async def test_a_graph_has_one_identity_however_many_open_it_first() -> None:
    store = await empty_neo4j()
    await store.aclose()
    link = BoltConnection(Address(open_uri()))
    await link.write(lambda transaction: transaction.rows("MATCH (m:AtlasMeta) DETACH DELETE m"))
    opened = await asyncio.gather(*(reopened_neo4j() for _ in range(4)))
    (name,) = {await store.identity() for store in opened}
    assert name
    again = await reopened_neo4j()
    assert await again.identity() == name
    for one in (*opened, again):
        await one.aclose()
    await (await empty_neo4j()).aclose()
    await link.aclose()


async def test_another_model_is_the_one_of_the_project_from_then_on() -> None:
    first, second = await two_writers()
    row, other = node("a.one"), ModelInfo("test", "other", 2, "x")
    await second.apply([unit("a.py", [row])])
    for model, values in ((MODEL, (1, 0, 0, 0)), (other, (1, 0)), (MODEL, (0, 1, 0, 0))):
        await first.put_vectors(PROJECT, model, [vector(row, *values)])
        assert [state.model() for state in await second.projects()] == [model, model]
    await first.aclose()
    await second.aclose()


async def test_vectors_do_not_wait_for_a_write_of_the_graph() -> None:
    """The same store writes both: an index pass has the server write a batch while the vectors of the last one come."""
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    row = node("a.one")
    await store.apply([unit("a.py", [row])])
    link = BoltConnection(Address(open_uri()))
    async with held(link, PROJECT):
        writing = asyncio.create_task(store.apply([unit("b.py", [node("b.two", "b.py")])]))
        await asyncio.wait_for(store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)]), 10)
        assert not writing.done()
    await writing
    assert [chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 10)] == ["p:b.two"]
    await link.aclose()
    await store.aclose()
