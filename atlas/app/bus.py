"""Settings -> the bus: the data folder's own, or the one that belongs to a store on a server; and leases on it.

Adapters are imported where they are needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from atlas.errors import Unavailable, WriterBusy

if TYPE_CHECKING:
    from atlas.buses.valkey import ValkeyBus
    from atlas.config.load import Settings
    from atlas.contracts import Bus
    from atlas.stores.bolt.connection import Address


def connect_bus(settings: Settings, address: str, identity: str = "") -> ValkeyBus:
    """Return the bus at this address, with keys of its own on a server that others use too.

    They are those of the data folder, or of the store on a server that is called `identity`.
    """
    from atlas.buses.retry_policy import RetryPolicy
    from atlas.buses.valkey import ValkeyBus

    bus = settings.bus
    rule = RetryPolicy(after=float(bus.redeliver_seconds), attempts=bus.max_attempts)
    prefix = bus.prefix
    if address == settings.bus_address:
        # a folder of this host has its events for itself; braces keep the keys together in a cluster
        place = identity or f"{socket.gethostname()}:{settings.data_dir.resolve()}"
        prefix += f"{{atlas-{hashlib.blake2b(os.fsencode(place), digest_size=6).hexdigest()}}}:"
    return ValkeyBus.open(address, prefix=prefix, capacity=bus.capacity, retry_policy=rule)


def store_address(settings: Settings) -> Address:
    """Return where the configured server is and how to get in."""
    from atlas.stores.bolt.connection import Address

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
    """Return the project's own bus of a store on a server, whatever the address by which this host knows that store.

    Raises Unavailable when store or bus does not answer, and ConfigError when one of them refuses this user.
    """
    from atlas.pipeline.cluster.project_bus import ProjectBus
    from atlas.stores.bolt.store import BoltStore

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


def own_name() -> str:
    """Return what tells this process from all others on the bus; the beginning is for people."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"


@asynccontextmanager
async def hold_lease(settings: Settings) -> AsyncGenerator[None]:
    """Hold the project's lease to the end. Raises WriterBusy when another process does, Unavailable without a bus."""
    from atlas.pipeline.cluster.leader import LEASE, SHARE

    me, seconds = own_name(), float(settings.daemon.lease_seconds)
    bus = await connect_project_bus(settings)

    async def keep() -> None:
        while True:
            await asyncio.sleep(seconds / SHARE)
            with contextlib.suppress(Unavailable):
                await bus.lease(LEASE, me, seconds)

    try:
        holder = await bus.lease(LEASE, me, seconds)
        if holder != me:
            raise WriterBusy(
                f"process {holder.rpartition(':')[0]} keeps {settings.project_name}", "wait until it has done it"
            )
        keeping = asyncio.create_task(keep())
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            with contextlib.suppress(Unavailable):
                await bus.release(LEASE, me)
    finally:
        await bus.aclose()
