"""The embedding cache on a real server: the same answers as the one on disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey.cache import ValkeyCache
from atlas.adapters.buses.valkey.connection import Connection
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.stores.sqlite.embedding_cache import DiskCache
from atlas.core.contracts import EmbeddingCache
from atlas.core.errors import Unavailable

VECTOR = 512
OpenCache = Callable[[int], EmbeddingCache]
"""(vectors that it may hold) -> a cache; all calls of a test share what they hold."""


@pytest.fixture(params=["disk", "valkey"])
async def open_cache(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenCache]:
    opened: list[EmbeddingCache] = []
    prefix = f"{secrets.token_hex(6)}:"

    def open_disk(most: int) -> EmbeddingCache:
        opened.append(DiskCache(tmp_path, most * (VECTOR + 64)))
        return opened[-1]

    def open_valkey(most: int) -> EmbeddingCache:
        server: ManagedServer = request.getfixturevalue("bus_server")
        opened.append(ValkeyCache(Connection.open(server.url), prefix, most))
        return opened[-1]

    yield open_disk if request.param == "disk" else open_valkey
    for cache in opened:
        await cache.aclose()


async def test_what_is_put_is_got_byte_for_byte_in_order_and_by_others(open_cache: OpenCache) -> None:
    cache, other = open_cache(10_000), open_cache(10_000)
    vectors = {f"k{number}": os.urandom(VECTOR) for number in range(1_203)}
    await cache.put(vectors)
    keys = ["k7", "unknown", "k1202", "k7", "k0"]
    wanted = [vectors["k7"], None, vectors["k1202"], vectors["k7"], vectors["k0"]]
    assert await cache.get(keys) == await other.get(keys) == wanted
    assert await cache.get(list(vectors)) == list(vectors.values())
    assert await cache.get([]) == []


async def test_a_later_put_replaces(open_cache: OpenCache) -> None:
    cache = open_cache(100)
    await cache.put({"a": b"1" * VECTOR})
    await cache.put({"a": b"2" * VECTOR})
    assert await cache.get(["a"]) == [b"2" * VECTOR]


async def test_it_stays_within_its_size(open_cache: OpenCache) -> None:
    cache = open_cache(200)
    for start in range(0, 2_000, 100):
        await cache.put({f"{number:05}": bytes(VECTOR) for number in range(start, start + 100)})
    held = [data for data in await cache.get([f"{number:05}" for number in range(2_000)]) if data is not None]
    assert 100 <= len(held) <= 200


async def test_a_server_that_is_away_is_unavailable(tmp_path: Path) -> None:
    cache = ValkeyCache(Connection.open(str(tmp_path / "no.sock")), "", 10)
    with pytest.raises(Unavailable):
        await cache.get(["a"])
    await cache.aclose()
