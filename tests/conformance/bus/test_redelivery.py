"""What every bus does with deliveries that are not acknowledged, with dead letters, states and notes."""

from __future__ import annotations

import asyncio
import time

import pytest

from atlas.adapters.buses.retry_policy import MAX_DEAD_LETTERS, RetryPolicy
from atlas.core.contracts import Bus
from atlas.core.events import Event, StreamState
from tests.conformance.bus.conftest import OpenBus
from tests.conformance.bus.test_delivery import G, S, events, ids, keys

SOON = RetryPolicy(after=0.2, attempts=3, first_delay=0.05)
AT_ONCE = RetryPolicy(after=60, attempts=3, first_delay=0)


async def test_what_a_dead_consumer_left_comes_again(open_bus: OpenBus) -> None:
    dead, living = open_bus(retry_policy=SOON), open_bus(retry_policy=SOON)
    await dead.publish(S, events("a", "b"))
    left = await dead.take(S, G, 9, 0)
    start = time.monotonic()
    again = await living.take(S, G, 9, 10)
    assert 0.1 < time.monotonic() - start < 3
    assert keys(again) == ["a", "b"]
    assert ids(again) == ids(left)
    assert [delivery.attempt for delivery in again] == [2, 2]
    await living.acknowledge(S, G, ids(again))
    assert await living.take(S, G, 9, 0.3) == []


async def test_due_events_come_before_new_ones(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=AT_ONCE)
    await bus.publish(S, events("a", "b", "c"))
    await bus.take(S, G, 2, 0)
    await bus.publish(S, events("d"))
    assert await bus.reclaim(S, G) == 2
    taken = await bus.take(S, G, 3, 0)
    assert [(delivery.event.key, delivery.attempt) for delivery in taken] == [("a", 2), ("b", 2), ("c", 1)]
    assert keys(await bus.take(S, G, 3, 0)) == ["d"]


async def test_an_event_that_nobody_answers_becomes_a_dead_letter(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=SOON)
    await bus.publish(S, events("a"))
    attempts: list[int] = []
    before = time.time()
    for _ in range(3):
        attempts += [delivery.attempt for delivery in await bus.take(S, G, 9, 5)]
    assert attempts == [1, 2, 3]
    assert await bus.take(S, G, 9, 0.5) == []
    (letter,) = await bus.dead_letters()
    assert letter[1:6] == (S, G, Event("p", "a"), 3, "delivered 3 times without an answer")
    assert before - 1 < letter.at < time.time() + 1
    assert await bus.states() == [StreamState(S, G, length=0, waiting=0, pending=0, dead=1)]


async def test_a_failed_event_comes_again_after_a_growing_delay(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=RetryPolicy(after=60, attempts=3, first_delay=0.3))
    await bus.publish(S, events("a", "b"))
    taken = await bus.take(S, G, 9, 0)
    waits: list[float] = []
    for attempt in (2, 3):
        start = time.monotonic()
        await bus.nack(S, G, ids(taken[:1]), "cannot")
        assert await bus.take(S, G, 9, 0) == []
        taken = await bus.take(S, G, 9, 10)
        waits.append(time.monotonic() - start)
        assert [(delivery.event.key, delivery.attempt) for delivery in taken] == [("a", attempt)]
    assert 0.25 < waits[0] < 3
    assert waits[1] > 0.5
    await bus.nack(S, G, ids(taken), "no such table")
    assert [(letter.event.key, letter.attempts, letter.reason) for letter in await bus.dead_letters()] == [
        ("a", 3, "no such table")
    ]
    assert await bus.states() == [StreamState(S, G, length=1, waiting=0, pending=1, dead=1)]


async def test_a_waiting_take_gets_what_failed_before(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=RetryPolicy(after=60, first_delay=0.3))
    await bus.publish(S, events("a"))
    await bus.nack(S, G, ids(await bus.take(S, G, 9, 0)), "busy")
    start = time.monotonic()
    assert keys(await bus.take(S, G, 9, 30)) == ["a"]
    assert time.monotonic() - start < 3


