"""The Valkey bus and its server in bad weather: killed, restarted, emptied, full, foreign, silent or not there."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.buses.valkey import connection as valkey_connection
from atlas.adapters.buses.valkey import paths as valkey_paths
from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.connection import Connection
from atlas.adapters.buses.valkey.server import ManagedServer, server_program
from atlas.core.errors import ConfigError, StoreError, Unavailable
from atlas.core.events import StreamState
from tests.conformance.bus.own_server import kill
from tests.conformance.bus.relay import Relay
from tests.conformance.bus.test_delivery import G, S, events, ids, keys

ROOT = Path(__file__).parents[3]
AT_ONCE = RetryPolicy(first_delay=0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="atlas-bus-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture(autouse=True)
def all_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The own bus server knows every command: tests change its settings while it runs."""
    monkeypatch.setattr(valkey_paths, "REFUSED_COMMANDS", ())


@pytest.fixture
def own_server(folder: Path) -> Iterator[ManagedServer]:
    """A server that a test may mistreat."""
    server = ManagedServer.start(folder)
    yield server
    server.stop()


@pytest.fixture
async def bus(own_server: ManagedServer) -> AsyncIterator[ValkeyBus]:
    opened = ValkeyBus.open(own_server.url, retry_policy=AT_ONCE)
    yield opened
    await opened.aclose()


@pytest.fixture
async def server(own_server: ManagedServer) -> AsyncIterator[Connection]:
    """Plain commands for the server."""
    link = Connection.open(own_server.url)
    yield link
    await link.aclose()


@contextlib.contextmanager
def another_server(folder: Path) -> Iterator[ManagedServer]:
    server = ManagedServer.start(folder)
    yield server
    server.stop()


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.conformance.bus.bus_process", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running
        running.kill()


def read_lines(running: subprocess.Popen[str], count: int) -> list[str]:
    assert running.stdout
    return [running.stdout.readline().strip() for _ in range(count)]


async def test_the_bus_outlives_a_killed_server(bus: ValkeyBus, own_server: ManagedServer, folder: Path) -> None:
    await bus.publish(S, events("a", "b", "c"))
    a, b = await bus.take(S, G, 2, 0)
    await bus.acknowledge(S, G, [a.id])
    kill(own_server)
    for _ in range(3):
        with pytest.raises(Unavailable) as away:
            await bus.publish(S, events("d"))
        assert away.value.hint
    with another_server(folder):
        await bus.publish(S, events("d"))
        assert keys(await bus.take(S, G, 9, 0)) == ["c", "d"]
        assert await bus.reclaim(S, G) == 3
        again = await bus.take(S, G, 9, 0)
        assert (ids(again)[0], keys(again)) == (b.id, ["b", "c", "d"])
        await bus.acknowledge(S, G, ids(again))
        assert await bus.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=0)]


async def test_a_waiting_take_hears_of_the_servers_death(
    bus: ValkeyBus, own_server: ManagedServer, folder: Path
) -> None:
    waiting = asyncio.create_task(bus.take(S, G, 9, 60))
    await asyncio.sleep(0.1)
    kill(own_server)
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, 5)
    with another_server(folder):
        waiting = asyncio.create_task(bus.take(S, G, 9, 60))
        await asyncio.sleep(0.05)
        await bus.publish(S, events("a"))
        assert keys(await asyncio.wait_for(waiting, 5)) == ["a"]


async def test_closing_ends_a_waiting_take(bus: ValkeyBus) -> None:
    waiting = asyncio.create_task(bus.take(S, G, 9, 60))
    await asyncio.sleep(0.05)
    await bus.aclose()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, 5)
    await bus.aclose()


async def test_a_silent_server_is_unavailable(own_server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_connection, "ANSWER_SECONDS", 0.3)
    bus = ValkeyBus.open(own_server.url)
    await bus.publish(S, events("a"))
    os.kill(own_server.pid, signal.SIGSTOP)
    with pytest.raises(Unavailable):
        await bus.publish(S, events("b"))
    os.kill(own_server.pid, signal.SIGCONT)
    await bus.publish(S, events("b"))
    assert keys(await bus.take(S, G, 9, 0)) == ["a", "b"]
    await bus.aclose()


