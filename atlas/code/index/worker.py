"""One loop for all tiers: collect a batch, have the tier process it, acknowledge it. Knows neither files nor graph.

A batch is acknowledged only after its effect is in the store. A failed batch is retried event by event, so that one bad
event cannot block the others; an event that fails alone is returned to the bus, which counts its attempts.
"""

from __future__ import annotations

import asyncio
import functools
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from atlas.code.index.events import Window
from atlas.core.contracts import Streams
from atlas.core.errors import AtlasError, LeaseLost, StoreError, Unavailable
from atlas.core.events import Delivery, Event

BLOCK_SECONDS = 30.0
"""The longest wait of one `take`."""

VISIBILITY_SECONDS = 15.0
"""Interval of `extend_visibility` for a batch at work, so that no other worker takes it over."""

BUS_RETRY_SECONDS = 1.0

MAX_RETRY_SECONDS = 15.0
"""The longest delay before an unavailable service is tried again."""

TRACE_FRAMES = 5
"""Innermost frames of an unexpected error that the log keeps."""

_T = TypeVar("_T")


class Tier(Protocol):
    """A consumer of one stream."""

    stream: str
    group: str
    window: Window
    waits: tuple[type[AtlasError], ...]
    """Errors that no event causes: the worker waits until they are over."""

    async def handle(self, events: Sequence[Event]) -> None:
        """Bring the store up to date for these events before returning."""
        ...


@dataclass(slots=True)
class TierReport:
    """The work of one tier since it started."""

    events: int = 0
    batches: int = 0
    errors: int = 0
    last_error: str = ""
    last_events: int = 0
    last_seconds: float = 0.0
    last_at: float = 0.0
    """Unix time of the end of the last batch."""
    busy: bool = False
    outages: int = 0
    """How often the bus was unavailable."""
    away: str = ""
    """What the tier waits for, "" while it works."""
    recent: deque[tuple[float, int]] = field(default_factory=lambda: deque[tuple[float, int]](maxlen=256))
    """(time, events) of the last batches, for the rate."""

    def rate(self, seconds: float = 60.0) -> float:
        """Return events a second over the last `seconds`."""
        since = time.time() - seconds
        return sum(events for at, events in self.recent if at >= since) / seconds


def tier_state(tier: Tier, report: TierReport) -> dict[str, object]:
    """Return the state of a tier as JSON values."""
    return {
        "tier": tier.group,
        "stream": tier.stream,
        "events": report.events,
        "batches": report.batches,
        "rate": round(report.rate(), 3),
        "busy": report.busy,
        "waits_for": report.away,
        "errors": report.errors,
        "last_error": report.last_error,
        "last_events": report.last_events,
        "last_seconds": round(report.last_seconds, 4),
        "last_at": report.last_at,
    }


Log = Callable[[str, dict[str, object]], None]
"""(message, fields) -> None"""


async def run_tier(bus: Streams, tier: Tier, report: TierReport, stop: asyncio.Event, log: Log) -> None:
    """Process a tier's stream until `stop` is set and the current batch is finished.

    Waits for an unavailable bus: the store is unchanged, and no event is lost by waiting. Raises LeaseLost when this
    process may no longer write; the events that it has taken stay pending for its successor.
    """
    while not stop.is_set():
        try:
            batch = await _collect(bus, tier, stop)
            if batch:
                await _work(bus, tier, batch, report, stop, log)
        except Unavailable as error:
            if report.last_error != error.message:
                log("bus is unavailable", {"tier": tier.group, "error": error.message})
            report.last_error = error.message
            report.outages += 1
            await _until_stopped(stop, asyncio.sleep(BUS_RETRY_SECONDS))


async def _collect(bus: Streams, tier: Tier, stop: asyncio.Event) -> list[Delivery]:
    """Return a batch: its first event and those that follow it closely; empty when stopped or when nothing arrived.

    One saved file in an idle project waits only `idle_timeout` seconds; the window limits a busy stream's batch.
    """
    window = tier.window
    batch = await _until_stopped(stop, bus.take(tier.stream, tier.group, window.size, BLOCK_SECONDS)) or []
    ends = time.monotonic() + window.seconds
    while batch and len(batch) < window.size and (left := ends - time.monotonic()) > 0:
        # not with the bus's own wait: a server checks the timeouts of blocked clients only every 100 ms
        await asyncio.sleep(min(window.idle_timeout, left))
        try:
            more = await bus.take(tier.stream, tier.group, window.size - len(batch), 0)
        except Unavailable:
            # process what was taken: it would stay pending until its visibility times out
            break
        if not more:
            break
        batch += more
    return batch


