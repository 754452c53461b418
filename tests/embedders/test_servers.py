"""Embedders over a server: what is asked of it, what becomes of every answer, and that nothing is lost or guessed."""

from __future__ import annotations

import asyncio
import math
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from atlas.adapters.embedders.prefixes import Prefixes, prefixes
from atlas.adapters.embedders.remote.batches import split, tokens_of
from atlas.adapters.embedders.remote.embedder import RemoteEmbedder, RequestOptions
from atlas.adapters.embedders.remote.endpoint import PROBE, EndpointLimits
from atlas.adapters.embedders.remote.http import JsonClient, retry_after
from atlas.adapters.embedders.remote.openai import OpenAiEndpoint
from atlas.adapters.embedders.remote.retry import Backoff
from atlas.adapters.embedders.remote.tei import TeiEndpoint
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import Chunk, EmbeddingStats, ModelInfo
from atlas.runtime.config.load import load_settings

from .stub import Reply, Stub, failure

SHORT = Backoff(0.4, 0.02)


def chunk(text: str, name: str = "f", uid: str = "") -> Chunk:
    return Chunk(uid or f"p:{text[:40]}", "0" * 16, name, text, False)


def chunks(count: int) -> list[Chunk]:
    return [chunk(f"def function_{n}(): return word{'abcdefghij'[n % 10]}") for n in range(count)]


def tei(stub: Stub, seconds: float = 5.0, model: str = "", key: str = "", **choice: object) -> RemoteEmbedder:
    chosen = {"backoff": SHORT, "query_backoff": SHORT} | choice
    exchange = JsonClient(stub.url, key, seconds, 5, loopback=True)
    dimensions = int(str(choice.get("dimensions", 0)))
    return RemoteEmbedder(TeiEndpoint(exchange, stub.url, model, dimensions), RequestOptions(**chosen))  # type: ignore[arg-type]


def openai(stub: Stub, key: str = "", **choice: object) -> RemoteEmbedder:
    chosen = {"backoff": SHORT, "query_backoff": SHORT} | choice
    exchange = JsonClient(f"{stub.url}/v1", key, 5.0, 5, loopback=True)
    dimensions = int(str(choice.get("dimensions", 0)))
    return RemoteEmbedder(OpenAiEndpoint(exchange, stub.url, stub.model, dimensions), RequestOptions(**chosen))  # type: ignore[arg-type]


@asynccontextmanager
async def serving(stub: Stub, **choice: object) -> AsyncIterator[RemoteEmbedder]:
    async with stub.running():
        made = tei(stub, **choice)  # type: ignore[arg-type]
        try:
            yield made
        finally:
            await made.aclose()


def floats16(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 2}e", data)


def assert_right(stub: Stub, given: Sequence[Chunk], vectors: Sequence[bytes]) -> None:
    for one, data in zip(given, vectors, strict=True):
        wanted = stub.vector(f"{one.name}\n{one.text}")
        assert max(abs(a - b) for a, b in zip(floats16(data), wanted, strict=True)) < 1e-3


async def test_vectors_are_in_order_normalised_and_described_by_the_server() -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        given = chunks(100)
        vectors = await embedder.embed_chunks(given)
        assert_right(stub, given, vectors)
        assert await embedder.info() == ModelInfo("tei", "test/code-embedder", 384, f"{'a' * 40}:cls")
        query = struct.unpack("<384f", await embedder.embed_query("function word"))
        assert math.hypot(*query) == pytest.approx(1)
        assert "TEI 1.9.3" in embedder.place
        assert stub.texts.count(PROBE) == 1
        assert {body["truncate"] for body in stub.bodies} == {True}


async def test_requests_keep_to_the_servers_limits_and_share_few_connections() -> None:
    stub = Stub(max_client_batch_size=8, seconds=0.005)
    async with serving(stub, batch=32, concurrency=3) as embedder:
        given = chunks(200)
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert max(len(texts) for _, texts in stub.requests) == 8
        assert 2 <= stub.most_at_work <= 3
        assert stub.connections <= 4
        assert set(stub.codes) == {200}


async def test_no_request_needs_more_permits_than_there_are() -> None:
    stub = Stub(max_concurrent_requests=10, seconds=0.002)
    async with serving(stub, concurrency=8) as embedder:
        given = chunks(60)
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert 429 not in stub.codes


