"""An index and its embedding server: another model makes all vectors stale, a server that is away is waited for."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from atlas_bench.stepwise import LiveTiers

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.embedders.static import StaticEmbedder
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source, make_writing_embedders, open_atlas
from atlas.code.find import Mode, SearchResult
from atlas.code.index.events import EMBED_DIRTY, WHOLE_PROJECT, Window
from atlas.code.index.tiers.embed import EmbedTier
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.worker import TierReport, run_tier
from atlas.code.rank.rank import Candidate
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.events import Event
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import Chunk, Filter, ModelInfo
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.pipeline.trees import write_tree

from .stub import Stub, failure

FILES = {
    "bank.py": "def open_account(owner):\n    '''Open a bank account.'''\n    return owner\n\n\n"
    "def close_account(account):\n    '''Close it and pay the balance.'''\n    return account\n",
    "geo/shapes.py": "class Circle:\n    '''A round shape.'''\n\n    def area(self):\n        return 3.14 * self.radius ** 2\n",
    "README.md": "# Toys\n\nA bank and shapes.\n\n## Shapes\n\nRound and square ones.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "toys", FILES)
    return tmp_path / "toys"


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with Stub().running() as running:
        yield running


def with_server(root: Path, stub: Stub, provider: str = "tei", **more: str) -> Settings:
    return load_settings(str(root), environment=environment(stub, provider, **more))


def environment(stub: Stub, provider: str = "tei", **more: str) -> dict[str, str]:
    named = {f"ATLAS_EMBEDDER_{name.upper()}": value for name, value in more.items()}
    return {"ATLAS_EMBEDDER_PROVIDER": provider, "ATLAS_EMBEDDER_URL": stub.url} | named


async def index(settings: Settings) -> int:
    async with open_atlas(settings, writing=True) as atlas:
        return (await atlas.index()).vectors


async def meaning(settings: Settings, text: str) -> SearchResult:
    async with open_atlas(settings) as atlas:
        return await atlas.search(text, Filter(project=settings.project_name), Mode.MEANING)


def code_of(answer: SearchResult) -> list[Candidate]:
    return [each for each in answer.ranked if each.node.row.label not in DOCUMENT_LABELS]


def found(answer: SearchResult) -> list[str]:
    return [candidate.node.row.qualified_name for candidate in answer.ranked]


async def test_from_the_static_model_to_a_server_and_to_another_model(root: Path, stub: Stub) -> None:
    static, server = load_settings(str(root), environment={}), with_server(root, stub)
    assert (made := await index(static)) > 5
    assert "bank.open_account" in found(await meaning(static, "open a bank account"))[:2]

    between = await meaning(server, "open a bank account")
    assert (between.ranked, len(between.notes)) == ((), 1)
    assert "vectors are from static" in between.notes[0]
    assert "(384)" in between.notes[0]
    async with open_atlas(server) as atlas:
        hybrid = await atlas.search("open a bank account", Filter(project="toys"))
    assert found(hybrid)[0] == "bank.open_account"
    assert any("not searched by meaning" in note for note in hybrid.notes)

    assert await index(server) == made
    assert await index(server) == 0, "what is up to date is not sent again"
    assert found(await meaning(server, "open a bank account"))[0] == "bank.open_account"
    async with open_atlas(server) as atlas:
        (stats,) = await atlas.reader.store.stats("toys")
    assert stats.model() == ModelInfo("tei", "test/code-embedder", 384, f"{'a' * 40}:cls")
    assert (stats.vectors, stats.chunks) == (made, made)
    assert "not searched by meaning" in (await meaning(static, "open a bank account")).notes[0]

    stub.sha = "b" * 40  # the same name and dimension, other weights
    assert "not searched by meaning" in (await meaning(server, "open a bank account")).notes[0]
    assert await index(server) == made
    assert found(await meaning(server, "open a bank account"))[0] == "bank.open_account"
    assert await index(static) == made
    assert "bank.open_account" in found(await meaning(static, "open a bank account"))[:2]


@pytest.mark.parametrize("dimension", [1, 7, 768, 1024, 3072])
async def test_any_dimension_is_stored_and_searched(root: Path, stub: Stub, dimension: int) -> None:
    stub.dimension = dimension
    assert await index(with_server(root, stub)) > 5
    hits = found(await meaning(with_server(root, stub), "open_account open a bank account"))
    assert hits if dimension < 100 else hits[0] == "bank.open_account"


async def test_equal_texts_are_sent_once_because_the_cache_is_on(root: Path, stub: Stub) -> None:
    await index(with_server(root, stub))
    sent = len(stub.texts)
    (root / "bank.py").rename(root / "money.py")
    (root / "money.py").rename(root / "bank.py")
    async with open_atlas(with_server(root, stub), writing=True, reset=True) as atlas:
        assert (await atlas.index(full=True)).vectors > 5
    assert len(stub.texts) <= sent + 1, "the probe at most"


async def test_the_graph_is_indexed_without_its_server_and_the_vectors_later(root: Path, stub: Stub) -> None:
    settings = with_server(root, stub)
    await stub.stop()
    with pytest.raises(Unavailable, match=r"the graph is indexed, but vectors are missing: .* cannot be reached"):
        await index(settings)
    async with open_atlas(settings) as atlas:
        answer = await atlas.search("open_account", Filter(project="toys"))
    assert found(answer)[0] == "bank.open_account"
    assert any("cannot be reached" in note for note in answer.notes)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not others, "the search that failed goes on asking the server"
    await stub.start()
    assert await index(settings) > 5
    assert found(await meaning(settings, "open a bank account"))[0] == "bank.open_account"


async def test_a_wrong_key_leaves_the_graph_and_says_what_to_set(root: Path, stub: Stub) -> None:
    stub.key = "right"
    with pytest.raises(ConfigError, match="401") as caught:
        await index(with_server(root, stub, api_key="wrong-key"))
    assert "ATLAS_EMBEDDER_API_KEY" in caught.value.hint
    assert "wrong-key" not in caught.value.message
    assert await index(with_server(root, stub, api_key="right")) > 5


@pytest.mark.parametrize("trouble", ["storm", "dead", "key"])
async def test_the_live_worker_waits_for_its_server_and_blames_nobody(root: Path, stub: Stub, trouble: str) -> None:
    settings = with_server(root, stub)
    store = EmbeddedStore.open(settings.data_dir, writing=True, vector_index=VectorIndex)
    _, *embedders = make_writing_embedders(settings)
    assert len(embedders) == 2, "the server embeds documents and code"
    bus = MemoryBus()
    graph = await LiveTiers.open([make_source(settings)], store, bus, SignificanceGate(store))
    await graph.settle()
    tier = EmbedTier(graph.workspaces, store, embedders, Window(0.1, 100, 0.01))
    report, stop = TierReport(), asyncio.Event()
    try:
        if trouble == "storm":
            stub.misbehave = lambda path, texts: failure(503, "unhealthy", "Unhealthy")
        elif trouble == "key":
            stub.key = "changed"
        else:
            await stub.stop()
        await bus.publish(EMBED_DIRTY, [Event("toys", WHOLE_PROJECT)])
        working = asyncio.create_task(run_tier(bus, tier, report, stop, lambda message, fields: None))
        await until(lambda: report.away)
        stub.misbehave, stub.key = None, ""
        if trouble == "dead":
            await stub.start()
        await until(lambda: report.batches >= 1)
        (stats,) = await store.stats("toys")
        assert (stats.vectors, report.errors, report.away) == (stats.chunks, 0, "")
        assert not await bus.dead_letters()
        stop.set()
        await working
    finally:
        stop.set()
        await graph.aclose()
        for embedder in embedders:
            await embedder.aclose()
        await store.aclose()


async def until(met: object) -> None:
    async with asyncio.timeout(15):
        while not met():  # type: ignore[operator]  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_health_and_status_say_where_code_goes_and_what_is_wrong(root: Path, stub: Stub) -> None:
    settings = environment(stub, api_key="secret-key-77")
    await index(with_server(root, stub))
    health = await run(root, settings, "health", "--json")
    (check,) = [check for check in health["checks"] if check["name"] == "embedder"]
    assert check["state"] == "ok"
    assert check["detail"] == (
        f"tei test/code-embedder, 384 dimensions; code is sent to TEI 1.9.3 at {stub.url} on this machine"
    )
    status = await run(root, settings, "status", "--json")
    assert any(
        note == f"code is sent to {stub.url} on this machine for embedding" for note in status["evidence"]["notes"]
    )
    await stub.stop()
    health = await run(root, settings, "health", "--json")
    (check,) = [check for check in health["checks"] if check["name"] == "embedder"]
    assert check["state"] == "broken"
    assert "cannot be reached" in check["detail"] and stub.url in check["detail"]
    assert "docker compose up -d tei" in check["fix"]


async def run(root: Path, settings: dict[str, str], *arguments: str) -> dict[str, object]:
    """Run a real command and return its JSON."""
    from tests.surfaces.processes import COMMAND
    from tests.surfaces.processes import environment as clean

    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        "--project",
        str(root),
        env=clean(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert b"secret-key" not in out + err
    return json.loads(out)


async def test_real_vectors_over_the_openai_protocol_are_those_of_the_model_in_this_process(root: Path) -> None:
    model = StaticEmbedder()

    async def embed(texts: list[str]) -> list[list[float]]:
        import struct

        made: list[list[float]] = []
        for text in texts:
            name, newline, body = text.partition("\n")
            if newline:  # a chunk: files have their path as their name
                (data,) = await model.embed_chunks([Chunk("u", "", name, body, "/" in name or "." in name)])
                made.append(list(struct.unpack("<256e", data)))
            else:
                made.append(list(struct.unpack("<256f", await model.embed_query(text))))
        return made

    async with Stub(dimension=256, embed=embed, max_client_batch_size=2048).running() as stub:
        static = load_settings(str(root), data_dir=str(root.parent / "static"), environment={})
        data = str(root.parent / "server")
        server = load_settings(str(root), data, environment(stub, "openai", model="static"))
        assert await index(static) == await index(server)
        for question in ("open a bank account", "round shape", "pay the balance", "area of a circle", "toys"):
            # in this process, the model of prose embeds documents; the server has one model
            mine, theirs = code_of(await meaning(static, question)), code_of(await meaning(server, question))
            assert [each.node.row.uid for each in mine] == [each.node.row.uid for each in theirs]
            for one, other in zip(mine, theirs, strict=True):
                assert one.score == pytest.approx(other.score, abs=2e-3)


async def test_litellm_is_not_loaded_before_it_is_used_and_missing_it_is_said(root: Path, stub: Stub) -> None:
    code = (
        "import sys, asyncio; sys.modules['litellm'] = None\n"
        "from atlas.runtime.config.load import load_settings; from atlas.adapters.opening.embedder import make_embedder\n"
        f"e = make_embedder(load_settings({str(root)!r}))\n"
        "assert e.place.endswith('on this machine'), e.place\n"
        "try: asyncio.run(e.embed_query('x'))\n"
        "except Exception as error: print(type(error).__name__, error.message, error.hint)\n"
        "assert 'httpx2' in sys.modules\n"
    )
    from tests.surfaces.processes import environment as clean

    settings = clean(**environment(stub, "litellm", model="openai/x"))
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], env=settings, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("ConfigError LiteLLM cannot be loaded"), done.stderr
    assert "code-atlas[litellm]" in done.stdout


async def test_what_a_server_cannot_take_is_told_at_the_end_of_the_pass(root: Path, stub: Stub) -> None:
    stub.max_input_length = 1000
    (root / "long.md").write_text("# Long\n\n" + "one more line of many words\n" * 600)
    (root / "poison.py").write_text("def poison():\n    return 1\n")
    refused = failure(422, "cannot be tokenized", "Tokenizer")
    stub.misbehave = lambda path, texts: refused if any("poison" in text for text in texts) else None
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")} | environment(stub)
    command = [sys.executable, "-m", "atlas", "index", str(root)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, env=kept, timeout=60)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert re.search(r"Truncated to the limit of the embedding model: [1-9]\d* text", said), said
    assert re.search(r"Without a vector: [1-9]\d* text", said), said
    async with open_atlas(load_settings(str(root), environment={}), writing=True) as opened:
        plain = await opened.index(full=True)
    assert (plain.cut_texts, plain.unembedded) == (0, 0)
