"""Time until the index reflects one saved file, a tenth of all files, or a checkout, as seen by its users."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atlas.parsing import content_digest
from atlas_bench import meter
from atlas_bench.edits import AddedFunction, TreeFile, added, check_out, code_files, save
from atlas_bench.observer import Probe, ProbeTarget, ProbeTimeout, behind, until, waiting_vectors

PAUSE_SECONDS = 0.7
"""Pause between two saves: enough for a daemon to become idle, and not a multiple of any of its intervals."""

FOUND_SECONDS = 15.0
FRESH_SECONDS = 300.0

SEED = 20261122


@dataclass(slots=True)
class SaveLatencies:
    """Seconds from the start of a save until each tool finds the new function."""

    get_node: list[float] = field(default_factory=list[float])
    text_search: list[float] = field(default_factory=list[float])
    vector_search: list[float] = field(default_factory=list[float])
    lost: list[str] = field(default_factory=list[str])
    """What was not found in time, in words."""

    @property
    def both(self) -> list[float]:
        """Seconds until `get_node` and `text_search` both find it."""
        return [max(pair) for pair in zip(self.get_node, self.text_search, strict=True)]


@dataclass(frozen=True, slots=True)
class BurstLatencies:
    """Seconds from the first write."""

    files: int
    written: float
    """Until the last write."""
    graph: float
    """Until graph and text match the tree."""
    vectors: float
    """Until all vectors that passed the gate are stored."""
    put_off: int
    """Vectors that the gate deferred to the next full scan."""
    peak_mb: float
    """Peak resident memory of the daemon during the burst."""
    cpu: float
    """CPU seconds of the daemon, which other load of the machine does not affect."""


async def saves(place: ProbeTarget, count: int) -> SaveLatencies:
    """Save `count` files with a new function each, one at a time; every other one by renaming, as some editors do."""
    found, chance = SaveLatencies(), random.Random(SEED)
    files = code_files(place.files, count)
    chance.shuffle(files)
    for number, file in enumerate(files):
        await asyncio.sleep(PAUSE_SECONDS + chance.random() * 0.1)
        await _save(place, file, added(file, number, chance), found, by_rename=bool(number % 2))
    return found


async def _save(
    place: ProbeTarget, file: TreeFile, one: AddedFunction, found: SaveLatencies, *, by_rename: bool
) -> None:
    probe = place.probe
    started = time.perf_counter()
    save(place.tree, one, file.language, by_rename=by_rename)
    digests = _digests(place.tree, [file])
    times: dict[str, float] = {}

    async def written() -> bool:
        # A tool that finds nothing searches for the reasons, so it is not asked before there is something to find.
        if await behind(probe, digests):
            return False
        for tool in ("get_node", "text_search"):
            if tool not in times and await _finds(probe, tool, one):
                times[tool] = time.perf_counter() - started
        return len(times) == 2

    async def embedded() -> bool:
        return await _finds(probe, "vector_search", one)

    try:
        await until(written, f"{one.path}: {one.name} in {sorted(times)} only", FOUND_SECONDS)
        found.get_node.append(times["get_node"])
        found.text_search.append(times["text_search"])
        await until(embedded, f"{one.path}: {one.name} by vector_search", FOUND_SECONDS)
        found.vector_search.append(time.perf_counter() - started)
    except ProbeTimeout as error:
        found.lost.append(error.message)


async def _finds(probe: Probe, tool: str, one: AddedFunction) -> bool:
    if tool == "get_node":
        answer = await probe.ask(tool, {"name": one.name})
        return answer["outcome"] == "found"
    query = one.name if tool == "text_search" else f"{one.name.replace('_', ' ')} {one.text}"
    answer = await probe.ask(tool, {"query": query, "limit": 50, "token_budget": 8000})
    return any(one.name in hit[0] for hit in answer["hits"])


async def tenth(place: ProbeTarget, seed: int = SEED) -> BurstLatencies:
    """Add a function to every tenth file, all at the same time."""
    chance = random.Random(seed)
    files = list(place.files)[::10]
    begun = _Begun.now(place)
    for number, file in enumerate(files):
        save(place.tree, added(file, seed + number, chance), file.language, by_rename=False)
    written = begun.passed()
    digests = await asyncio.to_thread(_digests, place.tree, files)
    return await _fresh(place, digests, begun, written)


async def burst(place: ProbeTarget, events: int) -> BurstLatencies:
    """Rewrite files as a checkout does until `events` files are written, in rounds over all files."""
    chance = random.Random(SEED)
    digests: dict[str, str] = {}
    begun = _Begun.now(place)
    for path, content in check_out(place.tree, place.files, events, chance):
        digests[path] = content_digest(content)
    return await _fresh(place, digests, begun, begun.passed())


@dataclass(frozen=True, slots=True)
class _Begun:
    """The starting point of a measurement."""

    pid: int
    time: float
    cpu: float
    peak: bool
    """Whether the system records the peak memory since then."""

    @classmethod
    def now(cls, place: ProbeTarget) -> _Begun:
        pid = place.probe.daemon()[0]
        return cls(pid, time.perf_counter(), meter.cpu_seconds(pid), meter.forget_peak(pid))

    def passed(self) -> float:
        return time.perf_counter() - self.time

    def peak_mb(self) -> float:
        return meter.peak_rss_mb(self.pid) if self.peak else meter.rss_mb(self.pid)


def _digests(tree: Path, files: Sequence[TreeFile]) -> dict[str, str]:
    return {file.path: content_digest((tree / file.path).read_bytes()) for file in files}


async def _fresh(place: ProbeTarget, digests: Mapping[str, str], begun: _Begun, written: float) -> BurstLatencies:
    """Wait until the index holds these contents, then for their vectors. Raises ProbeTimeout."""
    probe = place.probe

    async def graph() -> bool:
        return not await behind(probe, digests)

    async def vectors() -> bool:
        return not await waiting_vectors(probe)

    await until(graph, f"graph of {len(digests)} files", FRESH_SECONDS)
    seen = begun.passed()
    await until(vectors, f"vectors of {len(digests)} files", FRESH_SECONDS)
    embedded, cpu = begun.passed(), meter.cpu_seconds(begun.pid) - begun.cpu
    put_off = len(await probe.store.stale_chunks(probe.project, await probe.model(), 1_000_000))
    return BurstLatencies(len(digests), written, seen, embedded, put_off, begun.peak_mb(), cpu)
