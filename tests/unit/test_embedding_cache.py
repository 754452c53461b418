"""The embedding cache: what it holds, what it forgets, and that its failures cost nothing but time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from atlas.adapters.embedders.cached import CachedEmbedder
from atlas.adapters.embedders.static import StaticEmbedder
from atlas.adapters.stores.sqlite.embedding_cache import FILE, OPENING_LOCK, DiskCache
from atlas.adapters.stores.sqlite.file import side_file
from atlas.core.errors import StoreError
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo
from atlas.runtime.process.lock import WriterLock


def chunk(text: str, name: str = "f", *, is_file: bool = False) -> Chunk:
    return Chunk(f"p:{text}", "0" * 16, name, text, is_file)


class Counting:
    """A real embedder that counts the texts it was given."""

    def __init__(self, model: str = "") -> None:
        self._static = StaticEmbedder()
        self._model = model
        self.texts: list[str] = []

    @property
    def embedding_stats(self) -> EmbeddingStats:
        return EmbeddingStats(len(self.texts))

    @property
    def place(self) -> str:
        return ""

    async def info(self) -> ModelInfo:
        info = await self._static.info()
        return ModelInfo(info.provider, self._model or info.model, info.dimension, info.fingerprint)

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        self.texts += [one.text for one in chunks]
        return await self._static.embed_chunks(chunks)

    async def embed_query(self, text: str) -> bytes:
        return await self._static.embed_query(text)

    async def aclose(self) -> None:
        await self._static.aclose()


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[DiskCache]:
    cache = DiskCache(tmp_path, 1 << 20)
    yield cache
    await cache.aclose()


async def test_equal_text_is_embedded_once_and_vectors_are_those_of_the_embedder(disk: DiskCache) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, disk)
    chunks = [chunk("def a(): pass"), chunk("def b(): pass"), chunk("def a(): pass")]
    first = await cached.embed_chunks(chunks)
    assert first == await StaticEmbedder().embed_chunks(chunks)
    assert inner.texts == ["def a(): pass", "def b(): pass"]
    assert await cached.embed_chunks(chunks) == first
    assert len(inner.texts) == 2


async def test_name_weight_and_model_belong_to_the_key(disk: DiskCache) -> None:
    inner, other = Counting(), Counting("another-model")
    cached = CachedEmbedder(inner, disk)
    variants = [chunk("x = 1", "a"), chunk("x = 1", "b"), chunk("x = 1", "a", is_file=True)]
    assert await cached.embed_chunks(variants) == await StaticEmbedder().embed_chunks(variants)
    assert len(inner.texts) == 3
    await CachedEmbedder(other, disk).embed_chunks(variants[:1])
    assert len(other.texts) == 1


async def test_it_outlives_the_process_and_is_shared_by_projects(tmp_path: Path) -> None:
    one = DiskCache(tmp_path, 1 << 20)
    await CachedEmbedder(Counting(), one).embed_chunks([chunk("shared text")])
    other, inner = DiskCache(tmp_path, 1 << 20), Counting()
    await CachedEmbedder(inner, other).embed_chunks([chunk("shared text")])
    assert inner.texts == []
    await one.aclose()
    await other.aclose()


async def test_it_stays_bounded_and_keeps_what_was_used_last(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 100 * (512 + 64))
    for start in range(0, 1000, 50):
        await cache.put({f"{number:04}": bytes(512) for number in range(start, start + 50)})
    found = await cache.get([f"{number:04}" for number in range(1000)])
    assert 50 <= sum(data is not None for data in found) <= 100
    await cache.aclose()


async def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(os.urandom(8192))
    cache = DiskCache(tmp_path, 1 << 20)
    await cache.put({"a": b"1"})
    assert await cache.get(["a", "b"]) == [b"1", None]
    await cache.aclose()


async def test_a_vector_of_another_length_is_not_believed(disk: DiskCache) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, disk)
    (vector,) = await cached.embed_chunks([chunk("text")])
    for key in await _keys(disk):
        await disk.put({key: b"short"})
    assert await cached.embed_chunks([chunk("text")]) == [vector]
    assert len(inner.texts) == 2


async def _keys(cache: DiskCache) -> list[str]:
    return [key for (key,) in cache._connection.execute("SELECT key FROM vector")]  # pyright: ignore[reportPrivateUsage]


async def test_a_cache_that_fails_costs_time_only(disk: DiskCache) -> None:
    await disk.aclose()
    with pytest.raises(StoreError):
        await disk.get(["a"])
    inner = Counting()
    cached = CachedEmbedder(inner, disk)
    chunks = [chunk("text")]
    assert await cached.embed_chunks(chunks) == await StaticEmbedder().embed_chunks(chunks)


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom atlas.adapters.stores.sqlite.embedding_cache import DiskCache\n"
        "async def main():\n    cache = DiskCache(Path(sys.argv[1]), 1 << 24)\n"
        "    for n in range(100):\n        await cache.put({f'{sys.argv[2]}{n}': bytes(512)})\n    await cache.aclose()\n"
        "asyncio.run(main())"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [process.wait(30) for process in running] == [0, 0]
    assert asyncio.run(held(tmp_path, [f"{name}{n}" for name in "ab" for n in range(100)])) == 200


_OPENS = """
import asyncio, sys
from pathlib import Path
from atlas.adapters.stores.sqlite.embedding_cache import DiskCache

print("ready", flush=True)
for line in sys.stdin:
    cache = DiskCache(Path(line.strip()), 1 << 24)
    asyncio.run(cache.put({sys.argv[1]: bytes(512)}))
    asyncio.run(cache.aclose())
    print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("found", [None, b"no database at all" * 300], ids=["new", "damaged"])
def test_two_processes_may_open_it_at_once(tmp_path: Path, found: bytes | None) -> None:
    """At the same moment, 40 times: without a turn a third of such openings failed, of a damaged file half."""
    command = [sys.executable, "-c", _OPENS]
    running = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    try:
        assert [said(process) for process in running] == ["ready", "ready"]
        for n in range(40):
            folder = tmp_path / str(n)
            folder.mkdir()
            if found:
                (folder / FILE).write_bytes(found)
            for process in running:
                assert process.stdin
                print(folder, file=process.stdin, flush=True)
            assert [said(process) for process in running] == ["done", "done"], n
            assert asyncio.run(held(folder, ["a", "b"])) == 2
    finally:
        for process in running:
            process.kill()
            process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


async def held(folder: Path, keys: list[str]) -> int:
    """Return how many of the keys a reopened cache holds."""
    cache = DiskCache(folder, 1 << 24)
    found = await cache.get(keys)
    await cache.aclose()
    return sum(data is not None for data in found)


def test_a_cache_that_somebody_opens_for_ever_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_file, "_OPENING_S", 0.05)
    lock = WriterLock(tmp_path, OPENING_LOCK)
    with pytest.raises(StoreError, match=r"another process has been opening .*embeddings\.db"):
        DiskCache(tmp_path, 1 << 24)
    lock.release()
    assert asyncio.run(held(tmp_path, ["a"])) == 0