@pytest.mark.parametrize(
    ("limits", "most", "sizes"),
    [
        (EndpointLimits(), 3, [3, 3, 1]),
        (EndpointLimits(texts=2), 3, [2, 2, 2, 1]),
        (EndpointLimits(tokens=2 * tokens_of("x" * 300)), 10, [2, 2, 2, 1]),
        (EndpointLimits(tokens=1, text_tokens=1), 10, [1] * 7),
        (EndpointLimits(requests=4), 10, [4, 3]),
    ],
)
def test_batches_are_bounded_and_complete(limits: EndpointLimits, most: int, sizes: list[int]) -> None:
    batches = list(split(["x" * 300] * 7, most, limits))
    assert [len(batch) for batch in batches] == sizes
    assert sorted(position for batch in batches for position in batch) == list(range(7))


def test_a_body_stays_below_the_payload_limit_also_when_characters_are_escaped() -> None:
    texts = ['"\n' * 150_000] * 10
    assert max(len(batch) for batch in split(texts, 32, EndpointLimits())) == 3


async def test_cut_texts_are_counted() -> None:
    stub = Stub(max_input_length=50)
    async with serving(stub) as embedder:
        given = [chunk("short"), chunk("long word " * 100), chunk("longer word " * 200)]
        vectors = await embedder.embed_chunks(given)
        assert all(any(vector) for vector in vectors)
        assert embedder.embedding_stats == EmbeddingStats(2, 0)


async def test_a_batch_that_became_too_large_is_halved() -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        await embedder.info()
        stub.misbehave = lambda path, texts: failure(422, "batch size", "Validation") if len(texts) > 5 else None
        given = chunks(32)
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert embedder.embedding_stats.given_up == 0


async def test_a_smaller_payload_limit_than_expected_halves_requests() -> None:
    stub = Stub(payload_limit=3000)
    async with serving(stub) as embedder:
        given = [chunk(f"def function_{n}(): return 'abc'" + " padding" * 100) for n in range(16)]
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert 413 in stub.codes


async def test_a_text_that_is_too_long_for_its_server_is_shortened_alone() -> None:
    stub = Stub(dimension=64)

    def refuse(path: str, texts: list[str]) -> Reply | None:
        too_long = any(len(text) > 500 for text in texts)
        return Reply(400, {"error": {"message": "maximum context length"}}) if too_long else None

    async with stub.running():
        embedder = openai(stub)
        stub.misbehave = refuse
        given = [*chunks(9), chunk("def long(): " + "word " * 300)]
        vectors = await embedder.embed_chunks(given)
        assert_right(stub, given[:9], vectors[:9])
        assert any(vectors[9])
        assert embedder.embedding_stats == EmbeddingStats(1, 0)
        await embedder.aclose()


@pytest.mark.parametrize(
    "answer",
    [
        failure(422, "tokenizer error", "Tokenizer"),
        failure(424, "backend failed", "Backend"),
        Reply(200, [[math.nan] * 384]),
    ],
    ids=["422", "424", "nan"],
)
async def test_a_poisoned_text_gets_no_vector_and_holds_up_no_other(answer: Reply) -> None:
    stub = Stub()

    def poison(path: str, texts: list[str]) -> Reply | None:
        if not any("poison" in text for text in texts):
            return None
        if answer.status == 200:  # as JSON writers do it: null
            return Reply(200, [[None] * 384 if "poison" in text else stub.vector(text) for text in texts])
        return answer

    stub.misbehave = poison
    async with serving(stub) as embedder:
        given = chunks(20)
        given[7] = chunk("def poison(): pass")
        vectors = await embedder.embed_chunks(given)
        assert vectors[7] == bytes(2 * 384)
        assert_right(stub, given[:7] + given[8:], vectors[:7] + vectors[8:])
        assert embedder.embedding_stats.given_up == 1
        assert len(stub.requests) < 40


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_that_refuses_every_text_is_a_mistake_in_the_settings(status: int) -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        await embedder.info()
        stub.misbehave = lambda path, texts: failure(status, "no such thing", "Validation")
        with pytest.raises(ConfigError, match="no such thing"):
            await embedder.embed_chunks(chunks(64))
        assert len(stub.requests) < 12
    async with serving(Stub(misbehave=lambda path, texts: failure(status, "never", "Validation"))) as embedder:
        with pytest.raises(ConfigError, match="never"):
            await embedder.info()


