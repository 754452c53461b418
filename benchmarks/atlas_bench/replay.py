"""Replay a real history commit by commit, and compare an incrementally updated index with clean ones.

Hints announce the changes, as in the daemon. The repository itself is not changed.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from atlas.core.errors import ConfigError
from atlas_bench.compare import Comparison
from atlas_bench.git import Checkout


class WarmIndex(Protocol):
    """An index that is updated incrementally; `atlas_bench.stepwise.LiveTiers`."""

    async def hint(self, paths: Sequence[str]) -> None:
        """Report that something at these paths may have changed."""
        ...

    async def settle(self, *, sweep: bool = True) -> None:
        """Make the store equal to the tree; with `sweep`, including deferred vectors."""
        ...


class RepeatedPasses:
    """Implements `WarmIndex` by a pass over the whole tree for each commit, as by `atlas index`: nothing stays warm."""

    def __init__(self, index: Callable[[], Awaitable[object]]) -> None:
        """`index` runs a pass over the tree."""
        self._index = index

    async def hint(self, paths: Sequence[str]) -> None:
        """Do nothing: a pass finds what has changed."""

    async def settle(self, *, sweep: bool = True) -> None:
        """Run a pass, which makes deferred vectors too."""
        await self._index()


@dataclass(frozen=True, slots=True)
class ReplaySteps:
    """How to maintain, build and compare an index. The first two take the folders of the tree and of the index."""

    live: Callable[[Path, Path], AbstractAsyncContextManager[WarmIndex]]
    clean: Callable[[Path, Path], Awaitable[object]]
    compare: Callable[[Path, Path], Comparison]


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one commit."""

    number: int
    """From 1."""
    commits: int
    commit: str
    subject: str
    files: int
    """Paths that differ from the previous commit; 0 for the first commit."""
    live_cpu: float
    """CPU seconds of the incremental update."""
    clean_cpu: float
    """CPU seconds of the clean index; 0 if this commit was not compared."""
    comparison: Comparison | None
    """A is the incremental index, B the clean one; None if this commit was not compared."""


async def replay(
    repository: Path, scratch: Path, ways: ReplaySteps, *, commits: int, every: int = 1, newest: str = "HEAD"
) -> AsyncGenerator[Step]:
    """Replay the last `commits` commits up to `newest`, oldest first; compare after each `every`-th and the last.

    `scratch` is an empty folder for the clone and both indexes. Raises ConfigError for a folder that is not a
    repository, and what indexing raises.
    """
    checkout = Checkout.clone(repository, scratch)
    walked = checkout.commits(commits, newest)
    if not walked:
        raise ConfigError(f"{repository} has no commits", "Give a repository with a history.")
    checkout.check_out(walked[0])
    kept, fresh = scratch / "kept", scratch / "fresh"
    async with ways.live(checkout.tree, kept) as live:
        for position, commit in enumerate(walked):
            paths = checkout.changed(walked[position - 1], commit) if position else []
            checkout.check_out(commit)
            compared = (position + 1) % every == 0 or position + 1 == len(walked)
            started = time.process_time()
            await live.hint(paths)
            # Between comparisons deferred vectors stay deferred, so that those of more than one commit accumulate.
            await live.settle(sweep=compared)
            live_cpu, clean_cpu, comparison = time.process_time() - started, 0.0, None
            if compared:
                clean_cpu, comparison = await _against_clean(ways, checkout.tree, kept, fresh)
            subject = checkout.subject(commit)
            yield Step(position + 1, len(walked), commit, subject, len(paths), live_cpu, clean_cpu, comparison)


async def _against_clean(ways: ReplaySteps, tree: Path, kept: Path, fresh: Path) -> tuple[float, Comparison]:
    """Build a clean index, compare, and return its CPU seconds and the differences."""
    started = time.process_time()
    await ways.clean(tree, fresh)
    spent = time.process_time() - started
    comparison = ways.compare(kept, fresh)
    rmtree(fresh)
    return spent, comparison
