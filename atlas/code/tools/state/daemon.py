"""Determine the daemon's state from what its process recorded and from its heartbeat on the bus.

Nothing is started, and every wait has a deadline. The heartbeat is parsed defensively: it may come from another version
and, on a shared server, from any client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas import __version__
from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED
from atlas.code.tools.state.worker_report import number, objects, parsed, since, stamp, words
from atlas.core.contracts import Bus
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.events import StreamState

FLOW = (FILE_CHANGED, AST_DIRTY, EMBED_DIRTY)

DEADLINE_SECONDS = 1.0
"""A bus that does not answer within this time counts as unreachable."""

SILENT_SECONDS = 15.0
"""The daemon reports its status every second; without a report for this long it is stuck or gone."""

START_SECONDS = 20.0
"""A younger daemon may not have reported its status yet."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How the running daemon keeps one project up to date."""

    project: str
    ready: bool
    """The daemon has scanned the whole tree since its start and can follow changes of single files."""
    mode: str
    """`watching`, or `polling`: the tree is scanned at intervals."""
    reason: str
    """Why the daemon polls."""
    folders: int
    looked_at: str
    """Time of the last full scan, ISO 8601 in UTC; "" if there was none."""
    looked_ago: float
    """Seconds since that scan; -1 if there was none."""
    look_seconds: float
    stale_files: int


@dataclass(frozen=True, slots=True)
class TierStatus:
    """A tier, its stream, and the position of its consumer group; the work counters come from the running daemon."""

    tier: str
    stream: str
    length: int
    """Events in the stream."""
    waiting: int
    """Events not yet delivered (lag)."""
    pending: int
    """Events delivered and not yet acknowledged."""
    dead: int
    """Dead letters."""
    told: bool = False
    """The daemon reported on this tier; if False, the following fields are meaningless."""
    rate: float = 0.0
    """Events per second over the last minute."""
    events: int = 0
    batches: int = 0
    busy: bool = False
    waits_for: str = ""
    """The message of the error that the tier waits to end; "" if it does not wait."""
    errors: int = 0
    last_error: str = ""
    last_events: int = 0
    last_seconds: float = 0.0
    last_ago: float = -1.0
    """Seconds since the last batch finished; -1 if there was none."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One worker process on shared servers."""

    worker: str
    """`host:pid`"""
    version: str
    keeps: tuple[str, ...]
    """Projects whose lease it holds."""
    stands_by: tuple[str, ...]
    """Projects for which it is a standby."""
    embeds: bool
    embedded: int
    """Embedding events processed so far."""
    waits_for: str
    """The message of the error that its embedder waits to end."""
    resident_bytes: int
    told_ago: float
    """Seconds since this report."""


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """State of the process that keeps the index up to date; reading it starts nothing."""

    state: str
    """`running`, `starting`, `off`, `gone` (killed) or `stuck` (alive, but without a report)."""
    detail: str
    """The state in words, and its effect on answers."""
    fix: str = ""
    """The command that fixes the problem."""
    pid: int = 0
    version: str = ""
    started_at: str = ""
    """ISO 8601, UTC."""
    resident_bytes: int = 0
    told_ago: float = -1.0
    """Seconds since the daemon's last report; -1 if there is none or it is too old."""
    tiers: tuple[TierStatus, ...] = ()
    projects: tuple[WatchStatus, ...] = ()
    workers: tuple[WorkerStatus, ...] = ()
    """On shared servers: every process that reports, on any host."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a daemon process recorded in the data folder; the default means that none ran or that it exited cleanly."""

    pid: int = 0
    alive: bool = False
    since: float = 0.0
    """Unix time of its start."""
    phase: str = "ready"
    """`waiting` for another writer, `starting`, `indexing`, or `ready`."""
    detail: str = ""
    """What it waits for, or the amount of work left."""


START, RESTART = "atlas daemon start", "atlas daemon restart"


async def look(
    connect: Callable[[], Awaitable[Bus | None]], trace: Trace, name: str, now: float, seconds: float = DEADLINE_SECONDS
) -> DaemonStatus:
    """Return the state of the daemon; `connect` is not called if no process is recorded.

    `connect` returns a bus, which this function closes, or None if no server answers; `name` is the name of the
    heartbeat and `now` a Unix time. Takes at most `seconds` and never raises an AtlasError.
    """
    if not trace.pid:
        return DaemonStatus("off", "not running: each answer checks the tree first", START)
    if trace.alive and trace.phase == "resting":
        return DaemonStatus("resting", "resting until a change or a question", "", trace.pid, "", stamp(trace.since))
    try:
        async with asyncio.timeout(seconds):
            states, text = await _ask(connect, name)
    except TimeoutError:
        return _silent(trace, f"its bus did not answer within {seconds:g} s", now)
    except AtlasError as error:
        return _silent(trace, error.message, now)
    told = parsed(text)
    if trace.alive and now - number(told, "heartbeat_at") <= SILENT_SECONDS:
        return _running(trace, told, tiers_of(states, told, now), now)
    return replace(_silent(trace, "it has not reported recently", now), tiers=tiers_of(states, {}, now))


