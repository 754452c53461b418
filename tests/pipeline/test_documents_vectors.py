"""Documents of a real tree in a vector space of their own, from files to answers, and in an index of an older version."""

from pathlib import Path

import pytest

from atlas.adapters.embedders.static import StaticEmbedder
from atlas.app.main import open_atlas
from atlas.code.find import Mode
from atlas.core.model import CODE, DOCUMENTS, Chunk, Filter, VectorRow
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import differences, dump, index, write_tree

FILES = {
    "shop/cart.py": 'def total(prices):\n    """Sum the prices of the basket."""\n    return sum(prices)\n',
    "shop.toml": "[basket]\nlimit = 20\n",
    "docs/guide.md": (
        "# Guide\n\nHow the shop works.\n\n## Returning goods\n\nSend the parcel back within thirty days.\n\n"
        "### Refunds\n\nThe money arrives after a week.\n\n## Discounts\n\nVouchers lower the price.\n"
    ),
}
REFUNDS = "### Refunds\n\nThe money arrives after a week.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "p", FILES)
    return tmp_path / "p"


async def test_documents_are_embedded_apart_from_code(root: Path, tmp_path: Path) -> None:
    await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:
        store = atlas.reader.store
        pages = await store.symbols([row.uid for row in await store.vectors("p", 100, "", DOCUMENTS)])
        code = await store.symbols([row.uid for row in await store.vectors("p", 100, "", CODE)])
        assert {node.row.path for node in pages} == {"docs/guide.md"} and len(pages) == 5
        assert {node.row.path for node in code} == {"shop/cart.py", "shop.toml"}
        (stats,) = await store.stats("p")
        assert (stats.vectors, stats.chunks) == (len(pages) + len(code),) * 2
        assert [model.space for model in stats.models] == [CODE, DOCUMENTS]
        names = {node.row.name: node.row.chunk_name for node in pages if node.row.label == "DocSection"}
        assert names["Refunds"] == "docs/guide.md. Guide. Returning goods. Refunds"


@pytest.mark.parametrize("mode", [Mode.MEANING, Mode.HYBRID])
async def test_a_question_finds_a_section_between_code(root: Path, tmp_path: Path, mode: Mode) -> None:
    await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:
        asked = await atlas.search("when do customers get their money back", Filter(project="p"), mode)
        assert asked.ranked[0].node.row.name == "Refunds"
        code = await atlas.search("sum up what is in the basket", Filter(project="p"), mode)
        assert code.ranked[0].node.row.path == "shop/cart.py"


async def test_a_heading_comes_first_and_an_identifier_leads_to_its_definition(root: Path, tmp_path: Path) -> None:
    write_tree(
        root, {**FILES, "docs/api.md": "# API\n\n## total()\n\n`total` adds.\n\n## Returning numbers\n\nOf goods.\n"}
    )
    await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:
        for question, expected in (("Returning goods", "Returning goods"), ("total", "total"), ("total()", "total")):
            found = await atlas.search(question, Filter(project="p"))
            assert found.ranked[0].node.row.name == expected


async def test_an_edited_heading_ends_at_the_index_of_a_new_tree(root: Path, tmp_path: Path) -> None:
    """The text of a section ends where the next one begins, and its name holds the headings around it."""
    await index(root, tmp_path / "d")
    guide = FILES["docs/guide.md"]
    for text in (guide.replace("## Returning goods", "## Sending goods back"), guide.replace("### Refunds\n\n", "")):
        write_tree(root, {**FILES, "docs/guide.md": text})
        await index(root, tmp_path / "d")
        clean = tmp_path / f"clean{len(text)}"
        await index(root, clean)
        assert not differences(dump(tmp_path / "d"), dump(clean))


async def test_an_older_index_embeds_only_its_documents_again_and_answers_meanwhile(root: Path, tmp_path: Path) -> None:
    await index(root, tmp_path / "d")
    expected, older = dump(tmp_path / "d"), StaticEmbedder()
    async with open_atlas(load_settings(str(root), str(tmp_path / "d")), writing=True) as atlas:
        store, where = atlas.reader.store, Filter(project="p")
        pages = await store.symbols([row.uid for row in await store.vectors("p", 100, "", DOCUMENTS)])
        chunks = [Chunk(each.row.uid, each.row.chunk_digest, each.row.path, each.row.docstring, True) for each in pages]
        made = zip(chunks, await older.embed_chunks(chunks), strict=True)
        await store.put_vectors("p", await older.info(), [VectorRow(one.uid, one.digest, data) for one, data in made])
        (stats,) = await store.stats("p")
        assert stats.chunks - stats.vectors == len(pages)
        found = await store.search_vector(await older.embed_query("money after a week"), where, 100)
        assert {each.row.uid for each in pages} & {hit.uid for hit in found}
    summary = await index(root, tmp_path / "d")
    assert summary.vectors == len(pages)
    assert not differences(dump(tmp_path / "d"), expected)