async def _work(
    bus: Streams, tier: Tier, batch: Sequence[Delivery], report: TierReport, stop: asyncio.Event, log: Log
) -> None:
    started = time.monotonic()
    report.busy = True
    extension = asyncio.create_task(_extend_visibility(bus, tier, [one.id for one in batch]))
    try:
        for one, reason in await _failures(tier, batch, report, stop, log):
            report.errors += 1
            report.last_error = reason
            fields: dict[str, object] = {"tier": tier.group, "project": one.event.project, "key": one.event.key}
            log("event failed", fields | {"attempt": one.attempt, "error": reason})
            await _answer(stop, functools.partial(bus.nack, tier.stream, tier.group, [one.id], reason))
            batch = [other for other in batch if other is not one]
        if not stop.is_set() or not report.away:
            await _answer(stop, functools.partial(bus.acknowledge, tier.stream, tier.group, [one.id for one in batch]))
    finally:
        extension.cancel()
        await asyncio.gather(extension, return_exceptions=True)
        report.busy = False
    report.events += len(batch)
    report.batches += 1
    report.last_events, report.last_seconds, report.last_at = len(batch), time.monotonic() - started, time.time()
    report.recent.append((report.last_at, len(batch)))


async def _answer(stop: asyncio.Event, answer: Callable[[], Coroutine[object, object, None]]) -> None:
    """Answer a batch on the bus, as soon as it is available.

    Without an answer the batch would stay pending until its visibility times out, and then be processed again.
    """
    while True:
        try:
            return await answer()
        except Unavailable:
            if stop.is_set():
                raise
            await _until_stopped(stop, asyncio.sleep(BUS_RETRY_SECONDS))


async def _failures(
    tier: Tier, batch: Sequence[Delivery], report: TierReport, stop: asyncio.Event, log: Log
) -> list[tuple[Delivery, str]]:
    """Process a batch; return the events that failed and why.

    Waits for unavailable services: no event causes their errors, so none is counted. A store error fails the whole
    batch. After any other error, the events are tried one by one.
    """
    delay = 0.5
    while True:
        try:
            await tier.handle([one.event for one in batch])
        except tier.waits as error:
            report.away = report.last_error = error.message
            log("waiting", {"tier": tier.group, "for": error.message})
            await _until_stopped(stop, asyncio.sleep(delay))
            delay = min(2 * delay, MAX_RETRY_SECONDS)
            if not stop.is_set():
                continue
            return []
        except LeaseLost:
            raise
        except StoreError as error:
            return [(one, error.message) for one in batch]
        except AtlasError as error:
            reason = error.message
        except Exception as error:  # noqa: BLE001 isolation: a bug that one file triggers must not stop the others
            reason = f"{type(error).__name__}: {error}"
            trace = "".join(traceback.format_tb(error.__traceback__)[-TRACE_FRAMES:])
            log("unexpected error", {"tier": tier.group, "error": reason, "trace": trace})
        else:
            report.away = ""
            return []
        if len(batch) == 1:
            return [(batch[0], reason)]
        log("batch failed, trying its events one by one", {"tier": tier.group, "error": reason})
        return [found for one in batch for found in await _failures(tier, [one], report, stop, log)]


async def _extend_visibility(bus: Streams, tier: Tier, ids: Sequence[str]) -> None:
    while True:
        await asyncio.sleep(VISIBILITY_SECONDS)
        await bus.extend_visibility(tier.stream, tier.group, ids)


async def _until_stopped(stop: asyncio.Event, waiting: Coroutine[object, object, _T]) -> _T | None:
    """Return the result of `waiting`, or None when `stop` is set first."""
    work = asyncio.ensure_future(waiting)
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((work, stopped), return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        stopped.cancel()
        work.cancel()
        await asyncio.gather(stopped, work, return_exceptions=True)


async def run_until_idle(bus: Streams, tiers: Sequence[Tier]) -> None:
    """Run the tiers concurrently, given in the order of the data flow, until every stream is empty.

    A tier ends when its stream is empty and the tier before it has ended. An error in one tier ends all and is raised:
    a person waits for the pass, and it must not continue without a part.
    """
    ended = [asyncio.Event() for _ in tiers]

    async def run(position: int, tier: Tier) -> None:
        before = ended[position - 1] if position else None
        while True:
            last_round = before is None or before.is_set()
            taking = bus.take(tier.stream, tier.group, tier.window.size, 0 if last_round else BLOCK_SECONDS)
            batch = await (taking if before is None or last_round else _until_stopped(before, taking)) or []
            if batch:
                await tier.handle([one.event for one in batch])
                await bus.acknowledge(tier.stream, tier.group, [one.id for one in batch])
            elif last_round:
                break
        ended[position].set()

    running = [asyncio.create_task(run(position, tier)) for position, tier in enumerate(tiers)]
    try:
        await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
