"""Buffer the bodies of requests: read whole, within their limits, and given up oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from atlas.server.http import bodies as module
from atlas.server.http.auth import Rejection
from atlas.server.http.bodies import SMALL_BYTES, BodyBuffers, ClientDisconnected


class Client:
    """Sends parts when it is told to."""

    def __init__(self) -> None:
        self._parts: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()

    def send(self, part: bytes, *, last: bool = False) -> None:
        self._parts.put_nowait({"type": "http.request", "body": part, "more_body": not last})

    def leave(self) -> None:
        self._parts.put_nowait({"type": "http.disconnect"})

    async def receive(self) -> MutableMapping[str, Any]:
        return await self._parts.get()


async def whole(bodies: BodyBuffers, client: Client) -> bytes | Rejection:
    async with bodies.read(client.receive, 60) as body:
        return body


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_parts_become_a_body() -> None:
    client = Client()
    for part in (b"one", b"", b" two"):
        client.send(part)
    client.send(b"", last=True)
    assert await whole(BodyBuffers(100), client) == b"one two"


async def test_a_client_that_leaves_or_sends_too_much() -> None:
    client = Client()
    client.send(b"x" * 101)
    refused = await whole(BodyBuffers(100), client)
    assert isinstance(refused, Rejection) and refused.status == 413
    client.leave()
    with pytest.raises(ClientDisconnected):
        await whole(BodyBuffers(100), client)


@pytest.mark.parametrize("length", ["101", "9" * 5000])
def test_an_announced_length_is_believed(length: str) -> None:
    refused = BodyBuffers(100).check_length(length)
    assert refused is not None and refused.status == 413
    assert BodyBuffers(100).check_length("100") is BodyBuffers(100).check_length("none") is None


async def test_a_pause_that_is_too_long_ends_it_and_progress_does_not_prolong_it_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.2)
    monkeypatch.setattr(module, "BODY_SECONDS", 0.6)
    silent, dripping = Client(), Client()
    reading = [asyncio.create_task(whole(BodyBuffers(100), client)) for client in (silent, dripping)]
    silent.send(b"x")
    while not reading[1].done():
        dripping.send(b"x")
        await asyncio.sleep(0.02)
    for task in reading:
        refused = await task
        assert isinstance(refused, Rejection) and refused.status == 408


async def test_beyond_the_memory_the_oldest_body_is_given_up_and_small_ones_never() -> None:
    bodies = BodyBuffers(3 * SMALL_BYTES, 4 * SMALL_BYTES)
    clients = [Client() for _ in range(3)]
    reading = [asyncio.create_task(whole(bodies, client)) for client in clients]
    await settle()
    for client in clients[:2]:
        client.send(b"x" * 2 * SMALL_BYTES)
        await settle()
    clients[2].send(b"small", last=True)
    assert await reading[2] == b"small"
    clients[1].send(b"x", last=True)
    assert len(await reading[1]) == 2 * SMALL_BYTES + 1  # type: ignore[arg-type]
    refused = await reading[0]
    assert isinstance(refused, Rejection) and refused.status == 408


async def test_whole_bodies_count_until_they_are_done_with() -> None:
    bodies = BodyBuffers(3 * SMALL_BYTES, 4 * SMALL_BYTES)
    first, second, third = Client(), Client(), Client()
    for client in (first, second, third):
        client.send(b"x" * 3 * SMALL_BYTES, last=True)
    async with bodies.read(first.receive, 60) as body:
        assert isinstance(body, bytes)
        refused = await whole(bodies, second)
        assert isinstance(refused, Rejection) and refused.status == 503
    assert isinstance(await whole(bodies, third), bytes)