@pytest.mark.parametrize("status", [408, 424, 429, 500, 502, 503, 504])
async def test_a_passing_trouble_is_waited_out(status: int) -> None:
    stub = Stub()
    async with serving(stub, backoff=Backoff(5, 0.01)) as embedder:
        await embedder.info()
        left = 6

        def trouble(path: str, texts: list[str]) -> Reply | None:
            nonlocal left
            left -= 1
            return failure(status, "not now", "Overloaded") if left >= (4 if status == 424 else 0) else None

        stub.misbehave = trouble
        given = chunks(40)
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert status in stub.codes


@pytest.mark.parametrize("status", [424, 429, 500, 503])
async def test_a_storm_ends_as_unavailable_with_what_the_server_said(status: int) -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        await embedder.info()
        stub.misbehave = lambda path, texts: failure(status, "storm outside", "Backend")
        started = time.monotonic()
        with pytest.raises(Unavailable, match=f"{status}: storm outside"):
            await embedder.embed_chunks(chunks(500))
        assert time.monotonic() - started < 3
        stub.misbehave = None
        assert len(await embedder.embed_chunks(chunks(5))) == 5


async def test_the_servers_own_waiting_time_is_kept() -> None:
    stub = Stub()
    async with serving(stub, backoff=Backoff(5, 0.01)) as embedder:
        await embedder.info()
        asked: list[float] = []

        def once(path: str, texts: list[str]) -> Reply | None:
            asked.append(time.monotonic())
            return failure(429, "slow down", "Overloaded", Retry_After="0.3") if len(asked) == 1 else None

        stub.misbehave = once
        await embedder.embed_chunks(chunks(1))
        assert asked[1] - asked[0] >= 0.3
        stub.misbehave = lambda path, texts: failure(429, "later", "Overloaded", Retry_After="3600")
        started = time.monotonic()
        with pytest.raises(Unavailable, match="later"):
            await embedder.embed_chunks(chunks(1))
        assert time.monotonic() - started < 2


def test_waiting_times_are_read_as_seconds_or_dates() -> None:
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after": "-7"}) == 0
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}) > 1e9
    assert retry_after({"retry-after": "soon"}) == retry_after({}) == 0


async def test_a_key_is_sent_and_a_wrong_one_is_named_but_not_shown() -> None:
    stub = Stub(key="right-key-123")
    async with stub.running():
        embedder = tei(stub, key="right-key-123")
        assert len(await embedder.embed_chunks(chunks(3))) == 3
        await embedder.aclose()
        for made in (tei(stub, key="wrong-key-of-mine"), openai(stub, key="wrong-key-of-mine")):
            with pytest.raises(ConfigError) as caught:
                await made.info()
            assert "401" in caught.value.message
            assert "ATLAS_EMBEDDER_API_KEY" in caught.value.hint
            assert "of-mine" not in caught.value.message + caught.value.hint
            await made.aclose()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(404, {"error": "model not found"}), "model not found"),
        (Reply(302, b"", {"Location": "http://example.org/"}), "302"),
        (Reply(418, b"\xff<html>teapot"), "418.*teapot"),
    ],
)
async def test_other_refusals_are_mistakes_in_the_settings(reply: Reply, message: str) -> None:
    async with serving(Stub(misbehave=lambda path, texts: reply)) as embedder:
        with pytest.raises(ConfigError, match=message):
            await embedder.info()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(200, [[1.0, 2.0]]), "1 vector for 7 texts"),
        (Reply(200, b"<html>"), "not return JSON"),
        (Reply(200, {"error": "x"}), "no list"),
        (Reply(200, [["a"]] * 7), "not a number"),
        (Reply(200, [[1.0], [1.0, 2.0]] + [[1.0]] * 5), "different"),
        (Reply(200, [[0.5] * 384] * 7, cut=True), "no complete response"),
    ],
    ids=["too few", "no JSON", "an object", "strings", "different lengths", "cut off"],
)
async def test_broken_answers_are_asked_for_again_then_unavailable(reply: Reply, message: str) -> None:
    stub = Stub()
    async with serving(stub, backoff=Backoff(5, 0.01)) as embedder:
        await embedder.info()
        left = 2

        def broken(path: str, texts: list[str]) -> Reply | None:
            nonlocal left
            left -= 1
            return reply if left >= 0 and texts != [PROBE] else None

        stub.misbehave = broken
        assert_right(stub, chunks(7), await embedder.embed_chunks(chunks(7)))
    stub.misbehave = lambda path, texts: None if texts == [PROBE] else reply
    async with serving(stub) as embedder:
        with pytest.raises(Unavailable, match=message):
            await embedder.embed_chunks(chunks(7))


