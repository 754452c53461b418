"""One loop for all tiers: gather a batch, let the tier work on it, acknowledge it. Knows neither files nor graph.

A batch is acknowledged only after its effect is in the store. A batch that fails is tried again event by event, so that
one bad event cannot hold up the others; what fails alone goes back to the bus, which counts and gives up.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from atlas.contracts import Streams
from atlas.errors import AtlasError, LeaseLost, StoreError, Unavailable
from atlas.model import Delivery, Event
from atlas.pipeline.events import Window

BLOCK_SECONDS = 30.0
"""An idle worker asks the bus again this often."""

HOLD_SECONDS = 15.0
"""A batch at work is reported to the bus this often, so that nobody else takes it for abandoned."""

BUS_RETRY_SECONDS = 1.0

AWAY_SECONDS = 15.0
"""Something that is away is asked again at least this often."""

_T = TypeVar("_T")


class Tier(Protocol):
    """A consumer of one stream."""

    stream: str
    group: str
    window: Window
    waits: tuple[type[AtlasError], ...]
    """What no event is to blame for and the worker waits for."""

    async def handle(self, events: Sequence[Event]) -> None:
        """Bring the store up to date for these events; when it returns their effect is in the store."""
        ...


@dataclass(slots=True)
class TierReport:
    """What one worker did since it started."""

    events: int = 0
    batches: int = 0
    errors: int = 0
    last_error: str = ""
    last_events: int = 0
    last_seconds: float = 0.0
    last_at: float = 0.0
    """Unix time at which the last batch was done."""
    busy: bool = False
    outages: int = 0
    """How often the bus was asked in vain."""
    away: str = ""
    """What the tier waits for, "" while it works."""
    recent: deque[tuple[float, int]] = field(default_factory=lambda: deque[tuple[float, int]](maxlen=256))
    """(time, events) of the last batches, for the rate."""

    def rate(self, seconds: float = 60.0) -> float:
        """Return events a second over the last `seconds`."""
        since = time.time() - seconds
        return sum(events for at, events in self.recent if at >= since) / seconds


def tier_state(tier: Tier, report: TierReport) -> dict[str, object]:
    """Return what a worker tells of itself; only plain values, so that it can be written as JSON."""
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
    """Work on a tier's stream until `stop` is set; the batch at hand is finished first, waiting events stay waiting.

    A bus that is away is asked again until it is back: the store is as it was, and no event is lost by waiting. Raises
    LeaseLost when this process may not write any more; what it had taken stays pending for its successor.
    """
    while not stop.is_set():
        try:
            batch = await _gather(bus, tier, stop)
            if batch:
                await _work(bus, tier, batch, report, stop, log)
        except Unavailable as error:
            if report.last_error != error.message:
                log("bus is away", {"tier": tier.group, "error": error.message})
            report.last_error = error.message
            report.outages += 1
            await _unless(stop, asyncio.sleep(BUS_RETRY_SECONDS))


async def _gather(bus: Streams, tier: Tier, stop: asyncio.Event) -> list[Delivery]:
    """Return a batch: its first event and what follows it closely; empty when stopped or nothing came.

    One saved file in an idle project waits only `quiet` seconds; a stream that never falls silent is cut by the window.
    """
    window = tier.window
    batch = await _unless(stop, bus.take(tier.stream, tier.group, window.size, BLOCK_SECONDS)) or []
    ends = time.monotonic() + window.seconds
    while batch and len(batch) < window.size and (left := ends - time.monotonic()) > 0:
        # not as the bus's own wait: a server looks at the clocks of waiting clients only every 100 ms
        await asyncio.sleep(min(window.idle_timeout, left))
        try:
            more = await bus.take(tier.stream, tier.group, window.size - len(batch), 0)
        except Unavailable:
            # what was taken is ours: dropped here it would stay pending until the bus takes its worker for dead
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
    holding = asyncio.create_task(_hold(bus, tier, [one.id for one in batch]))
    try:
        for one, reason in await _failures(tier, batch, report, stop, log):
            report.errors += 1
            report.last_error = reason
            fields: dict[str, object] = {"tier": tier.group, "project": one.event.project, "key": one.event.key}
            log("event failed", fields | {"attempt": one.attempt, "error": reason})
            await _tell(stop, functools.partial(bus.nack, tier.stream, tier.group, [one.id], reason))
            batch = [other for other in batch if other is not one]
        if not stop.is_set() or not report.away:
            await _tell(stop, functools.partial(bus.acknowledge, tier.stream, tier.group, [one.id for one in batch]))
    finally:
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        report.busy = False
    report.events += len(batch)
    report.batches += 1
    report.last_events, report.last_seconds, report.last_at = len(batch), time.monotonic() - started, time.time()
    report.recent.append((report.last_at, len(batch)))


async def _tell(stop: asyncio.Event, tell: Callable[[], Coroutine[object, object, None]]) -> None:
    """Tell the bus what became of a batch; if it is away, as soon as it is back.

    Else the batch would stay pending until the bus takes its worker for dead, and be worked on again for nothing.
    """
    while True:
        try:
            return await tell()
        except Unavailable:
            if stop.is_set():
                raise
            await _unless(stop, asyncio.sleep(BUS_RETRY_SECONDS))


async def _failures(
    tier: Tier, batch: Sequence[Delivery], report: TierReport, stop: asyncio.Event, log: Log
) -> list[tuple[Delivery, str]]:
    """Work on a batch; return the events that failed and why.

    Something that is away is waited for: no event is to blame, so none is counted. A store that refuses refuses the
    whole batch. Anything else is tried again event by event.
    """
    delay = 0.5
    while True:
        try:
            await tier.handle([one.event for one in batch])
        except tier.waits as error:
            report.away = report.last_error = error.message
            log("waiting", {"tier": tier.group, "for": error.message})
            await _unless(stop, asyncio.sleep(delay))
            delay = min(2 * delay, AWAY_SECONDS)
            if not stop.is_set():
                continue
        except LeaseLost:
            raise
        except StoreError as error:
            return [(one, error.message) for one in batch]
        except Exception as error:  # noqa: BLE001 the worker is the boundary: what an event causes is the event's fate
            reason = error.message if isinstance(error, AtlasError) else f"{type(error).__name__}: {error}"
            if len(batch) == 1:
                return [(batch[0], reason)]
            log("batch failed, trying its events one by one", {"tier": tier.group, "error": reason})
            return [found for one in batch for found in await _failures(tier, [one], report, stop, log)]
        else:
            report.away = ""
        return []


async def _hold(bus: Streams, tier: Tier, ids: Sequence[str]) -> None:
    while True:
        await asyncio.sleep(HOLD_SECONDS)
        await bus.extend_visibility(tier.stream, tier.group, ids)


async def _unless(stop: asyncio.Event, waiting: Coroutine[object, object, _T]) -> _T | None:
    """Return what is waited for, or None when `stop` is set before."""
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
    """Run the tiers side by side, in the order of the data flow, until every stream is empty.

    A tier ends when its stream is empty and the tier before it has ended. An exception in one tier ends all and is
    raised: a pass over a tree that a person waits for does not go on without a part.
    """
    ended = [asyncio.Event() for _ in tiers]

    async def run(position: int, tier: Tier) -> None:
        before = ended[position - 1] if position else None
        while True:
            last_round = before is None or before.is_set()
            taking = bus.take(tier.stream, tier.group, tier.window.size, 0 if last_round else BLOCK_SECONDS)
            batch = await (taking if before is None or last_round else _unless(before, taking)) or []
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