async def test_what_others_hold_can_be_taken_back_without_what_one_holds_oneself(own_server: ManagedServer) -> None:
    paused, mine = (ValkeyBus.open(own_server.url, retry_policy=AT_ONCE) for _ in range(2))
    await paused.publish(S, events("a", "b", "c"))
    await paused.take(S, G, 1, 0)
    await mine.take(S, G, 1, 0)
    assert await mine.reclaim(S, G, from_others=True) == 1
    assert keys(await mine.take(S, G, 9, 0)) == ["a", "c"]
    assert await mine.reclaim(S, G, from_others=True) == 0
    await paused.aclose()
    await mine.aclose()


@pytest.mark.parametrize("loss", ["FLUSHALL", f"DEL {S}", f"XGROUP DESTROY {S} {G}", "SCRIPT FLUSH"])
async def test_the_bus_goes_on_after_somebody_deleted_things(bus: ValkeyBus, server: Connection, loss: str) -> None:
    await bus.publish(S, events("a", "b"))
    (a,) = await bus.take(S, G, 1, 0)
    await server.call(*loss.split())
    await bus.extend_visibility(S, G, [a.id])
    await bus.acknowledge(S, G, [a.id])
    await bus.nack(S, G, [a.id], "gone")
    await bus.reclaim(S, G)
    waiting = asyncio.create_task(bus.take(S, G, 9, 5))
    await asyncio.sleep(0.05)
    await bus.publish(S, events("b"))
    assert "b" in keys(await waiting)


async def test_a_take_that_waits_while_everything_is_deleted(bus: ValkeyBus, server: Connection) -> None:
    waiting = asyncio.create_task(bus.take(S, G, 9, 20))
    await asyncio.sleep(0.05)
    await server.call("FLUSHALL")
    await bus.publish(S, events("a"))
    assert keys(await asyncio.wait_for(waiting, 10)) == ["a"]


async def test_a_lost_reply_is_delivered_again_at_once(own_server: ManagedServer) -> None:
    rule = RetryPolicy(after=60, attempts=1)
    async with Relay(own_server.url) as relay:
        bus = ValkeyBus.open(f"valkey://127.0.0.1:{relay.port}", retry_policy=rule)
        await bus.publish(S, events("a", "b", "c"))
        (a,) = await bus.take(S, G, 1, 0)
        relay.swallow = True
        with pytest.raises(Unavailable):
            await bus.take(S, G, 9, 0)
        again = await bus.take(S, G, 9, 5)
        assert [(delivery.event.key, delivery.attempt) for delivery in again] == [("b", 1), ("c", 1)]
        await bus.acknowledge(S, G, [a.id, *ids(again)])
        assert await bus.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=0)]
        await bus.aclose()


async def test_a_consumer_that_closes_gives_back_what_it_never_saw(own_server: ManagedServer, bus: ValkeyBus) -> None:
    async with Relay(own_server.url) as relay:
        other = ValkeyBus.open(f"valkey://127.0.0.1:{relay.port}")
        await bus.publish(S, events("a"))
        assert await other.take("x", G, 1, 0) == []
        relay.swallow = True
        with pytest.raises(Unavailable):
            await other.take(S, G, 9, 0)
        await other.aclose()
    assert keys(await bus.take(S, G, 9, 0)) == ["a"]


async def test_a_consumer_leaves_no_trace_but_what_it_has_pending(
    bus: ValkeyBus, own_server: ManagedServer, server: Connection
) -> None:
    await bus.publish(S, events("a", "b"))
    for number in (1, 0):
        other = ValkeyBus.open(own_server.url)
        await other.take(S, G, number, 0)
        await other.take(S, G, 1, 0.01)
        await other.acknowledge(S, G, [])
        await other.aclose()
    consumers = await server.call("XINFO", "CONSUMERS", S, G)
    assert isinstance(consumers, list)
    assert [consumer[3] for consumer in consumers] == [2]


async def test_events_between_processes_survive_the_consumer(own_server: ManagedServer) -> None:
    url, prefix = own_server.url, "x:"
    with process("publish", url, prefix) as publisher, process("consume", url, prefix) as consumer:
        seen = read_lines(consumer, 30)
        consumer.kill()
        published = read_lines(publisher, 60)
    bus = ValkeyBus.open(url, prefix=prefix, retry_policy=RetryPolicy(after=0.2))
    rest: list[str] = []
    while taken := await bus.take("s", "g", 1000, 0.5):
        rest += keys(taken)
        await bus.acknowledge("s", "g", ids(taken))
    assert seen == [str(number) for number in range(30)]
    assert set(published) <= set(rest)
    assert [state.length for state in await bus.states()] == [0]
    await bus.aclose()


