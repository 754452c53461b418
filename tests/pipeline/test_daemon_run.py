"""The daemon inside this process, on real files: what it keeps true, and what must not hold it up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.embedders.static import StaticEmbedder
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source
from atlas.code.index.daemon import Daemon, DaemonOptions
from atlas.code.index.events import Window
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.core.contracts import Embedder
from atlas.core.model import Chunk, EmbeddingStats, Filter, GraphDelta, Match, ModelInfo
from atlas.parsing import Linker, VectorIndex
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import dump, index, write_tree

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg.b import g\n\ndef f():\n    return g()\n",
    "pkg/b.py": "def g():\n    return 1\n",
}
OPTIONS = DaemonOptions(
    graph=Window(0.5, 2000, 0.01),
    ast=Window(3, 2000, 0.01),
    embed=Window(15, 256, 0.02),
    embed_page=256,
    reconcile_seconds=300,
    poll_seconds=2,
    memory_bytes=1 << 40,
)


class Slow:
    """The real embedder, as slow as a busy server."""

    def __init__(self, seconds: float) -> None:
        self._static, self._seconds = StaticEmbedder(), seconds

    losses = EmbeddingStats()

    @property
    def info(self) -> ModelInfo:
        return self._static.info

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        await asyncio.sleep(self._seconds)
        return await self._static.embed_chunks(chunks)

    async def embed_query(self, text: str) -> bytes:
        return await self._static.embed_query(text)

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def running(
    root: Path, data: Path, embedder: Embedder | None = None, held: asyncio.Event | None = None
) -> AsyncIterator[tuple[Daemon, EmbeddedStore, list[str]]]:
    settings = load_settings(project=str(root), data_dir=str(data))
    store = EmbeddedStore.open(data, writing=True, vector_index=VectorIndex)
    if held is not None:
        hold_writes(store, held)
    said: list[str] = []
    daemon = Daemon(
        [make_source(settings)],
        store,
        MemoryBus(),
        [embedder or StaticEmbedder()],
        SignificanceGate(store),
        OPTIONS,
        lambda: 0,
        lambda: None,
        lambda message, fields: said.append(f"{message} {fields}"),
    )
    stop = asyncio.Event()
    task = asyncio.create_task(daemon.run(stop))
    try:
        await until(lambda: project(daemon)["ready"] is True and project(daemon)["watch"] == "watching")
        yield daemon, store, said
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)
        await store.aclose()


def hold_writes(store: EmbeddedStore, until: asyncio.Event) -> None:
    """Let no write begin before the event is set, as if the files before it took so long."""
    apply = store.apply

    async def later(deltas: Sequence[GraphDelta]) -> int:
        await until.wait()
        return await apply(deltas)

    store.apply = later  # type: ignore[method-assign]


def project(daemon: Daemon) -> dict[str, object]:
    (one,) = daemon.state()["projects"]  # type: ignore[misc]
    return one  # type: ignore[no-any-return]


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not met():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def found(store: EmbeddedStore, name: str) -> bool:
    return bool(await store.find(name, Match.SUFFIX, Filter(), 1))


async def until_found(store: EmbeddedStore, name: str, *, there: bool = True) -> None:
    async with asyncio.timeout(20):
        while await found(store, name) is not there:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_slow_embedder_never_delays_the_graph(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    await index(root, tmp_path / "d")
    async with running(root, tmp_path / "d", Slow(4.0)) as (daemon, store, _):
        (root / "pkg/b.py").write_text("def g():\n    return 1\n\ndef first_new():\n    return g()\n")
        await until_found(store, "first_new")
        await until(lambda: any(tier["tier"] == "embed" and tier["busy"] for tier in daemon.state()["tiers"]))
        async with asyncio.timeout(3):
            (root / "pkg/c.py").write_text("def second_new():\n    return 2\n")
            await until_found(store, "second_new")
        assert any(tier["tier"] == "embed" and tier["busy"] for tier in daemon.state()["tiers"])


async def test_a_restart_on_an_unchanged_tree_parses_and_writes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    await index(root, tmp_path / "d")
    before = dump(tmp_path / "d")
    async with running(root, tmp_path / "d") as (daemon, _, _):
        state = project(daemon)
        assert (state["parsed"], state["written"], state["removed"]) == (0, 0, 0)
    assert dump(tmp_path / "d") == before


async def test_a_stopped_daemon_leaves_its_linker_to_the_next_process(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with running(root, tmp_path / "d") as (_, store, _):
        (root / "pkg/b.py").write_text("def g():\n    return 1\n\ndef new():\n    return g()\n")
        await until_found(store, "new")
    store = EmbeddedStore.open(tmp_path / "d", writing=False, vector_index=VectorIndex)
    workspace = Workspace(make_source(load_settings(project=str(root), data_dir=str(tmp_path / "d"))), store)
    await workspace.load()
    workspace.linking.swap_linker(Linker(workspace.name, workspace.source.languages), "")
    assert workspace.linking.restore(workspace.facts.cache, workspace.manifest)
    workspace.close()
    await store.aclose()


async def test_changes_made_while_it_was_down_are_seen_at_the_start(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with running(root, tmp_path / "d"):
        pass
    (root / "pkg/b.py").write_text("def renamed():\n    return 1\n")
    (root / "pkg/a.py").unlink()
    async with running(root, tmp_path / "d") as (_, store, _):
        await until_found(store, "renamed")
        await until_found(store, "pkg.a.f", there=False)
        assert not await found(store, "pkg.b.g"), "a change replaces all symbols of the file at once"


async def test_a_new_scope_in_the_settings_is_taken_and_a_broken_one_is_told(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with running(root, tmp_path / "d") as (daemon, store, _):
        await until_found(store, "pkg.b.g")
        (root / "atlas.toml").write_text('[scope]\nexclude = ["b.py"]\n')
        await until_found(store, "pkg.b.g", there=False)
        (root / "atlas.toml").write_text("[scope\n")
        await until(lambda: project(daemon)["problem"] != "")
        assert not await found(store, "pkg.b.g"), "the last good scope stays in force"
        (root / "atlas.toml").unlink()
        await until_found(store, "pkg.b.g")
        await until(lambda: project(daemon)["problem"] == "")
        await index(root, tmp_path / "fresh")
        clean = dump(tmp_path / "fresh")
        # vectors come after the graph
        await until(lambda: dump(tmp_path / "d") == clean)


async def test_without_an_embedder_nothing_waits_for_one(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    settings = load_settings(project=str(root), data_dir=str(tmp_path / "d"))
    store = EmbeddedStore.open(tmp_path / "d", writing=True, vector_index=VectorIndex)
    bus, stop = MemoryBus(), asyncio.Event()
    gate = SignificanceGate(store, embeds=False)
    daemon = Daemon(
        [make_source(settings)], store, bus, [], gate, OPTIONS, lambda: 0, lambda: None, lambda message, fields: None
    )
    task = asyncio.create_task(daemon.run(stop))
    await until_found(store, "pkg.b.g")
    (root / "pkg/b.py").write_text("def g():\n    return 1\n\ndef more():\n    return 2\n")
    await until_found(store, "more")
    assert all(not one.length for one in await bus.states() if "embed" in one.stream)
    stop.set()
    await asyncio.wait_for(task, 20)
    await store.aclose()


async def indexed_at(store: EmbeddedStore) -> str:
    (state,) = await store.projects()
    return state.indexed_at


async def left_indexed_at(data: Path) -> str:
    """Return what an ended daemon has left in its store."""
    store = EmbeddedStore.open(data, writing=False, vector_index=VectorIndex)
    try:
        return await indexed_at(store)
    finally:
        await store.aclose()


async def test_a_first_index_counts_as_done_when_its_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas.code.index.daemon.SETTLE_SECONDS", 0.02)
    root = tmp_path / "p"
    write_tree(root, FILES)
    held = asyncio.Event()
    async with running(root, tmp_path / "d", held=held) as (_, store, _):
        await asyncio.sleep(0.5)
        assert not await indexed_at(store), "nothing was written for as long as 25 times what counts as rest"
        held.set()
        await until_found(store, "g")
        async with asyncio.timeout(20):
            while not await indexed_at(store):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_a_daemon_that_stops_in_its_first_index_does_not_say_that_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas.code.index.daemon.STOP_SECONDS", 0.2)
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with running(root, tmp_path / "d", held=asyncio.Event()):
        pass
    assert not await left_indexed_at(tmp_path / "d")
    async with running(root, tmp_path / "d") as (_, store, _):
        await until_found(store, "g")
    assert await left_indexed_at(tmp_path / "d")


async def test_a_small_linker_is_put_away_in_each_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a save that took .05 s on a busy machine delays the next one by 25 s, unless the longest interval is short too
    intervals = (("SAVE_SECONDS", 0.2), ("SAVE_INTERVAL", 0.2), ("REST_SECONDS", 0.4), ("SETTLE_SECONDS", 0.1))
    for name, seconds in intervals:
        monkeypatch.setattr(f"atlas.code.index.daemon.{name}", seconds)
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, FILES)
    async with running(root, data) as (daemon, store, _):
        (kept,) = daemon._projects.values()  # pyright: ignore[reportPrivateUsage]
        for number in range(3):
            (root / "pkg/b.py").write_text(f"def g():\n    return 1\n\ndef made{number}(): pass\n")
            await until_found(store, f"made{number}")
            await until(lambda: kept.workspace.linking.linker is None)
    clean = tmp_path / "clean"
    await index(root, clean)
    assert dump(data) == dump(clean)
