"""The second hop: what good hits mention or link to is found by the sentence that leads there and the words left over."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import open_pack
from atlas.packs.questions.retrieval.search import find
from atlas.packs.questions.values import BALANCED, BASELINE, QuestionOptions
from tests.packs.library import write_tree

FILLERS = {
    f"gadget-{number}.md": f"# Gadget {number}\n\nGadget {number} is a database for the desk. Its vendor sells it to "
    f"banks, and the city of the vendor is not known. Version {number} is from 1990.\n"
    for number in range(12)
}
PLAIN = {
    "quartzbase.md": "# Quartzbase\n\nQuartzbase is a database for small computers that the Larch Works company sold. "
    "Its manual was printed by the Mill Press house.\n",
    "larch.md": "# Larch Works\n\nA company that had its offices in Perrysburg, Ohio. It was bought in 1992.\n",
    "mill.md": "# Mill Press\n\nA house in Toledo that printed books until 1980.\n",
}
LINKED = PLAIN | {
    "quartzbase.md": "# Quartzbase\n\nQuartzbase is a database for small computers that the [Larch Works](larch.md) "
    "company sold. Its manual was printed by the [Mill Press](mill.md) house.\n"
}


async def ranks(
    tmp_path: Path, pages: dict[str, str], question: str, options: QuestionOptions = BALANCED
) -> dict[str, int]:
    docs = write_tree(tmp_path / "docs", pages | FILLERS)
    built = await build_pack(BuildRequest("gadgets", (str(docs),), "1"), tmp_path / "pack", replaces=True)
    pack = open_pack(built.folder)
    try:
        found = await find(pack.reader, question, options)
    finally:
        await pack.aclose()
    return {section.article.partition(":")[2]: place for place, section in enumerate(found.sections, 1)}


async def best_two(tmp_path: Path, pages: dict[str, str], question: str) -> set[str]:
    return set(list(await ranks(tmp_path, pages, question))[:2])


@pytest.mark.parametrize("pages", [PLAIN, LINKED], ids=["mentions", "links"])
async def test_the_article_behind_the_sentence_is_found(tmp_path: Path, pages: dict[str, str]) -> None:
    asked = "Where were the offices of the company that sold the database Quartzbase?"
    assert await best_two(tmp_path, pages, asked) == {"quartzbase.md", "larch.md"}
    other = "In which town was the manual of the database Quartzbase printed?"
    assert await best_two(tmp_path, pages, other) == {"quartzbase.md", "mill.md"}


async def test_a_target_without_a_word_of_the_question_stays(tmp_path: Path) -> None:
    pages = PLAIN | {"larch.md": "# Larch Works\n\nPerrysburg, Ohio.\n"}
    found = await ranks(tmp_path, pages, "Which enterprise sold Quartzbase?")
    assert found["quartzbase.md"] == 1
    assert "larch.md" in found
    assert "larch.md" not in await ranks(tmp_path, pages, "Which enterprise sold Quartzbase?", BASELINE)
