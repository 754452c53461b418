"""Vector spaces of one store: code, documents and notes each have a model, and none sees the vectors of another."""

import dataclasses

import pytest

from atlas.core.contracts import Store
from atlas.core.errors import QueryError
from atlas.core.model import CODE, DOCUMENTS, PROSE, PROSE_LABELS, Filter, ModelInfo
from tests.conformance.rows import MODEL, PROJECT, gone, node, query, unit, vector

ALL = Filter()
PROSE_MODEL = ModelInfo("test", "prose", 3, "one", PROSE)
CODE_ROWS = [node("app.save"), node("app.load")]
NOTES = [node(f"n-{label}", "n.md", label=label) for label in sorted(PROSE_LABELS)]
NOTE = NOTES[0]
PAGE_MODEL = ModelInfo("test", "prose", 3, "one", DOCUMENTS)
PAGE = b"Words before.\n# Title\nAbout all.\n## First\nAbout the first.\n## Second\nAbout the second.\n"
PAGES = [
    node("docs.page", "page.md", label="DocFile", span=(0, len(PAGE))),
    node("docs.page#title", "page.md", label="DocSection", span=(PAGE.index(b"# Title"), len(PAGE))),
    node("docs.page#first", "page.md", label="DocSection", span=(PAGE.index(b"## First"), PAGE.index(b"## Second"))),
    node("docs.page#second", "page.md", label="DocSection", span=(PAGE.index(b"## Second"), len(PAGE))),
]
WINDOW = node("notes.txt#1", "notes.txt", label="Chunk")._replace(kind="text")
SETTINGS = node("app.toml#1", "app.toml", label="Chunk")._replace(kind="config")


@pytest.fixture
async def filled(store: Store) -> Store:
    """Two functions and a note of each label; one vector in each space."""
    await store.apply([unit("a.py", CODE_ROWS), unit("n.md", NOTES)])
    await store.put_vectors(PROJECT, MODEL, [vector(CODE_ROWS[0], 1, 0, 0, 0)])
    await store.put_vectors(PROJECT, PROSE_MODEL, [vector(NOTE, 0, 1, 0)])
    return store


async def stale(store: Store, model: ModelInfo, uids: list[str] | None = None) -> list[str]:
    return sorted(chunk.uid for chunk in await store.stale_chunks(PROJECT, model, 100, uids=uids))


async def found(store: Store, space: str, *values: float, where: Filter = ALL) -> list[str]:
    return [hit.uid for hit in await store.search_vector(query(*values), where, 10, space)]


async def test_each_model_embeds_the_nodes_of_its_space(filled: Store) -> None:
    assert await stale(filled, MODEL) == [CODE_ROWS[1].uid]
    assert await stale(filled, PROSE_MODEL) == sorted(row.uid for row in NOTES[1:])
    everything = [row.uid for row in (*CODE_ROWS, *NOTES)]
    assert await stale(filled, MODEL, everything) == [CODE_ROWS[1].uid]
    assert await stale(filled, PROSE_MODEL, [NOTE.uid, NOTES[1].uid, CODE_ROWS[1].uid]) == [NOTES[1].uid]


async def test_pages_of_one_space_hold_nothing_of_the_other(filled: Store) -> None:
    pages, after = [], ""
    while page := await filled.stale_chunks(PROJECT, PROSE_MODEL, 1, after):
        pages += page
        after = page[-1].uid
    assert sorted(chunk.uid for chunk in pages) == sorted(row.uid for row in NOTES[1:])


async def test_one_changed_note_among_embedded_ones_is_stale(filled: Store) -> None:
    await filled.put_vectors(PROJECT, PROSE_MODEL, [vector(row, 0, 1, 0) for row in NOTES])
    assert await stale(filled, PROSE_MODEL) == []
    changed = NOTES[-1]._replace(chunk_digest="f" * 16)
    await filled.apply([unit("n.md", [*NOTES[:-1], changed])])
    assert await stale(filled, PROSE_MODEL) == [changed.uid]
    await filled.put_vectors(PROJECT, PROSE_MODEL, [vector(changed, 0, 1, 0)])
    assert await stale(filled, PROSE_MODEL) == []