async def test_waiting_costs_no_time_of_the_processor(bus: ValkeyBus) -> None:
    await bus.take(S, G, 9, 0)
    start = time.process_time()
    assert await bus.take(S, G, 9, 0.5) == []
    assert time.process_time() - start < 0.1


async def test_a_server_without_memory_is_unavailable_to_publishers_only(bus: ValkeyBus, server: Connection) -> None:
    await bus.publish(S, events("a", "b"))
    await bus.take(S, G, 1, 0)
    await server.call("CONFIG", "SET", "maxmemory", "100kb")
    with pytest.raises(Unavailable, match="out of memory") as full:
        await bus.publish(S, events("c"))
    assert full.value.hint
    taken = await bus.take(S, G, 9, 0)
    assert keys(taken) == ["b"]
    await bus.acknowledge(S, G, ids(taken))
    await server.call("CONFIG", "SET", "maxmemory", "100mb")
    assert await bus.publish(S, events("c")) == 0


async def test_a_replica_is_unavailable(bus: ValkeyBus, server: Connection) -> None:
    await bus.publish(S, events("a"))
    await server.call("REPLICAOF", "127.0.0.1", 1)
    with pytest.raises(Unavailable, match="replica"):
        await bus.publish(S, events("b"))
    await server.call("REPLICAOF", "NO", "ONE")
    assert await bus.publish(S, events("b")) == 0


async def test_heartbeats_are_shared_with_version_0_1(bus: ValkeyBus, server: Connection) -> None:
    """It keeps the daemon's in a key of its own and those of workers in a hash."""
    await server.call("SET", "atlas:note:atlas:daemon", "old daemon", "PX", 60_000)
    assert await bus.heartbeat("atlas:daemon") == "old daemon"
    await bus.send_heartbeat("atlas:daemon", "new daemon", 60)
    assert await server.call("GET", "atlas:note:atlas:daemon") == "new daemon"
    assert await server.call("HKEYS", "atlas:reports") == ["atlas:daemon"]


async def test_passwords(own_server: ManagedServer, server: Connection) -> None:
    port = free_port()
    await server.call("CONFIG", "SET", "port", port)
    await server.call("ACL", "SETUSER", "worker", "on", ">s3cret/@", "~*", "&*", "+@all")
    await server.call("CONFIG", "SET", "requirepass", "hidden")
    bus = ValkeyBus.open(f"valkey://worker:s3cret%2F%40@127.0.0.1:{port}/3")
    assert await bus.publish(S, events("a")) == 0
    await bus.aclose()
    for url in (own_server.url, f"valkey://worker:wr0ng@127.0.0.1:{port}", f"valkey://:wr0ng@127.0.0.1:{port}"):
        stranger = ValkeyBus.open(url)
        with pytest.raises(ConfigError, match="refuses this user") as refused:
            await stranger.publish(S, events("a"))
        assert "wr0ng" not in refused.value.message
        assert "bus.url" in refused.value.hint
        await stranger.aclose()
    lost = ValkeyBus.open(f"valkey://:hidden@127.0.0.1:{port}/99")
    with pytest.raises(ConfigError, match="no such database"):
        await lost.states()
    await lost.aclose()
    await server.call("AUTH", "hidden")
    await server.call("CONFIG", "SET", "requirepass", "")


