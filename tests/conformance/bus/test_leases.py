"""Leases and the list of who is there, on every bus; then, on a real server, holders that are killed, paused, or outlive it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.contracts import Bus

OpenBus = Callable[..., Bus]
ROOT = Path(__file__).parents[3]


async def test_the_first_one_holds_it(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    assert await one.lease("p", "one", 60) == "one"
    assert await two.lease("p", "two", 60) == "one"
    assert await one.lease("p", "one", 60) == "one"


async def test_leases_do_not_know_each_other(open_bus: OpenBus) -> None:
    bus = open_bus()
    assert await bus.lease("p", "one", 60) == "one"
    assert await bus.lease("q", "two", 60) == "two"


async def test_a_lease_that_was_given_back_is_free_at_once(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    await one.lease("p", "one", 60)
    await two.release("p", "two")
    assert await two.lease("p", "two", 60) == "one"
    await one.release("p", "one")
    assert await two.lease("p", "two", 60) == "two"
    await one.release("p", "one")
    assert await one.lease("p", "one", 60) == "two"


async def test_a_lease_ends_by_itself_unless_it_is_kept(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    await one.lease("p", "one", 0.5)
    for _ in range(8):
        await asyncio.sleep(0.1)
        assert await one.lease("p", "one", 0.5) == "one"
        assert await two.lease("p", "two", 60) == "one"
    await asyncio.sleep(0.6)
    assert await two.lease("p", "two", 60) == "two"
    assert await one.lease("p", "one", 0.5) == "two"


async def test_one_of_many_gets_it(open_bus: OpenBus) -> None:
    buses = [open_bus() for _ in range(8)]
    said = await asyncio.gather(*(bus.lease("p", str(number), 60) for number, bus in enumerate(buses)))
    assert len(set(said)) == 1


async def test_heartbeats_are_listed_until_they_expire(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    assert await two.heartbeats() == {}
    await one.send_heartbeat("b", "erste Zeile\n{}", 60)
    await two.send_heartbeat("a", "", 60)
    await two.send_heartbeat("c", "soon over", 0.2)
    assert await one.heartbeats() == {"a": "", "b": "erste Zeile\n{}", "c": "soon over"}
    await one.send_heartbeat("b", "again", 60)
    await asyncio.sleep(0.3)
    assert await two.heartbeats() == {"a": "", "b": "again"}


@contextmanager
def holder(server: ManagedServer, prefix: str, name: str) -> Generator[subprocess.Popen[str]]:
    """A process that keeps the lease `p` for 0.6 s at a time and prints each change of who holds it."""
    command = [sys.executable, "-m", "tests.conformance.bus.bus_process", "lease", server.url, prefix, name]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_killed_holder_is_followed(bus_server: ManagedServer) -> None:
    prefix = f"{secrets.token_hex(6)}:"
    with holder(bus_server, prefix, "one") as one:
        assert said(one) == "one"
        with holder(bus_server, prefix, "two") as two:
            assert said(two) == "one"
            one.kill()
            killed = time.monotonic()
            assert said(two) == "two"
            assert time.monotonic() - killed < 5


def test_a_paused_holder_learns_that_its_time_was_over(bus_server: ManagedServer) -> None:
    prefix = f"{secrets.token_hex(6)}:"
    with holder(bus_server, prefix, "one") as one, holder(bus_server, prefix, "two") as two:
        first, names = said(one), {"one": one, "two": two}
        assert said(two) == first
        paused, other = (names.pop(first), *names.values())
        os.kill(paused.pid, signal.SIGSTOP)
        (waiting,) = names
        assert said(other) == waiting
        os.kill(paused.pid, signal.SIGCONT)
        assert said(paused) == waiting


class Restarted:
    """A server of its own, and two clients of it that stay while it ends and comes again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.server = folder, ManagedServer.start(folder)
        self.one, self.two = ValkeyBus.open(self.server.url), ValkeyBus.open(self.server.url)

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        self.server = ManagedServer.start(self.folder)


@pytest.fixture
async def restarted() -> AsyncIterator[Restarted]:
    with tempfile.TemporaryDirectory(prefix="atlas-bus-") as folder:
        running = Restarted(Path(folder))
        yield running
        await running.one.aclose()
        await running.two.aclose()
        running.stop()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_lease_outlives_the_server(restarted: Restarted, how: signal.Signals) -> None:
    await restarted.one.lease("p", "one", 60)
    os.kill(restarted.server.pid, how)
    restarted.stop()
    restarted.start()
    assert await restarted.two.lease("p", "two", 60) == "one"
    assert await restarted.one.lease("p", "one", 60) == "one"


async def test_a_server_that_forgot_gives_the_lease_to_who_asks_first(restarted: Restarted) -> None:
    """Two may believe then that they hold it, until the first one asks again; the store's fence is for that."""
    await restarted.one.lease("p", "one", 60)
    restarted.stop()
    shutil.rmtree(restarted.folder / "valkey")
    restarted.start()
    assert await restarted.two.lease("p", "two", 60) == "two"
    assert await restarted.one.lease("p", "one", 60) == "two"