async def _ask(connect: Callable[[], Awaitable[Bus | None]], name: str) -> tuple[Sequence[StreamState], str]:
    bus = await connect()
    if bus is None:
        raise Unavailable("its bus does not answer")
    try:
        return await bus.states(), await bus.heartbeat(name)
    finally:
        await bus.aclose()


def _silent(trace: Trace, problem: str, now: float) -> DaemonStatus:
    """Return the state of a daemon without a report, from what its process recorded."""
    started_at = stamp(trace.since)
    if not trace.alive:
        detail = f"gone: process {trace.pid} ended without a clean shutdown; answers reflect its last update"
        return DaemonStatus("gone", detail, START, trace.pid, "", started_at)
    if trace.phase == "waiting":
        detail = f"starting: waiting, {trace.detail}"
    elif now - trace.since < START_SECONDS:
        detail = "starting: no report yet"
    else:
        detail = f"stuck: the process is alive, but {problem}; answers may be outdated"
        return DaemonStatus("stuck", detail, RESTART, trace.pid, "", started_at)
    return DaemonStatus("starting", detail, "", trace.pid, "", started_at)


def _running(trace: Trace, told: Mapping[str, object], tiers: tuple[TierStatus, ...], now: float) -> DaemonStatus:
    away = next((tier.waits_for for tier in tiers if tier.waits_for), "")
    busy = [tier.tier for tier in tiers if tier.busy]
    work = f"waiting: {away}" if away else f"busy in {', '.join(busy)}" if busy else "idle"
    if trace.phase == "indexing":
        work = f"initial scan: {trace.detail or 'nothing to do'}"
    version = words(told, "version")
    is_other = version not in ("", __version__)
    return DaemonStatus(
        state="running",
        detail=f"running, {work}{f', of another version than this program ({__version__})' if is_other else ''}",
        fix=RESTART if is_other else "",
        pid=trace.pid,
        version=version,
        started_at=stamp(number(told, "started_at")),
        resident_bytes=int(number(told, "resident_bytes")),
        told_ago=round(max(now - number(told, "heartbeat_at"), 0.0), 3),
        tiers=tiers,
        projects=tuple(watch_of(project, now) for project in objects(told, "projects")),
    )


def tiers_of(states: Sequence[StreamState], told: Mapping[str, object], now: float) -> tuple[TierStatus, ...]:
    """Return the tiers in the order of the daemon's report, then the remaining groups in the order of the data flow."""
    known = {(state.stream, state.group): state for state in sorted(states, key=_flow)}
    rows: list[TierStatus] = []
    for tier in objects(told, "tiers"):
        name, stream = words(tier, "tier"), words(tier, "stream")
        state = known.pop((stream, name), StreamState(stream, name, 0, 0, 0, 0))
        rows.append(_worked(_waiting(state), tier, now))
    return (*rows, *(_waiting(state) for state in known.values()))


def _flow(state: StreamState) -> tuple[int, str]:
    return FLOW.index(state.stream) if state.stream in FLOW else len(FLOW), state.group


def _waiting(state: StreamState) -> TierStatus:
    return TierStatus(state.group, state.stream, state.length, state.waiting, state.pending, state.dead)


def _worked(row: TierStatus, told: Mapping[str, object], now: float) -> TierStatus:
    return replace(
        row,
        told=True,
        rate=number(told, "rate"),
        events=int(number(told, "events")),
        batches=int(number(told, "batches")),
        busy=told.get("busy") is True,
        waits_for=words(told, "waits_for"),
        errors=int(number(told, "errors")),
        last_error=words(told, "last_error"),
        last_events=int(number(told, "last_events")),
        last_seconds=number(told, "last_seconds"),
        last_ago=since(number(told, "last_at"), now),
    )


def watch_of(told: Mapping[str, object], now: float) -> WatchStatus:
    """Return how a project is watched, from the report of the process that leads it."""
    return WatchStatus(
        project=words(told, "project"),
        ready=told.get("ready") is True,
        mode=words(told, "watch"),
        reason=words(told, "watch_reason"),
        folders=int(number(told, "folders")),
        looked_at=stamp(number(told, "looked_at")),
        looked_ago=since(number(told, "looked_at"), now),
        look_seconds=number(told, "look_seconds"),
        stale_files=int(number(told, "stale_files")),
    )