async def test_a_stream_of_somebody_else_is_an_error_of_its_own(bus: ValkeyBus, server: Connection) -> None:
    await server.call("SET", S, "not a stream")
    with pytest.raises(StoreError, match="WRONGTYPE"):
        await bus.publish(S, events("a"))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis.example",
        "http://localhost:6379",
        "valkey://",
        "valkey://host:notaport",
        "valkey://host:70000",
        "valkey://host/db",
        "valkey://host?nonsense=1",
        "valkey://user:p4ss@host:x/0",
        "relative/valkey.sock",
    ],
)
def test_an_address_that_cannot_be_understood(url: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        ValkeyBus.open(url)
    assert "valkey://" in wrong.value.hint
    assert "p4ss" not in wrong.value.message


@pytest.mark.parametrize("url", ["/nowhere/valkey.sock", "valkey://me:p4ss@127.0.0.1:{port}", "valkey://atlas.invalid"])
async def test_a_server_that_is_not_there(url: str) -> None:
    bus = ValkeyBus.open(url.format(port=free_port()))
    for verb in (
        bus.publish(S, events("a")),
        bus.take(S, G, 1, 1),
        bus.states(),
        bus.heartbeat("x"),
        bus.drop(["1-1"]),
    ):
        with pytest.raises(Unavailable, match="cannot be reached") as away:
            await verb
        assert away.value.hint
        assert "p4ss" not in away.value.message
    await bus.aclose()


async def test_a_server_that_is_loading(folder: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            writer.write(b"-LOADING Valkey is loading the dataset in memory\r\n")
        writer.close()

    path = str(folder / "s")
    async with await asyncio.start_unix_server(answer, path):
        bus = ValkeyBus.open(path)
        with pytest.raises(Unavailable, match="loading"):
            await bus.publish(S, events("a"))
        await bus.aclose()
        await asyncio.sleep(0.01)


async def test_a_certificate_is_checked(own_server: ManagedServer, folder: Path) -> None:
    certificate = make_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, folder / "key.pem")
    async with Relay(own_server.url, context) as relay:
        bus = ValkeyBus.open(f"valkeys://127.0.0.1:{relay.port}/0?ca={certificate}")
        assert await bus.publish(S, events("a")) == 0
        await bus.aclose()
        for host, query in (("127.0.0.1", ""), ("localhost", f"?ca={certificate}")):  # unknown issuer, other name
            stranger = ValkeyBus.open(f"valkeys://{host}:{relay.port}{query}")
            with pytest.raises(ConfigError, match="not trusted"):
                await stranger.publish(S, events("a"))
            await stranger.aclose()


@pytest.fixture
def cluster_port(folder: Path) -> Iterator[int]:
    """The port of a cluster of one node that has no slots yet."""
    port = free_port()
    options = ["--port", str(port), "--cluster-enabled", "yes", "--dir", str(folder), "--save", "", "--logfile", "log"]
    # else it is the port + 10,000, which there need not be
    options += ["--cluster-port", str(free_port())]
    with subprocess.Popen([server_program(), *options], stdin=subprocess.DEVNULL) as node:
        yield port
        node.kill()


async def test_one_slot_of_a_cluster(cluster_port: int) -> None:
    url = f"valkey://127.0.0.1:{cluster_port}"
    link = Connection.open(url)
    await until_there_is(link, "PONG", "PING")
    await link.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    await until_there_is(link, "cluster_state:ok", "CLUSTER", "INFO")
    bus = ValkeyBus.open(url, prefix="{team}:", retry_policy=RetryPolicy(attempts=1))
    await bus.publish(S, events("a", "b"))
    a, b = await bus.take(S, G, 9, 0)
    await bus.acknowledge(S, G, [a.id])
    await bus.nack(S, G, [b.id], "no")
    assert await bus.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=1)]
    assert await bus.retry([letter.id for letter in await bus.dead_letters()]) == 1
    scattered = ValkeyBus.open(url)
    with pytest.raises(ConfigError, match="cluster") as wrong:
        await scattered.publish(S, events("a"))
    assert "{atlas}" in wrong.value.hint
    for opened in (link, bus, scattered):
        await opened.aclose()


async def until_there_is(link: Connection, answer: str, *command: str) -> None:
    for _ in range(500):
        with contextlib.suppress(Unavailable):
            if answer in str(await link.call(*command)):
                return
        await asyncio.sleep(0.02)
    raise AssertionError(f"no {answer}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_certificate(folder: Path) -> Path:
    """Write a key and a certificate of its own for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, secrets.token_hex(4))])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    path = folder / "certificate.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


async def test_a_take_that_is_cancelled_at_any_moment_ends_at_once(bus: ValkeyBus) -> None:
    await bus.take(S, G, 1, 0)
    for steps in range(60):
        taking = asyncio.create_task(bus.take(S, G, 1, 30))
        for _ in range(steps):
            await asyncio.sleep(0)
        if steps % 2:
            time.sleep(0.001)  # noqa: ASYNC251 what was sent is answered before anybody looks
        taking.cancel()
        await asyncio.wait({taking}, timeout=3)
        assert taking.cancelled(), f"after {steps} steps"
    await bus.publish(S, events("a"))
    assert keys(await bus.take(S, G, 1, 5)) == ["a"]
