"""What every bus does with events: who gets which, how often, in which order, and how many fit."""

from __future__ import annotations

import asyncio
import time

from atlas.core.contracts import Bus
from atlas.core.events import Delivery, Event, StreamState
from tests.conformance.bus.conftest import OpenBus

S, G = "atlas:file-changed", "graph"


def events(*keys: str) -> list[Event]:
    return [Event("p", key) for key in keys]


def keys(deliveries: list[Delivery]) -> list[str]:
    return [delivery.event.key for delivery in deliveries]


def ids(deliveries: list[Delivery]) -> list[str]:
    return [delivery.id for delivery in deliveries]


async def test_events_come_in_order_of_arrival_up_to_the_limit(bus: Bus) -> None:
    assert await bus.publish(S, events("b", "a", "d")) == 0
    assert await bus.publish(S, events("c")) == 0
    first = await bus.take(S, G, 3, 0)
    assert keys(first) == ["b", "a", "d"]
    assert [delivery.attempt for delivery in first] == [1, 1, 1]
    assert len(set(ids(first))) == 3
    assert keys(await bus.take(S, G, 3, 0)) == ["c"]
    assert await bus.take(S, G, 3, 0) == []


async def test_an_event_arrives_as_it_was_published(bus: Bus) -> None:
    odd = [
        Event("p", ""),
        Event("my project", "src/ä b/\u2028'\"\\.py"),
        Event("p", "with\nnewline"),
        Event("p", "caf\udce9.py"),  # a path that is not UTF-8, as os.fsdecode gives it
        Event("", "/"),
    ]
    await bus.publish(S, odd)
    assert [delivery.event for delivery in await bus.take(S, G, 10, 0)] == odd


async def test_streams_are_apart(bus: Bus) -> None:
    await bus.publish("one", events("a"))
    await bus.publish("two", events("a"))
    assert keys(await bus.take("one", G, 9, 0)) == ["a"]
    assert keys(await bus.take("two", G, 9, 0)) == ["a"]


async def test_the_same_key_of_two_projects_is_two_events(bus: Bus) -> None:
    both = [Event("p", "a"), Event("q", "a")]
    await bus.publish(S, both)
    assert [delivery.event for delivery in await bus.take(S, G, 9, 0)] == both


async def test_every_group_gets_every_event(bus: Bus) -> None:
    assert await bus.take(S, "two", 9, 0) == []
    await bus.publish(S, events("a", "b"))
    first = await bus.take(S, "one", 9, 0)
    await bus.acknowledge(S, "one", ids(first[:1]))
    other = await bus.take(S, "two", 9, 0)
    assert keys(other) == keys(first) == ["a", "b"]
    await bus.acknowledge(S, "two", ids(other))
    await bus.publish(S, events("c"))
    assert keys(await bus.take(S, "two", 9, 0)) == keys(await bus.take(S, "one", 9, 0)) == ["c"]


async def test_a_new_group_gets_what_is_still_there(bus: Bus) -> None:
    await bus.publish(S, events("a", "b"))
    await bus.acknowledge(S, "one", ids(await bus.take(S, "one", 1, 0)))
    assert keys(await bus.take(S, "two", 9, 0)) == ["b"]


async def test_an_event_stays_until_the_last_group_has_acknowledged_it(bus: Bus) -> None:
    await bus.publish(S, events("a"))
    one = await bus.take(S, "one", 9, 0)
    two = await bus.take(S, "two", 9, 0)
    await bus.acknowledge(S, "one", ids(one))
    assert [state.length for state in await bus.states()] == [1, 1]
    assert [state.length for state in await bus.states([S])] == [1, 1]
    assert await bus.states(["another"]) == []
    await bus.acknowledge(S, "two", ids(two))
    assert [state.length for state in await bus.states()] == [0, 0]


