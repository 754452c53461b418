"""A tree with a daemon on it, seen from outside: questions through the tools, and whether the index is up to date.

The index comes in as a `Probe`; it is only read. It must not know who measures what.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from atlas.bench.edits import TreeFile
from atlas.contracts import Store
from atlas.errors import AtlasError
from atlas.model import STRUCTURE_PATH, ModelInfo
from atlas.parsing import content_digest
from atlas.pipeline.tree import PENDING

POLL_SECONDS = 0.003
"""At least this long between two questions; as long as the last answer took when that is more: half a core at most."""

MOST_STALE = 100_000


class Probe(Protocol):
    """What measuring needs of the product, made by `wiring_bench`."""

    @property
    def store(self) -> Store:
        """The index, open for reading."""
        ...

    @property
    def project(self) -> str:
        """The project's name."""
        ...

    async def model(self) -> ModelInfo:
        """Return what vectors are made with."""
        ...

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """Return a tool's structured answer."""
        ...

    def daemon(self) -> tuple[int, str]:
        """Return process and phase of the running daemon; (0, "") when none runs."""
        ...

    def bus_process(self) -> int:
        """Return the daemon's own bus server; 0 when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """Where and on what is measured."""

    tree: Path
    """A copy that may be changed."""
    data: Path
    files: Sequence[TreeFile]
    """Indexed files by path."""
    probe: Probe


class ProbeTimeout(AtlasError):
    """Something was not so within its time."""


async def until(is_so: Callable[[], Awaitable[bool]], what: str, seconds: float) -> float:
    """Ask until it is so and return the seconds that took. Raises ProbeTimeout."""
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
    """Return how many files are not indexed with the content of that digest, and whether a pass is under way."""
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
    """Return how many vectors are still to be made, without those that the gate put off."""
    stale = await probe.store.stale_chunks(probe.project, await probe.model(), MOST_STALE)
    decided = {one.uid: one.through for one in await probe.store.decisions([chunk.uid for chunk in stale])}
    return sum(1 for chunk in stale if decided.get(chunk.uid, True))


def digest_of(content: bytes) -> str:
    """Return the digest under which a file's content is indexed."""
    return content_digest(content)


def p95(seconds: Sequence[float]) -> float:
    """Return the 95th percentile; the only value when there is one."""
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
