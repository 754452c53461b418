"""A shared session without calls closes its store, and opens it again for the next call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.session_host import SessionHost
from atlas.app.toolsets import BY_NAME
from atlas.runtime.config.load import load_settings
from atlas.server.shared_sessions import ClientSession, SharedSessions

from .trees import QUICK

FILES = {"cart.py": "def total(prices):\n    return sum(prices)\n"}


async def no_report(done: float, total: float, message: str) -> None:
    """Take no notice of progress."""


class Stores:
    """How many stores are open."""

    def __init__(self) -> None:
        self.opened = self.closed = 0


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> Stores:
    counted, opening, closing = Stores(), EmbeddedStore.open, EmbeddedStore.aclose

    def opened(*given: object, **options: object) -> EmbeddedStore:
        counted.opened += 1
        return opening(*given, **options)  # pyright: ignore[reportArgumentType]

    async def closed(store: EmbeddedStore) -> None:
        counted.closed += 1
        await closing(store)

    monkeypatch.setattr(EmbeddedStore, "open", opened)
    monkeypatch.setattr(EmbeddedStore, "aclose", closed)
    return counted


@pytest.fixture
async def clients(folder: Path, stores: Stores) -> AsyncIterator[list[ClientSession]]:
    env = {**QUICK, "ATLAS_KNOWLEDGE_PERSONAL": "false", "ATLAS_MCP_START_DAEMON": "false"}
    settings = load_settings(str(folder / "shop"), str(folder / "data"), environment=env)
    shared = SharedSessions(SessionHost(folder / "data"))
    opened = [shared.open(settings) for _ in range(2)]
    yield opened
    for client in opened:
        await client.aclose()
    await shared.aclose()
    assert stores.closed == stores.opened


async def ask(client: ClientSession) -> str:
    return (await client.call(BY_NAME["get_node"], {"name": "total"}, no_report))[0]


async def until_closed(stores: Stores) -> None:
    async with asyncio.timeout(20):
        while stores.closed < stores.opened:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_quiet_session_closes_its_store_until_the_next_call(
    clients: list[ClientSession], stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas.server.shared_sessions.QUIET_SECONDS", 0.05)
    first = await ask(clients[0])
    assert "cart.py:1" in first
    await until_closed(stores)
    opened = stores.opened
    assert await ask(clients[1]) == first
    assert stores.opened > opened
    await until_closed(stores)


async def test_calls_keep_the_store_open(
    clients: list[ClientSession], stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas.server.shared_sessions.QUIET_SECONDS", 0.0)
    for _ in range(10):
        found = await asyncio.gather(*(ask(client) for client in clients * 3))
        assert all("cart.py:1" in text for text in found)
    monkeypatch.setattr("atlas.server.shared_sessions.QUIET_SECONDS", 60.0)
    await ask(clients[0])
    before = stores.closed
    await asyncio.sleep(0.2)
    assert stores.closed == before < stores.opened
