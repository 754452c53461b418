"""Bolt stores on the real Neo4j of the test run: an empty one, or one that finds what the last one left."""

from __future__ import annotations

from atlas.adapters.stores.bolt.connection import Address, BoltConnection
from atlas.adapters.stores.bolt.store import BoltStore
from tests.neo4j.server import open_uri


async def empty_neo4j() -> BoltStore:
    """Return a writing store on the emptied server."""
    await emptied(open_uri())
    return await reopened_neo4j()


async def emptied(url: str) -> None:
    """Delete everything but the schema, and the indexes of models."""
    link = BoltConnection(Address(url))
    # a large graph does not fit into one transaction of the heap of a test
    await link.command("MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")
    for (name,) in await link.command("SHOW INDEXES YIELD name, type WHERE type = 'VECTOR' RETURN name"):
        await link.command(f"DROP INDEX {name}")
    await link.aclose()


async def reopened_neo4j() -> BoltStore:
    """Return a writing store on what is there."""
    return await BoltStore.open(Address(open_uri()), writing=True)