async def test_within_a_group_an_event_goes_to_one_consumer(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    await one.publish(S, events(*map(str, range(100))))
    taken = [await bus.take(S, G, 10, 0) for bus in (one, two) * 5]
    assert sorted(int(key) for part in taken for key in keys(part)) == list(range(100))
    assert await one.take(S, G, 10, 0) == await two.take(S, G, 10, 0) == []


async def test_an_event_that_waits_is_not_added_again(bus: Bus) -> None:
    await bus.publish(S, events("a", "b", "a"))
    await bus.publish(S, events("b", "c"))
    assert keys(await bus.take(S, G, 9, 0)) == ["a", "b", "c"]


async def test_an_event_that_was_taken_is_added_again(bus: Bus) -> None:
    await bus.publish(S, events("a"))
    taken = await bus.take(S, G, 9, 0)
    await bus.publish(S, events("a"))  # changed while it was worked on
    await bus.acknowledge(S, G, ids(taken))
    again = await bus.take(S, G, 9, 0)
    assert keys(again) == ["a"]
    await bus.acknowledge(S, G, ids(again))
    await bus.publish(S, events("a"))
    assert keys(await bus.take(S, G, 9, 0)) == ["a"]


async def test_an_event_that_one_group_has_taken_is_added_again_for_all(bus: Bus) -> None:
    assert await bus.take(S, "slow", 9, 0) == []
    await bus.publish(S, events("a"))
    await bus.take(S, "quick", 9, 0)
    await bus.publish(S, events("a"))
    assert keys(await bus.take(S, "quick", 9, 0)) == ["a"]
    assert keys(await bus.take(S, "slow", 9, 0)) == ["a", "a"]


async def test_what_does_not_fit_is_refused_and_nothing_is_dropped(open_bus: OpenBus) -> None:
    bus = open_bus(capacity=4)
    assert await bus.publish(S, events("a", "b", "c")) == 0
    pending = await bus.take(S, G, 2, 0)
    assert await bus.publish(S, events("c", "d", "e", "f", "f")) == 2  # c waits, d fits
    assert await bus.publish(S, events("d")) == 0
    assert await bus.states() == [StreamState(S, G, length=4, waiting=2, pending=2, dead=0)]
    await bus.reclaim(S, G)
    assert keys(await bus.take(S, G, 9, 0)) == ["a", "b", "c", "d"]
    await bus.acknowledge(S, G, ids(pending))
    assert await bus.publish(S, events("e", "f", "g")) == 1


async def test_thousands_at_once(bus: Bus) -> None:
    many = [Event("p", f"src/{number}.py") for number in range(12_000)]
    assert await bus.publish(S, many) == 0
    taken: list[Delivery] = []
    while part := await bus.take(S, G, 12_000, 0):
        taken += part
    assert [delivery.event for delivery in taken] == many
    await bus.acknowledge(S, G, ids(taken))
    assert await bus.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=0)]


async def test_a_waiting_take_wakes_at_once(open_bus: OpenBus) -> None:
    consumer, publisher = open_bus(), open_bus()
    waiting = asyncio.create_task(consumer.take(S, G, 9, 30))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    start = time.monotonic()
    await publisher.publish(S, events("a", "b", "c"))
    assert keys(await waiting) == ["a", "b", "c"]
    assert time.monotonic() - start < 2


async def test_a_take_that_waits_for_nothing_ends_in_time(bus: Bus) -> None:
    start = time.monotonic()
    assert await bus.take(S, G, 9, 0.2) == []
    assert 0.19 < time.monotonic() - start < 2


async def test_cancelling_a_waiting_take_loses_nothing(open_bus: OpenBus) -> None:
    consumer, publisher = open_bus(), open_bus()
    for number in range(20):
        waiting = asyncio.create_task(consumer.take(S, G, 9, 30))
        await asyncio.sleep(0.002 * (number % 3))
        publishing = asyncio.create_task(publisher.publish(S, events(str(number))))
        await asyncio.sleep(0.0003 * (number % 7))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await publishing
        taken = [] if waiting.cancelled() else waiting.result()
        while not taken:
            taken = await consumer.take(S, G, 9, 10)
        assert (keys(taken), taken[0].attempt) == ([str(number)], 1)
        await consumer.acknowledge(S, G, ids(taken))
    assert await consumer.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=0)]


async def test_two_takes_of_one_consumer_share_the_events(bus: Bus) -> None:
    waiting = [asyncio.create_task(bus.take(S, G, 1, 30)) for _ in range(2)]
    await asyncio.sleep(0.02)
    await bus.publish(S, events("a", "b"))
    assert sorted(key for part in await asyncio.gather(*waiting) for key in keys(part)) == ["a", "b"]


async def test_closing_twice_keeps_what_is_pending(open_bus: OpenBus) -> None:
    one, two = open_bus(), open_bus()
    await one.publish(S, events("a", "b"))
    assert keys(await one.take(S, G, 1, 0)) == ["a"]
    await one.aclose()
    await one.aclose()
    assert keys(await two.take(S, G, 9, 0)) == ["b"]
    assert [each.pending for each in await two.states([S])] == [2], "the event that nobody acknowledged stays"