async def test_holding_keeps_a_delivery_from_others(open_bus: OpenBus) -> None:
    rule = RetryPolicy(after=0.5, attempts=100)
    worker, other = open_bus(retry_policy=rule), open_bus(retry_policy=rule)
    await worker.publish(S, events("a", "b"))
    held, left = await worker.take(S, G, 9, 0)
    end = time.monotonic() + 1.1
    seen: list[str] = []
    while time.monotonic() < end:
        await worker.extend_visibility(S, G, [held.id, "0-77", "nonsense"])
        seen += keys(await other.take(S, G, 9, 0.05))
    assert "b" in seen
    assert "a" not in seen
    await worker.acknowledge(S, G, [held.id, left.id])
    assert [state.length for state in await worker.states()] == [0]


async def test_reclaim_counts_and_makes_everything_due(open_bus: OpenBus) -> None:
    dead, next_one = open_bus(retry_policy=AT_ONCE), open_bus(retry_policy=AT_ONCE)
    assert await next_one.reclaim(S, G) == 0
    await dead.publish(S, events(*map(str, range(2500))))
    left = await dead.take(S, G, 2500, 0)
    await dead.acknowledge(S, G, ids(left[:10]))
    assert await next_one.reclaim(S, G) == 2490
    again = await next_one.take(S, G, 2500, 0)
    assert ids(again) == ids(left[10:])
    assert {delivery.attempt for delivery in again} == {2}


async def test_unknown_ids_are_ignored(bus: Bus) -> None:
    await bus.publish(S, events("a", "b"))
    (taken,) = await bus.take(S, G, 1, 0)
    untaken = str(int(taken.id) + 1) if taken.id.isdigit() else f"{int(taken.id[:13]) + 10**6}-0"
    for unknown in (["0-1", "77", "nonsense", "", untaken], []):
        await bus.acknowledge(S, G, unknown)
        await bus.nack(S, G, unknown, "why")
        await bus.extend_visibility(S, G, unknown)
        await bus.acknowledge("never:seen", G, unknown)
        await bus.nack("never:seen", G, unknown, "why")
        await bus.extend_visibility("never:seen", G, unknown)
        assert (await bus.retry(unknown), await bus.drop(unknown)) == (0, 0)
    assert await bus.states() == [StreamState(S, G, length=2, waiting=1, pending=1, dead=0)]
    assert keys(await bus.take(S, G, 9, 0)) == ["b"]


async def test_acknowledging_what_another_group_has_pending(bus: Bus) -> None:
    await bus.publish(S, events("a"))
    taken = await bus.take(S, "one", 9, 0)
    await bus.take(S, "two", 9, 0)
    await bus.acknowledge(S, "one", ids(taken) * 2)
    assert [(state.group, state.length, state.pending) for state in await bus.states()] == [
        ("one", 1, 0),
        ("two", 1, 1),
    ]


async def test_dead_letters_of_two_groups_are_apart(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=RetryPolicy(attempts=1))
    assert await bus.take(S, "two", 1, 0) == []
    await bus.publish(S, events("a", "b"))
    await bus.nack(S, "one", ids(await bus.take(S, "one", 9, 0)), "first")
    await bus.nack(S, "two", ids(await bus.take(S, "two", 1, 0)), "second")
    assert [(letter.group, letter.event.key, letter.reason) for letter in await bus.dead_letters()] == [
        ("one", "a", "first"),
        ("one", "b", "first"),
        ("two", "a", "second"),
    ]
    assert await bus.states() == [
        StreamState(S, "one", length=1, waiting=0, pending=0, dead=2),
        StreamState(S, "two", length=1, waiting=1, pending=0, dead=1),
    ]
    assert [letter.event.key for letter in await bus.dead_letters(2)] == ["a", "b"]


