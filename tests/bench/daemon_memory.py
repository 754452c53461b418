"""Memory of the write path over many edits: `python -m tests.bench.daemon_memory TREE [--edits N] [--daemon] [--growth P]`.

Copies the files of TREE that count, indexes them, then edits one file at a time and lets the warm tiers bring the index
up to date each time: in this process, or with `--daemon` in a real daemon. Prints the resident set every few hundred
edits and the peak; exits with 1 when the peak is above the limit, or when it grew by more than P percent after the
first report.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from atlas_bench import meter
from atlas_bench.observer import ProbeTimeout, until
from atlas_bench.process import run
from atlas_bench.stepwise import LiveTiers

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.bus import connect_bus_of_running_daemon
from atlas.app.main import make_source, make_writing_embedders
from atlas.code.index.daemon_client import is_drained
from atlas.code.index.events import AST_DIRTY, WHOLE_PROJECT
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.core.events import Event
from atlas.parsing import VectorIndex, load_languages, scan
from atlas.runtime.config.load import Settings, load_settings
from atlas.runtime.process.daemon import find_running
from atlas.runtime.process.memory import limit_malloc_arenas, trim_heap
from tests.bench.linker_memory import edited

REST_EDITS = 100
"""Between two pauses as people make them: a daemon closes its pass then."""

GONE = 25
"""One edit of so many deletes its file; the next edit of the same file brings it back."""


@dataclass(frozen=True)
class Writer:
    """Something that keeps an index true, and the process that it is."""

    pid: int
    settle: Callable[[Sequence[str]], Awaitable[None]]
    """Returns when these paths are as on disk in the index."""
    rest: Callable[[], Awaitable[None]]
    """Returns when everything is done that is done while nothing happens."""


def copy_tree(tree: Path, copy: Path) -> list[str]:
    """Copy the files that an index of `tree` would hold; return their paths."""
    paths = [file.path for file in scan(str(tree), load_languages()).files]
    for path in paths:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / path, copy / path)
    return paths


@asynccontextmanager
async def in_this_process(settings: Settings) -> AsyncGenerator[Writer]:
    """The daemon's tiers, its limit on memory, and nothing else of it."""
    limit_malloc_arenas()
    store = EmbeddedStore.open(settings.data_dir, writing=True, vector_index=VectorIndex)
    page = settings.pipeline.embed_batch
    tiers = await LiveTiers.open(
        [make_source(settings)],
        store,
        MemoryBus(),
        SignificanceGate(store),
        make_writing_embedders(settings),
        page=page,
    )
    (place,) = tiers.workspaces.values()

    async def settle(paths: Sequence[str]) -> None:
        await tiers.hint(paths)
        await tiers.settle(sweep=False)

    async def rest() -> None:
        await tiers.settle()
        await asyncio.to_thread(place.compact)
        if meter.rss_mb(os.getpid()) > settings.daemon.memory_mb:
            print("  over the limit: the linker is dropped", flush=True)
            place.invalidate()
            gc.collect()
            trim_heap()

    try:
        await tiers._bus.publish(AST_DIRTY, [Event(place.name, WHOLE_PROJECT)])  # pyright: ignore[reportPrivateUsage]
        yield Writer(os.getpid(), settle, rest)
        await tiers.aclose()
    finally:
        await store.aclose()


@asynccontextmanager
async def in_a_daemon(settings: Settings) -> AsyncGenerator[Writer]:
    """A real daemon; the watcher sees the edits."""
    place = ["--project", str(settings.root), "--data-dir", str(settings.data_dir)]
    await asyncio.to_thread(run, ["daemon", "start", *place])
    bus = await connect_bus_of_running_daemon(settings)
    assert bus is not None
    store = EmbeddedStore.open(settings.data_dir, writing=False, vector_index=VectorIndex)

    async def generation() -> int:
        return (await store.projects())[0].generation

    last = await generation()

    async def changed() -> bool:
        return last != await generation()

    async def settle(paths: Sequence[str]) -> None:
        nonlocal last
        with contextlib.suppress(ProbeTimeout):  # an edit that leaves the file as it was may write nothing
            await until(changed, "", 2.0)
        for stream, group in (("file-changed", "graph"), ("ast-dirty", "ast"), ("embed-dirty", "embed")):
            await until(partial(is_drained, bus, f"atlas:{stream}", group), stream, 600.0)
        last = await generation()

    async def rest() -> None:
        await asyncio.sleep(5)

    try:
        running = find_running(settings.data_dir)
        assert running is not None
        yield Writer(running.pid, settle, rest)
    finally:
        await store.aclose()
        await bus.aclose()
        await asyncio.to_thread(run, ["daemon", "stop", *place])


async def measure(
    writer: Writer, tree: Path, copy: Path, paths: Sequence[str], edits: int, every: int, say: Callable[[str], None]
) -> tuple[float, float]:
    """Edit; return the resident set after the first `every` edits and after the last one, in MB."""
    chance = random.Random(20261123)
    await writer.settle([WHOLE_PROJECT])
    await writer.rest()
    say(f"at rest before the first edit: {meter.rss_mb(writer.pid):.0f} MB, peak {meter.peak_rss_mb(writer.pid):.0f}")
    warm = 0.0
    started, cpu = time.perf_counter(), meter.cpu_seconds(writer.pid)
    for number in range(1, edits + 1):
        path = chance.choice(paths)
        if chance.randrange(GONE) == 0:
            (copy / path).unlink(missing_ok=True)
        else:
            (copy / path).write_bytes(edited((tree / path).read_bytes(), number, chance))
        await writer.settle([path])
        if number % REST_EDITS == 0:
            await writer.rest()
        if number % every == 0:
            now, peak = meter.rss_mb(writer.pid), meter.peak_rss_mb(writer.pid)
            warm = warm or now
            each = 1000 * (time.perf_counter() - started) / number
            spent = 1000 * (meter.cpu_seconds(writer.pid) - cpu) / number
            say(f"{number:6} edits: {now:4.0f} MB, peak {peak:4.0f}; {each:.0f} ms, {spent:.0f} CPU ms each")
    return warm, meter.rss_mb(writer.pid)


async def main(tree: Path, edits: int, every: int, *, daemon: bool, growth: float = math.inf) -> int:
    with tempfile.TemporaryDirectory(prefix="atlas-memory-") as scratch:
        copy, data = Path(scratch) / tree.name, Path(scratch) / "data"
        paths = copy_tree(tree, copy)
        print(f"{len(paths)} files copied", flush=True)
        await asyncio.to_thread(run, ["index", str(copy), "--data-dir", str(data)])
        settings = load_settings(str(copy), str(data), environment={})
        async with (in_a_daemon if daemon else in_this_process)(settings) as writer:
            warm, last = await measure(writer, tree, copy, paths, edits, every, lambda line: print(line, flush=True))
            peak = meter.peak_rss_mb(writer.pid)
    grown = 100 * (last / warm - 1)
    print(f"peak {peak:.0f} MB, limit {settings.daemon.memory_mb} MB; grown by {grown:.0f} % since the first report")
    return int(peak > settings.daemon.memory_mb or grown > growth)


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("tree", type=Path)
    asked.add_argument("--edits", type=int, default=10_000)
    asked.add_argument("--every", type=int, default=500)
    asked.add_argument("--daemon", action="store_true")
    asked.add_argument("--growth", type=float, default=math.inf)
    given = asked.parse_args()
    tree = given.tree.resolve()
    sys.exit(asyncio.run(main(tree, given.edits, given.every, daemon=given.daemon, growth=given.growth)))
