"""One embedder for each vector space: what is configured, what tier 3 makes, and what a copy holds."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reference_store.store import MemoryStore

from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.adapters.opening.embedder import make_prose_embedder, make_writing_embedders
from atlas.code.index.copying import compare_project, copy_project
from atlas.code.index.events import WHOLE_PROJECT, Window, no_progress
from atlas.code.index.tiers.embed import EmbedTier, check_models
from atlas.core.contracts import Embedder
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.events import Event
from atlas.core.model import CODE, DOCUMENTS, PROSE, Chunk, VectorRow
from atlas.runtime.config.load import load_settings
from tests.conformance.rows import PROJECT, node, unit

CODE_ROW, NOTE = node("app.save"), node("c-1", "n.md", label="Claim")


@pytest.fixture
async def store() -> MemoryStore:
    """A function and a note without vectors."""
    opened = MemoryStore()
    await opened.open_project(PROJECT, "/somewhere")
    await opened.apply([unit("a.py", [CODE_ROW]), unit("n.md", [NOTE])])
    return opened


def prose() -> Embedder:
    return StaticEmbedder(PROSE_FOLDER, PROSE)


class Away(StaticEmbedder):
    """A server that does not answer."""

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        raise Unavailable("the server is away")


async def embed(store: MemoryStore, embedders: Sequence[Embedder], key: str = WHOLE_PROJECT) -> None:
    await EmbedTier({}, store, embedders, Window(0, 100, 0), of_all=True).handle([Event(PROJECT, key)])


async def embedded(store: MemoryStore, space: str) -> list[str]:
    return [row.uid for row in await store.vectors(PROJECT, 10, "", space)]


@pytest.mark.parametrize(
    ("provider", "chosen", "spaces"),
    [
        ("static", "auto", [PROSE, DOCUMENTS, CODE]),
        ("static", "none", [DOCUMENTS, CODE]),
        ("none", "auto", []),
        ("none", "static", [PROSE]),
        ("tei", "auto", [PROSE, "server", "server"]),
    ],
)
async def test_the_settings_name_the_embedders(tmp_path: Path, provider: str, chosen: str, spaces: list[str]) -> None:
    variables = {"ATLAS_EMBEDDER_PROVIDER": provider, "ATLAS_EMBEDDER_PROSE": chosen}
    settings = load_settings(str(tmp_path), str(tmp_path / "d"), variables)
    made = [(await each.info()).space if not each.place else "server" for each in make_writing_embedders(settings)]
    assert made == spaces
    assert (make_prose_embedder(settings) is not None) == (PROSE in spaces)


@pytest.mark.parametrize("key", [WHOLE_PROJECT, NOTE.uid], ids=["all", "one"])
async def test_each_embedder_makes_the_vectors_of_its_space(store: MemoryStore, key: str) -> None:
    await embed(store, [prose(), StaticEmbedder()], key)
    assert await embedded(store, PROSE) == [NOTE.uid]
    assert await embedded(store, CODE) == ([CODE_ROW.uid] if key == WHOLE_PROJECT else [])


async def test_notes_do_not_wait_for_a_server(store: MemoryStore) -> None:
    with pytest.raises(Unavailable):
        await embed(store, [prose(), Away()])
    assert await embedded(store, PROSE) == [NOTE.uid]


async def test_a_worker_does_not_change_the_model_of_either_space(store: MemoryStore, tmp_path: Path) -> None:
    await embed(store, [prose(), StaticEmbedder()])
    await check_models(store, [prose(), StaticEmbedder()])
    for path in PROSE_FOLDER.iterdir():
        text = path.read_text(encoding="utf-8") if path.name == "model.json" else ""
        (tmp_path / path.name).write_text(text.replace("atlas-static-prose-v1", "newer"), encoding="utf-8")
    with pytest.raises(ConfigError, match="of atlas-static-prose-v1, this worker uses newer"):
        await check_models(store, [StaticEmbedder(tmp_path, PROSE), StaticEmbedder()])


async def test_a_copy_holds_the_vectors_of_both_spaces(store: MemoryStore) -> None:
    await embed(store, [prose(), StaticEmbedder()])
    copy = MemoryStore()
    await copy_project(store, copy, PROJECT, no_progress)
    for space in (CODE, PROSE):
        assert await copy.vectors(PROJECT, 10, "", space) == await store.vectors(PROJECT, 10, "", space) != []
    assert (await copy.projects())[0].models == (await store.projects())[0].models
    without = await copy.stale_chunks(PROJECT, await prose().info(), 10)
    assert without == []
    await copy.put_vectors(PROJECT, await prose().info(), [VectorRow(NOTE.uid, NOTE.chunk_digest, bytes(512))])
    assert (await compare_project(store, copy, PROJECT, no_progress)).differences