async def test_a_slow_server_times_out() -> None:
    stub = Stub()
    async with serving(stub, seconds=0.3, backoff=Backoff(0.1, 0.01)) as embedder:
        await embedder.info()
        stub.seconds = 30
        started = time.monotonic()
        with pytest.raises(Unavailable, match=r"did not respond within 0\.3 s"):
            await embedder.embed_chunks(chunks(50))
        assert time.monotonic() - started < 3


async def test_a_question_is_not_held_up_by_a_slow_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas.adapters.embedders.remote.embedder.QUESTION_SECONDS", 0.3)
    stub = Stub()
    async with serving(stub, seconds=60) as embedder:
        await embedder.embed_query("x")
        stub.seconds = 30
        with pytest.raises(Unavailable, match=r"did not respond to a query within 0\.3 s"):
            await embedder.embed_query("x")


async def test_a_server_that_dies_in_mid_batch_and_comes_back_loses_nothing() -> None:
    stub = Stub(seconds=0.02)
    async with serving(stub, backoff=Backoff(10, 0.05), batch=8) as embedder:
        given = chunks(200)
        work = asyncio.create_task(embedder.embed_chunks(given))
        await stub.asked(8)
        await stub.stop()
        await asyncio.sleep(0.2)
        await stub.start()
        assert_right(stub, given, await work)


async def test_a_server_that_stays_away_is_unavailable_and_cancels_what_is_in_flight() -> None:
    stub = Stub(seconds=0.02)
    async with serving(stub, batch=4) as embedder:
        work = asyncio.create_task(embedder.embed_chunks(chunks(400)))
        await stub.asked(8)
        await stub.stop()
        with pytest.raises(Unavailable, match="cannot be reached"):
            await work
        with pytest.raises(Unavailable, match="cannot be reached"):
            await embedder.info()
        await stub.start()
        assert len(await embedder.embed_chunks(chunks(3))) == 3


async def test_another_model_after_a_restart_is_noticed_and_never_mixed() -> None:
    stub = Stub(seconds=0.02)
    async with serving(stub, backoff=Backoff(10, 0.05), batch=4) as embedder:
        before = await embedder.info()
        work = asyncio.create_task(embedder.embed_chunks(chunks(400)))
        await stub.asked(8)
        await stub.stop()
        stub.sha = "b" * 40
        await stub.start()
        with pytest.raises(Unavailable, match="no longer serves"):
            await work
        after = await embedder.info()
        assert (before.fingerprint[0], after.fingerprint[0]) == ("a", "b")
        assert_right(stub, chunks(3), await embedder.embed_chunks(chunks(3)))


async def test_vectors_that_change_their_length_are_never_returned() -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        await embedder.info()
        stub.misbehave = lambda path, texts: Reply(200, [[0.5] * 100 for _ in texts])
        with pytest.raises(Unavailable, match="no longer serves"):
            await embedder.embed_chunks(chunks(3))
        stub.misbehave, stub.dimension, stub.sha = None, 100, "c" * 40
        assert len((await embedder.embed_chunks(chunks(1)))[0]) == 200


async def test_a_wrong_dimension_names_both() -> None:
    stub = Stub(dimension=384)
    async with serving(stub, dimensions=768) as embedder:
        with pytest.raises(ConfigError, match=r"384 dimensions, embedder\.dimensions is 768"):
            await embedder.info()
        assert stub.bodies[0]["dimensions"] == 768


