"""Composition of the daemon: settings -> lock, store, bus server, bus, tiers, opened in this order.

It knows neither signals, logs nor terminals: see `daemon_main`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.app.bus import connect_bus
from atlas.app.main import limit_cache, limit_threads, seed_first_index
from atlas.app.store import has_database, open_store
from atlas.app.worker import make_daemon, run_worker
from atlas.core.errors import AtlasError, ConfigError, WriterBusy
from atlas.runtime.config.checks import TIERS
from atlas.runtime.config.load import load_settings

if TYPE_CHECKING:
    from atlas.adapters.buses.valkey.bus import ValkeyBus
    from atlas.app.session_host import SessionHost
    from atlas.code.index.daemon import Daemon
    from atlas.code.index.startup import ReportStatus
    from atlas.code.index.worker import Log
    from atlas.runtime.config.load import Settings

REST_CHECK_SECONDS = 5.0
"""Interval of the check whether the process may rest."""
AWAY_SECONDS = 1.0
"""Interval of the look for roots that are away."""
WRITER_SECONDS = 0.3
"""Interval of attempts to become the writer while another process is."""


async def run_daemon(
    all_settings: Sequence[Settings], stop: asyncio.Event, log: Log, report_status: ReportStatus, host: SessionHost
) -> None:
    """Keep the indexes of these projects up to date until `stop` is set, and tell `host` when they rest.

    The first project's settings name index and bus and configure the daemon; each project's own say which files count.
    Waits while another process writes to the index. Raises ConfigError, StoreError, and Unavailable without a bus,
    after closing everything: sources, workers, bus, its server, store, lock.
    """
    from atlas.code.index.startup import open_when_available, report_daemon_startup
    from atlas.core.threads import in_background
    from atlas.runtime.process.memory import limit_malloc_arenas

    first = all_settings[0]
    limit_malloc_arenas()
    limit_threads(first)
    if first.shared:
        await run_worker(all_settings, TIERS, stop, log, report_status)
        return
    if len(all_settings) == 1 and not has_database(first):
        await _seed(first, log, report_status)
    opening = partial(open_store, first, writing=True)
    store = await open_when_available(opening, WriterBusy, WRITER_SECONDS, stop, log, report_status)
    if store is None:
        return
    try:
        report_status("starting", "")
        async with open_bus(first, [settings.project_name for settings in all_settings], log) as bus:
            daemon = make_daemon(all_settings, store, bus, log)
            startup = report_daemon_startup(daemon, bus, log, report_status)
            rest, back = _rest_when_quiet(daemon, host, first), _bring_back(host, first, log)
            async with in_background(startup), in_background(rest), in_background(back):
                await daemon.run(stop)
    finally:
        await store.aclose()


async def _rest_when_quiet(daemon: Daemon, host: SessionHost, settings: Settings) -> None:
    """Have the process rest when for `daemon.rest_seconds` nothing has changed and no client has asked."""
    from atlas.code.index.watch.inotify import HeldWatches

    seconds = settings.daemon.rest_seconds
    while seconds:
        await asyncio.sleep(min(REST_CHECK_SECONDS, seconds / 4))
        held = await daemon.hold(seconds)
        if held is None:
            continue
        if await asyncio.to_thread(host.let_go, seconds):
            host.rest([*held, *(HeldWatches(str(root)) for root in host.away)])
            return
        daemon.resume(held)


async def _bring_back(host: SessionHost, first: Settings, log: Log) -> None:
    """Have the roots that are away watched once they are back; one whose settings cannot be used is given up."""
    while host.away:
        for root in host.away:
            if not await asyncio.to_thread(root.is_dir):
                continue
            settings = None
            try:
                settings = _settings_of_returned(root, first, host)
            except AtlasError as error:
                log("a root is back and cannot be watched", {"root": str(root), "error": error.message})
            else:
                log("a root is back", {"root": str(root)})
            host.bring_back(root, settings)
        await asyncio.sleep(AWAY_SECONDS)


def _settings_of_returned(root: Path, first: Settings, host: SessionHost) -> Settings:
    settings = load_settings(str(root), str(first.data_dir))
    if any(one.project_name == settings.project_name and one.root != settings.root for one in host.watched):
        raise ConfigError(
            f"another project is named {settings.project_name}", "Give one of them another name in its atlas.toml."
        )
    return settings


async def _seed(settings: Settings, log: Log, report_status: ReportStatus) -> None:
    """Make a missing index from that of another tree of the repository, if there is one; the cache grows by one."""
    from atlas.code.index.events import no_progress

    report_status("starting", "")
    if (seeded := await seed_first_index(settings, no_progress)) is not None:
        log("seeded", {"from": seeded.seeded_from, "files": seeded.files, "seconds": round(seeded.seconds, 3)})
    await limit_cache(settings)


@asynccontextmanager
async def open_bus(settings: Settings, projects: Sequence[str], log: Log) -> AsyncGenerator[ValkeyBus]:
    """Open the configured bus, or one on a Valkey server of the daemon's own that is supervised and ends with it.

    After a restart of that server, these projects are scanned whole. The caller must be the index's writer. Raises
    ConfigError and Unavailable.
    """
    if settings.bus.url:
        bus = connect_bus(settings, settings.bus_address)
        try:
            await bus.states()
            yield bus
        finally:
            await bus.aclose()
        return
    from atlas.adapters.buses.valkey.supervisor import ServerSupervisor
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.code.index.events import request_scan
    from atlas.core.threads import in_background
    from atlas.runtime.process.lock import LOCK_FILE

    index = settings.data_dir / (LOCK_FILE if settings.store.url else DATABASE)
    server = await ServerSupervisor.start(settings.data_dir, index, log)
    try:
        bus = connect_bus(settings, server.url)
        try:
            async with in_background(server.run(partial(request_scan, bus, projects))):
                yield bus
        finally:
            await bus.aclose()
    finally:
        await server.stop()


def stop_orphaned_server(data_dir: Path) -> bool:
    """Stop a bus server that a killed daemon left; see `buses.valkey_supervisor`."""
    from atlas.adapters.buses.valkey import supervisor as valkey_supervisor

    return valkey_supervisor.stop_orphaned_server(data_dir)


def stop_server(data_dir: Path, seconds: float) -> bool:
    """Stop the bus server of a data folder, for its writer; see `buses.valkey_supervisor`."""
    from atlas.adapters.buses.valkey import supervisor as valkey_supervisor

    return valkey_supervisor.stop_server(data_dir, seconds)