async def test_a_search_sees_one_space(filled: Store) -> None:
    assert await found(filled, CODE, 1, 0, 0, 0) == [CODE_ROWS[0].uid]
    assert await found(filled, PROSE, 0, 1, 0) == [NOTE.uid]
    assert await found(filled, PROSE, 0, 1, 0, where=Filter(path="a.py")) == []
    assert [hit.uid for hit in await filled.search_vector(query(1, 0, 0, 0), ALL, 10)] == [CODE_ROWS[0].uid]
    with pytest.raises(QueryError):
        await filled.search_vector(query(1, 0, 0, 0), ALL, 10, PROSE)


async def test_a_space_without_vectors_has_no_neighbours(store: Store) -> None:
    await store.apply([unit("a.py", CODE_ROWS)])
    await store.put_vectors(PROJECT, MODEL, [vector(CODE_ROWS[0], 1, 0, 0, 0)])
    assert await found(store, PROSE, 0, 1, 0) == []
    assert await stale(store, PROSE_MODEL) == []


async def test_states_and_counts_name_both_models(filled: Store) -> None:
    (state,), (stats,) = await filled.projects(), await filled.stats(PROJECT)
    assert state.models == stats.models == (MODEL, PROSE_MODEL)
    assert (state.model(), state.model(PROSE)) == (MODEL, PROSE_MODEL)
    assert (stats.chunks, stats.vectors) == (2 + len(NOTES), 2)


@pytest.mark.parametrize("changed", [MODEL, PROSE_MODEL], ids=["code", "prose"])
async def test_a_new_model_makes_only_its_space_stale(filled: Store, changed: ModelInfo) -> None:
    newer = dataclasses.replace(changed, fingerprint="two")
    other = PROSE_MODEL if changed is MODEL else MODEL
    before = await stale(filled, other)
    row, values = (CODE_ROWS[1], (0, 1, 0, 0)) if changed is MODEL else (NOTES[1], (1, 0, 0))
    await filled.put_vectors(PROJECT, newer, [vector(row, *values)])
    assert await stale(filled, other) == before
    assert await found(filled, changed.space, *values) == [row.uid]
    assert (await filled.stats(PROJECT))[0].vectors == 2
    assert (await filled.projects())[0].models == ((newer, other) if changed is MODEL else (other, newer))


async def test_one_model_may_serve_both_spaces(store: Store) -> None:
    both = dataclasses.replace(MODEL, space=PROSE)
    await store.apply([unit("a.py", CODE_ROWS), unit("n.md", NOTES)])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for row in CODE_ROWS])
    await store.put_vectors(PROJECT, both, [vector(row, 1, 0, 0, 0) for row in NOTES])
    assert await found(store, CODE, 1, 0, 0, 0) == sorted(row.uid for row in CODE_ROWS)
    assert await found(store, PROSE, 1, 0, 0, 0) == sorted(row.uid for row in NOTES)
    assert await stale(store, MODEL) == await stale(store, both) == []
    assert (await store.projects())[0].models == (MODEL, both)


async def test_a_node_that_changes_its_space_is_embedded_again(filled: Store) -> None:
    as_code = NOTE._replace(label="Class")
    await filled.apply([unit("n.md", [as_code, *NOTES[1:]])])
    assert NOTE.uid in await stale(filled, MODEL)
    assert (await filled.stats(PROJECT))[0].vectors == 1
    await filled.put_vectors(PROJECT, MODEL, [vector(as_code, 0, 1, 0, 0)])
    assert await found(filled, CODE, 0, 1, 0, 0) == [NOTE.uid, CODE_ROWS[0].uid]
    assert await found(filled, PROSE, 0, 1, 0) == []


async def test_deleted_notes_leave_the_vectors_of_code(filled: Store) -> None:
    await filled.apply([gone("n.md")])
    assert await found(filled, PROSE, 0, 1, 0) == []
    assert await found(filled, CODE, 1, 0, 0, 0) == [CODE_ROWS[0].uid]


async def test_a_copy_reads_the_vectors_of_each_space(filled: Store) -> None:
    assert await filled.vectors(PROJECT, 10) == [vector(CODE_ROWS[0], 1, 0, 0, 0)]
    assert await filled.vectors(PROJECT, 10, "", PROSE) == [vector(NOTE, 0, 1, 0)]


