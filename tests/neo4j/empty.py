"""Bolt stores on the real Neo4j of the test run: an empty one, or one that finds what the last one left."""

from __future__ import annotations

from atlas.stores.bolt import BoltStore
from atlas.stores.bolt_link import Address, BoltLink, Transaction
from tests.neo4j.server import open_uri


async def empty_neo4j() -> BoltStore:
    """Delete everything but the schema, and the indexes of models; return a writing store."""
    link = BoltLink(Address(open_uri()))

    async def clear(transaction: Transaction) -> None:
        await transaction.rows("MATCH (n) DETACH DELETE n")

    await link.write(clear)
    for (name,) in await link.command("SHOW INDEXES YIELD name, type WHERE type = 'VECTOR' RETURN name"):
        await link.command(f"DROP INDEX {name}")
    await link.aclose()
    return await reopened_neo4j()


async def reopened_neo4j() -> BoltStore:
    """Return a writing store on what is there."""
    return await BoltStore.open(Address(open_uri()), writing=True)
