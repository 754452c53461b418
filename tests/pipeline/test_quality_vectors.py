"""The vectors of the sentence transformer from files to answers: on request, in the background, after a kill, with
another model, and without its server."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from atlas_bench.stepwise import LiveTiers

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.embedders.static import StaticEmbedder
from atlas.adapters.opening.sentence_transformer import make_quality_writer
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import index_project, make_source, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.index.daemon import Daemon
from atlas.code.index.events import IndexSummary, no_progress
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.tools.state.health import Check
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import QUALITY, Chunk, Filter
from atlas.core.project_state import ProjectStats
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.embedders.stub import Stub
from tests.embedders.tiny_sentences import build
from tests.pipeline.test_daemon_run import OPTIONS, project, until
from tests.pipeline.trees import dump, write_tree

FILES = {
    "shop/cart.py": 'def total(prices):\n    """Sum the prices."""\n    return sum(prices)\n',
    "shop/parcel.py": "def repay(order):\n    return order.price\n\n\ndef ship(parcel):\n    return parcel\n",
    "shop/shapes.py": "class Circle:\n    def area(self):\n        return 3\n",
    "docs/guide.md": "# Guide\n\nHow it works.\n\n## Returns\n\nSend the parcel.\n",
}
QUESTION = "how do customers get money"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "p", FILES)
    return tmp_path / "p"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return build(tmp_path / "sentences")


def with_model(root: Path, data: Path, model: Path, **more: str) -> Settings:
    named = {f"ATLAS_QUALITY_{name.upper()}": value for name, value in more.items()}
    return load_settings(str(root), str(data), {"ATLAS_QUALITY_MODEL": str(model)} | named)


def with_server(root: Path, data: Path, stub: Stub, **more: str) -> Settings:
    return load_settings(str(root), str(data), {"ATLAS_QUALITY_URL": stub.url} | more)


async def index(settings: Settings, *, quality: bool = True) -> IndexSummary:
    return await index_project(settings, no_progress, quality=quality)


async def ask(settings: Settings, question: str = QUESTION) -> SearchResult:
    async with open_atlas(settings) as atlas:
        reader = atlas.reader
        explained = Atlas(replace(reader, ranking=replace(reader.ranking, all_features=True)))
        return await explained.search(question, Filter(project="p"))


async def counts(settings: Settings) -> ProjectStats:
    async with open_atlas(settings) as atlas:
        return (await atlas.reader.store.stats("p"))[0]


def found(result: SearchResult) -> list[str]:
    return [each.node.row.qualified_name for each in result.ranked]


def place(result: SearchResult, name: str) -> int:
    return found(result).index(name) if name in found(result) else len(found(result))


def score(result: SearchResult, name: str) -> float:
    return next(each.score for each in result.ranked if each.node.row.qualified_name == name)


def best_by_quality(result: SearchResult) -> str:
    best = max(result.ranked, key=lambda each: each.features["quality"])
    assert "quality" in best.channels and best.features["quality"] == 1
    return best.node.row.qualified_name


async def test_a_pass_makes_them_only_on_request_and_search_then_uses_them(
    root: Path, model: Path, tmp_path: Path
) -> None:
    settings = with_model(root, tmp_path / "d", model)
    without = await index(settings, quality=False)
    assert (without.quality_vectors, (await counts(settings)).quality_vectors) == (0, 0)
    before = await ask(settings)
    assert "quality" not in {channel for each in before.ranked for channel in each.channels}
    plain = await ask(load_settings(str(root), str(tmp_path / "d"), {}))
    assert (before.ranked, before.notes) == (plain.ranked, plain.notes)

    made = await index(settings)
    stats = await counts(settings)
    assert made.quality_vectors == stats.quality_vectors == stats.quality_chunks == stats.chunks > 5
    answer = await ask(settings)
    assert best_by_quality(answer) == "shop.parcel.repay"
    assert place(answer, "shop.parcel.repay") <= place(before, "shop.parcel.repay")
    alone = replace(settings, search=replace(settings.search, off=("bodies",)))
    neither = replace(settings, search=replace(settings.search, off=("bodies", "quality")))
    assert score(await ask(alone), "shop.parcel.repay") > score(await ask(neither), "shop.parcel.repay")
    off = replace(settings, search=replace(settings.search, off=("quality",)))
    assert found(await ask(off)) == found(before)
    assert (await index(settings)).quality_vectors == 0
    write_tree(root, {**FILES, **{f"more/m{at}.py": f"def f{at}():\n    return {at}\n" for at in range(20)}})
    await index(settings, quality=False)
    assert (await ask(settings)).ranked == (await ask(load_settings(str(root), str(tmp_path / "d"), {}))).ranked
    with pytest.raises(ConfigError, match="no sentence transformer"):
        await index(replace(settings, quality=type(settings.quality)()))


@pytest.mark.parametrize("line", ['model = "/models/mine"', 'url = "http://models.example"', 'pooling = "cls"'])
def test_a_project_names_neither_model_nor_server(tmp_path: Path, line: str) -> None:
    write_tree(tmp_path, {"atlas.toml": f"[quality]\n{line}\n"})
    settings = load_settings(str(tmp_path), environment={})
    assert not settings.quality.is_on
    assert "quality." in settings.ignored[0].why


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"MODEL": "models/mine"}, "must be an absolute path"),
        ({"MODEL": "/", "URL": "http://127.0.0.1:1"}, "exclude each other"),
        ({"URL": "127.0.0.1:8080"}, "not the address of a server"),
        ({"URL": "http://me:secret@127.0.0.1"}, "must not hold a user or password"),
    ],
)
def test_settings_that_name_no_model_are_refused(tmp_path: Path, named: dict[str, str], message: str) -> None:
    variables = {f"ATLAS_QUALITY_{name}": value for name, value in named.items()}
    with pytest.raises(ConfigError, match=message) as raised:
        load_settings(str(tmp_path), environment=variables)
    assert "secret" not in str(raised.value)
    with pytest.raises(ConfigError, match=r"embedder\.provider"):
        load_settings(
            str(tmp_path), environment={"ATLAS_QUALITY_URL": "http://127.0.0.1", "ATLAS_EMBEDDER_PROVIDER": "none"}
        )


async def test_only_what_changed_is_embedded_and_the_index_equals_a_clean_one(
    root: Path, model: Path, tmp_path: Path
) -> None:
    settings = with_model(root, tmp_path / "d", model)
    await index(settings)
    for number, (path, text) in enumerate(
        (
            ("shop/cart.py", FILES["shop/cart.py"].replace("Sum the prices", "Adds up all money")),
            ("docs/guide.md", FILES["docs/guide.md"].replace("## Returns\n\n", "")),
            ("shop/parcel.py", None),
            ("shop/parcel.py", FILES["shop/parcel.py"] + "\n\ndef deliver():\n    pass\n"),
        )
    ):
        (root / path).write_text(text) if text is not None else (root / path).unlink()
        made = await index(settings)
        assert made.quality_vectors < 6
        clean = with_model(root, tmp_path / f"clean{number}", model)
        await index(clean)
        assert dump(tmp_path / "d") == dump(clean.data_dir)


async def test_the_warm_tiers_end_at_a_clean_index_too(root: Path, model: Path, tmp_path: Path) -> None:
    settings = with_model(root, tmp_path / "d", model)
    store = EmbeddedStore.open(tmp_path / "d", writing=True, vector_index=VectorIndex)
    quality = make_quality_writer(settings, in_background=True)
    assert quality is not None
    embedders = [StaticEmbedder()]
    live = await LiveTiers.open(
        [make_source(settings)], store, MemoryBus(), SignificanceGate(store), embedders, page=2, quality=quality
    )
    await live.settle()
    (root / "shop/cart.py").write_text("def total(money):\n    return money\n")
    (root / "shop/shapes.py").unlink()
    await live.hint(["shop"])
    await live.settle()
    (stats,) = await store.stats("p")
    assert stats.quality_vectors == stats.quality_chunks > 0
    await live.aclose()
    await quality.aclose()
    rows = await store.vectors("p", 100, "", QUALITY)
    await store.aclose()
    clean = with_model(root, tmp_path / "clean", model)
    await index(clean)
    async with open_atlas(clean) as atlas:
        assert await atlas.reader.store.vectors("p", 100, "", QUALITY) == rows


async def test_another_model_makes_all_of_them_stale_and_they_are_never_mixed(root: Path, tmp_path: Path) -> None:
    data = tmp_path / "d"
    first = with_model(root, data, build(tmp_path / "one" / "sentences"))
    second = with_model(root, data, build(tmp_path / "two" / "sentences", scale=3.0))
    made = (await index(first)).quality_vectors
    between = await ask(second)
    assert "quality" not in {channel for each in between.ranked for channel in each.channels}
    assert any("sentence transformer" in note for note in between.notes)
    assert (await index(second)).quality_vectors == made
    assert best_by_quality(await ask(second)) == "shop.parcel.repay"
    async with open_atlas(second) as atlas:
        (state,) = await atlas.reader.store.projects()
        assert state.model(QUALITY) == await atlas.reader.quality_embedder.info()  # type: ignore[union-attr]
    clean = with_model(root, tmp_path / "clean", tmp_path / "two" / "sentences")
    await index(clean)
    assert dump(data) == dump(clean.data_dir)


def test_a_killed_pass_is_resumed_where_it_was(tmp_path: Path) -> None:
    """The server counts what it is sent: the part that was stored before the kill is not made again."""
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {f"m{at}.py": f"def f{at}():\n    return {at}\n" for at in range(150)})

    async def run() -> None:
        async with Stub(seconds=0.05, dimension=8).running() as stub:
            environment = {**os.environ, "ATLAS_QUALITY_URL": stub.url, "ATLAS_EMBEDDER_CACHE": "off"}
            command = [sys.executable, "-m", "atlas.cli.main", "index", str(root), "--data-dir", str(data), "--quality"]
            stored = 0
            for _ in range(2):
                process = subprocess.Popen(  # noqa: ASYNC220
                    command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                await stub.asked(len(stub.requests) + random.Random(7).randint(5, 8))
                process.send_signal(signal.SIGKILL)
                await asyncio.to_thread(process.wait)
                settings = with_server(root, data, stub, ATLAS_EMBEDDER_CACHE="off")
                stats = await counts(settings)
                assert stored < stats.quality_vectors < stats.quality_chunks
                stored = stats.quality_vectors
            made = await index(settings)
            assert made.quality_vectors == stats.quality_chunks - stored
            clean = with_server(root, tmp_path / "clean", stub)
            await index(clean)
        assert dump(data) == dump(tmp_path / "clean")

    asyncio.run(run())


async def test_without_its_server_the_answer_is_as_without_it_and_says_so(root: Path, tmp_path: Path) -> None:
    stub = Stub(dimension=8)
    async with stub.running():
        settings = with_server(root, tmp_path / "d", stub)
        await index(settings)
        assert "quality" in {channel for each in (await ask(settings)).ranked for channel in each.channels}
    plain = await ask(load_settings(str(root), str(tmp_path / "d"), {}))
    async with open_atlas(settings) as atlas:
        for _ in range(2):
            answer = await atlas.search(QUESTION, Filter(project="p"))
            assert found(answer) == found(plain)
            assert sum("without the sentence transformer" in note for note in answer.notes) == 1
    (root / "shop/cart.py").write_text("def total(money):\n    return money\n")
    with pytest.raises(Unavailable, match="the graph is indexed, but vectors are missing"):
        await index(settings)


async def test_a_missing_extra_is_said_and_nothing_else_fails(
    root: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_model(root, tmp_path / "d", model)
    await index(settings)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    answer = await ask(settings)
    assert answer.ranked and any("without the sentence transformer" in note for note in answer.notes)
    from atlas.app.health import check_health

    checks = {check.name: check for check in (await check_health(settings)).checks}
    assert (checks["quality"].state, "code-atlas[quality]" in checks["quality"].fix) == ("broken", True)


async def test_a_missing_model_is_said_and_everything_else_works(root: Path, model: Path, tmp_path: Path) -> None:
    from atlas.app.health import check_health
    from atlas.app.session import Session
    from atlas.app.toolsets import BY_NAME

    settings = with_model(root, tmp_path / "d", tmp_path / "nowhere")
    await index(settings, quality=False)

    async def notes() -> list[str]:
        session = Session(settings)
        try:
            answer = await session.answer(BY_NAME["hybrid_search"], {"query": QUESTION})
        finally:
            await session.aclose()
        return [note for note in answer.evidence.notes if "without the sentence transformer" in note]

    assert [str(tmp_path / "nowhere") in note for note in await notes()] == [True]
    checks = {check.name: check for check in (await check_health(settings)).checks}
    assert (checks["quality"].state, "path in the settings" in checks["quality"].fix) == ("broken", True)
    with pytest.raises(ConfigError, match=r"quality\.model: no such folder"):
        await index(settings)
    await index(with_model(root, tmp_path / "d", model))
    assert [str(tmp_path / "nowhere") in note for note in await notes()] == [True]


async def test_health_and_status_say_the_share_that_is_done(root: Path, model: Path, tmp_path: Path) -> None:
    from atlas.app.health import check_health

    settings = with_model(root, tmp_path / "d", model)
    await index(settings, quality=False)

    async def check() -> Check:
        return next(each for each in (await check_health(settings)).checks if each.name == "quality")

    total = (await counts(settings)).quality_chunks
    before = await check()
    assert (before.state, f"0 of {total} texts" in before.detail, "--quality" in before.fix) == ("missing", True, True)
    await index(settings)
    assert f"{total} of {total} texts" in (await check()).detail
    assert (await check()).state == "ok"


class Slow:
    """The sentence transformer, as slow as a large one: each page waits to be let through."""

    def __init__(self, settings: Settings) -> None:
        made = make_quality_writer(settings, in_background=True)
        assert made is not None
        self._made, self.go, self.pages = made, asyncio.Event(), 0
        self.place, self.embedding_stats, self.info = made.place, made.embedding_stats, made.info
        self.embed_query, self.aclose = made.embed_query, made.aclose

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        await self.go.wait()
        self.pages += 1
        return await self._made.embed_chunks(chunks)


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[tuple[Daemon, EmbeddedStore, Slow]]:
    store = EmbeddedStore.open(settings.data_dir, writing=True, vector_index=VectorIndex)
    quality = Slow(settings)
    daemon = Daemon(
        [make_source(settings)],
        store,
        MemoryBus(),
        [StaticEmbedder()],
        SignificanceGate(store),
        OPTIONS,
        lambda: 0,
        lambda: None,
        lambda message, fields: None,
        quality=quality,  # pyright: ignore[reportArgumentType]
    )
    stop = asyncio.Event()
    task = asyncio.create_task(daemon.run(stop))
    try:
        yield daemon, store, quality
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)
        await store.aclose()


async def test_the_daemon_makes_them_after_the_fast_ones_and_nothing_waits(
    root: Path, model: Path, tmp_path: Path
) -> None:
    write_tree(root, {**FILES, **{f"more/m{at}.py": f"def f{at}():\n    return {at}\n" for at in range(60)}})
    settings = with_model(root, tmp_path / "d", model)

    async def stats(store: EmbeddedStore) -> ProjectStats:
        return (await store.stats("p"))[0]

    async def until_stats(store: EmbeddedStore, met: Callable[[ProjectStats], bool]) -> ProjectStats:
        async with asyncio.timeout(20):
            while not met(now := await stats(store)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return now

    async with running(settings) as (daemon, store, slow):
        await until(lambda: bool(project(daemon)["ready"]))
        code = await until_stats(store, lambda now: now.vectors > 60)
        assert code.quality_vectors == 0
        (root / "more/new.py").write_text("def brand_new():\n    return 1\n")
        await until_stats(store, lambda now: now.vectors > code.vectors)
        await until_stats(store, lambda now: bool(now.indexed_at))
        slow.go.set()
        done = await until_stats(store, lambda now: 0 < now.quality_chunks == now.quality_vectors)
        assert slow.pages > 2 and project(daemon)["quality_vectors"] == done.quality_vectors
        tiers = {tier["tier"]: tier for tier in daemon.state()["tiers"]}  # type: ignore[attr-defined]
        assert tiers["quality"]["errors"] == 0
        (root / "more/new.py").write_text("def brand_new():\n    '''Refund the money.'''\n    return 2\n")
        await until(lambda: project(daemon)["quality_vectors"] == done.quality_vectors + 2)
    rows = (await index(settings)).quality_vectors
    assert rows == 0, "the daemon left nothing to do"
    clean = with_model(root, tmp_path / "clean", model)
    await index(clean)
    async with open_atlas(clean) as atlas, open_atlas(settings) as mine:
        wanted = await atlas.reader.store.vectors("p", 1000, "", QUALITY)
        assert await mine.reader.store.vectors("p", 1000, "", QUALITY) == wanted
