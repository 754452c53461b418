"""The start of a long-running process: it waits for what it needs, and reports its phases until it is ready."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from atlas.code.index.cluster.owned_project import OwnedProject
from atlas.code.index.daemon import Daemon
from atlas.code.index.daemon_client import is_drained
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.tiers.graph import GraphTier
from atlas.code.index.worker import Log
from atlas.core.contracts import Streams
from atlas.core.errors import Unavailable
from atlas.core.wording import counted

DAEMON_POLL_SECONDS = 0.05
WORKER_POLL_SECONDS = 0.3

ReportStatus = Callable[[str, str], None]
"""(phase, detail) -> None; see `process.daemon.RunningDaemon`."""

_Opened = TypeVar("_Opened")


async def open_when_available(
    attempt: Callable[[], Awaitable[_Opened]],
    retry_on: type[Unavailable],
    seconds: float,
    stop: asyncio.Event,
    log: Log,
    report_status: ReportStatus,
) -> _Opened | None:
    """Return what `attempt` opens, tried every `seconds` while it raises `retry_on`; None when stopped before."""
    reported = ""
    while not stop.is_set():
        try:
            return await attempt()
        except retry_on as error:
            if error.message != reported:
                reported = error.message
                log("waiting", {"for": reported})
                report_status("waiting", reported)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
    return None


async def report_daemon_startup(daemon: Daemon, bus: Streams, log: Log, report_status: ReportStatus) -> None:
    """Report how much there is to index once every tree is scanned, and when all of it is indexed."""

    def projects() -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", daemon.state()["projects"])

    async def is_scanned() -> bool:
        return all(one["looks"] for one in projects()) and await is_drained(bus, GraphTier.stream, GraphTier.group)

    async def is_indexed() -> bool:
        return all(one["ready"] for one in projects()) and await is_drained(bus, AstTier.stream, AstTier.group)

    started = time.monotonic()
    await _until(is_scanned)
    queued = {(state.stream, state.group): state.length for state in await bus.states()}
    # next to the files there is one event per project that requests a full comparison
    files = queued.get((AstTier.stream, AstTier.group), 0) - len(projects())
    report_status("indexing", counted(files, "file", ",") if files > 0 else "")
    await _until(is_indexed)
    # now, not with the next heartbeat: the process that started the daemon may read its state at once
    await daemon.heartbeat.send()
    files = sum(one["files"] for one in projects())
    log("ready", {"files": files, "seconds": round(time.monotonic() - started, 3)})
    report_status("ready", counted(files, "file", ","))


async def report_worker_startup(owned: Sequence[OwnedProject], report_status: ReportStatus) -> None:
    """Report when every project has a leader, in this process or another."""
    while True:
        with contextlib.suppress(Unavailable):
            if all([await one.is_settled() for one in owned]):
                break
        await asyncio.sleep(WORKER_POLL_SECONDS)
    leads = [one.election.project for one in owned if one.election.holds]
    waits = [one.election.project for one in owned if not one.election.holds]
    parts = (f"leads {', '.join(leads)}" if leads else "", f"stands by for {', '.join(waits)}" if waits else "")
    report_status("ready", "; ".join(part for part in parts if part))


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while True:
        with contextlib.suppress(Unavailable):
            if await is_so():
                return
        await asyncio.sleep(DAEMON_POLL_SECONDS)
