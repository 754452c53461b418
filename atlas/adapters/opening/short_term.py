"""Composition of short-term memory: in the data folder, or on the configured bus server."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
from typing import TYPE_CHECKING

from atlas.adapters.opening.data_folder import prepare_data_folder

if TYPE_CHECKING:
    from atlas.core.short_term import ShortTermMemory
    from atlas.runtime.config.load import Settings


async def open_short_term(settings: Settings) -> ShortTermMemory:
    """Return the short-term memory of a project; the caller closes it.

    On a server it belongs to the data folder of this host, or to the project if processes share the store. Raises
    ConfigError for a data folder of another installation and StoreError for one that cannot be used.
    """
    if settings.bus_address:
        from atlas.adapters.buses.valkey.connection import Connection
        from atlas.adapters.buses.valkey.memory import ValkeyMemory
        from atlas.core.short_term import PatientMemory

        place = f"{socket.gethostname()}:{settings.data_dir.resolve()}"
        place = f"{settings.store.url}:{settings.project_name}" if settings.shared else place
        digest = hashlib.blake2b(os.fsencode(place), digest_size=6).hexdigest()
        connection = Connection.open(settings.bus_address)
        return PatientMemory(ValkeyMemory(connection, f"{settings.bus.prefix}{{atlas-{digest}}}:"))
    from atlas.adapters.stores.sqlite.short_term import ShortTermFile

    await asyncio.to_thread(prepare_data_folder, settings)
    return await asyncio.to_thread(ShortTermFile, settings.data_dir)
