"""An index pass that a daemon does: when it counts as done, and what happens when the daemon does not finish it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.code.index.daemon_client import DaemonResult, index_by_daemon, read_state, served_project
from atlas.code.index.events import AST_DIRTY, FILE_CHANGED, WHOLE_PROJECT, no_progress
from atlas.code.index.heartbeat import DAEMON
from atlas.core.contracts import Bus
from atlas.core.errors import Unavailable
from atlas.core.events import Event

TIERS = ((FILE_CHANGED, "graph"), (AST_DIRTY, "ast"))


async def tell(bus: Bus, started_at: float = 1.0, heartbeat_at: float = 0.0, **counters: int) -> None:
    """What a daemon of project `shop` tells."""
    counts = {"parsed": 0, "written": 0, "removed": 0, "vectors": 0} | counters
    project = {"project": "shop", "root": "/shop", "files": 7, **counts}
    tiers = [{"stream": stream, "tier": group} for stream, group in TIERS]
    state = {"pid": 42, "started_at": started_at, "heartbeat_at": heartbeat_at or time.time()}
    await bus.send_heartbeat(DAEMON, json.dumps({**state, "projects": [project], "tiers": tiers}), 60)


async def ask(bus: Bus, alive: Callable[[], bool] = lambda: True) -> DaemonResult | None:
    served = await served_project(bus, "shop")
    assert served is not None
    async with asyncio.timeout(10):
        return await index_by_daemon(bus, "shop", served, alive, no_progress)


@pytest.mark.parametrize("note", ["", "nonsense", "[]", json.dumps({"heartbeat_at": 1.0, "projects": []})])
async def test_nobody_tells_anything_that_is_true_now(note: str) -> None:
    bus = MemoryBus()
    await bus.send_heartbeat(DAEMON, note, 60)
    assert await read_state(bus) is None
    assert await served_project(bus, "shop") is None


@pytest.mark.parametrize("more", [{}, {"projects": 3}, {"projects": [{"project": "shop"}]}, {"projects": ["shop"]}])
async def test_what_cannot_be_understood_is_no_daemon(more: dict[str, object]) -> None:
    bus = MemoryBus()
    await bus.send_heartbeat(DAEMON, json.dumps({"heartbeat_at": time.time()} | more), 60)
    assert await served_project(bus, "shop") is None


async def test_a_daemon_of_other_projects_is_named_with_both_ways_out() -> None:
    bus = MemoryBus()
    await tell(bus)
    with pytest.raises(Unavailable, match=r"process 42.* serves shop, not barn") as caught:
        await served_project(bus, "barn")
    assert "restart" in caught.value.hint
    assert "stop" in caught.value.hint


async def test_it_is_done_when_every_tier_has_acknowledged_and_the_daemon_has_told_since() -> None:
    bus = MemoryBus()
    await tell(bus, parsed=3)
    asking = asyncio.create_task(ask(bus))
    (look,) = await bus.take(FILE_CHANGED, "graph", 10, 5)
    assert look.event == Event("shop", WHOLE_PROJECT)
    await asyncio.sleep(0.2)
    await bus.publish(AST_DIRTY, [Event("shop", "a.py")])
    await bus.acknowledge(FILE_CHANGED, "graph", [look.id])
    await asyncio.sleep(0.2)
    assert not asking.done(), "tier 2 has not begun"
    (file,) = await bus.take(AST_DIRTY, "ast", 10, 5)
    await asyncio.sleep(0.2)
    assert not asking.done(), "tier 2 is at work"
    await bus.acknowledge(AST_DIRTY, "ast", [file.id])
    await asyncio.sleep(0.2)
    assert not asking.done(), "what the daemon told is from before"
    await tell(bus, parsed=4, written=2, vectors=9)
    assert await asking == DaemonResult(42, files=7, parsed=1, written=2, removed=0, vectors=9, given_up=0)


async def test_what_was_given_up_meanwhile_is_counted() -> None:
    bus = MemoryBus(retry_policy=RetryPolicy(attempts=1))
    await tell(bus)
    asking = asyncio.create_task(ask(bus))
    (look,) = await bus.take(FILE_CHANGED, "graph", 10, 5)
    await bus.nack(FILE_CHANGED, "graph", [look.id], "broken")
    await bus.take(AST_DIRTY, "ast", 10, 0)
    await asyncio.sleep(0.2)
    await tell(bus)
    done = await asking
    assert done is not None
    assert done.given_up == 1


async def test_a_daemon_that_is_replaced_or_gone_has_not_done_it() -> None:
    bus = MemoryBus()
    await tell(bus)
    asking = asyncio.create_task(ask(bus))
    await asyncio.sleep(0.2)
    await tell(bus, started_at=2.0)
    assert await asking is None
    await tell(bus)
    assert await ask(bus, alive=lambda: False) is None
    asking = asyncio.create_task(ask(bus))
    await asyncio.sleep(0.2)
    await bus.send_heartbeat(DAEMON, "", 60)
    assert await asking is None
