"""A Memgraph for the tests marked `memgraph`: the server at ATLAS_TEST_MEMGRAPH_URL, whose content they delete.

`pytest` leaves them out; `pytest -m memgraph` runs nothing else and fails without the address.
"""

from __future__ import annotations

import os

import pytest

from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import dialect_of
from atlas.adapters.stores.bolt.schema import indexes
from atlas.adapters.stores.bolt.store import BoltStore

VARIABLE = "ATLAS_TEST_MEMGRAPH_URL"


def memgraph_uri() -> str:
    """The server's address; the test fails when there is none."""
    uri = os.environ.get(VARIABLE, "")
    if not uri:
        pytest.fail(f"{VARIABLE} is not set: the address of a Memgraph whose content may be deleted")
    return uri


async def empty_memgraph() -> BoltStore:
    """Delete everything but the schema, and the indexes of models; return a writing store."""
    link = BoltConnection(Address(memgraph_uri()))

    async def clear(transaction: Transaction) -> None:
        await transaction.rows("MATCH (n) DETACH DELETE n")

    dialect = dialect_of(await link.agent())
    for index in await indexes(link, dialect):
        if index.kind == "vector":
            await link.command(dialect.drop_vector_index(index.name))
    await link.write(clear)
    await link.aclose()
    return await reopened_memgraph()


async def reopened_memgraph() -> BoltStore:
    """Return a writing store on what is there."""
    return await BoltStore.open(Address(memgraph_uri()), writing=True)
