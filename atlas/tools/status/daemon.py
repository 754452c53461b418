"""The daemon as others see it: is it there, what does it do, what helps. What it left comes in, a state goes out.

Nothing is started and nothing waits longer than its deadline. What the daemon says of itself is read with distrust: it
may be of another version, and on a shared server anybody may have written it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.contracts import Bus
from atlas.errors import AtlasError, Unavailable
from atlas.model import StreamState
from atlas.pipeline.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED
from atlas.tools.worker_report import number, objects, parsed, since, stamp, words

FLOW = (FILE_CHANGED, AST_DIRTY, EMBED_DIRTY)

DEADLINE_SECONDS = 1.0
"""A bus that has not answered by then is as good as away."""

SILENT_SECONDS = 15.0
"""A daemon tells its state every second; one that has not for this long is stuck, or gone."""

START_SECONDS = 20.0
"""A daemon that is younger may not have told anything yet."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How the running daemon keeps one project true."""

    project: str
    ready: bool
    """It has looked at the whole tree since its start and can follow changes of single files."""
    mode: str
    """`watching`, or `polling`: the tree is looked at at intervals."""
    reason: str
    """Why it polls."""
    folders: int
    looked_at: str
    """ISO 8601, UTC, of the last time the whole tree was compared; "" when never."""
    looked_ago: float
    """Seconds since then; -1: never."""
    look_seconds: float
    stale_files: int


@dataclass(frozen=True, slots=True)
class TierStatus:
    """A tier, its stream, and where its group stands in it; what it did is of the daemon that runs."""

    tier: str
    stream: str
    length: int
    """Events in the stream."""
    waiting: int
    """Not taken yet (lag)."""
    pending: int
    """Taken and not yet acknowledged."""
    dead: int
    """Dead letters."""
    told: bool = False
    """The daemon told what the tier does; else the following means nothing."""
    rate: float = 0.0
    """Events a second over the last minute."""
    events: int = 0
    batches: int = 0
    busy: bool = False
    waits_for: str = ""
    """What is away, in the words of its error."""
    errors: int = 0
    last_error: str = ""
    last_events: int = 0
    last_seconds: float = 0.0
    last_ago: float = -1.0
    """Seconds since the last batch was done; -1: there was none."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One process of those that work on shared servers."""

    worker: str
    """host:process"""
    version: str
    keeps: tuple[str, ...]
    """Projects whose lease it holds."""
    stands_by: tuple[str, ...]
    """Projects that it would keep next."""
    embeds: bool
    embedded: int
    """Symbols that it was told to embed so far."""
    waits_for: str
    """What its embedder waits for."""
    resident_bytes: int
    told_ago: float
    """Seconds since it told this."""


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """The process that keeps the index true: is it there, what does it do; read without starting anything."""

    state: str
    """`running`, `starting`, `off`, `gone` (it was killed) or `stuck` (there, but silent)."""
    detail: str
    """The state in words, and what it means for answers."""
    fix: str = ""
    """The command that helps."""
    pid: int = 0
    version: str = ""
    started_at: str = ""
    """ISO 8601, UTC."""
    resident_bytes: int = 0
    told_ago: float = -1.0
    """Seconds since the daemon told its state; -1: it has not, or that is too long ago."""
    tiers: tuple[TierStatus, ...] = ()
    projects: tuple[WatchStatus, ...] = ()
    workers: tuple[WorkerStatus, ...] = ()
    """On shared servers: every process that tells of itself, on whatever host."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a daemon's process left in the data folder; the default: nothing, because none ran or it ended in order."""

    pid: int = 0
    alive: bool = False
    since: float = 0.0
    """Unix time of its start."""
    phase: str = "ready"
    """`waiting` for another writer, `starting`, `indexing`, or `ready`."""
    detail: str = ""
    """What it waits for, or how much there is to do."""


START, RESTART = "atlas daemon start", "atlas daemon restart"


async def look(
    connect: Callable[[], Awaitable[Bus | None]], trace: Trace, name: str, now: float, seconds: float = DEADLINE_SECONDS
) -> DaemonStatus:
    """Return the state of the daemon; without a trace of one `connect` is not even called.

    `connect` returns a bus to be closed here, None when no server answers; `name` is that of its heartbeat, `now` is
    Unix time. Never raises an AtlasError, and takes `seconds` at most.
    """
    if not trace.pid:
        return DaemonStatus("off", "not running: answers are as of the last index", START)
    try:
        async with asyncio.timeout(seconds):
            states, text = await _ask(connect, name)
    except TimeoutError:
        return _silent(trace, f"its bus has not answered within {seconds:g} s", now)
    except AtlasError as error:
        return _silent(trace, error.message, now)
    told = parsed(text)
    if trace.alive and now - number(told, "heartbeat_at") <= SILENT_SECONDS:
        return _running(trace, told, tiers_of(states, told, now), now)
    return replace(_silent(trace, "it has told nothing for a while", now), tiers=tiers_of(states, {}, now))


async def _ask(connect: Callable[[], Awaitable[Bus | None]], name: str) -> tuple[Sequence[StreamState], str]:
    bus = await connect()
    if bus is None:
        raise Unavailable("its bus does not answer")
    try:
        return await bus.states(), await bus.heartbeat(name)
    finally:
        await bus.aclose()


def _silent(trace: Trace, problem: str, now: float) -> DaemonStatus:
    """Return the state of a daemon that tells nothing, by what its process left."""
    started_at = stamp(trace.since)
    if not trace.alive:
        detail = f"gone: process {trace.pid} was killed? Answers are as of what it did last"
        return DaemonStatus("gone", detail, START, trace.pid, "", started_at)
    if trace.phase == "waiting":
        detail = f"starting: it waits, {trace.detail}"
    elif now - trace.since < START_SECONDS:
        detail = "starting: it has not told anything yet"
    else:
        detail = f"stuck: the process is there, but {problem}; answers may be old"
        return DaemonStatus("stuck", detail, RESTART, trace.pid, "", started_at)
    return DaemonStatus("starting", detail, "", trace.pid, "", started_at)


def _running(trace: Trace, told: Mapping[str, object], tiers: tuple[TierStatus, ...], now: float) -> DaemonStatus:
    away = next((tier.waits_for for tier in tiers if tier.waits_for), "")
    busy = [tier.tier for tier in tiers if tier.busy]
    work = f"waits: {away}" if away else f"at work in {', '.join(busy)}" if busy else "idle"
    if trace.phase == "indexing":
        work = f"first look since its start: {trace.detail or 'nothing to do'}"
    return DaemonStatus(
        state="running",
        detail=f"running, {work}",
        pid=trace.pid,
        version=words(told, "version"),
        started_at=stamp(number(told, "started_at")),
        resident_bytes=int(number(told, "resident_bytes")),
        told_ago=round(max(now - number(told, "heartbeat_at"), 0.0), 3),
        tiers=tiers,
        projects=tuple(watch_of(project, now) for project in objects(told, "projects")),
    )


def tiers_of(states: Sequence[StreamState], told: Mapping[str, object], now: float) -> tuple[TierStatus, ...]:
    """Return the tiers in the daemon's order, then the groups that it does not know in that of the data flow."""
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
    """Return how a project is kept, as the process tells that keeps it."""
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
