"""The worker loop: how batches are closed, and what becomes of events that fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from atlas.adapters.buses.memory import MemoryBus
from atlas.code.index.events import Window
from atlas.code.index.worker import TierReport, run_tier, run_until_idle
from atlas.core.errors import AtlasError, StoreError, Unavailable
from atlas.core.events import Delivery, Event

STREAM, GROUP = "s", "g"


@dataclass
class Recorder:
    """A tier that notes its batches and fails as it is told."""

    window: Window = field(default_factory=lambda: Window(5.0, 100, 0.02))
    fails: Callable[[Sequence[Event]], Exception | None] = lambda _: None
    batches: list[list[str]] = field(default_factory=list)
    stream: str = STREAM
    group: str = GROUP
    waits: tuple[type[AtlasError], ...] = (Unavailable,)

    async def handle(self, events: Sequence[Event]) -> None:
        if (error := self.fails(events)) is not None:
            raise error
        self.batches.append([event.key for event in events])

    @property
    def keys(self) -> list[str]:
        return [key for batch in self.batches for key in batch]


def events(*keys: str) -> list[Event]:
    return [Event("p", key) for key in keys]


@asynccontextmanager
async def working(bus: MemoryBus, tier: Recorder) -> AsyncIterator[TierReport]:
    report, stop = TierReport(), asyncio.Event()
    task = asyncio.create_task(run_tier(bus, tier, report, stop, lambda message, fields: None))
    try:
        yield report
    finally:
        stop.set()
        await asyncio.wait_for(task, 5)


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not met():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def state(bus: MemoryBus) -> tuple[int, int, int]:
    (one,) = [one for one in await bus.states() if one.stream == STREAM]
    return one.waiting, one.pending, one.dead


async def test_silence_closes_a_batch_long_before_the_window() -> None:
    bus, tier = MemoryBus(), Recorder(Window(30.0, 100, 0.02))
    async with working(bus, tier) as report:
        started = time.monotonic()
        await bus.publish(STREAM, events("a", "b"))
        await until(lambda: report.batches == 1)
        assert time.monotonic() - started < 5
        assert tier.batches == [["a", "b"]]
        assert await state(bus) == (0, 0, 0)


async def test_a_stream_that_never_falls_silent_is_cut_by_the_window() -> None:
    bus, tier = MemoryBus(), Recorder(Window(0.15, 10_000, 0.1))
    async with working(bus, tier) as report:
        for number in range(100):
            await bus.publish(STREAM, events(str(number)))
            await asyncio.sleep(0.01)
        await until(lambda: report.events == 100)
    assert len(tier.batches) >= 3
    assert tier.keys == [str(number) for number in range(100)]


async def test_a_batch_is_cut_by_its_size() -> None:
    bus, tier = MemoryBus(), Recorder(Window(30.0, 3, 0.02))
    await bus.publish(STREAM, events(*"abcdefg"))
    async with working(bus, tier) as report:
        await until(lambda: report.events == 7)
    assert [len(batch) for batch in tier.batches] == [3, 3, 1]


async def test_one_bad_event_holds_up_no_other_and_ends_as_a_dead_letter() -> None:
    bus = MemoryBus()
    tier = Recorder(fails=lambda found: ValueError("poison") if any(one.key == "bad" for one in found) else None)
    await bus.publish(STREAM, events("a", "bad", "c"))
    async with working(bus, tier) as report:
        await until(lambda: len(tier.keys) == 2)
        assert tier.keys == ["a", "c"]
        await until(lambda: report.errors == 1)
        assert report.last_error == "ValueError: poison"
        assert (await state(bus))[1:] == (1, 0), "it waits for another attempt"


async def test_what_is_away_is_waited_for_and_no_event_is_blamed() -> None:
    away = True
    bus, tier = MemoryBus(), Recorder(fails=lambda _: Unavailable("the store is away", "wait") if away else None)
    await bus.publish(STREAM, events("a", "b"))
    async with working(bus, tier) as report:
        await until(lambda: report.away == "the store is away")
        assert (await state(bus))[1] == 2
        away = False
        await until(lambda: tier.keys == ["a", "b"])
        await until(lambda: report.away == "")
        assert report.errors == 0
        assert await state(bus) == (0, 0, 0)


async def test_stopping_while_something_is_away_leaves_the_batch_pending() -> None:
    bus, tier = MemoryBus(), Recorder(fails=lambda _: Unavailable("away", "wait"))
    await bus.publish(STREAM, events("a"))
    async with working(bus, tier) as report:
        await until(lambda: report.away == "away")
    assert await state(bus) == (0, 1, 0)


async def test_a_store_that_refuses_fails_the_batch_once_not_event_by_event() -> None:
    calls: list[int] = []

    def refuse(found: Sequence[Event]) -> Exception:
        calls.append(len(found))
        return StoreError("disk full", "free space")

    bus, tier = MemoryBus(), Recorder(fails=refuse)
    await bus.publish(STREAM, events(*"abcdefgh"))
    async with working(bus, tier) as report:
        await until(lambda: report.errors == 8)
        assert calls == [8]
        assert (await state(bus))[1] == 8


async def test_stopping_ends_an_idle_worker_at_once() -> None:
    started = time.monotonic()
    async with working(MemoryBus(), Recorder()):
        await asyncio.sleep(0.05)
    assert time.monotonic() - started < 2


async def test_a_pass_ends_when_every_stream_is_empty_and_raises_what_a_tier_raises() -> None:
    bus = MemoryBus()

    class First(Recorder):
        async def handle(self, events: Sequence[Event]) -> None:
            await super().handle(events)
            await bus.publish("next", events)

    second = Recorder(stream="next")
    await bus.publish(STREAM, events("a", "b"))
    await run_until_idle(bus, [First(), second])
    assert second.batches == [["a", "b"]]
    await bus.publish(STREAM, events("c"))
    try:
        await run_until_idle(bus, [First(), Recorder(stream="next", fails=lambda _: StoreError("full", "free space"))])
    except StoreError as error:
        assert error.message == "full"
    else:
        raise AssertionError("the error was swallowed")


class Flickering(MemoryBus):
    """The real bus behind a connection that breaks when a batch is acknowledged."""

    broken = 2

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        if self.broken:
            self.broken -= 1
            raise Unavailable("connection lost", "wait")
        await super().acknowledge(stream, group, ids)


async def test_an_answer_that_got_lost_is_given_again_instead_of_the_work() -> None:
    bus, tier = Flickering(), Recorder()
    await bus.publish(STREAM, events("a", "b"))
    async with working(bus, tier) as report:
        await until(lambda: report.events == 2)
    assert tier.batches == [["a", "b"]]
    assert await state(bus) == (0, 0, 0)


class Forgetful(MemoryBus):
    """The real bus behind a connection that breaks at the second take of a batch."""

    takes = 0

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        self.takes += 1
        if self.takes == 2:
            raise Unavailable("connection lost", "wait")
        return await super().take(stream, group, limit, wait)


async def test_what_was_taken_before_the_bus_broke_is_worked_on() -> None:
    bus, tier = Forgetful(), Recorder()
    await bus.publish(STREAM, events("a", "b"))
    async with working(bus, tier) as report:
        await until(lambda: report.events == 2)
    assert tier.batches == [["a", "b"]]
    assert await state(bus) == (0, 0, 0)