@pytest.fixture
async def library(store: Store) -> Store:
    """A function, a page, a decision record, a window of text, one of configuration, and a note."""
    record = node("adr.0001", "adr/0001.md", label="ADR")
    await store.apply([unit("a.py", CODE_ROWS[:1]), unit("page.md", PAGES, content=PAGE), unit("n.md", [NOTE])])
    windows = [unit("notes.txt", [WINDOW]), unit("app.toml", [SETTINGS])]
    await store.apply([unit("adr/0001.md", [record]), *windows])
    return store


async def test_documents_and_text_are_in_a_space_between_code_and_notes(library: Store) -> None:
    assert await stale(library, MODEL) == sorted([CODE_ROWS[0].uid, SETTINGS.uid])
    assert await stale(library, PROSE_MODEL) == [NOTE.uid]
    pages = sorted(["p:adr.0001", WINDOW.uid, *(row.uid for row in PAGES)])
    assert await stale(library, PAGE_MODEL) == pages
    assert await stale(library, PAGE_MODEL, [PAGES[1].uid, NOTE.uid]) == [PAGES[1].uid]


async def test_a_section_is_embedded_without_its_subsections(library: Store) -> None:
    chunks = await library.stale_chunks(PROJECT, PAGE_MODEL, 100, uids=[row.uid for row in PAGES])
    texts = {chunk.uid: chunk.text for chunk in chunks}
    title, first = PAGE.index(b"# Title"), PAGE.index(b"## First")
    assert texts[PAGES[0].uid] == PAGE[:first].decode()
    assert texts[PAGES[1].uid] == PAGE[title:first].decode()
    assert texts[PAGES[2].uid] == "## First\nAbout the first.\n"
    assert texts[PAGES[3].uid] == "## Second\nAbout the second.\n"


async def test_vectors_of_code_for_documents_are_found_until_they_are_replaced(library: Store) -> None:
    """An index of an older version holds them: nothing is lost while its documents are embedded again."""
    old = [vector(row, 1, 0, 0, 0) for row in (CODE_ROWS[0], *PAGES)]
    await library.put_vectors(PROJECT, MODEL, old)
    assert len(await found(library, CODE, 1, 0, 0, 0)) == len(old)
    assert (await library.stats(PROJECT))[0].vectors == 1
    await library.put_vectors(PROJECT, PAGE_MODEL, [vector(row, 1, 0, 0) for row in PAGES])
    assert await found(library, CODE, 1, 0, 0, 0) == [CODE_ROWS[0].uid]
    assert await found(library, DOCUMENTS, 1, 0, 0) == sorted(row.uid for row in PAGES)
    (stats,) = await library.stats(PROJECT)
    assert (stats.vectors, stats.models) == (len(old), (MODEL, PAGE_MODEL))


async def test_a_filter_that_few_nodes_pass_finds_the_nearest_of_them(store: Store) -> None:
    names = [f"app.f{number:02}" for number in range(90)]
    rows = [node(name, "a.py") for name in names]
    files = [node(f"module{number}", "a.py", label="Module") for number in range(3)]
    await store.apply([unit("a.py", [*rows, *files])])
    near = [vector(row, 1, 0.01 * position, 0, 0) for position, row in enumerate(rows)]
    far = [vector(row, 0.2, 1 + position, 0, 0) for position, row in enumerate(files)]
    await store.put_vectors(PROJECT, MODEL, [*near, *far])
    modules = Filter(labels=("Module",))
    expected = [row.uid for row in files]
    # The first search lists what the filter allows, further ones scan only that.
    for _ in range(3):
        assert await found(store, CODE, 1, 0, 0, 0, where=modules) == expected
    await store.put_vectors(PROJECT, MODEL, [vector(files[2], 1, 0, 0, 0)])
    assert await found(store, CODE, 1, 0, 0, 0, where=modules) == [expected[2], *expected[:2]]
    await store.apply([unit("a.py", [*rows, files[0]])])
    assert await found(store, CODE, 1, 0, 0, 0, where=modules) == expected[:1]
