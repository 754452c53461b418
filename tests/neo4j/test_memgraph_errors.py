"""Memgraph's errors, as it words them, through the real driver: what is tried again, how often, and what is said."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import MemgraphDialect
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.errors import AtlasError, ConfigError, QueryError, StoreError, Unavailable
from atlas.core.model import ModelInfo
from tests.neo4j.scripted_server import CLIENT, HANG_UP, TRANSIENT, Failure, ScriptedServer

CONFLICT = (
    TRANSIENT,
    "Cannot resolve conflicting transactions. You can retry this transaction when the conflicting transaction is finished.",
)
BUSY, BUSY_SHARED, BUSY_READING = (
    (TRANSIENT, f"Cannot get {access} access to the storage. Try stopping other queries that are running in parallel.")
    for access in ("unique", "shared", "read-only")
)
TIMEOUT = (TRANSIENT, "Transaction was asked to abort because of transaction timeout.")
SHUTDOWN = (TRANSIENT, "Transaction was asked to abort because of database shutdown.")
TERMINATED = (TRANSIENT, "Transaction was asked to abort by another user.")
ANALYTICAL = (TRANSIENT, "Text index is not supported in analytical storage mode.")
MEMORY = (TRANSIENT, "Memory limit exceeded! Attempting to allocate a chunk of 1.00MiB")
DUPLICATE = (CLIENT, "Unable to commit due to unique constraint violation on :Symbol(uid)")
SERIALIZATION = (CLIENT, "Unable to commit due to serialization error.")
ALONE = (CLIENT, "Index manipulation not allowed in multicommand transactions.")
DIMENSIONS = (CLIENT, "Vector index property must have the same number of dimensions as specified in the index.")
UNAUTHENTICATED = ("Memgraph.ClientError.Security.Unauthenticated", "Authentication failure")
MISALIGNED = (CLIENT, "Accessor type READ and query type WRITE are misaligned!")


async def written(server: ScriptedServer) -> list[tuple[Any, ...]]:
    link = BoltConnection(Address(server.uri))
    try:
        return await link.write(lambda transaction: transaction.rows("CREATE (n:Some)"))
    finally:
        await link.aclose()


@pytest.mark.parametrize(
    ("script", "begins"),
    [
        ([], 1),
        ([CONFLICT], 2),
        ([CONFLICT, CONFLICT, CONFLICT], 4),
        ([None, CONFLICT], 2),
        ([BUSY, BUSY_SHARED, BUSY_READING], 4),
        ([None, DUPLICATE], 2),
        ([None, SERIALIZATION], 2),
        ([HANG_UP], 2),
        ([None, HANG_UP], 2),
    ],
)
async def test_what_passes_is_tried_again(script: list[Failure | None], begins: int) -> None:
    async with ScriptedServer(script) as server:
        assert await written(server) == []
        assert (server.count("BEGIN"), server.script) == (begins, [])


@pytest.mark.parametrize(
    ("script", "begins", "kind", "says"),
    [
        ([CONFLICT] * 20, 6, Unavailable, "conflicting"),
        ([None, DUPLICATE, None, DUPLICATE], 2, StoreError, "unique constraint"),
        ([TIMEOUT], 1, Unavailable, "exceeded the time limit"),
        ([ANALYTICAL], 1, Unavailable, "analytical"),
        ([MEMORY], 1, Unavailable, "Memory limit"),
        ([SHUTDOWN], 1, Unavailable, "shutdown"),
        ([TERMINATED], 1, Unavailable, "another user"),
        ([HANG_UP] * 2, 2, Unavailable, "cannot reach"),
        ([ALONE], 1, StoreError, "multicommand"),
        ([DIMENSIONS], 1, StoreError, "dimensions"),
        ([MISALIGNED], 1, StoreError, "misaligned"),
        ([(CLIENT, "Unbound variable: x.")], 1, StoreError, "Unbound"),
    ],
)
async def test_what_does_not_pass_is_said(
    script: list[Failure | None], begins: int, kind: type[AtlasError], says: str
) -> None:
    async with ScriptedServer(script) as server:
        with pytest.raises(kind, match=says):
            await written(server)
        assert server.count("BEGIN") == begins


async def test_a_wrong_password_is_said_to_be_wrong() -> None:
    """Memgraph has a code of its own for it, which the driver takes for any error of a client."""
    async with ScriptedServer([]) as server:
        server.refuses = UNAUTHENTICATED
        with pytest.raises(ConfigError, match="rejected the user or password"):
            await BoltStore.open(Address(server.uri, auth=("somebody", "wrong")), writing=False)


async def test_a_server_that_was_restarted_is_found_again() -> None:
    """A connection that the server closed is not used again."""
    async with ScriptedServer([]) as server:
        link = BoltConnection(Address(server.uri))
        await link.read(lambda transaction: transaction.rows("RETURN 1"))
        server.hang_up()
        await asyncio.sleep(0.1)
        assert await link.write(lambda transaction: transaction.rows("RETURN 2")) == []
        await link.aclose()


async def test_a_query_says_what_the_server_says() -> None:
    for failure, says in ((TIMEOUT, "timeout"), (MEMORY, "memory"), ((CLIENT, "Unbound variable: x."), "Unbound")):
        async with ScriptedServer([]) as server:
            store = BoltStore(BoltConnection(Address(server.uri)), MemgraphDialect(), False)
            server.script[:] = [failure]
            with pytest.raises(QueryError, match=says):
                await store.cypher("MATCH (n) RETURN n.name", {}, 5, 1.5)
            (extra,) = next(fields for name, fields in server.heard if name == "BEGIN")
            assert (extra["mode"], extra["tx_timeout"]) == ("r", 1500)
            await store.aclose()


def _server_side() -> tuple[list[str], Any]:
    """What a Memgraph answers to the commands of the schema: it lists what was made."""
    made: list[str] = []

    def answers(text: str) -> list[list[Any]]:
        if text.startswith("CREATE "):
            made.append(text)
        known = [index for index, command in MemgraphDialect().schema() if command in made]
        if text == "SHOW INDEX INFO":
            plain = [index.name.partition(".") for index in known if index.kind == "plain"]
            rows: list[list[Any]] = [
                ["label+property", label, [key], 0] if key else ["label", label, None, 0] for label, _, key in plain
            ]
            texts = [f"label_text (name: {index.name})" for index in known if index.kind == "text"]
            return rows + [[text, "AtlasEntry", ["text_name"], 0] for text in texts]
        if text == "SHOW CONSTRAINT INFO":
            unique = [index.name.split(".") for index in known if index.kind == "unique"]
            return [["unique", label, [key], ""] for label, key in unique]
        if text == "SHOW VECTOR INDEX INFO":
            return [[command.split()[3], ":AtlasEntry", "x"] for command in made if "VECTOR INDEX" in command]
        return []

    return made, answers


async def test_the_schema_is_made_alone_and_once() -> None:
    """Memgraph takes index commands outside of transactions only."""
    made, answers = _server_side()
    async with ScriptedServer([], answers) as server:
        for _ in range(2):
            await (await BoltStore.open(Address(server.uri), writing=True)).aclose()
        assert made == [command for _, command in MemgraphDialect().schema()]
        inside = False
        for name, fields in server.heard:
            inside = name == "BEGIN" or (inside and name not in ("COMMIT", "ROLLBACK", "RESET"))
            assert not (inside and name == "RUN" and "INDEX" in fields[0])


async def test_an_index_that_is_not_made_is_noticed() -> None:
    """Memgraph reports a text index that it could not make like one that exists: the lists tell the truth."""
    _, answers = _server_side()

    def without_words(text: str) -> list[list[Any]]:
        return [] if text.startswith("CREATE TEXT") else answers(text)

    async with ScriptedServer([], without_words) as server:
        with pytest.raises(StoreError, match="did not create text atlas_words"):
            await BoltStore.open(Address(server.uri), writing=True)


async def test_vectors_of_a_new_model_make_an_index_first() -> None:
    made, answers = _server_side()

    def with_project(text: str) -> list[list[Any]]:
        return [["p", "/x", 1, "", 0]] if text.startswith("MATCH (p:AtlasProject)\nRETURN p.name") else answers(text)

    async with ScriptedServer([], with_project) as server:
        store = await BoltStore.open(Address(server.uri), writing=True)
        await store.put_vectors("p", ModelInfo("test", "tiny", 4, "one"), [])
        assert '"dimension": 4' in made[-1] and '"metric": "cos"' in made[-1]
        await store.aclose()


async def test_another_server_is_refused() -> None:
    async with ScriptedServer([]) as server:
        server.agent = "Neo4j/4.4.0"
        with pytest.raises(StoreError, match="not supported"):
            await BoltStore.open(Address(server.uri), writing=True)


async def test_a_statement_gets_its_parameters_apart() -> None:
    async with ScriptedServer([]) as server:
        link = BoltConnection(Address(server.uri))

        async def work(transaction: Transaction) -> list[tuple[Any, ...]]:
            return await transaction.rows("MATCH (n {name: $name}) RETURN n", name="'}) DETACH DELETE n //")

        await link.read(work)
        text, parameters, _ = next(fields for name, fields in server.heard if name == "RUN")
        assert (text, parameters) == ("MATCH (n {name: $name}) RETURN n", {"name": "'}) DETACH DELETE n //"})
        await link.aclose()
