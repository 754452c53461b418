"""AdmissionControl: in order, few that begin together, long ones that hold up nobody, and none lost."""

from __future__ import annotations

import asyncio

from atlas.server.http.admission import IN_ORDER, STARTING_SECONDS, AdmissionControl, Displaced, Permit


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_few_begin_together_and_in_the_order_of_asking() -> None:
    turns = AdmissionControl(at_work=8, starting=2)
    begun: list[int] = []

    async def work(number: int) -> None:
        turn = await turns.take()
        begun.append(number)
        await asyncio.sleep(0.01)
        turn.end()
        at_work.remove(number)

    at_work = list(range(6))
    tasks = [asyncio.create_task(work(number)) for number in range(6)]
    await settle()
    assert begun == [0, 1]
    while at_work:
        assert len([number for number in begun if number in at_work]) <= 2
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    assert begun == list(range(6))
    assert not turns.are_taken


async def test_long_ones_hold_up_nobody_until_all_turns_are_theirs() -> None:
    turns = AdmissionControl(at_work=3, starting=2)
    loop = asyncio.get_running_loop()
    started = loop.time()
    long = [await turns.take(), await turns.take()]
    short = await turns.take()
    assert STARTING_SECONDS * 0.9 < loop.time() - started < STARTING_SECONDS + 1
    waiting = asyncio.create_task(turns.take())
    await asyncio.sleep(STARTING_SECONDS * 1.5)
    assert not waiting.done(), "a fourth of three"
    short.end()
    (await waiting).end()
    for turn in long:
        turn.end()
    assert not turns.are_taken
    assert await in_one_go(turns, 3) == 2, "a turn that took long was given back twice"


async def test_who_stops_waiting_takes_no_turn_with_him() -> None:
    turns = AdmissionControl(at_work=3, starting=2)
    held = [await turns.take(), await turns.take()]
    for_starting, for_work, last = (asyncio.create_task(turns.take()) for _ in range(3))
    await settle()
    for_starting.cancel()
    for_work.cancel()
    await settle()
    held[0].end()
    await settle()
    assert last.done()
    for turn in (held[1], last.result()):
        turn.end()
    # cancelled in the moment in which its turn comes
    held = [await turns.take(), await turns.take()]
    unlucky = asyncio.create_task(turns.take())
    await settle()
    held[0].end()
    unlucky.cancel()
    held[1].end()
    await settle()
    assert unlucky.cancelled()
    assert await in_one_go(turns, 3) == 2


async def in_one_go(turns: AdmissionControl, wanted: int) -> int:
    """Return how many of so many can begin at this moment; they end again."""
    taking = [asyncio.create_task(turns.take()) for _ in range(wanted)]
    await settle()
    begun: list[Permit] = [task.result() for task in taking if task.done()]
    for task in taking:
        task.cancel()
    for turn in begun:
        turn.end()
    await settle()
    return len(begun)


async def test_a_flood_waits_behind_who_comes_after_it() -> None:
    turns = AdmissionControl(at_work=1, starting=1)
    held = await turns.take()
    flood = [turns.request("one") for _ in range(IN_ORDER + 10)]
    after = turns.request("other")
    held.end()
    assert after.done()
    assert not any(asked.done() for asked in flood)
    after.result().end()
    assert flood[-1].done(), "the newest while so many wait"
    for asked in reversed(flood[IN_ORDER:]):
        asked.result().end()
    assert flood[0].done(), "then in order"
    for asked in flood:
        turns.cancel_request(asked)
    assert not turns.are_taken


async def test_the_oldest_is_displaced_only_when_many_wait() -> None:
    turns = AdmissionControl(at_work=1, starting=1)
    held = await turns.take()
    displaced: list[int] = []
    waiting = [turns.request("one", lambda number=number: displaced.append(number)) for number in range(IN_ORDER)]
    assert not turns.displace()
    other = turns.request("other")
    assert not turns.displace("nobody")
    assert turns.displace("one")
    assert displaced == [0]
    assert isinstance(waiting[0].exception(), Displaced)
    assert not turns.displace("one")
    held.end()
    for asked in (*waiting, other):
        turns.cancel_request(asked)
    assert not turns.are_taken


async def test_a_turn_ends_once() -> None:
    turns = AdmissionControl(at_work=2, starting=2)
    turn = await turns.take()
    turn.end()
    turn.end()
    assert await in_one_go(turns, 3) == 2
