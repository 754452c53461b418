"""Requests an index pass from the running daemon over the bus and reports what the daemon did for it.

It knows neither store nor disk; the caller says whether the daemon is alive.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, QUALITY_DIRTY, WHOLE_PROJECT, Progress
from atlas.code.index.heartbeat import DAEMON, HEARTBEAT_TTL
from atlas.code.index.tiers.embed import EmbedTier
from atlas.core.contracts import Bus, Coordinator, Streams
from atlas.core.errors import Unavailable
from atlas.core.events import Event

POLL_SECONDS = 0.05

ALIVE_SECONDS = 1.0
"""Interval of the check whether the daemon is alive."""

COUNTERS = ("parsed", "written", "removed", "vectors", "quality_vectors")

PHASES = (("parse", "parsed"), ("write", "written"), ("embed", "vectors"), ("quality", "quality_vectors"))


@dataclass(frozen=True, slots=True)
class ServedProject:
    """A project as the running daemon serves it."""

    pid: int
    root: str
    started_at: float
    files: int
    counters: Mapping[str, int]
    tiers: tuple[tuple[str, str], ...]
    """(stream, group) in the order of the data flow."""
    host: str = ""


@dataclass(frozen=True, slots=True)
class DaemonResult:
    """The daemon's work between the request and the moment when nothing was left to do."""

    pid: int
    files: int
    parsed: int
    written: int
    removed: int
    vectors: int
    given_up: int
    """Events that became dead letters meanwhile."""
    quality_vectors: int = 0
    problems: int = 0
    """Files with problems."""


async def read_state(bus: Coordinator) -> dict[str, Any] | None:
    """Return the state in the daemon's heartbeat; None if there is none or it cannot be understood."""
    try:
        state: object = json.loads(await bus.heartbeat(DAEMON) or "null")
    except ValueError:
        return None
    if not isinstance(state, dict):
        return None
    state_of = cast("dict[str, Any]", state)
    heartbeat_at = state_of.get("heartbeat_at")
    return state_of if isinstance(heartbeat_at, float) and time.time() - heartbeat_at < HEARTBEAT_TTL else None


async def served_project(bus: Coordinator, project: str, *, quality: bool = False) -> ServedProject | None:
    """Return how the running daemon serves a project; None if no daemon sends a heartbeat that can be understood.

    With the tier of the sentence transformer only if `quality`, since it may be at work for hours. Raises Unavailable
    if the daemon serves other projects only, or has no such tier.
    """
    state = await read_state(bus)
    try:
        served = None if state is None else _served(state, project, quality=quality)
        if state is None or served is None or (EMBED_DIRTY, EmbedTier.group) in served.tiers:
            return served
        # embedding workers make the vectors, if there are any
        others = [json.loads(text) for name, text in (await bus.heartbeats()).items() if name != DAEMON]
        elsewhere = state.get("embeds") and any(one.get("embeds") for one in others)
        return replace(served, tiers=(*served.tiers, (EMBED_DIRTY, EmbedTier.group))) if elsewhere else served
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _served(state: Mapping[str, Any], project: str, *, quality: bool) -> ServedProject:
    tiers = tuple((tier["stream"], tier["tier"]) for tier in state["tiers"])
    if not quality:
        tiers = tuple(tier for tier in tiers if tier[0] != QUALITY_DIRTY)
    elif not any(stream == QUALITY_DIRTY for stream, _ in tiers):
        raise Unavailable(
            f"the daemon (process {state['pid']}) has no sentence transformer",
            "restart it with the settings that name one: `atlas daemon restart`",
        )
    for one in state["projects"]:
        if one["project"] == project:
            return ServedProject(
                pid=state["pid"],
                root=one["root"],
                started_at=state["started_at"],
                files=one["files"],
                counters={name: one.get(name, 0) for name in COUNTERS},
                tiers=tiers,
                host=state.get("host", ""),
            )
    known = ", ".join(one["project"] for one in state["projects"])
    raise Unavailable(
        f"the daemon (process {state['pid']}) writes to this index and serves {known}, not {project}",
        "restart it with this project too: `atlas daemon restart ROOT...`, or stop it first: `atlas daemon stop`",
    )


async def index_by_daemon(
    bus: Bus, project: str, before: ServedProject, alive: Callable[[], bool], progress: Progress
) -> DaemonResult | None:
    """Have the daemon index the whole project; return what it did, None if the daemon ended or was replaced.

    When it returns, the store holds what was on disk at the call, including vectors. `alive` says whether any process
    writes to the store; it may block for a moment. Raises Unavailable if the bus becomes unavailable.
    """
    dead_before = await _count_dead_letters(bus)
    waiting = _ProgressPoller(bus, project, before, alive, progress)
    # tier by tier: a tier publishes to the next stream before it acknowledges its own batch
    for stream, group in before.tiers:
        # tier 3 too: the gate defers vectors, and the scan's own request may precede the writes of tier 2
        while stream != AST_DIRTY and await bus.publish(stream, [Event(project, WHOLE_PROJECT)]):
            # the stream is full: the request waits
            if await waiting.pause() is None:
                return None
        while not await is_drained(bus, stream, group):
            if await waiting.pause() is None:
                return None
    done_at = time.time()
    while (after := await waiting.pause()) is not None and after["heartbeat_at"] < done_at:
        pass
    if after is None:
        return None
    mine = _of(after, project)
    counts = {name: mine.get(name, 0) - before.counters[name] for name in COUNTERS}
    given_up, problems = await _count_dead_letters(bus) - dead_before, mine.get("problems", 0)
    return DaemonResult(pid=before.pid, files=mine["files"], given_up=given_up, problems=problems, **counts)


async def is_drained(bus: Streams, stream: str, group: str) -> bool:
    """Return whether a group has no waiting or pending events; False for one that never took any."""
    for state in await bus.states():
        if (state.stream, state.group) == (stream, group):
            return state.waiting == state.pending == 0
    return False


class _ProgressPoller:
    """Polls the daemon's state, reports its progress, and notices when the daemon ends or is replaced."""

    def __init__(
        self, bus: Bus, project: str, before: ServedProject, alive: Callable[[], bool], progress: Progress
    ) -> None:
        self._bus, self._project, self._before, self._alive, self._progress = bus, project, before, alive, progress
        self._asked = time.monotonic()

    async def pause(self) -> dict[str, Any] | None:
        """Return the daemon's state after a moment; None if the daemon is gone."""
        await asyncio.sleep(POLL_SECONDS)
        state = await read_state(self._bus)
        if state is None or state["started_at"] != self._before.started_at:
            return None
        if time.monotonic() - self._asked >= ALIVE_SECONDS:
            self._asked = time.monotonic()
            if not await asyncio.to_thread(self._alive):
                return None
        mine = _of(state, self._project)
        for phase, name in PHASES:
            if done := mine.get(name, 0) - self._before.counters[name]:
                self._progress(phase, done, 0)
        return state


def _of(state: Mapping[str, Any], project: str) -> dict[str, Any]:
    return next(one for one in state["projects"] if one["project"] == project)


async def _count_dead_letters(bus: Streams) -> int:
    return sum(state.dead for state in await bus.states())
