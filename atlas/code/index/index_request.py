"""A requested index pass: this process runs it, the running daemon does, or the request waits for another writer."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from atlas.code.index.daemon_client import DaemonResult, index_by_daemon, served_project
from atlas.code.index.events import IndexSummary, Progress
from atlas.code.index.index import Indexer
from atlas.core.contracts import Bus
from atlas.core.errors import StoreError, Unavailable, WriterBusy
from atlas.core.model import Skipped

BUSY_SECONDS = 0.3
"""Interval of attempts to become the writer while another process is."""


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """How to reach the index of one project."""

    project: str
    root: Path
    open_indexer: Callable[[bool], AbstractAsyncContextManager[Indexer]]
    """Opens the index for writing; True resets it. Raises WriterBusy while another process writes."""
    connect_daemon: Callable[[], Awaitable[Bus | None]]
    """Returns the bus of the running daemon; None if there is none."""
    has_writer: Callable[[], bool]
    """Whether a process writes to the index; may block for a moment."""
    read_result: Callable[[], Awaitable[tuple[int, Sequence[Skipped]]]]
    """Returns the generation of the index, and what it leaves out."""


async def request_index(
    target: IndexTarget,
    progress: Progress,
    *,
    full: bool = False,
    take_over: bool = False,
    patience: float = math.inf,
    waiting: Callable[[str, float], None] | None = None,
    quality: bool = False,
) -> IndexSummary:
    """Make the index equal to the tree; `full` also resets a store that only a rebuild can repair.

    `take_over` replaces an index of another tree with the project's name. If a daemon runs, it runs the pass, and the
    summary says so; with `quality` it ends only after the vectors of the sentence transformer, which a pass here makes
    if the opened indexer has one. For any other writer, waits up to `patience` seconds and passes its description and
    the time so far to `waiting`. Raises WriterBusy after that, Unavailable if the daemon serves other projects only or
    `full` would need it to stop, and what `open_indexer` and `Indexer.index` raise.
    """
    started = time.monotonic()
    while True:
        try:
            return await _index_here(target, progress, full=full, take_over=take_over)
        except WriterBusy as error:
            busy = error
        summary = await request_daemon(target, progress, full=full, quality=quality)
        if summary is not None:
            return summary
        if (waited := time.monotonic() - started) >= patience:
            raise busy
        if waiting is not None:
            waiting(busy.message, waited)
        await asyncio.sleep(BUSY_SECONDS)


async def _index_here(
    target: IndexTarget, progress: Progress, *, full: bool, take_over: bool, reset: bool = False
) -> IndexSummary:
    try:
        async with target.open_indexer(reset) as indexer:
            return await indexer.index(full=full, take_over=take_over, progress=progress)
    except StoreError as error:
        if reset or not full or "--full" not in error.hint:
            raise
    return await _index_here(target, progress, full=full, take_over=take_over, reset=True)


async def request_daemon(
    target: IndexTarget, progress: Progress, *, full: bool = False, quality: bool = False
) -> IndexSummary | None:
    """Have the running daemon run the pass; None if there is none or it ended meanwhile. Raises as `request_index`."""
    bus = await target.connect_daemon()
    if bus is None:
        return None
    started, cpu = time.perf_counter(), time.process_time()
    try:
        served = await served_project(bus, target.project, quality=quality)
        if served is None:
            return None
        if full:
            raise Unavailable(
                f"the daemon (process {served.pid}) writes to this index and must not run during a full rebuild",
                "run: atlas daemon stop, atlas index --full, atlas daemon start",
            )
        if served.root != str(target.root) and served.host in ("", socket.gethostname()):
            raise Unavailable(
                f"the daemon serves {target.project} at {served.root}, not at {target.root}",
                "give this project another name: project.name in its atlas.toml, or ATLAS_PROJECT_NAME",
            )
        done = await index_by_daemon(bus, target.project, served, target.has_writer, progress)
    finally:
        await bus.aclose()
    if done is None:
        return None
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    return _summary(target, done, *await target.read_result(), seconds, cpu_seconds)


def _summary(
    target: IndexTarget,
    done: DaemonResult,
    generation: int,
    skipped: Sequence[Skipped],
    seconds: float,
    cpu_seconds: float,
) -> IndexSummary:
    return IndexSummary(
        project=target.project,
        root=str(target.root),
        generation=generation,
        files=done.files,
        changed=done.parsed + done.removed,
        parsed=done.parsed,
        written=done.written,
        removed=done.removed,
        skipped=len(skipped),
        unread=tuple(each.unread for each in skipped if each.unread),
        vectors=done.vectors,
        quality_vectors=done.quality_vectors,
        problems=done.problems,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        phases=(),
        by="daemon",
        given_up=done.given_up,
    )
