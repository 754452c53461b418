"""The composition root of a process that works on shared store and bus, and of its daemon's kind.

Settings of projects and tiers come in; the process works until it is told to stop. It must not know of signals, logs or
terminals: see `foreground`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from atlas.app.bus import connect_bus, own_name, store_address
from atlas.app.embedder import make_writing_embedder
from atlas.app.main import limit_threads, make_source
from atlas.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    from atlas.buses.valkey import ValkeyBus
    from atlas.config.load import Settings
    from atlas.contracts import Bus, Embedder
    from atlas.pipeline.supervisor import Daemon, DaemonOptions
    from atlas.pipeline.tiers.embed import EmbedTier
    from atlas.pipeline.worker import Log
    from atlas.stores.bolt.store import BoltStore

KEEPING = ("graph", "ast")
"""Tiers that share the tree as last seen, the manifest and the linker of a project, and therefore a process."""

TIERS = (*KEEPING, "embed")

AWAY_SECONDS = 1.0
"""Between two tries to reach store or bus at the start."""

STEP_SECONDS = 0.3

Tell = Callable[[str, str], None]
"""(phase, detail) -> None; see `background.Running`."""


def check_worker(all_settings: Sequence[Settings], tiers: Sequence[str]) -> None:
    """Raise ConfigError unless a process with these tiers can work beside others."""
    if unknown := [tier for tier in tiers if tier not in TIERS]:
        raise ConfigError(f"no tier is called {unknown[0]!r}", f"The tiers are {', '.join(TIERS)}.")
    if len({tier in tiers for tier in KEEPING}) == 2 or not tiers:
        raise ConfigError(
            "the tiers graph and ast share the tree, the manifest and the linker of a project",
            "Give both or neither: --tiers graph,ast,embed, --tiers graph,ast or --tiers embed.",
        )
    first = all_settings[0]
    if not first.store.url:
        raise ConfigError(
            "a worker needs a store on a server: the embedded one is a file that one process writes",
            "Set ATLAS_STORE_URL (and ATLAS_BUS_URL), or run: atlas daemon start",
        )
    if not first.bus.url:
        raise ConfigError("a worker needs a bus on a server that all hosts reach", "Set ATLAS_BUS_URL.")
    if "embed" in tiers and first.embedder.provider == "none":
        raise ConfigError('there is nothing to embed with: embedder.provider is "none"', "Give --tiers graph,ast.")


async def run_crew(
    all_settings: Sequence[Settings], tiers: Sequence[str], stop: asyncio.Event, log: Log, tell: Tell
) -> None:
    """Work on these tiers of these projects beside other processes, until `stop` is set.

    The first one's settings say where store and bus are. Servers that are away are waited for. Raises ConfigError and
    StoreError, and what no waiting helps against.
    """
    from atlas.pipeline.cluster.worker_process import WorkerProcess
    from atlas.process.memory import limit_malloc_arenas, resident_meter

    first = all_settings[0]
    embeds = first.embedder.provider != "none"
    tiers = [tier for tier in tiers if embeds or tier != "embed"]
    check_worker(all_settings, tiers)
    limit_malloc_arenas()
    limit_threads(first)
    async with _open_servers(first, stop, log, tell) as servers:
        if servers is None:
            return
        store, bus = servers
        name = own_name()
        log("worker", {"name": name, "tiers": ",".join(tiers)})
        kept = [_OwnedProject(settings, store, bus, name, log) for settings in all_settings if "graph" in tiers]
        embedder = make_writing_embedder(first) if "embed" in tiers else None
        try:
            if embedder is not None and not kept:
                await _check_model(store, embedder)
            embed = _embed_tier(first, store, embedder) if embedder is not None else None
            steps = asyncio.create_task(_tell_steps(kept, tell))
            try:
                await WorkerProcess(bus, name, [one.election for one in kept], embed, resident_meter(), log).run(stop)
            finally:
                steps.cancel()
                await asyncio.gather(steps, return_exceptions=True)
        finally:
            if embedder is not None:
                await embedder.aclose()


class _OwnedProject:
    """One project of this process: made anew with every lease, because somebody else may have written meanwhile."""

    def __init__(self, settings: Settings, store: BoltStore, bus: ValkeyBus, name: str, log: Log) -> None:
        from atlas.pipeline.cluster.leader import LeaderElection
        from atlas.pipeline.cluster.project_bus import ProjectBus

        self.bus: Bus = ProjectBus(bus, settings.project_name)
        self.daemon: Daemon | None = None
        self._settings, self._store, self._log = settings, store, log
        seconds = float(settings.daemon.lease_seconds)
        self.election = LeaderElection(self.bus, settings.project_name, name, seconds, self._keep, log)

    async def _keep(self, over: asyncio.Event) -> None:
        from atlas.pipeline.supervisor import Daemon
        from atlas.pipeline.tiers.gate import SignificanceGate
        from atlas.process.memory import resident_meter, trim_heap

        settings = self._settings
        embeds = settings.embedder.provider != "none"
        self.daemon = Daemon(
            [make_source(settings)],
            self._store,
            self.bus,
            None,
            SignificanceGate(self._store, settings.pipeline.body_threshold / 100, embeds=embeds),
            make_options(settings),
            resident_meter(),
            trim_heap,
            self._log,
            among_others=True,
        )
        try:
            await self.daemon.run(over)
        finally:
            self.daemon = None

    async def is_settled(self) -> bool:
        """Whether this process knows that the project is kept: by another one, or by itself and all is read."""
        from atlas.pipeline.daemon_client import is_drained
        from atlas.pipeline.tiers.ast import AstTier

        if self.daemon is None:
            return bool(self.election.holder) and not self.election.holds
        (project,) = cast("list[dict[str, Any]]", self.daemon.state()["projects"])
        return project["ready"] and await is_drained(self.bus, AstTier.stream, AstTier.group)


@asynccontextmanager
async def _open_servers(
    settings: Settings, stop: asyncio.Event, log: Log, tell: Tell
) -> AsyncGenerator[tuple[BoltStore, ValkeyBus] | None]:
    """Open store and bus as soon as both are there; None when stopped before."""
    from atlas.stores.bolt.store import BoltStore

    said, store, bus = "", None, None
    try:
        while not stop.is_set() and bus is None:
            try:
                store = store or await BoltStore.open(store_address(settings), writing=True)
                bus = connect_bus(settings, settings.bus_address, await store.identity())
                await bus.heartbeats()
            except Unavailable as error:
                if bus is not None:
                    await bus.aclose()
                    bus = None
                if error.message != said:
                    said = error.message
                    log("waiting", {"for": said})
                    tell("waiting", said)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), AWAY_SECONDS)
        tell("starting", "")
        yield (store, bus) if store is not None and bus is not None else None
    finally:
        if bus is not None:
            await bus.aclose()
        if store is not None:
            await store.aclose()


async def _check_model(store: BoltStore, embedder: Embedder) -> None:
    """Raise ConfigError when the vectors are another model's: a process that only embeds does not choose the model."""
    info = await embedder.info()
    others = {state.model for state in await store.projects() if state.model not in (None, info)}
    if other := next(iter(others), None):
        raise ConfigError(
            f"the vectors in the store are of {other.model}, this worker makes those of {info.model}",
            "Give it the embedder settings of the others; to change the model, start one with all tiers.",
        )


def _embed_tier(settings: Settings, store: BoltStore, embedder: Embedder) -> EmbedTier:
    from atlas.pipeline.tiers.embed import EmbedTier

    options = make_options(settings)
    return EmbedTier({}, store, embedder, options.embed, page=options.embed_page, of_all=True)


def make_options(settings: Settings) -> DaemonOptions:
    """Return how a daemon with these settings works."""
    from atlas.pipeline.events import Window
    from atlas.pipeline.supervisor import DaemonOptions

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


async def _tell_steps(kept: Sequence[_OwnedProject], tell: Tell) -> None:
    """Say when every project is kept, here or elsewhere."""
    while True:
        with contextlib.suppress(Unavailable):
            if all([await one.is_settled() for one in kept]):
                break
        await asyncio.sleep(STEP_SECONDS)
    holds = [one.election.project for one in kept if one.election.holds]
    waits = [one.election.project for one in kept if not one.election.holds]
    said = (f"keeps {', '.join(holds)}" if holds else "", f"stands by for {', '.join(waits)}" if waits else "")
    tell("ready", "; ".join(part for part in said if part))
