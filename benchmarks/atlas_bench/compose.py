"""Composition for measurements and tests of I1 only: a warm index, a comparison of indexes, a probe of a live one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.opening.embedder import make_writing_embedders
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import assemble, make_source
from atlas.app.session import Session
from atlas.app.store import open_store
from atlas.app.toolsets import BY_NAME
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError
from atlas.core.model import ModelInfo
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import Settings
from atlas.runtime.process.daemon import find_running
from atlas_bench.compare import Comparison, compare
from atlas_bench.dump import open_whole
from atlas_bench.stepwise import LiveTiers


@asynccontextmanager
async def open_live(settings: Settings) -> AsyncGenerator[LiveTiers]:
    """Open the index of one project and keep it warm in this process, over an in-process bus; see `LiveTiers`.

    Raises as `main.open_atlas` for writing does.
    """
    store = await open_store(settings, writing=True)
    try:
        gate = SignificanceGate(store, settings.pipeline.body_threshold / 100)
        embedders = make_writing_embedders(settings)
        live = await LiveTiers.open([make_source(settings)], store, MemoryBus(), gate, embedders)
        try:
            yield live
        finally:
            await live.aclose()
    finally:
        await store.aclose()


def compare_indexes(a: Path, b: Path) -> Comparison:
    """Compare the complete stores of two data folders. Raises NotFound, SchemaMismatch and StoreError."""
    with open_whole(a) as one, open_whole(b) as other:
        return compare(one, other)


class AgentProbe:
    """An index as an agent's session sees it, and the daemon that updates it; implements `bench.probe.Probe`."""

    def __init__(self, settings: Settings) -> None:
        """Open the index. Raises as `main.open_atlas` for reading does, and ConfigError for an index on a server."""
        if settings.store.url:
            raise ConfigError("this measurement needs an index in a folder", "Unset ATLAS_STORE_URL and store.url.")
        store = EmbeddedStore.open(settings.data_dir, writing=False, vector_index=VectorIndex)
        self._settings, self._atlas, self._session = settings, assemble(settings, store), Session(settings)

    @property
    def store(self) -> Store:
        """The index, open for reading."""
        return self._atlas.reader.store

    @property
    def project(self) -> str:
        """The project's name."""
        return self._settings.project_name

    async def model(self) -> ModelInfo:
        """Return the model of the vectors."""
        return await self._atlas.reader.embedder.info()

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """Return a tool's structured answer. Raises AtlasError as the tool does."""
        return (await self._session.call(BY_NAME[tool], arguments, _no_report))[1]

    def daemon(self) -> tuple[int, str]:
        """Return process id and phase of the running daemon; (0, "") if there is none."""
        running = find_running(self._settings.data_dir)
        return (running.pid, running.phase) if running is not None else (0, "")

    def bus_process(self) -> int:
        """Return the process id of the daemon's own bus server; 0 if there is none."""
        server = ManagedServer.find(self._settings.data_dir)
        return server.pid if server is not None else 0

    async def aclose(self) -> None:
        """Close session and index; idempotent."""
        await self._session.aclose()
        await self._atlas.aclose()


async def _no_report(done: float, total: float, message: str) -> None:
    """Ignore progress."""
