"""Composition of a worker process on a shared store and bus: settings and tiers come in, it runs until it is stopped.

It knows neither signals, logs nor terminals: see `daemon_main`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from atlas.adapters.opening.embedder import make_writing_embedders
from atlas.adapters.opening.sentence_transformer import make_quality_writer
from atlas.app.bus import connect_bus, store_address
from atlas.app.main import limit_threads, make_gate, make_source
from atlas.core.errors import Unavailable
from atlas.runtime.config.checks import check_worker

if TYPE_CHECKING:
    from atlas.adapters.buses.valkey.bus import ValkeyBus
    from atlas.adapters.stores.bolt.store import BoltStore
    from atlas.code.index.cluster.owned_project import OwnedProject
    from atlas.code.index.daemon import Daemon, DaemonOptions
    from atlas.code.index.startup import ReportStatus
    from atlas.code.index.tiers.embed import EmbedTier
    from atlas.code.index.tiers.sentence_transformer import QualityTier
    from atlas.code.index.worker import Log
    from atlas.core.contracts import Bus, Embedder, Store
    from atlas.runtime.config.load import Settings

RETRY_SECONDS = 1.0
"""Delay between attempts to reach store or bus at the start."""


async def run_worker(
    all_settings: Sequence[Settings], tiers: Sequence[str], stop: asyncio.Event, log: Log, report_status: ReportStatus
) -> None:
    """Run these tiers of these projects next to other processes until `stop` is set.

    The first project's settings name store and bus; waits for servers that are unavailable. Raises ConfigError,
    StoreError, and errors that retrying cannot solve.
    """
    from atlas.code.index.cluster.leader import process_name
    from atlas.code.index.cluster.worker_process import WorkerProcess
    from atlas.code.index.startup import report_worker_startup
    from atlas.code.index.tiers.embed import check_models
    from atlas.core.threads import in_background
    from atlas.runtime.process.memory import limit_malloc_arenas, resident_meter

    first = all_settings[0]
    tiers = [tier for tier in tiers if first.embedder.embeds or tier != "embed"]
    check_worker(all_settings, tiers)
    limit_malloc_arenas()
    limit_threads(first)
    async with _open_servers(first, stop, log, report_status) as servers, AsyncExitStack() as opened:
        if servers is None:
            return
        store, bus = servers
        name = process_name()
        log("worker", {"name": name, "tiers": ",".join(tiers)})
        owned = [_owned_project(settings, store, bus, name, log) for settings in all_settings if "graph" in tiers]
        embed: EmbedTier | None = None
        quality: QualityTier | None = None
        if "embed" in tiers and (embedders := make_writing_embedders(first)):
            for embedder in embedders:
                opened.push_async_callback(embedder.aclose)
            further = make_quality_writer(first, in_background=True)
            if further is not None:
                opened.push_async_callback(further.aclose)
            if not owned:
                await check_models(store, embedders)
            embed = _embed_tier(first, store, embedders, bus if further is not None else None)
            quality = _quality_tier(store, bus, further) if further is not None else None
        elections = [one.election for one in owned]
        process = WorkerProcess(bus, name, elections, embed, resident_meter(), log, quality=quality)
        async with in_background(report_worker_startup(owned, report_status)):
            await process.run(stop)


@asynccontextmanager
async def _open_servers(
    settings: Settings, stop: asyncio.Event, log: Log, report_status: ReportStatus
) -> AsyncGenerator[tuple[BoltStore, ValkeyBus] | None]:
    """Open store and bus as soon as both are available; None when stopped before."""
    from atlas.adapters.stores.bolt.store import BoltStore
    from atlas.code.index.startup import open_when_available

    async def connect() -> ValkeyBus:
        async with AsyncExitStack() as undone:
            bus = connect_bus(settings, settings.bus_address, await store.identity() if store is not None else "")
            undone.push_async_callback(bus.aclose)
            await bus.heartbeats()
            undone.pop_all()
            return bus

    open_store = partial(BoltStore.open, store_address(settings), writing=True)
    waiting = (Unavailable, RETRY_SECONDS, stop, log, report_status)
    async with AsyncExitStack() as opened:
        bus: ValkeyBus | None = None
        if (store := await open_when_available(open_store, *waiting)) is not None:
            opened.push_async_callback(store.aclose)
            if (bus := await open_when_available(connect, *waiting)) is not None:
                opened.push_async_callback(bus.aclose)
        report_status("starting", "")
        yield (store, bus) if store is not None and bus is not None else None


def _owned_project(settings: Settings, store: BoltStore, bus: ValkeyBus, holder: str, log: Log) -> OwnedProject:
    from atlas.code.index.cluster.owned_project import OwnedProject
    from atlas.code.index.cluster.project_bus import ProjectBus

    def make(own_bus: Bus) -> Daemon:
        return make_daemon([settings], store, own_bus, log, among_others=True)

    seconds = float(settings.daemon.lease_seconds)
    name = settings.project_name
    return OwnedProject(name, ProjectBus(bus, name), holder, seconds, make, log)


def _embed_tier(
    settings: Settings, store: Store, embedders: Sequence[Embedder], before_quality: Bus | None
) -> EmbedTier:
    from atlas.code.index.tiers.embed import EmbedTier

    options = _options(settings)
    page = options.embed_page
    return EmbedTier({}, store, embedders, options.embed, page=page, of_all=True, before_quality=before_quality)


def _quality_tier(store: Store, bus: Bus, embedder: Embedder) -> QualityTier:
    from atlas.code.index.tiers.sentence_transformer import WINDOW, QualityTier

    return QualityTier({}, store, bus, embedder, WINDOW, of_all=True)


def make_daemon(
    all_settings: Sequence[Settings],
    store: Store,
    bus: Bus,
    log: Log,
    *,
    among_others: bool = False,
) -> Daemon:
    """Return the daemon of these projects; see `Daemon`. Raises ConfigError."""
    from atlas.code.index.daemon import Daemon
    from atlas.runtime.process.memory import resident_meter, trim_heap
    from atlas.runtime.process.tree_version import FILE, TreeVersions

    first = all_settings[0]
    later = asyncio.get_running_loop().call_later
    return Daemon(
        [make_source(settings) for settings in all_settings],
        store,
        bus,
        [] if among_others else make_writing_embedders(first),
        make_gate(first, store),
        _options(first),
        resident_meter(),
        trim_heap,
        log,
        among_others=among_others,
        versions=None if among_others else TreeVersions(first.data_dir / FILE, later),
        quality=None if among_others else make_quality_writer(first, in_background=True),
    )


def _options(settings: Settings) -> DaemonOptions:
    from atlas.code.index.daemon import DaemonOptions
    from atlas.code.index.events import Window

    pipeline, daemon = settings.pipeline, settings.daemon
    return DaemonOptions(
        graph=Window(pipeline.graph_window_ms / 1000, pipeline.graph_batch, 0.01),
        ast=Window(pipeline.ast_window_ms / 1000, pipeline.ast_batch, 0.01),
        embed=Window(pipeline.embed_window_ms / 1000, pipeline.embed_batch, 0.2),
        embed_page=pipeline.embed_batch,
        reconcile_seconds=daemon.reconcile_seconds,
        poll_seconds=daemon.poll_seconds,
        memory_bytes=daemon.memory_mb << 20,
    )
