"""Keeps the daemon's own Valkey server running, and stops a server that a killed daemon left behind.

Only the process that writes to the index in the data folder supervises its server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self

from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.errors import AtlasError, Unavailable
from atlas.runtime.process.lock import WriterLock

CHECK_SECONDS = 1.0
"""Interval of the check whether the server is alive."""

START_ATTEMPTS = 3
"""Attempts to start the server before the daemon gives up."""

RETRY_SECONDS = 5.0
"""Delay after a restart that failed."""

Log = Callable[[str, dict[str, object]], None]
"""(message, fields) -> None"""


class ServerSupervisor:
    """Supervises one running server; created by `start`."""

    def __init__(self, data_dir: Path, server: ManagedServer, index: Path, log: Log) -> None:
        self._data_dir, self._server, self._index, self._log = data_dir, server, index, log

    @classmethod
    async def start(cls, data_dir: Path, index: Path, log: Log) -> Self:
        """Start the server, or adopt the running one. Raises as `ManagedServer.start` after `START_ATTEMPTS`.

        Without the file `index` the daemon is about to end, so a dead server is not restarted.
        """
        server = await _start(data_dir, log)
        for note in server.notes:
            log(note, {"error": "the bus starts empty"})
        log("bus server", {"pid": server.pid, "socket": server.url})
        return cls(data_dir, server, index, log)

    @property
    def url(self) -> str:
        """The address for `ValkeyBus.open`; a restart does not change it."""
        return self._server.url

    async def run(self, on_restart: Callable[[], Awaitable[object]]) -> None:
        """Restart the server whenever it has died or its socket is gone, until cancelled.

        `on_restart` is called after a restart, and again until it succeeds: the server may have lost events.
        """
        restarted = False
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                if not self._is_running() and self._index.exists():
                    restarted = True
                    await self._restart()
                if restarted:
                    await on_restart()
                    restarted = False
            except AtlasError as error:
                self._log("the bus server does not start", {"error": error.message})
                await asyncio.sleep(RETRY_SECONDS)

    async def stop(self) -> None:
        """Stop the server."""
        await asyncio.to_thread(self._server.stop)

    def _is_running(self) -> bool:
        return Path(self._server.url).exists() and self._server.alive()

    async def _restart(self) -> None:
        self._log("the bus server is gone: restarting it", {"error": f"process {self._server.pid} ended"})
        starting = asyncio.create_task(asyncio.to_thread(ManagedServer.start, self._data_dir))
        try:
            self._server = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # the daemon ends: `stop` must end a server that starts meanwhile
            self._server = await starting
            raise
        self._log("bus server", {"pid": self._server.pid, "socket": self._server.url})


async def _start(data_dir: Path, log: Log) -> ManagedServer:
    for _ in range(START_ATTEMPTS - 1):
        try:
            return await asyncio.to_thread(ManagedServer.start, data_dir)
        except Unavailable as error:
            log("the bus server did not start: trying again", {"error": error.message})
            await asyncio.sleep(CHECK_SECONDS)
    return await asyncio.to_thread(ManagedServer.start, data_dir)


def stop_server(data_dir: Path, seconds: float) -> bool:
    """Stop the bus server of a data folder, for its writer; return whether there was one."""
    server = ManagedServer.find(data_dir)
    if server is not None:
        server.stop(seconds)
    return server is not None


def stop_orphaned_server(data_dir: Path) -> bool:
    """Stop a server that a killed daemon left, unless a process writes to the index; return whether there was one."""
    if not data_dir.is_dir():
        return False
    try:
        lock = WriterLock(data_dir)
    except Unavailable:
        return False
    try:
        return stop_server(data_dir, 5.0)
    finally:
        lock.release()