async def test_a_server_of_another_model_or_of_no_embeddings_is_a_mistake() -> None:
    async with serving(Stub(), model="other/model") as embedder:
        with pytest.raises(ConfigError, match=r"serves test/code-embedder, embedder\.model is other/model"):
            await embedder.info()
    async with serving(Stub(kind="reranker")) as embedder:
        with pytest.raises(ConfigError, match="reranker"):
            await embedder.info()


@pytest.mark.parametrize(("base64", "shuffle"), [(False, False), (True, False), (False, True), (True, True)])
async def test_openai_answers_in_any_order_and_encoding(base64: bool, shuffle: bool) -> None:
    stub = Stub(base64=base64, shuffle=shuffle)
    async with stub.running():
        embedder = openai(stub)
        given = chunks(50)
        assert_right(stub, given, await embedder.embed_chunks(given))
        assert await embedder.info() == ModelInfo("openai", stub.model, 384, stub.model)
        assert {path for path, _ in stub.requests} == {"/v1/embeddings"}
        assert {body["model"] for body in stub.bodies} == {stub.model}
        await embedder.aclose()
        await embedder.aclose()


@pytest.mark.parametrize(
    "data",
    [[{"index": 0, "embedding": [1.0]}] * 2, [{"index": 5, "embedding": [1.0]}], [[1.0]], "x", None],
)
async def test_openai_answers_whose_order_is_not_known_are_not_guessed(data: object) -> None:
    stub = Stub(misbehave=lambda path, texts: Reply(200, {"data": data, "model": "m"}))
    async with stub.running():
        embedder = openai(stub)
        with pytest.raises(Unavailable, match="returned"):
            await embedder.info()
        await embedder.aclose()


@pytest.mark.parametrize(
    ("model", "query", "document", "wanted"),
    [
        ("Alibaba-NLP/gte-modernbert-base", "auto", "auto", Prefixes()),
        ("jinaai/jina-embeddings-v2-base-code", "auto", "auto", Prefixes()),
        ("nomic-ai/CodeRankEmbed", "auto", "auto", Prefixes("Represent this query for searching relevant code: ")),
        ("google/embeddinggemma-300m", "auto", "", Prefixes("task: code retrieval | query: ", "")),
        ("google/embeddinggemma-300m", "q ", "auto", Prefixes("q ", "title: none | text: ")),
        ("intfloat/multilingual-e5-small", "auto", "auto", Prefixes("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", "auto", "auto", Prefixes()),
        ("text-embedding-3-small", "auto", "auto", Prefixes()),
    ],
)
def test_prefixes_are_the_models_unless_the_settings_say_otherwise(
    model: str, query: str, document: str, wanted: Prefixes
) -> None:
    assert prefixes(model, query, document) == wanted
    assert prefixes("Qwen/Qwen3-Embedding-0.6B", "auto", "auto").query.endswith("\nQuery:")


async def test_prefixes_are_sent_and_the_documents_one_makes_other_vectors() -> None:
    stub = Stub(model="intfloat/multilingual-e5-small")
    async with serving(stub) as embedder, _second(stub) as plain:
        await embedder.embed_chunks([chunk("body", "name")])
        await embedder.embed_query("where")
        assert stub.texts[-2:] == ["passage: name\nbody", "query: where"]
        assert (await embedder.info()).fingerprint != (await plain.info()).fingerprint


@asynccontextmanager
async def _second(stub: Stub) -> AsyncIterator[RemoteEmbedder]:
    embedder = tei(stub, document_prefix="")
    yield embedder
    await embedder.aclose()


async def test_text_that_is_no_unicode_is_sent_all_the_same() -> None:
    stub = Stub()
    async with serving(stub) as embedder:
        assert len(await embedder.embed_query("caf\udce9 \x00")) == 4 * 384
        assert stub.texts[-1] == "caf? \x00"


async def test_no_chunks_need_no_server(tmp_path: Path) -> None:
    settings = load_settings(str(tmp_path), environment={"ATLAS_EMBEDDER_PROVIDER": "tei"})
    from atlas.adapters.opening.embedder import make_embedder

    embedder = make_embedder(settings)
    assert await embedder.embed_chunks([]) == []
    assert embedder.place == "http://127.0.0.1:8080 on this machine"
    await embedder.aclose()
