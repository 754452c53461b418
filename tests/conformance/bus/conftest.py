from __future__ import annotations

import secrets
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.contracts import Bus

OpenBus = Callable[..., Bus]
"""`capacity` and `retry_policy`; every call gives another consumer on the same streams."""


@pytest.fixture(scope="session")
def bus_server() -> Iterator[ManagedServer]:
    """A real server: without one the suite fails."""
    folder = Path(tempfile.mkdtemp(prefix="atlas-bus-"))
    server = ManagedServer.start(folder)
    undertaker = f"cat; kill {server.pid} && rm -r {folder}"  # a test run that is killed must not leave the server
    with subprocess.Popen(["sh", "-c", undertaker], stdin=subprocess.PIPE, start_new_session=True) as watching:
        yield server
        watching.kill()
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture(params=["memory", "valkey"])
async def open_bus(request: pytest.FixtureRequest) -> AsyncIterator[OpenBus]:
    opened: list[Bus] = []
    prefix = f"{secrets.token_hex(6)}:"

    def open_memory(capacity: int = 100_000, retry_policy: RetryPolicy | None = None) -> Bus:
        """A memory bus has one object for all its consumers."""
        opened.append(opened[0] if opened else MemoryBus(capacity, retry_policy))
        return opened[-1]

    def open_valkey(capacity: int = 100_000, retry_policy: RetryPolicy | None = None) -> Bus:
        server: ManagedServer = request.getfixturevalue("bus_server")
        opened.append(ValkeyBus.open(server.url, prefix=prefix, capacity=capacity, retry_policy=retry_policy))
        return opened[-1]

    yield open_memory if request.param == "memory" else open_valkey
    for bus in opened:
        await bus.aclose()


@pytest.fixture
def bus(open_bus: OpenBus) -> Bus:
    return open_bus()
