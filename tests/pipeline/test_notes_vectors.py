"""Notes of a real tree in the vector space and in the word search of prose, from files to answers."""

from pathlib import Path

import pytest

from atlas._parser import VectorIndex, split_words, stem_words
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import open_atlas
from atlas.code.find import Mode
from atlas.code.index.copying import copy_project
from atlas.code.index.events import no_progress
from atlas.core.model import CODE, PROSE, PROSE_LABELS, Filter
from atlas.parsing import name_words
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import differences, dump, index, write_tree

CLAIM, ENTITY, OBSERVATION = (f"{prefix}-01JD2V9Q7K0000000000000001" for prefix in "ceo")
FILES = {
    "shop/cart.py": 'def total(prices):\n    """Sum the prices of the basket."""\n    return sum(prices)\n',
    ".knowledge/claims/2026/attention.md": (
        f"---\nid: {CLAIM}\nkind: claim\ncreated: 2026-05-08T13:56:00Z\n---\nAttention mechanisms scale quadratically.\n"
    ),
    ".knowledge/entities/billing-team.md": (
        f"---\nid: {ENTITY}\nkind: entity\nname: Billing team\ntype: team\naliases: [payments]\n---\nOwns the invoices.\n\n"
        f"- 2026-11-20T09:00:00Z [{OBSERVATION}] Releases on Thursdays. (client: cursor)\n"
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "p", FILES)
    return tmp_path / "p"


async def test_every_note_is_embedded_as_prose_and_nothing_else(root: Path, tmp_path: Path) -> None:
    summary = await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:
        store = atlas.reader.store
        prose = [row.uid.partition(":")[2] for row in await store.vectors("p", 100, "", PROSE)]
        code = await store.vectors("p", 100, "", CODE)
        assert prose == sorted((CLAIM, ENTITY, OBSERVATION))
        nodes = await store.symbols([row.uid for row in code])
        assert nodes and not {node.row.label for node in nodes} & PROSE_LABELS
        (stats,) = await store.stats("p")
        assert stats.vectors == stats.chunks == summary.vectors == len(prose) + len(code)
        assert [model.space for model in stats.models] == [CODE, PROSE]


@pytest.mark.parametrize(
    ("question", "expected"),
    [("what is released on Thursday?", OBSERVATION), ("quadratic cost of the attention mechanism", CLAIM)],
)
async def test_a_question_finds_a_note(root: Path, tmp_path: Path, question: str, expected: str) -> None:
    await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:
        by_meaning = await atlas.search(question, Filter(project="p"), Mode.MEANING)
        assert by_meaning.ranked[0].node.row.qualified_name == expected
        beside_code = await atlas.search(question, Filter(project="p"))
        assert expected in [each.node.row.qualified_name for each in beside_code.ranked[:3]]


async def test_words_of_notes_are_found_by_their_stems(root: Path, tmp_path: Path) -> None:
    await index(root, tmp_path / "d")
    async with open_atlas(load_settings(str(root), str(tmp_path / "d"))) as atlas:

        async def found(words: list[str]) -> list[str]:
            hits = await atlas.reader.store.search_text(words, Filter(project="p"), 10)
            return [hit.uid.partition(":")[2] for hit in hits]

        assert await found(split_words("releasing")) == []
        assert await found(stem_words("releasing").split()) == [OBSERVATION]
        assert set(await found(stem_words("teams").split())) == {OBSERVATION, ENTITY}
        assert await found(stem_words("scaling quadratic attentions").split()) == [CLAIM]
        assert await found(stem_words("in November").split()) == [OBSERVATION]
        assert await found(stem_words("last May").split()) == [CLAIM]
        assert set(await found(stem_words("payment").split())) == {OBSERVATION, ENTITY}
        assert await found(name_words("who is in payments?")) == [ENTITY]


async def test_a_changed_note_is_embedded_again_alone(root: Path, tmp_path: Path) -> None:
    await index(root, tmp_path / "d")
    path = root / ".knowledge/entities/billing-team.md"
    path.write_text(path.read_text().replace("Thursdays", "Fridays"))
    assert (await index(root, tmp_path / "d")).vectors == 2  # the observation and the entity around it
    await index(root, tmp_path / "clean")
    assert dump(tmp_path / "d") == dump(tmp_path / "clean")


async def test_a_copy_has_the_same_words_and_vectors(root: Path, tmp_path: Path) -> None:
    await index(root, tmp_path / "d")
    source = EmbeddedStore.open(tmp_path / "d", writing=False, vector_index=VectorIndex)
    target = EmbeddedStore.open(tmp_path / "copy", writing=True, vector_index=VectorIndex)
    try:
        await copy_project(source, target, "p", no_progress)
    finally:
        await target.aclose()
        await source.aclose()
    ours, theirs = dump(tmp_path / "d"), dump(tmp_path / "copy")
    assert differences(ours, theirs) == []
