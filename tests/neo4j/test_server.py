"""The real Neo4j of the test run is the pinned release and takes passwords seriously: what other tests build on."""

from __future__ import annotations

import neo4j
import pytest
from neo4j.exceptions import AuthError

from tests.neo4j.server import PASSWORD, guarded_uri, open_uri


async def test_the_open_server_is_the_pinned_release() -> None:
    async with neo4j.AsyncGraphDatabase.driver(open_uri()) as driver:
        assert (await driver.get_server_info()).agent.startswith("Neo4j/5.26.")
        records, _, _ = await driver.execute_query("SHOW INDEXES YIELD type RETURN count(*) AS number")
        assert records[0]["number"] >= 0


async def test_the_guarded_server_wants_its_password() -> None:
    async with neo4j.AsyncGraphDatabase.driver(guarded_uri(), auth=("neo4j", "wrong")) as driver:
        with pytest.raises(AuthError):
            await driver.verify_connectivity()
    async with neo4j.AsyncGraphDatabase.driver(guarded_uri(), auth=("neo4j", PASSWORD)) as driver:
        await driver.verify_connectivity()
