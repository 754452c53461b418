"""A tree with a daemon, observed from outside: queries through the tools, and whether the index is up to date.

The index is accessed through a `Probe` and only read.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from atlas.code.index.project.reconcile import PENDING
from atlas.core.contracts import Store
from atlas.core.errors import AtlasError
from atlas.core.model import STRUCTURE_PATH, ModelInfo
from atlas_bench.edits import TreeFile

POLL_SECONDS = 0.003
"""Minimum interval between two polls; longer if the last answer took longer, so that polling uses at most half a core.
"""

MOST_STALE = 100_000


class Probe(Protocol):
    """The parts of the product that measurements need; `app.bench` implements it."""

    @property
    def store(self) -> Store:
        """The index, open for reading."""
        ...

    @property
    def project(self) -> str:
        """The project's name."""
        ...

    async def model(self) -> ModelInfo:
        """Return the model of the vectors."""
        ...

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """Return the structured answer of a tool."""
        ...

    def daemon(self) -> tuple[int, str]:
        """Return process id and phase of the running daemon; (0, "") if none runs."""
        ...

    def bus_process(self) -> int:
        """Return the process id of the daemon's own bus server; 0 if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """The tree, index and probe of a measurement."""

    tree: Path
    """A copy that may be changed."""
    data: Path
    files: Sequence[TreeFile]
    """Indexed files, sorted by path."""
    probe: Probe


class ProbeTimeout(AtlasError):
    """A condition was not met in time."""


async def until(is_so: Callable[[], Awaitable[bool]], what: str, seconds: float) -> float:
    """Poll a condition and return the seconds until it holds. Raises ProbeTimeout."""
    started = time.perf_counter()
    while True:
        asked = time.perf_counter()
        if await is_so():
            return time.perf_counter() - started
        now = time.perf_counter()
        if now - started > seconds:
            raise ProbeTimeout(f"{what}: not within {seconds:g} s")
        await asyncio.sleep(max(POLL_SECONDS, now - asked))


async def behind(probe: Probe, digests: Mapping[str, str]) -> int:
    """Return how many files are not indexed with the content of the given digest, and whether a pass is running."""
    records = await probe.store.records(probe.project, [STRUCTURE_PATH, *digests])
    structure = records.get(STRUCTURE_PATH)
    under_way = structure is None or structure.unit_digest.startswith(PENDING)
    late = sum(
        1
        for path, digest in digests.items()
        if (record := records.get(path)) is None or record.stale or record.digest != digest
    )
    return late + under_way


async def waiting_vectors(probe: Probe) -> int:
    """Return how many vectors are missing, except those that the gate deferred."""
    stale = await probe.store.stale_chunks(probe.project, await probe.model(), MOST_STALE)
    decided = {one.uid: one.through for one in await probe.store.decisions([chunk.uid for chunk in stale])}
    return sum(1 for chunk in stale if decided.get(chunk.uid, True))


def p95(seconds: Sequence[float]) -> float:
    """Return the 95th percentile; with one value, that value."""
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
