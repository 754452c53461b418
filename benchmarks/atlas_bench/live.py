"""Measure the daemon on a copy of a tree: real processes, part by part, against the targets.

The input is a tree and a way to open its index; the result is a table. The tree itself is not changed.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from typing import Protocol

from atlas.core.errors import AtlasError
from atlas_bench import meter
from atlas_bench.compare import Comparison, IndexDifference
from atlas_bench.edits import TreeFile
from atlas_bench.live_saves import BurstLatencies, burst, saves, tenth
from atlas_bench.observer import Probe, ProbeTarget, p95, until
from atlas_bench.process import run
from atlas_bench.readers import CONNECTIONS, PAUSE_SECONDS, PROCESSES, Readers

PARTS = ("idle", "saves", "tenth", "readers", "restart", "burst")
"""In execution order: the burst is last because the tree is compared after it."""

REST_SECONDS = 4.0
"""Time that a daemon needs to become idle after the last write."""

READY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    part: str
    what: str
    value: float
    unit: str
    reach: float | None = None
    """Upper target; None for a value that is only reported."""

    @property
    def met(self) -> bool:
        """Whether the target is met, or there is none."""
        return self.reach is None or self.value <= self.reach


@dataclass(frozen=True, slots=True)
class LiveReport:
    """Output of `atlas bench live`."""

    files: int
    rows: tuple[Row, ...]
    problems: tuple[str, ...]
    """What failed, in words."""
    load: tuple[float, float]
    """Load average of the machine at the beginning and at the end: other load distorts the numbers."""


class OpenProbe(Protocol):
    """Opens the index of a tree; the caller closes it."""

    def __call__(self, tree: Path, data: Path) -> ClosingProbe:
        """Raise NotFound if there is none."""
        ...


class ClosingProbe(Probe, Protocol):
    """A probe that can be closed."""

    async def aclose(self) -> None:
        """Close the index."""
        ...


@dataclass(frozen=True, slots=True)
class LivePlan:
    """What to measure, and how often."""

    parts: Sequence[str] = PARTS
    saves: int = 40
    events: int = 10_000
    idle_seconds: float = 20.0
    updates: int = 4
    """Updates of 10 % of the files while the readers run."""


@dataclass(slots=True)
class _Run:
    """A measurement in progress."""

    place: ProbeTarget
    plan: LivePlan
    compare: Callable[[Path, Path], Comparison]
    rows: list[Row]
    problems: list[str]

    def add(self, part: str, what: str, value: float, unit: str, reach: float | None = None) -> None:
        self.rows.append(Row(part, what, value, unit, reach))


async def bench_live(
    tree: Path,
    scratch: Path,
    plan: LivePlan,
    open_probe: OpenProbe,
    compare: Callable[[Path, Path], Comparison],
    say: Callable[[str], None],
) -> LiveReport:
    """Copy `tree` into `scratch`, index it, start a daemon on it and measure; the daemon is stopped at the end.

    `say` receives the name of each part that starts; a part that fails is reported as a problem. Raises AtlasError if
    the tree cannot be indexed or the daemon does not start.
    """
    load = meter.load_average()
    copy, data = scratch / tree.name, scratch / "data"
    say("copying and indexing")
    ignored = ignore_patterns(".git", ".atlas", "node_modules", ".venv")
    await asyncio.to_thread(copytree, tree, copy, symlinks=True, ignore=ignored)
    await asyncio.to_thread(run, ["index", str(copy), "--data-dir", str(data)])
    probe = open_probe(copy, data)
    try:
        manifest = await probe.store.manifest(probe.project)
        files = [TreeFile(path, record.language, record.size) for path, record in sorted(manifest.items()) if path]
        work = _Run(ProbeTarget(copy, data, files, probe), plan, compare, [], [])
        async with _daemon(work.place):
            for part in PARTS:
                if part in plan.parts:
                    say(part)
                    await _measured(part, work)
                    await asyncio.sleep(REST_SECONDS)
    finally:
        await probe.aclose()
    return LiveReport(len(files), tuple(work.rows), tuple(work.problems), (load, meter.load_average()))


async def _measured(part: str, work: _Run) -> None:
    """Run a part; a failure becomes a problem and does not stop the other parts."""
    try:
        await _PARTS[part](work)
    except AtlasError as error:
        work.problems.append(f"{part}: {error.message}")


@asynccontextmanager
async def _daemon(place: ProbeTarget) -> AsyncGenerator[None]:
    await _start(place)
    try:
        yield
    finally:
        await asyncio.to_thread(run, ["daemon", "stop", "--project", str(place.tree), "--data-dir", str(place.data)])


async def _start(place: ProbeTarget) -> float:
    """Start the daemon and return the seconds until it is ready.

    Raises ProbeTimeout, and what the command raises.
    """

    async def ready() -> bool:
        return place.probe.daemon()[1] == "ready"

    started = time.perf_counter()
    command = ["daemon", "start", "--project", str(place.tree), "--data-dir", str(place.data)]
    starting = asyncio.create_task(asyncio.to_thread(run, command))
    try:
        await until(ready, "the daemon is ready", READY_SECONDS)
        return time.perf_counter() - started
    finally:
        await starting


async def _idle(work: _Run) -> None:
    probe, seconds = work.place.probe, work.plan.idle_seconds
    await asyncio.sleep(2 * REST_SECONDS)
    pid, bus = probe.daemon()[0], probe.bus_process()
    before, bus_before, started = meter.cpu_seconds(pid), meter.cpu_seconds(bus), time.perf_counter()
    await asyncio.sleep(seconds)
    passed = time.perf_counter() - started
    used, bus_used = meter.cpu_seconds(pid) - before, meter.cpu_seconds(bus) - bus_before
    work.add("idle", "daemon, CPU", 100 * used / passed, "% of a core", 0.5)
    work.add("idle", "bus server, CPU", 100 * bus_used / passed, "% of a core")
    work.add("idle", "daemon, RSS", meter.rss_mb(pid), "MB", 250)
    work.add("idle", "bus server, RSS", meter.rss_mb(bus), "MB")


async def _saves(work: _Run) -> None:
    found = await saves(work.place, work.plan.saves)
    work.problems.extend(found.lost)
    work.add("saves", "files saved", len(found.both), "files")
    if not found.both:
        return
    for tool, times in (("get_node", found.get_node), ("text_search", found.text_search)):
        work.add("saves", f"save to {tool}, p50", 1000 * statistics.median(times), "ms")
    work.add("saves", "save to get_node and text_search, p50", 1000 * statistics.median(found.both), "ms", 150)
    work.add("saves", "save to get_node and text_search, p95", 1000 * p95(found.both), "ms", 400)
    if found.vector_search:
        work.add("saves", "save to vector_search, p50", 1000 * statistics.median(found.vector_search), "ms")
        work.add("saves", "save to vector_search, p95", 1000 * p95(found.vector_search), "ms", 1500)


async def _tenth(work: _Run) -> None:
    _add_burst(work, "tenth", await tenth(work.place), graph=4, vectors=8)


def _add_burst(work: _Run, part: str, done: BurstLatencies, *, graph: float, vectors: float | None = None) -> None:
    work.add(part, "files changed", done.files, "files")
    work.add(part, "first write to last write", done.written, "s")
    work.add(part, "first write to graph and text fresh", done.graph, "s", graph)
    work.add(part, "first write to vectors fresh", done.vectors, "s", vectors)
    work.add(part, "daemon, CPU meanwhile", done.cpu, "s")
    work.add(part, "vectors deferred by the gate", done.put_off, "symbols")
    work.add(part, "daemon, peak RSS during the burst", done.peak_mb, "MB", 600)


async def _readers(work: _Run) -> None:
    """Measure readers while a tenth of the files changes, several times: one update is too short for a percentile."""
    place = work.place
    with Readers(place.tree, place.data) as readers:
        await asyncio.to_thread(readers.wait)
        updates = [await tenth(place, 100_000 * number) for number in range(1, work.plan.updates + 1)]
        asked = await asyncio.to_thread(readers.stop)
    work.problems.extend(f"reader: {error}" for error in asked.errors[:20])
    work.add("readers", f"questions of {PROCESSES * CONNECTIONS} readers", sum(map(len, asked.seconds.values())), "")
    work.add("readers", "pause of a reader, mean", 1000 * PAUSE_SECONDS, "ms")
    work.add("readers", "errors", len(asked.errors), "", 0)
    for tool, times in asked.seconds.items():
        if times:
            work.add("readers", f"{tool}, p50", 1000 * statistics.median(times), "ms")
            work.add("readers", f"{tool}, p95", 1000 * p95(times), "ms", 50 if tool == "get_node" else None)
    work.add("readers", "10 % updates meanwhile", len(updates), "")
    work.add("readers", "slowest update, graph and text fresh", max(done.graph for done in updates), "s")


async def _restart(work: _Run) -> None:
    place = work.place
    await asyncio.to_thread(run, ["daemon", "stop", "--project", str(place.tree), "--data-dir", str(place.data)])
    work.add("restart", "start of the command to ready", await _start(place), "s", 2)
    work.add("restart", "daemon, CPU until then", meter.cpu_seconds(place.probe.daemon()[0]), "s")
    command = ["daemon", "status", "--project", str(place.tree), "--data-dir", str(place.data), "--json"]
    _, output = await asyncio.to_thread(run, command)
    told = json.loads(output)["projects"]
    work.add("restart", "files parsed", sum(project["parsed"] for project in told), "files", 0)


async def _burst(work: _Run) -> None:
    place = work.place
    done = await burst(place, work.plan.events)
    work.add("burst", "files written", work.plan.events, "events")
    _add_burst(work, "burst", done, graph=30)
    await asyncio.sleep(2 * REST_SECONDS)
    fresh = place.data.with_name("clean")
    await asyncio.to_thread(run, ["index", str(place.tree), "--data-dir", str(fresh)])
    # The daemon has not been queried yet, so anything that it lost is still missing here.
    lost = [kind for kind in work.compare(place.data, fresh).kinds if kind.kind != "vectors" and not kind.equal]
    work.add("burst", "rows that differ from a clean index", _differing(lost), "rows", 0)
    await asyncio.to_thread(run, ["index", str(place.tree), "--data-dir", str(place.data)])
    after = [kind for kind in work.compare(place.data, fresh).kinds if not kind.equal]
    work.add("burst", "the same with all vectors, after a full scan", _differing(after), "rows", 0)
    work.problems.extend(Comparison((*lost, *after)).lines())
    await asyncio.to_thread(rmtree, fresh)
    work.add("burst", "daemon, RSS when idle afterwards", meter.rss_mb(place.probe.daemon()[0]), "MB")


def _differing(kinds: Sequence[IndexDifference]) -> int:
    return sum(one.only_a + one.only_b + one.changed for one in kinds)


_PARTS: dict[str, Callable[[_Run], Awaitable[None]]] = {
    "idle": _idle,
    "saves": _saves,
    "tenth": _tenth,
    "readers": _readers,
    "restart": _restart,
    "burst": _burst,
}
