"""A daemon whose bus loses events, is full, or dies, and whose store is locked or full: in the end the graph is the clean one."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import shutil
import signal
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.opening.embedder import make_writing_embedders
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source
from atlas.code.index.daemon import Daemon
from atlas.code.index.daemon_client import index_by_daemon, served_project
from atlas.code.index.events import FILE_CHANGED, WHOLE_PROJECT, Window, no_progress
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.worker import Tier, TierReport, run_tier
from atlas.core.contracts import Bus
from atlas.core.errors import AtlasError
from atlas.core.events import Event
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from tests.conformance import test_embedded_faults
from tests.conformance.test_embedded_faults import hold_the_lock, resize
from tests.pipeline.polyglot import Life, tree
from tests.pipeline.test_daemon_run import OPTIONS
from tests.pipeline.test_live import FILES, aclean, live
from tests.pipeline.trees import dump, index, write_tree

small_disk = test_embedded_faults.small_disk  # a fixture


@asynccontextmanager
async def running(root: Path, data: Path, bus: Bus, **options: Any) -> AsyncGenerator[Daemon]:
    store = EmbeddedStore.open(data, writing=True, vector_index=VectorIndex)
    settings = load_settings(project=str(root), data_dir=str(data))
    source, embedders = make_source(settings), make_writing_embedders(settings)
    chosen = dataclasses.replace(OPTIONS, **options)
    gate = SignificanceGate(store)
    daemon = Daemon([source], store, bus, embedders, gate, chosen, lambda: 0, lambda: None, ignore)
    stop = asyncio.Event()
    task = asyncio.create_task(daemon.run(stop))
    try:
        await until(lambda: project(daemon)["ready"] is True and project(daemon)["watch"] == "watching")
        yield daemon
        assert not task.done(), "the daemon ended"
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)
        await store.aclose()


def ignore(message: str, fields: dict[str, object]) -> None:
    """No log."""


def project(daemon: Daemon) -> dict[str, Any]:
    (one,) = daemon.state()["projects"]  # type: ignore[misc]
    return one  # type: ignore[no-any-return]


def tier(daemon: Daemon, name: str) -> dict[str, Any]:
    return next(one for one in daemon.state()["tiers"] if one["tier"] == name)


async def until(met: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not met():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_clean(root: Path, data: Path, seconds: float = 30) -> None:
    """Wait until the store says what a clean index of the tree says; show what differs if it never does."""
    clean = await aclean(root, root.parent / "fresh")
    end = asyncio.get_running_loop().time() + seconds
    while (kept := dump(data)) != clean and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    assert kept == clean


class Deaf(MemoryBus):
    """Loses every event about a single file."""

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        heard = [event for event in events if stream != FILE_CHANGED or event.key == WHOLE_PROJECT]
        return await super().publish(stream, heard)


async def test_lost_events_are_made_good_by_the_timer(tmp_path: Path) -> None:
    root, chance = tmp_path / "p", random.Random(7)
    first = tree(30, chance)
    write_tree(root, first)
    life = Life(root, first, chance)
    async with running(root, tmp_path / "d", Deaf(), reconcile_seconds=0.5) as daemon:
        for _ in range(20):
            life.live(2)
            await asyncio.sleep(0.05)
        await until_clean(root, tmp_path / "d")
        assert project(daemon)["looks"] > 1


async def test_a_locked_store_is_waited_for_and_no_event_is_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("file.connection", "file.maintenance"):
        monkeypatch.setattr(f"atlas.adapters.stores.sqlite.{module}.BUSY_MS", 50)
    root, data, bus = tmp_path / "p", tmp_path / "d", MemoryBus()
    write_tree(root, FILES)
    await index(root, data)
    async with running(root, data, bus, reconcile_seconds=1.0) as daemon:
        with hold_the_lock(data) as holder:
            (root / "pkg/b.py").write_text("def g():\n    return h()\n\ndef h():\n    return 2\n")
            await until(lambda: any("busy" in tier(daemon, name)["waits_for"] for name in ("graph", "ast")))
            (root / "pkg/c.py").write_text("from pkg.b import h\n\ndef k():\n    return h()\n")
            await asyncio.sleep(0.5)
            holder.communicate("go\n")
        await until_clean(root, data)
        assert [tier(daemon, name)["errors"] for name in ("graph", "ast", "embed")] == [0, 0, 0]
    assert await bus.dead_letters() == []


def fill(disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"), (disk / "junk").open("wb", 0) as junk:
        while junk.write(bytes(4096)):
            pass


async def test_a_full_disk_fails_events_and_space_again_makes_all_good(small_disk: Path, tmp_path: Path) -> None:
    root, data = tmp_path / "p", small_disk / "d"
    bus = MemoryBus(retry_policy=RetryPolicy(attempts=2, first_delay=0.05))
    write_tree(root, FILES)
    await index(root, data)
    async with running(root, data, bus, reconcile_seconds=1.0) as daemon:
        fill(small_disk)
        for number in range(40):
            text = "".join(f"def f{number}_{k}():\n    return f{number}_{k - 1}()\n\n" for k in range(60))
            (root / "pkg" / f"n{number}.py").write_text(text)
        (root / "pkg/b.py").write_text("def other():\n    return 1\n")
        await until(lambda: tier(daemon, "graph")["errors"] + tier(daemon, "ast")["errors"] > 0)
        async with asyncio.timeout(20):
            while not (letters := await bus.dead_letters()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "space" in letters[0].reason
        (small_disk / "junk").unlink()
        resize(small_disk, 30)
        await until_clean(root, data)


async def test_a_disk_that_is_full_when_vectors_are_written(small_disk: Path, tmp_path: Path) -> None:
    root, data = tmp_path / "p", small_disk / "d"
    bus = MemoryBus(retry_policy=RetryPolicy(attempts=2, first_delay=0.05))
    write_tree(root, FILES)
    async with live(root, data, bus) as tiers:
        *earlier, embed = tiers._tiers  # pyright: ignore[reportPrivateUsage]
        await tiers.settle()
        text = "".join(f'def f{k}():\n    """Number {k} of many."""\n    return {k}\n\n' for k in range(400))
        (root / "pkg/b.py").write_text(text)
        await tiers.hint(["pkg/b.py"])
        await run_until_dry(bus, earlier)
        fill(small_disk)
        async with working(bus, embed) as report:
            await until(lambda: report.errors > 0)
            assert "space" in report.last_error
        (small_disk / "junk").unlink()
        resize(small_disk, 30)
        await tiers.hint([WHOLE_PROJECT])
        await tiers.settle()
    assert dump(data) == await aclean(root, tmp_path / "fresh")


async def run_until_dry(bus: Bus, tiers: Sequence[Tier]) -> None:
    """Let these tiers do all there is for them."""
    for one in tiers:
        while batch := await bus.take(one.stream, one.group, 2000, 0):
            await one.handle([delivery.event for delivery in batch])
            await bus.acknowledge(one.stream, one.group, [delivery.id for delivery in batch])


@asynccontextmanager
async def working(bus: Bus, one: Tier) -> AsyncGenerator[TierReport]:
    report, stop = TierReport(), asyncio.Event()
    task = asyncio.create_task(run_tier(bus, one, report, stop, ignore))
    try:
        yield report
    finally:
        stop.set()
        await asyncio.wait_for(task, 10)


@dataclass
class Stuck:
    """A tier that never comes back from a batch whose effect is in the store."""

    inner: Tier
    stream: str
    group: str
    waits: tuple[type[AtlasError], ...] = ()
    window: Window = field(default_factory=lambda: Window(0, 2000, 0))
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, events: Sequence[Event]) -> None:
        await self.inner.handle(events)
        self.done.set()
        await asyncio.Event().wait()


@pytest.fixture
def server() -> Iterator[ManagedServer]:
    folder = Path(tempfile.mkdtemp(prefix="atlas-bus-"))
    started = ManagedServer.start(folder)
    yield started
    started.stop()
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", ["memory", "valkey"])
@pytest.mark.parametrize("position", [0, 1, 2])
async def test_who_dies_after_the_write_and_before_the_answer(
    tmp_path: Path, kind: str, position: int, request: pytest.FixtureRequest
) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, FILES)
    bus: Bus = MemoryBus() if kind == "memory" else ValkeyBus.open(request.getfixturevalue("server").url)
    async with live(root, data, bus) as tiers:
        await tiers.settle()
        (root / "pkg/b.py").write_text("def g():\n    return h()\n\ndef h():\n    return 2\n")
        (root / "web/ui.ts").unlink()
        await tiers.hint(["pkg/b.py", "web/ui.ts"])
        chain = tiers._tiers  # pyright: ignore[reportPrivateUsage]
        await run_until_dry(bus, chain[:position])
        stuck = Stuck(chain[position], chain[position].stream, chain[position].group)
        dying = asyncio.create_task(run_tier(bus, stuck, TierReport(), asyncio.Event(), ignore))
        await asyncio.wait_for(stuck.done.wait(), 10)
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        left = [state.pending for state in await bus.states() if state.group == stuck.group]
        assert left and left[0] > 0
        await tiers.settle()
        assert dump(data) == await aclean(root, tmp_path / "fresh")
        assert await bus.dead_letters() == []
    await bus.aclose()


@pytest.mark.parametrize("kind", ["memory", "valkey"])
async def test_a_full_bus_loses_nothing(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    files = {f"pkg/m{number}.py": f"def f{number}():\n    return 0\n" for number in range(1000)}
    write_tree(root, files)
    await index(root, data)
    bus: Bus = MemoryBus(capacity=100)
    if kind == "valkey":
        bus = ValkeyBus.open(request.getfixturevalue("server").url, capacity=100)
    async with running(root, data, bus, reconcile_seconds=5.0):
        for number, path in enumerate(files):
            (root / path).write_text(f"from pkg.m{(number + 1) % 1000} import *\n\ndef g{number}():\n    return 1\n")
        await until_clean(root, data, 60)
    assert await bus.dead_letters() == []
    await bus.aclose()


async def test_a_bus_server_that_is_away_for_seconds_while_edits_go_on(tmp_path: Path, server: ManagedServer) -> None:
    root, data, chance = tmp_path / "p", tmp_path / "d", random.Random(11)
    first = tree(30, chance)
    write_tree(root, first)
    await index(root, data)
    life = Life(root, first, chance)
    bus = ValkeyBus.open(server.url)
    folder = Path(server.url).parents[1]
    async with running(root, data, bus, reconcile_seconds=5.0) as daemon:
        life.live(10)
        os.kill(server.pid, signal.SIGKILL)
        for _ in range(10):
            life.live(2)
            await asyncio.sleep(0.3)
        again = await asyncio.to_thread(ManagedServer.start, folder)
        life.live(5)
        try:
            await until_clean(root, data, 60)
            assert tier(daemon, "ast")["batches"] > 0
        finally:
            await asyncio.to_thread(again.stop)
    await bus.aclose()


async def test_after_a_bus_server_was_killed_everything_is_looked_at(tmp_path: Path, server: ManagedServer) -> None:
    """It may have lost what it was told last: its log is up to two seconds late while the disk is slow."""
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, tree(5, random.Random(3)))
    await index(root, data)
    bus = ValkeyBus.open(server.url)
    folder = Path(server.url).parents[1]
    async with running(root, data, bus) as daemon:
        # the looks of the start come first
        async with asyncio.timeout(20):
            while any(state.waiting or state.pending for state in await bus.states()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        before = project(daemon)["looks"]
        os.kill(server.pid, signal.SIGKILL)
        again = await asyncio.to_thread(ManagedServer.start, folder)
        try:
            await until(lambda: project(daemon)["looks"] > before)
            assert project(daemon)["looks"] > before
        finally:
            await asyncio.to_thread(again.stop)
    await bus.aclose()


async def test_an_index_pass_beside_the_daemon_leaves_no_vector_behind(tmp_path: Path) -> None:
    """Not even those that the gate puts off until the next look at everything."""
    root, data, bus = tmp_path / "p", tmp_path / "d", MemoryBus()
    body = "".join(f"    total += weight_{number} * value\n" for number in range(60))
    files = {
        f"m{number}.py": f"def weigh{number}(value):\n    total = 0\n{body}    return total\n" for number in range(250)
    }
    write_tree(root, files)
    await index(root, data)
    async with running(root, data, bus):
        served = await served_project(bus, "p")
        assert served is not None
        for path, text in files.items():
            (root / path).write_text(text.replace("weight_7 ", "weight_six "))
        assert await index_by_daemon(bus, "p", served, lambda: True, no_progress) is not None
        assert dump(data) == await aclean(root, tmp_path / "fresh")
