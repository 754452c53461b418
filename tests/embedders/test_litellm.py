"""The LiteLLM embedder behind the real library, against a server on loopback; `make test` installs the extra."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest

from atlas.embedders.litellm import LiteLlmEndpoint
from atlas.embedders.remote import RemoteEmbedder, RequestOptions
from atlas.embedders.retry import Backoff
from atlas.errors import ConfigError, Unavailable
from atlas.model import Chunk, ModelInfo

from .stub import Stub, failure

pytestmark = pytest.mark.filterwarnings("ignore")

SHORT = Backoff(0.5, 0.05)


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with Stub(dimension=64).running() as running:
        yield running


def embedder(stub: Stub, key: str = "some-key-1") -> RemoteEmbedder:
    endpoint = LiteLlmEndpoint("openai/small", f"{stub.url}/v1", key, 0, 5.0, stub.url)
    return RemoteEmbedder(endpoint, RequestOptions(backoff=SHORT, query_backoff=SHORT))


async def test_vectors_come_through_and_the_environment_stays_as_it_was(stub: Stub) -> None:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    made = embedder(stub)
    chunks = [Chunk(f"u{n}", "", "name", f"def word{'abc'[n % 3]}(): pass", False) for n in range(70)]
    assert len({*await made.embed_chunks(chunks)}) == 3
    assert await made.info() == ModelInfo("litellm", "openai/small", 64, "")
    assert {body["model"] for body in stub.bodies} == {"small"}
    assert max(len(texts) for _, texts in stub.requests) == 32
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


async def test_errors_are_told_apart_and_hold_no_key(stub: Stub) -> None:
    made = embedder(stub)
    await made.info()
    stub.key = "another"
    with pytest.raises(ConfigError) as caught:
        await made.embed_query("x")
    assert "some-key" not in caught.value.message
    stub.key = ""
    stub.misbehave = lambda path, texts: failure(429, "slow down", "Overloaded")
    with pytest.raises(Unavailable, match="slow down"):
        await made.embed_query("x")
    stub.misbehave = lambda path, texts: failure(400, "too long", "x") if len(texts[0]) > 300 else None
    assert any(await made.embed_query("word " * 100))
    assert made.embedding_stats.given_up == 0
    await stub.stop()
    with pytest.raises(Unavailable):
        await made.embed_query("x")
    await stub.start()
