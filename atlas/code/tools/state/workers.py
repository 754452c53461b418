"""Worker processes on shared servers: which one leads the project, which are standbys, which embed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast

from atlas.code.tools.state.daemon import (
    SILENT_SECONDS,
    START,
    DaemonStatus,
    TierStatus,
    WorkerStatus,
    tiers_of,
    watch_of,
)
from atlas.code.tools.state.worker_report import number, objects, parsed, since, stamp, words
from atlas.core.contracts import Bus
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.events import StreamState
from atlas.core.wording import counted

DEADLINE_SECONDS = 3.0
"""Two servers are queried in sequence."""


async def look_at_workers(
    connect: Callable[[], Awaitable[Bus | None]], project: str, name: str, now: float
) -> DaemonStatus:
    """Return the state of the processes on the project's bus, in the form of a single daemon's state.

    `connect` returns that bus, which this function closes; `name` is the name of the leader's heartbeat and `now` a
    Unix time. Takes at most `DEADLINE_SECONDS` and never raises an AtlasError.
    """
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            states, text, reports = await _ask(connect, name)
    except TimeoutError:
        return _silent(f"store or bus did not answer within {DEADLINE_SECONDS:g} s")
    except AtlasError as error:
        return _silent(error.message)
    told = parsed(text)
    if now - number(told, "heartbeat_at") > SILENT_SECONDS:
        told = parsed("{}")
    reported = [parsed(report) for report in reports.values()]
    workers = tuple(_worker(report, now) for report in reported if number(report, "pid"))
    tiers = tiers_of(states, told, now)
    if not told:
        return _unkept(project, workers, tiers)
    keeper = f"{words(told, 'host')}:{int(number(told, 'pid'))}"
    waiting = sum(project in worker.stands_by for worker in workers)
    embedding = sum(worker.embeds for worker in workers)
    return DaemonStatus(
        state="running",
        detail=f"running: {keeper} leads {project}, {waiting} on standby, {embedding} embedding",
        pid=int(number(told, "pid")),
        version=words(told, "version"),
        started_at=stamp(number(told, "started_at")),
        resident_bytes=int(number(told, "resident_bytes")),
        told_ago=max(since(number(told, "heartbeat_at"), now), 0.0),
        tiers=tiers,
        projects=tuple(watch_of(one, now) for one in objects(told, "projects")),
        workers=workers,
    )


def _unkept(project: str, workers: tuple[WorkerStatus, ...], tiers: tuple[TierStatus, ...]) -> DaemonStatus:
    """Return the state if no process leads the project, or the leader has not reported yet."""
    known = [worker for worker in workers if project in (*worker.keeps, *worker.stands_by)]
    if known:
        detail = f"starting: {counted(len(known), 'candidate')} for {project}, no report from a leader yet"
        return DaemonStatus("starting", detail, tiers=tiers, workers=workers)
    detail = f"no worker leads {project}: answers reflect the last index"
    return DaemonStatus("off", detail, START, tiers=tiers, workers=workers)


async def _ask(
    connect: Callable[[], Awaitable[Bus | None]], name: str
) -> tuple[Sequence[StreamState], str, Mapping[str, str]]:
    bus = await connect()
    if bus is None:
        raise Unavailable("store or bus does not answer")
    try:
        sent = await bus.heartbeats()
        workers = {key: text for key, text in sent.items() if key != name}
        return await bus.states(), await bus.heartbeat(name), workers
    finally:
        await bus.aclose()


def _silent(problem: str) -> DaemonStatus:
    return DaemonStatus("stuck", f"unknown: {problem}; answers may be outdated", "atlas health")


def _worker(told: Mapping[str, object], now: float) -> WorkerStatus:
    kept, known = _names(told.get("holds")), _names(told.get("projects"))
    return WorkerStatus(
        worker=f"{words(told, 'host')}:{int(number(told, 'pid'))}",
        version=words(told, "version"),
        keeps=kept,
        stands_by=tuple(name for name in known if name not in kept),
        embeds=told.get("embeds") is True,
        embedded=int(number(told, "embedded")),
        waits_for=words(told, "waits_for"),
        resident_bytes=int(number(told, "resident_bytes")),
        told_ago=max(since(number(told, "heartbeat_at"), now), 0.0),
    )


def _names(value: object) -> tuple[str, ...]:
    items = list(cast("list[object] | dict[object, object]", value)) if isinstance(value, (list, dict)) else []
    return tuple(item[:200] for item in items if isinstance(item, str))
