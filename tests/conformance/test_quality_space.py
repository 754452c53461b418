"""The space of the optional sentence transformer: a second vector for each node of code and documents (ADR 0043)."""

import dataclasses

import pytest

from atlas.core.contracts import Store
from atlas.core.errors import QueryError, StoreError
from atlas.core.model import CODE, DOCUMENTS, PROSE, QUALITY, Filter, ModelInfo
from tests.conformance.rows import MODEL, PROJECT, gone, node, query, unit, vector

MINE = ModelInfo("onnx", "sentences", 3, "one", QUALITY)
NEWER = dataclasses.replace(MINE, fingerprint="two")
CODE_ROWS = [node("app.save"), node("app.load")]
TEXT = b"# Title\nAbout all.\n## First\nAbout the first.\n"
PAGES = [
    node("docs.page#title", "page.md", label="DocSection", span=(0, len(TEXT))),
    node("docs.page#first", "page.md", label="DocSection", span=(TEXT.index(b"## First"), len(TEXT))),
]
PAGE_MODEL = ModelInfo("test", "prose", 3, "one", DOCUMENTS)
NOTE = node("n-1", "n.md", label="Claim")
ALL = [*CODE_ROWS, *PAGES]


@pytest.fixture
async def filled(store: Store) -> Store:
    """Code, documents and a note, with vectors of code and of the sentence transformer for the first function."""
    await store.apply([unit("a.py", CODE_ROWS), unit("page.md", PAGES, content=TEXT), unit("n.md", [NOTE])])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for row in CODE_ROWS])
    await store.put_vectors(PROJECT, PAGE_MODEL, [vector(row, 1, 0, 0) for row in PAGES])
    await store.put_vectors(PROJECT, MINE, [vector(CODE_ROWS[0], 0, 1, 0)])
    return store


async def stale(store: Store, model: ModelInfo = MINE, uids: list[str] | None = None) -> list[str]:
    return sorted(chunk.uid for chunk in await store.stale_chunks(PROJECT, model, 100, uids=uids))


async def found(store: Store, space: str, *values: float, **where: str) -> list[str]:
    return [hit.uid for hit in await store.search_vector(query(*values), Filter(**where), 10, space)]


async def test_it_embeds_code_and_documents_but_no_notes(filled: Store) -> None:
    assert await stale(filled) == sorted(row.uid for row in ALL[1:])
    assert await stale(filled, uids=[NOTE.uid, PAGES[0].uid, CODE_ROWS[0].uid]) == [PAGES[0].uid]
    (section,) = await filled.stale_chunks(PROJECT, MINE, 10, uids=[PAGES[0].uid])
    assert section.text == "# Title\nAbout all.\n"
    pages, after = [], ""
    while page := await filled.stale_chunks(PROJECT, MINE, 1, after):
        pages += [chunk.uid for chunk in page]
        after = page[-1].uid
    assert sorted(pages) == sorted(row.uid for row in ALL[1:])


async def test_both_vectors_of_a_node_are_kept_and_found_apart(filled: Store) -> None:
    await filled.put_vectors(PROJECT, MINE, [vector(row, 0, 1, 0) for row in PAGES])
    assert await found(filled, CODE, 1, 0, 0, 0) == sorted(row.uid for row in CODE_ROWS)
    assert await found(filled, DOCUMENTS, 1, 0, 0) == sorted(row.uid for row in PAGES)
    assert await found(filled, QUALITY, 0, 1, 0) == sorted(row.uid for row in (CODE_ROWS[0], *PAGES))
    assert await found(filled, QUALITY, 0, 1, 0, path="page.md") == sorted(row.uid for row in PAGES)
    assert await found(filled, PROSE, 0, 1, 0) == []
    assert await stale(filled, MODEL) == await stale(filled, PAGE_MODEL) == []
    with pytest.raises(QueryError):
        await filled.search_vector(query(1, 0, 0, 0), Filter(), 10, QUALITY)
    with pytest.raises(StoreError):
        await filled.put_vectors(PROJECT, MINE, [vector(CODE_ROWS[0], 1, 0, 0, 0)])


async def test_counts_name_its_share_apart_from_the_other_vectors(filled: Store) -> None:
    (state,), (stats,) = await filled.projects(), await filled.stats(PROJECT)
    assert state.model(QUALITY) == stats.model(QUALITY) == MINE
    assert (stats.chunks, stats.vectors) == (5, 4)
    assert (stats.quality_chunks, stats.quality_vectors) == (4, 1)


async def test_a_changed_text_makes_its_vector_stale(filled: Store) -> None:
    changed = CODE_ROWS[0]._replace(chunk_digest="another")
    await filled.apply([unit("a.py", [changed, CODE_ROWS[1]])])
    assert CODE_ROWS[0].uid in await stale(filled)
    assert (await filled.stats(PROJECT))[0].quality_vectors == 0
    await filled.put_vectors(PROJECT, MINE, [vector(CODE_ROWS[0], 1, 0, 0)])  # of the text before: dropped
    assert CODE_ROWS[0].uid in await stale(filled)
    await filled.put_vectors(PROJECT, MINE, [vector(changed, 1, 0, 0)])
    assert CODE_ROWS[0].uid not in await stale(filled)


async def test_a_deleted_node_and_one_without_text_lose_their_vectors(filled: Store) -> None:
    await filled.put_vectors(PROJECT, MINE, [vector(row, 0, 1, 0) for row in ALL])
    without = CODE_ROWS[0]._replace(chunk_digest="")
    await filled.apply([unit("a.py", [without, CODE_ROWS[1]]), gone("page.md")])
    assert await found(filled, QUALITY, 0, 1, 0) == [CODE_ROWS[1].uid]
    assert await found(filled, CODE, 1, 0, 0, 0) == [CODE_ROWS[1].uid]
    assert [row.uid for row in await filled.vectors(PROJECT, 10, "", QUALITY)] == [CODE_ROWS[1].uid]


async def test_another_model_is_searched_alone_and_replaces_the_vectors(filled: Store) -> None:
    await filled.put_vectors(PROJECT, MINE, [vector(row, 0, 1, 0) for row in ALL])
    await filled.put_vectors(PROJECT, NEWER, [vector(CODE_ROWS[1], 0, 1, 0)])
    assert await found(filled, QUALITY, 0, 1, 0) == [CODE_ROWS[1].uid]
    assert await stale(filled, NEWER) == sorted(row.uid for row in (CODE_ROWS[0], *PAGES))
    (stats,) = await filled.stats(PROJECT)
    assert (stats.vectors, stats.quality_vectors, stats.model(QUALITY)) == (4, 1, NEWER)
    await filled.put_vectors(PROJECT, NEWER, [vector(row, 0, 1, 0) for row in ALL])
    assert await stale(filled, NEWER) == []
    assert await stale(filled, MODEL) == []


async def test_a_new_model_of_code_leaves_the_second_vectors(filled: Store) -> None:
    other = dataclasses.replace(MODEL, fingerprint="two")
    await filled.put_vectors(PROJECT, other, [vector(row, 0, 1, 0, 0) for row in CODE_ROWS])
    assert await found(filled, QUALITY, 0, 1, 0) == [CODE_ROWS[0].uid]
    assert await found(filled, CODE, 0, 1, 0, 0) == sorted(row.uid for row in CODE_ROWS)


async def test_a_copy_reads_both_vectors(filled: Store) -> None:
    assert await filled.vectors(PROJECT, 10, "", QUALITY) == [vector(CODE_ROWS[0], 0, 1, 0)]
    assert len(await filled.vectors(PROJECT, 10, "", CODE)) == 2