async def test_letters_are_retried_with_a_fresh_count(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=RetryPolicy(attempts=1))
    await bus.publish(S, events("a", "b", "c"))
    await bus.nack(S, G, ids(await bus.take(S, G, 9, 0)), "broken")
    letters = await bus.dead_letters()
    assert await bus.retry([letters[0].id, letters[1].id, letters[1].id, "5-5"]) == 2
    assert [letter.event.key for letter in await bus.dead_letters()] == ["c"]
    again = await bus.take(S, G, 9, 0)
    assert [(delivery.event.key, delivery.attempt) for delivery in again] == [("a", 1), ("b", 1)]
    assert await bus.drop([letter.id for letter in letters]) == 1
    assert await bus.dead_letters() == []


async def test_a_letter_that_finds_no_room_stays(open_bus: OpenBus) -> None:
    bus = open_bus(capacity=2, retry_policy=RetryPolicy(attempts=1))
    await bus.publish(S, events("a", "b"))
    await bus.nack(S, G, ids(await bus.take(S, G, 9, 0)), "broken")
    await bus.publish(S, events("c"))
    assert await bus.retry([letter.id for letter in await bus.dead_letters()]) == 1
    assert [letter.event.key for letter in await bus.dead_letters()] == ["b"]
    assert keys(await bus.take(S, G, 9, 0)) == ["c", "a"]


async def test_old_letters_make_room(open_bus: OpenBus) -> None:
    bus = open_bus(retry_policy=RetryPolicy(attempts=1))
    for start in (0, 5000, 10_000):
        await bus.publish(S, events(*(str(number) for number in range(start, start + 5000))))
        await bus.nack(S, G, ids(await bus.take(S, G, 5000, 0)), "broken")
    letters = await bus.dead_letters(20_000)
    assert len(letters) == MAX_DEAD_LETTERS
    assert (letters[0].event.key, letters[-1].event.key) == ("5000", "14999")
    assert [state.dead for state in await bus.states()] == [MAX_DEAD_LETTERS]
    assert await bus.drop([letter.id for letter in letters]) == MAX_DEAD_LETTERS


async def test_states_say_where_every_group_stands(open_bus: OpenBus) -> None:
    bus = open_bus()
    assert await bus.states() == []
    await bus.publish("b", events("1", "2", "3"))
    await bus.take("b", "y", 2, 0)
    await bus.take("b", "x", 1, 0)
    await bus.take("a", "z", 1, 0)
    await bus.acknowledge("b", "x", ids(await bus.take("b", "x", 1, 0)))
    expected = [
        StreamState("a", "z", length=0, waiting=0, pending=0, dead=0),
        StreamState("b", "x", length=3, waiting=1, pending=1, dead=0),
        StreamState("b", "y", length=3, waiting=1, pending=2, dead=0),
    ]
    assert await bus.states() == expected
    assert await open_bus().states() == expected


async def test_a_heartbeat_is_read_by_all_until_it_expires(open_bus: OpenBus) -> None:
    bus, other = open_bus(), open_bus()
    assert await bus.heartbeat("daemon") == ""
    await bus.send_heartbeat("daemon", "pid 7, läuft", 60)
    await bus.send_heartbeat("short", "soon gone", 0.1)
    await bus.send_heartbeat("daemon", "pid 8, läuft", 60)
    assert await other.heartbeat("daemon") == "pid 8, läuft"
    await asyncio.sleep(0.15)
    assert await other.heartbeat("short") == ""


@pytest.mark.parametrize("attempt, delay", [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (9, 5.0)])
def test_the_delay_doubles_up_to_a_bound(attempt: int, delay: float) -> None:
    assert RetryPolicy(after=5.0, longest_delay=60.0).delay(attempt) == delay
    assert RetryPolicy(after=60.0, longest_delay=5.0).delay(attempt) == delay
