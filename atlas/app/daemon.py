"""The composition root of the daemon: settings -> lock, store, bus server, bus, tiers, in this order, and back.

The daemon's own bus server is kept alive here. It must not know of signals, logs or terminals: see `foreground`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from atlas.app.bus import connect_bus
from atlas.app.embedder import make_writing_embedder
from atlas.app.main import limit_threads, make_source
from atlas.app.store import open_store
from atlas.app.worker import TIERS, Tell, make_options, run_crew
from atlas.errors import AtlasError, Unavailable, WriterBusy

if TYPE_CHECKING:
    from atlas.buses.valkey import ValkeyBus
    from atlas.buses.valkey_server import ManagedServer
    from atlas.config.load import Settings
    from atlas.contracts import Store
    from atlas.pipeline.supervisor import Daemon
    from atlas.pipeline.worker import Log

WRITER_SECONDS = 0.3
"""How often it is tried to become the writer while another process is."""

GUARD_SECONDS = 1.0
"""How often the own bus server is looked at: what it lost when it died is then looked for at once."""

STARTS = 3
"""Tries to start an own bus server before the daemon gives up."""

RETRY_SECONDS = 5.0
"""Between two tries to start a bus server that does not start."""

STEP_SECONDS = 0.05


async def run_daemon(all_settings: Sequence[Settings], stop: asyncio.Event, log: Log, tell: Tell) -> None:
    """Keep the indexes of these projects true until `stop` is set.

    The first one's settings say where index and bus are and how the daemon works, each one's own which files count.
    Waits for another process that writes to the index. Raises ConfigError, StoreError, and Unavailable when there is no
    bus; what was begun is closed then: sources, workers, bus, its server, store, lock.
    """
    from atlas.process.memory import limit_malloc_arenas

    limit_malloc_arenas()
    limit_threads(all_settings[0])
    if all_settings[0].shared:
        await run_crew(all_settings, TIERS, stop, log, tell)
        return
    store = await _store_when_free(all_settings[0], stop, log, tell)
    if store is None:
        return
    try:
        tell("starting", "")
        projects = [settings.project_name for settings in all_settings]
        async with open_bus(all_settings[0], projects, log) as bus:
            daemon = await _make_daemon(all_settings, store, bus, log)
            steps = asyncio.create_task(_tell_steps(daemon, bus, log, tell))
            try:
                await daemon.run(stop)
            finally:
                steps.cancel()
                await asyncio.gather(steps, return_exceptions=True)
    finally:
        await store.aclose()


@asynccontextmanager
async def open_bus(settings: Settings, projects: Sequence[str], log: Log) -> AsyncGenerator[ValkeyBus]:
    """Open the configured bus, or start an own server for it (or take over a running one) that ends with the bus.

    An own server that dies is started again, and these projects are looked at then. The caller must be the index's
    writer. Raises ConfigError and Unavailable.
    """
    if settings.bus.url:
        bus = connect_bus(settings, settings.bus_address)
        try:
            await bus.states()
            yield bus
        finally:
            await bus.aclose()
        return
    keeper = _Keeper(settings, await _start_server(settings.data_dir, log), log)
    try:
        bus = connect_bus(settings, keeper.server.url)
        guard = asyncio.create_task(keeper.guard(bus, projects))
        try:
            yield bus
        finally:
            guard.cancel()
            await asyncio.gather(guard, return_exceptions=True)
            await bus.aclose()
    finally:
        await asyncio.to_thread(keeper.server.stop)


async def _start_server(data_dir: Path, log: Log) -> ManagedServer:
    """Start the own server, or take over a running one; one that is killed as it starts is started again."""
    from atlas.buses.valkey_server import ManagedServer

    for _ in range(STARTS - 1):
        try:
            return await asyncio.to_thread(ManagedServer.start, data_dir)
        except Unavailable as error:
            log("the bus server did not start: once more", {"error": error.message})
            await asyncio.sleep(GUARD_SECONDS)
    return await asyncio.to_thread(ManagedServer.start, data_dir)


def end_left_server(data_dir: Path) -> bool:
    """End a bus server that a killed daemon left, unless somebody writes to the index; return whether there was one."""
    from atlas.process.lock import WriterLock

    if not data_dir.is_dir():
        return False
    try:
        lock = WriterLock(data_dir)
    except Unavailable:
        return False
    try:
        return end_own_server(data_dir, 5.0)
    finally:
        lock.release()


def end_own_server(data_dir: Path, seconds: float) -> bool:
    """End the bus server of a data folder whose writer the caller is; return whether there was one."""
    from atlas.buses.valkey_server import ManagedServer

    server = ManagedServer.find(data_dir)
    if server is not None:
        server.stop(seconds)
    return server is not None


class _Keeper:
    """The own bus server, started again whenever it is gone."""

    def __init__(self, settings: Settings, server: ManagedServer, log: Log) -> None:
        from atlas.process.lock import LOCK_FILE
        from atlas.stores.sqlite.connection import DATABASE

        self._data_dir, self.server, self._log = settings.data_dir, server, log
        self._index = settings.data_dir / (LOCK_FILE if settings.store.url else DATABASE)
        for note in server.notes:
            log(note, {"error": "the bus starts empty"})
        log("bus server", {"pid": server.pid, "socket": server.url})

    async def guard(self, bus: ValkeyBus, projects: Sequence[str]) -> None:
        """Start the server again when it died or its socket is gone; what it forgot is made good by a look at all."""
        from atlas.model import Event
        from atlas.pipeline.events import FILE_CHANGED, WHOLE_PROJECT

        lost = False
        while True:
            await asyncio.sleep(GUARD_SECONDS)
            try:
                # without the index the daemon is about to end
                if not self._is_there() and self._index.exists():
                    lost = True
                    await self._start_again()
                if lost:
                    await bus.publish(FILE_CHANGED, [Event(project, WHOLE_PROJECT) for project in projects])
                    lost = False
            except AtlasError as error:
                self._log("the bus server does not start", {"error": error.message})
                await asyncio.sleep(RETRY_SECONDS)

    def _is_there(self) -> bool:
        return Path(self.server.url).exists() and self.server.alive()

    async def _start_again(self) -> None:
        self._log("the bus server is gone: starting it again", {"error": f"process {self.server.pid} ended"})
        starting = asyncio.create_task(asyncio.to_thread(type(self.server).start, self._data_dir))
        try:
            self.server = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # the daemon ends: a server that starts meanwhile must end with it
            self.server = await starting
            raise
        self._log("bus server", {"pid": self.server.pid, "socket": self.server.url})


async def _store_when_free(settings: Settings, stop: asyncio.Event, log: Log, tell: Tell) -> Store | None:
    """Open the store for writing as soon as nobody else writes; None when stopped before."""
    said = ""
    while not stop.is_set():
        try:
            return await open_store(settings, writing=True)
        except WriterBusy as error:
            if error.message != said:
                said = error.message
                log("waiting", {"for": said})
                tell("waiting", said)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), WRITER_SECONDS)
    return None


async def _make_daemon(all_settings: Sequence[Settings], store: Store, bus: ValkeyBus, log: Log) -> Daemon:
    from atlas.pipeline.supervisor import Daemon
    from atlas.pipeline.tiers.gate import SignificanceGate
    from atlas.process.memory import resident_meter, trim_heap

    first = all_settings[0]
    return Daemon(
        [make_source(settings) for settings in all_settings],
        store,
        bus,
        make_writing_embedder(first),
        SignificanceGate(store, first.pipeline.body_threshold / 100, embeds=first.embedder.provider != "none"),
        make_options(first),
        resident_meter(),
        trim_heap,
        log,
    )


async def _tell_steps(daemon: Daemon, bus: ValkeyBus, log: Log, tell: Tell) -> None:
    """Say how much there is to do once every tree was looked at, and when it is done for the first time."""
    from atlas.pipeline.daemon_client import is_drained
    from atlas.pipeline.heartbeat import DAEMON, HEARTBEAT_TTL
    from atlas.pipeline.tiers.ast import AstTier
    from atlas.pipeline.tiers.graph import GraphTier

    def projects() -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", daemon.state()["projects"])

    async def looked() -> bool:
        return all(one["looks"] for one in projects()) and await is_drained(bus, GraphTier.stream, GraphTier.group)

    async def read() -> bool:
        return all(one["ready"] for one in projects()) and await is_drained(bus, AstTier.stream, AstTier.group)

    started = time.monotonic()
    await _until(looked)
    waiting = {(state.stream, state.group): state.length for state in await bus.states()}
    # beside the files there is the request to look at each project
    files = waiting.get((AstTier.stream, AstTier.group), 0) - len(projects())
    tell("indexing", f"{files:,} files" if files > 0 else "")
    await _until(read)
    # at once, not at the next full second: whoever started the daemon may ask for its state now
    await bus.send_heartbeat(DAEMON, json.dumps(daemon.state()), HEARTBEAT_TTL)
    files = sum(one["files"] for one in projects())
    log("ready", {"files": files, "seconds": round(time.monotonic() - started, 3)})
    tell("ready", f"{files:,} files")


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while True:
        with contextlib.suppress(Unavailable):
            if await is_so():
                return
        await asyncio.sleep(STEP_SECONDS)
