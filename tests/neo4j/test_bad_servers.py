"""Servers that are away, slow, full, of the wrong kind or lost in the middle: what is said, the exit code, nothing lost."""

from __future__ import annotations

import asyncio
import shutil
import socket
from pathlib import Path

import pytest

from atlas.adapters.stores.bolt import connection
from atlas.adapters.stores.bolt.connection import Address, BoltConnection
from atlas.app.health import check_health
from atlas.app.main import index_project, open_atlas
from atlas.code.find import Mode
from atlas.code.index.events import no_progress
from atlas.code.tools.export import ExportFormat, export_lines
from atlas.code.tools.state.health import Check
from atlas.core.errors import AtlasError, ConfigError, StoreError, Unavailable
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.embedders.stub import Stub
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.relay import Relay
from tests.neo4j.scripted_server import CLIENT, TRANSIENT, Failure, ScriptedServer
from tests.neo4j.server import open_uri
from tests.pipeline.trees import write_tree
from tests.surfaces.processes import atlas
from tests.surfaces.shop import write_files

FULL = "Could not apply the transaction to the store: /data/neostore.nodestore.db: No space left on device"
REPLICA = "Write queries are forbidden on the replica instance. Please retry your query on the main instance."
NOT_LEADER = "No write operations are allowed directly on this database."


def settings_of(root: Path, url: str, **more: str) -> Settings:
    variables = {f"ATLAS_STORE_{name.upper()}": value for name, value in more.items()}
    return load_settings(str(root), str(root.parent / "data"), environment={"ATLAS_STORE_URL": url, **variables})


async def said(root: Path, url: str, command: str, **more: str) -> tuple[int, str]:
    """Exit code and standard error of a real command."""
    words = ["index", str(root)] if command == "index" else [command, "x", "--project", str(root)]
    env = {"ATLAS_STORE_URL": url, **{f"ATLAS_STORE_{name.upper()}": value for name, value in more.items()}}
    done = await asyncio.to_thread(atlas, *words, "--data-dir", str(root.parent / "data"), env=env)
    return done.returncode, done.stderr


