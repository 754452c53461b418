"""Search over two vector spaces: notes appear with code, and code answers as it does without them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.atlas import Atlas
from atlas.code.find import Mode
from atlas.code.tools.search.search import hybrid_search, vector_search
from atlas.core.errors import Unavailable
from atlas.core.model import PROSE, Filter, VectorRow
from tests.conformance.rows import PythonVectorIndex, node, unit, words
from tests.surfaces.shop import PROJECT, fill, open_shop, write_files

RANKED = ("sum prices of everything in the basket", "apply_discount", "discount for regular visitors")
QUESTIONS = (*RANKED, "who calls Cart.total", "Cart.total", "json")
NOTES = {
    "c-1": "Visitors who come back every week pay ten percent less.",
    "c-2": "The billing team releases on Thursdays.",
    "c-3": "My sister teaches yoga in Lisbon.",
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    write_files(tmp_path / "shop")
    opened = EmbeddedStore.open(tmp_path / "data", writing=True, vector_index=PythonVectorIndex)
    await fill(opened, tmp_path / "shop")
    yield opened
    await opened.aclose()


@pytest.fixture
def shop(store: EmbeddedStore, tmp_path: Path) -> Atlas:
    """A shop that also searches notes; it has none."""
    without = open_shop(store, tmp_path / "shop")
    return Atlas(replace(without.reader, prose_embedder=StaticEmbedder(PROSE_FOLDER, PROSE)))


async def add_notes(store: EmbeddedStore, *, words_too: bool = True) -> None:
    embedder, content = StaticEmbedder(PROSE_FOLDER, PROSE), "\n".join(NOTES.values())
    spans = {key: (content.index(text), content.index(text) + len(text)) for key, text in NOTES.items()}
    rows = [
        node(key, "n.md", project=PROJECT, label="Claim", span=spans[key], language="note")._replace(chunk_name="")
        for key in NOTES
    ]
    texts = [words(row, NOTES[row.qualified_name].lower().rstrip(".")) for row in rows] if words_too else []
    await store.apply([unit("n.md", rows, project=PROJECT, texts=texts, content=content.encode())])
    chunks = await store.stale_chunks(PROJECT, await embedder.info(), 10)
    assert sorted(chunk.text for chunk in chunks) == sorted(NOTES.values())
    vectors = [
        VectorRow(chunk.uid, chunk.digest, data)
        for chunk, data in zip(chunks, await embedder.embed_chunks(chunks), strict=True)
    ]
    await store.put_vectors(PROJECT, await embedder.info(), vectors)


async def ranked(atlas: Atlas, question: str, mode: Mode = Mode.HYBRID) -> list[tuple[str, float]]:
    found = await atlas.search(question, Filter(project=PROJECT), mode)
    return [(each.node.row.uid, each.score) for each in found.ranked]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.MEANING])
async def test_without_notes_every_answer_is_the_same(shop: Atlas, mode: Mode) -> None:
    without = Atlas(replace(shop.reader, prose_embedder=None))
    for question in QUESTIONS:
        answer = await ranked(shop, question, mode)
        assert answer == await ranked(without, question, mode)
        assert answer or question not in RANKED
        assert (await hybrid_search(shop, question)).evidence.notes == (
            await hybrid_search(without, question)
        ).evidence.notes


async def test_notes_keep_the_scores_and_the_order_of_code(shop: Atlas, store: EmbeddedStore) -> None:
    before = {question: await ranked(shop, question) for question in RANKED}
    await add_notes(store, words_too=False)  # the words of notes are in the statistics of BM25
    for question, expected in before.items():
        after = await ranked(shop, question)
        assert after[0] == expected[0]
        assert [hit for hit in after if not hit[0].startswith(f"{PROJECT}:c-")] == expected


async def test_a_question_about_a_note_finds_it_by_meaning(shop: Atlas, store: EmbeddedStore) -> None:
    await add_notes(store)
    found = (await ranked(shop, "when does the billing team release?"))[0]
    assert found[0] == f"{PROJECT}:c-2"
    assert (await ranked(shop, "when does the billing team release?", Mode.MEANING))[0][0] == f"{PROJECT}:c-2"
    hits = (await vector_search(shop, "yoga teacher", limit=3)).hits
    assert hits[0].symbol.uid == f"{PROJECT}:c-3"


async def test_notes_of_another_model_are_not_compared(shop: Atlas, store: EmbeddedStore) -> None:
    await add_notes(store)
    info = replace(await StaticEmbedder(PROSE_FOLDER, PROSE).info(), fingerprint="older")
    await store.put_vectors(PROJECT, info, [])
    answer = await hybrid_search(shop, "when does the billing team release?")
    near = await ranked(shop, "when does the billing team release?", Mode.MEANING)
    assert not any(uid.startswith(f"{PROJECT}:c-") for uid, _ in near)
    assert any("not searched by meaning" in note for note in answer.evidence.notes)


class Broken(StaticEmbedder):
    async def embed_query(self, text: str) -> bytes:
        raise Unavailable("the model of prose is gone")


async def test_a_failing_search_of_notes_is_a_note(shop: Atlas) -> None:
    broken = Atlas(replace(shop.reader, prose_embedder=Broken(PROSE_FOLDER, PROSE)))
    answer = await hybrid_search(broken, "apply_discount")
    assert answer.hits[0].symbol.qualified_name == "shop.cart.apply_discount"
    assert any("the model of prose is gone" in note for note in answer.evidence.notes)
