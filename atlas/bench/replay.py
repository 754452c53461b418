"""A real history, commit by commit: one index is kept warm by hints, as the daemon does, and compared with clean ones.

A repository comes in; one `Step` per commit goes out. The repository itself is not changed.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from atlas.bench.compare import Comparison
from atlas.bench.git import Checkout
from atlas.errors import ConfigError


class WarmIndex(Protocol):
    """An index that is kept warm; `atlas.pipeline.manual.LiveTiers`."""

    async def hint(self, paths: Sequence[str]) -> None:
        """Say that something at these paths may have changed."""
        ...

    async def settle(self, *, sweep: bool = True) -> None:
        """Make the store equal to the tree; `sweep`: also the vectors that can wait."""
        ...


@dataclass(frozen=True, slots=True)
class ReplaySteps:
    """How an index is kept, made and compared. The first two take the folders of the tree and of the index."""

    live: Callable[[Path, Path], AbstractAsyncContextManager[WarmIndex]]
    clean: Callable[[Path, Path], Awaitable[object]]
    compare: Callable[[Path, Path], Comparison]


@dataclass(frozen=True, slots=True)
class Step:
    """One commit."""

    number: int
    """From 1."""
    commits: int
    commit: str
    subject: str
    files: int
    """Paths that differ from the commit before; of the first commit 0."""
    live_cpu: float
    """CPU seconds of the incremental update."""
    clean_cpu: float
    """CPU seconds of the clean index; 0 when this commit was not compared."""
    comparison: Comparison | None
    """A is the index that was kept, B the clean one; None when this commit was not compared."""


async def replay(
    repository: Path, scratch: Path, ways: ReplaySteps, *, commits: int, every: int = 1, newest: str = "HEAD"
) -> AsyncGenerator[Step]:
    """Walk the last `commits` commits before `newest`, oldest first; compare after each `every`-th and the last.

    `scratch` is an empty folder for the clone and both indexes. Raises ConfigError for what is no repository and
    whatever indexing raises.
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
            # in between, vectors that can wait do wait: more than one commit's worth of them is put off
            await live.settle(sweep=compared)
            live_cpu, clean_cpu, comparison = time.process_time() - started, 0.0, None
            if compared:
                clean_cpu, comparison = await _against_clean(ways, checkout.tree, kept, fresh)
            subject = checkout.subject(commit)
            yield Step(position + 1, len(walked), commit, subject, len(paths), live_cpu, clean_cpu, comparison)


async def _against_clean(ways: ReplaySteps, tree: Path, kept: Path, fresh: Path) -> tuple[float, Comparison]:
    """Index the tree anew, compare, and return the CPU seconds of the index and what differs."""
    started = time.process_time()
    await ways.clean(tree, fresh)
    spent = time.process_time() - started
    comparison = ways.compare(kept, fresh)
    rmtree(fresh)
    return spent, comparison
