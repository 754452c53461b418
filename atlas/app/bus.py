"""Composition of the bus: the data folder's own, or the one that belongs to a store on a server.

Functions import the adapters that they need.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from atlas.core.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from atlas.adapters.buses.valkey.bus import ValkeyBus
    from atlas.adapters.buses.valkey.info import ValkeyInfo
    from atlas.adapters.stores.bolt.connection import Address
    from atlas.core.contracts import Bus
    from atlas.runtime.config.load import Settings


def connect_bus(settings: Settings, address: str, identity: str = "") -> ValkeyBus:
    """Return the bus at this address. On a configured server, which others may use too, it has keys of its own.

    These belong to the data folder, or to the store with this `identity`.
    """
    from atlas.adapters.buses.retry_policy import RetryPolicy
    from atlas.adapters.buses.valkey.bus import ValkeyBus

    bus = settings.bus
    rule = RetryPolicy(after=float(bus.redeliver_seconds), attempts=bus.max_attempts)
    prefix = bus.prefix
    if address == settings.bus_address:
        # a data folder of this host keeps its events separate; braces place all keys in one slot of a cluster
        place = identity or f"{socket.gethostname()}:{settings.data_dir.resolve()}"
        prefix += f"{{atlas-{hashlib.blake2b(os.fsencode(place), digest_size=6).hexdigest()}}}:"
    return ValkeyBus.open(address, prefix=prefix, capacity=bus.capacity, retry_policy=rule)


def store_address(settings: Settings) -> Address:
    """Return address and credentials of the configured store server."""
    from atlas.adapters.stores.bolt.connection import Address

    store = settings.store
    return Address(
        store.url,
        database=store.database or None,
        auth=(store.user, store.password) if store.user else None,
        ca_file=str(settings.root / store.ca_file) if store.ca_file else "",
        connect_seconds=store.connect_seconds,
        read_seconds=store.read_seconds,
        write_seconds=store.write_seconds,
    )


async def connect_project_bus(settings: Settings) -> Bus:
    """Return the project's own bus for a store on a server, by the store's identity instead of its address.

    Raises Unavailable when store or bus does not answer, and ConfigError when one of them rejects this user.
    """
    from atlas.adapters.stores.bolt.store import BoltStore
    from atlas.code.index.cluster.project_bus import ProjectBus

    store = await BoltStore.open(store_address(settings), writing=False)
    try:
        identity = await store.identity()
    finally:
        await store.aclose()
    async with AsyncExitStack() as undone:
        bus = connect_bus(settings, settings.bus_address, identity)
        undone.push_async_callback(bus.aclose)
        await bus.heartbeats()
        undone.pop_all()
        return ProjectBus(bus, settings.project_name, closes=True)


@asynccontextmanager
async def hold_project_lease(settings: Settings) -> AsyncGenerator[None]:
    """Hold the project's lease during the block. Raises WriterBusy while another process does, and Unavailable."""
    from atlas.code.index.cluster.leader import hold_lease

    bus = await connect_project_bus(settings)
    try:
        async with hold_lease(bus, settings.project_name, float(settings.daemon.lease_seconds)):
            yield
    finally:
        await bus.aclose()


async def connect_bus_of_running_daemon(settings: Settings) -> Bus | None:
    """Return the bus of the data folder's daemon, None when no server answers. Starts nothing.

    On shared servers, returns the project's own bus. A killed daemon may have left a server that answers: only the
    heartbeat shows a running daemon. The caller closes the bus. Raises ConfigError when a configured server rejects
    this user.
    """
    if settings.shared:
        try:
            return await connect_project_bus(settings)
        except Unavailable:
            return None
    address = settings.bus_address
    if not address:
        from atlas.adapters.buses.valkey.server import ManagedServer

        server = await asyncio.to_thread(ManagedServer.find, settings.data_dir)
        if server is None:
            return None
        address = server.url
    bus = connect_bus(settings, address)
    try:
        await bus.states()
    except Unavailable:
        await bus.aclose()
        return None
    return bus


def load_bus_driver() -> None:
    """Import the bus driver in advance, so that a later deadline covers the server's time only."""
    for module in ("bus", "info", "server"):
        import_module(f"atlas.adapters.buses.valkey.{module}")


async def bus_server_info(settings: Settings) -> ValkeyInfo | None:
    """Return the state of the configured bus server, or of the daemon's own; None when that does not answer.

    Starts nothing. Raises Unavailable and ConfigError for a configured server.
    """
    from atlas.adapters.buses.valkey.info import server_info
    from atlas.adapters.buses.valkey.server import ManagedServer

    if settings.bus_address:
        return await server_info(settings.bus_address)
    server = await asyncio.to_thread(ManagedServer.find, settings.data_dir)
    return await server_info(server.url) if server is not None else None


def bus_program() -> Path:
    """Return the program of the daemon's own bus server. Raises ConfigError when there is none."""
    from atlas.adapters.buses.valkey.server import server_program

    return server_program()
