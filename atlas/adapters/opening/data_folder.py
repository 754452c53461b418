"""The data folder of a project as its settings name it, and short-term memory, which is in it or on the bus server."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError
from atlas.runtime.config.load import is_trusted
from atlas.runtime.process.data_folder import make_folder, move_legacy_folder

if TYPE_CHECKING:
    from atlas.core.short_term import ShortTermMemory
    from atlas.runtime.config.load import Settings


def prepare_data_folder(settings: Settings) -> None:
    """Create the data folder or check the existing one; moves a folder from an earlier location if it is authentic.

    Raises ConfigError for a folder that this installation did not create, and for one that is not writable.
    """
    folder, root = settings.data_dir, settings.root
    if not os.access(root, os.R_OK | os.X_OK):
        raise ConfigError(f"{root} cannot be read.", "Check the permissions of the folder and of those above it.")
    try:
        if settings.origin("data_dir") == "default":
            move_legacy_folder(settings.root, folder)
        make_folder(folder, settings.root, trust=is_trusted())
        if not os.access(folder, os.W_OK | os.X_OK):
            reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(reason, os.strerror(reason))
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "Make room" if is_full else "Check its permissions"
        hint += ", or choose another folder with --data-dir."
        raise ConfigError(f"cannot write to the data folder {folder}: {error.strerror}", hint) from error


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
