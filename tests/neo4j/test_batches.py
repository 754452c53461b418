"""Statements that are sent before the last one has ended, on a real Neo4j: order, errors, cancelling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from atlas.adapters.stores.bolt.batches import Rows, StatementBatches
from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.core.errors import StoreError
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import open_uri

CREATE = "UNWIND $rows AS row CREATE (:AtlasX {n: row}) RETURN row"
COUNT = "MATCH (x:AtlasX) RETURN count(x)"


@pytest.fixture
async def link() -> AsyncIterator[BoltConnection]:
    await (await empty_neo4j()).aclose()
    link = BoltConnection(Address(open_uri()))
    yield link
    await link.aclose()


async def count(link: BoltConnection) -> int:
    ((found,),) = await link.read(lambda transaction: transaction.rows(COUNT))
    return found


async def test_rows_are_sent_in_order_and_in_batches(link: BoltConnection) -> None:
    seen: list[int] = []

    def values() -> Iterator[int]:
        for number in range(10):
            seen.append(number)
            yield number

    async def work(transaction: Transaction) -> tuple[Rows, Rows, Rows]:
        found: Rows = []
        async with StatementBatches(transaction) as batches:
            await batches.send(CREATE, "rows", values(), found, size=4)
            await batches.send(CREATE, "rows", [])
            return found, await batches.rows(COUNT), await batches.each(CREATE, "rows", [10])

    found, counted, last = await link.write(work)
    assert seen == [number for (number,) in found] == list(range(10))
    assert (counted, last) == ([(10,)], [(10,)])
    assert await count(link) == 11


async def test_an_error_of_what_was_sent_last_ends_the_transaction(link: BoltConnection) -> None:
    async def work(transaction: Transaction) -> None:
        async with StatementBatches(transaction) as batches:
            await batches.send(CREATE, "rows", [1])
            await batches.send("UNWIND $rows AS row CREATE (:AtlasX {n: 1 / row})", "rows", [0])

    with pytest.raises(StoreError):
        await link.write(work)
    assert await count(link) == 0


async def test_an_error_beside_what_was_sent_leaves_the_link_of_use(link: BoltConnection) -> None:
    async def work(transaction: Transaction) -> None:
        async with StatementBatches(transaction) as batches:
            await batches.send(CREATE, "rows", range(2000))
            raise ValueError("the next rows could not be made")

    with pytest.raises(ValueError, match="next rows"):
        await link.write(work)
    assert await count(link) == 0
    await link.write(lambda transaction: transaction.rows(CREATE, rows=[1]))
    assert await count(link) == 1


async def test_who_is_cancelled_while_a_statement_runs_has_written_nothing(link: BoltConnection) -> None:
    sent = asyncio.Event()

    async def work(transaction: Transaction) -> None:
        async with StatementBatches(transaction) as batches:
            for _ in range(1000):
                await batches.send(CREATE, "rows", range(2000))
                sent.set()

    writing = asyncio.create_task(link.write(work))
    await sent.wait()
    await asyncio.sleep(0.2)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    async with asyncio.timeout(30):
        while await count(link):  # noqa: ASYNC110 the server learns of the closed connection
            await asyncio.sleep(0.1)
    await link.write(lambda transaction: transaction.rows(CREATE, rows=[1]))
    assert await count(link) == 1
