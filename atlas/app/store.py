"""Composition of the store: a file in the data folder or a server that speaks Bolt, and the right to write to it.

Functions import the adapters that they need.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.app.bus import hold_project_lease, store_address
from atlas.core.errors import AtlasError, NotFound
from atlas.runtime.config.load import is_trusted
from atlas.runtime.process.data_folder import check_folder

if TYPE_CHECKING:
    from atlas.adapters.stores.bolt.store import ServerInfo
    from atlas.core.contracts import Store
    from atlas.runtime.config.load import Settings


FACTS_FILE = "facts-{project}.bin"
"""The facts cache of a project in the data folder; deleting it only costs time."""
LINKER_SUFFIX = ".links"
"""Of the linker's snapshot beside the facts cache."""


def facts_files(project: str) -> tuple[str, str]:
    """Return the names of a project's facts cache and of the linker's snapshot."""
    name = FACTS_FILE.format(project=project)
    return name, name + LINKER_SUFFIX


def has_database(settings: Settings) -> bool:
    """Return whether there is a file of the embedded store, whatever it holds."""
    from atlas.adapters.stores.sqlite.file.connection import DATABASE

    return os.path.lexists(settings.data_dir / DATABASE)


async def open_store(settings: Settings, *, writing: bool = False, reset: bool = False) -> Store:
    """Return the configured store; the caller closes it, which releases the right to write.

    For reading, raises NotFound when nothing is indexed there. For writing, creates what is missing (`reset` replaces
    the file; it never empties a server, which others may use) and raises WriterBusy while another process writes.
    Also raises Unavailable for an unreachable server, ConfigError for one that rejects this user, and StoreError.
    """
    if settings.store.url:
        return await (_open_to_write(settings) if writing else _open_to_read(settings))
    if writing:
        await asyncio.to_thread(prepare_data_folder, settings)
    else:
        check_folder(settings.data_dir, trust=is_trusted())
    from atlas.adapters.stores.sqlite.store import EmbeddedStore
    from atlas.parsing import VectorIndex

    return await asyncio.to_thread(
        EmbeddedStore.open,
        settings.data_dir,
        writing=writing,
        reset=reset,
        vector_index=VectorIndex,
    )


def describe_writer(settings: Settings) -> str:
    """Return that another process writes to the index; "" without one, or where its lock does not tell."""
    from atlas.runtime.process.lock import has_writer

    try:
        writes = settings.data_dir.is_dir() and has_writer(settings.data_dir)
    except AtlasError:
        return ""
    return "another process is indexing: ask again later" if writes else ""


@asynccontextmanager
async def right_to_write(settings: Settings) -> AsyncGenerator[None]:
    """Hold the right to write to the store on a server during the block. Raises WriterBusy while another process does.

    Among processes with the same data folder its lock decides, as for the embedded store: they also share the facts
    cache. Among hosts with a shared bus the project's lease decides; it needs the store's schema. Without a shared bus,
    two hosts fence each other off: see `stores.bolt.fencing`.
    """
    from atlas.runtime.process.lock import lock_folder

    await asyncio.to_thread(prepare_data_folder, settings)
    lock = await asyncio.to_thread(lock_folder, settings.data_dir)
    try:
        async with hold_project_lease(settings) if settings.shared else contextlib.nullcontext():
            yield
    finally:
        lock.release()


async def store_server_info(settings: Settings) -> ServerInfo:
    """Return the state of the configured server; changes nothing. Raises as `open_store` for reading does."""
    from atlas.adapters.stores.bolt.store import server_info

    return await server_info(store_address(settings))


async def _open_to_read(settings: Settings) -> Store:
    from atlas.adapters.stores.bolt.store import BoltStore

    async with AsyncExitStack() as undone:
        store = await BoltStore.open(store_address(settings), writing=False)
        undone.push_async_callback(store.aclose)
        if not await store.projects():
            raise NotFound(f"nothing is indexed on {settings.store_place}", f"run: atlas index {settings.root}")
        undone.pop_all()
        return store


async def _open_to_write(settings: Settings) -> Store:
    from atlas.adapters.stores.bolt.store import HeldBoltStore

    async with AsyncExitStack() as undone:
        store = await HeldBoltStore.open(store_address(settings), writing=True)
        undone.push_async_callback(store.aclose)
        right = AsyncExitStack()
        await right.enter_async_context(right_to_write(settings))
        store.hold(right)
        undone.pop_all()
        return store