def one_line(stderr: str) -> str:
    """The message of an error that has one line and a hint."""
    error, hint = stderr.strip().split("\n")
    assert error.startswith("error: ") and hint.startswith("hint: "), stderr
    return error


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.parametrize("command", ["index", "search"])
async def test_nobody_listens(root: Path, command: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"bolt://127.0.0.1:{unused.getsockname()[1]}"
    code, stderr = await said(root, url, command)
    assert (code, f"cannot reach {url}" in one_line(stderr)) == (7, True)
    assert "start the server" in stderr.lower()


async def test_somebody_listens_and_says_nothing(root: Path) -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    url = f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    code, stderr = await said(root, url, "search", connect_seconds="1")
    assert (code, url in one_line(stderr)) == (7, True)
    server.close()


async def test_another_version(root: Path) -> None:
    async with ScriptedServer([]) as server:
        server.agent = "Neo4j/4.4.0"
        code, stderr = await said(root, server.uri, "index")
    assert (code, "Neo4j/4.4.0 is not supported" in one_line(stderr)) == (5, True)
    assert "5.26" in stderr


@pytest.mark.parametrize(
    ("failure", "begins", "kind", "says", "hint"),
    [
        (
            ("Neo.DatabaseError.Transaction.TransactionCommitFailed", FULL),
            1,
            StoreError,
            "disk .* is full",
            "free space",
        ),
        ((TRANSIENT, f"Failed to write: {FULL}"), 1, StoreError, "disk .* is full", "free space"),
        (("Neo.ClientError.Cluster.NotALeader", NOT_LEADER), 2, Unavailable, "read-only replica", "main server"),
        ((CLIENT, REPLICA), 2, Unavailable, "read-only replica", "main server"),
    ],
)
async def test_servers_that_do_not_take_a_write(
    failure: Failure, begins: int, kind: type[AtlasError], says: str, hint: str
) -> None:
    async with ScriptedServer([None, failure, None, failure]) as server:
        link = BoltConnection(Address(server.uri))
        with pytest.raises(kind, match=says) as caught:
            await link.write(lambda transaction: transaction.rows("CREATE (n:Some)"))
        assert (server.count("BEGIN"), hint in caught.value.hint) == (begins, True)
        assert "\n" not in caught.value.message
        await link.aclose()


async def test_a_server_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_GRACE", 0.3)
    async with Relay(open_uri()) as relay:
        link = BoltConnection(Address(relay.uri))
        try:
            assert await link.read(lambda transaction: transaction.rows("RETURN 1")) == [(1,)]
            relay.mute = True
            with pytest.raises(Unavailable, match="did not respond in time"):
                await link.read(lambda transaction: transaction.rows("RETURN 1"), 0.3)
            relay.mute = False
            assert await link.read(lambda transaction: transaction.rows("RETURN 1")) == [(1,)]
        finally:
            await link.aclose()


async def test_connections_of_a_server_that_was_started_again(root: Path) -> None:
    async with Relay(open_uri()) as relay:
        link = BoltConnection(Address(relay.uri))

        async def ask() -> list[tuple[object, ...]]:
            return await link.read(lambda transaction: transaction.rows("RETURN 1"))

        assert await asyncio.gather(ask(), ask(), ask()) == [[(1,)]] * 3
        relay.cut_after = 0
        assert await ask() == [(1,)]
        assert relay.cuts == 1
        await link.aclose()


async def exported(settings: Settings) -> list[str]:
    async with open_atlas(settings) as opened:
        return [line async for line in export_lines(opened, ExportFormat.JSONL, canonical=True)]


async def cut_while_indexing(settings: Settings, relay: Relay, at: int) -> None:
    relay.cut_after, relay.stay_shut = at, True
    with pytest.raises(Unavailable, match="cannot reach"):
        await index_project(settings, no_progress)
    assert relay.cuts == 1
    relay.cut_after, relay.shut = -1, False


@pytest.mark.parametrize("at", [8_000, 30_000])
async def test_a_server_lost_in_the_middle_of_a_pass(root: Path, at: int) -> None:
    """The next pass heals it: what is there then is what a first pass makes."""
    await (await empty_neo4j()).aclose()
    async with Relay(open_uri()) as relay:
        settings = settings_of(root, relay.uri)
        await cut_while_indexing(settings, relay, at)
        await index_project(settings, no_progress)
        found = await exported(settings)
    embedded = settings_of(root, "")
    await index_project(embedded, no_progress)
    assert found == await exported(embedded)


async def checked(settings: Settings) -> dict[str, Check]:
    return {check.name: check for check in (await check_health(settings)).checks}


async def test_health_of_a_server(root: Path) -> None:
    await (await empty_neo4j()).aclose()
    settings = settings_of(root, open_uri())
    assert (await checked(settings))["index"].state == "missing"
    await index_project(settings, no_progress)
    store = (await checked(settings))["store"]
    assert (store.state, store.detail.startswith("Neo4j/5.26.")) == ("ok", True)
    link = BoltConnection(Address(open_uri()))
    await link.command("DROP INDEX atlas_words")
    store = (await checked(settings))["store"]
    assert (store.state, "text atlas_words" in store.detail, store.fix) == ("broken", True, f"atlas index {root}")
    answer = await check_health(settings)
    assert answer.render().endswith(f"next: atlas index {root}")
    await index_project(settings, no_progress)
    assert (await checked(settings))["store"].state == "ok"
    await link.aclose()


async def test_health_of_a_server_that_is_away(root: Path) -> None:
    store = (await checked(settings_of(root, "bolt://127.0.0.1:1")))["store"]
    assert (store.state, "cannot reach" in store.detail, "start the server" in store.fix) == ("broken", True, True)


async def test_vectors_of_another_dimension(root: Path) -> None:
    """Search goes on without them and says so, health names the next step, and that step helps."""
    await (await empty_neo4j()).aclose()
    await index_project(settings_of(root, open_uri()), no_progress)
    async with Stub().running() as stub:
        names = {"PROVIDER": "tei", "URL": stub.url}
        variables = {f"ATLAS_EMBEDDER_{name}": value for name, value in names.items()}
        settings = load_settings(
            str(root), str(root.parent / "data"), environment={"ATLAS_STORE_URL": open_uri(), **variables}
        )
        model = (await checked(settings))["model"]
        assert "(256 dimensions)" in model.detail and "(384)" in model.detail and model.fix == f"atlas index {root}"
        async with open_atlas(settings) as opened:
            found = await opened.search("discount", Filter(project="shop"))
        assert found.ranked and any("384" in note for note in found.notes)
        await index_project(settings, no_progress)
        assert "model" not in await checked(settings)
        async with open_atlas(settings) as opened:
            assert (await opened.search("discount", Filter(project="shop"), Mode.MEANING)).ranked


async def test_another_hosts_project_of_the_same_name_and_path_is_not_replaced(root: Path) -> None:
    await (await empty_neo4j()).aclose()
    settings = settings_of(root, open_uri())
    await index_project(settings, no_progress)
    before = await exported(settings)
    link = BoltConnection(Address(open_uri()))

    async def moved() -> None:
        await link.write(lambda transaction: transaction.rows("MATCH (p:AtlasProject) SET p.host = 'elsewhere'"))

    await moved()
    await index_project(settings, no_progress)  # the same files: another host's checkout of them
    await moved()
    shutil.rmtree(root)
    write_tree(root, {"other.py": "x = 1\n"})
    with pytest.raises(ConfigError, match=r"another project named shop, indexed at .* on elsewhere"):
        await index_project(settings, no_progress)
    write_files(root)
    assert await exported(settings) == before
    await link.aclose()
