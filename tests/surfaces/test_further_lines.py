"""Lines with the names and rare words of a question that the answer does not show, as a reader with grep sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.answers.evidence import LINES_HEADING
from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.question_lines import cited_lines, words_of
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import indexed

FILES = {
    "shop/__init__.py": "",
    "shop/threads.py": "class LedgerThread:\n    def start(self):\n        return 1\n",
    "shop/pump.py": (
        "from shop.threads import LedgerThread\n\n\nclass Pump(LedgerThread):\n    pass\n\n\n"
        "def drain(orders):\n    for order in orders:\n        worker = LedgerThread()\n        worker.start()\n"
    ),
    "shop/settings.py": "SORT_ORDER_QUERY_KEYS = False\nLIMIT_ROWS = 10\n",
    "shop/routes.py": "def route(order, settings):\n    return sorted(order) if settings.SORT_ORDER_QUERY_KEYS else order\n",
    "config/new.yml": "shop:\n  sort_order_query_keys: true\n",
    "tests/test_mail.py": "from lettersink import catch\n\n\ndef test_mail():\n    assert catch()\n",
}


def _lines(said: str) -> str:
    return said.partition(LINES_HEADING)[2].partition("\nnote:")[0].partition("\nwithheld:")[0]


@pytest.fixture
async def shop(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    async with open_atlas(load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment={})) as atlas:
        yield atlas


async def test_a_rare_word_that_no_symbol_has(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "which of our test files work by means of lettersink")).render()
    assert "tests/test_mail.py:1: from lettersink import catch" in said


async def test_a_few_lines_with_a_word_of_english_tell_nothing(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "how is a worker of the shop told that somebody is waiting for money")).render()
    assert "worker" not in _lines(said)


async def test_a_key_in_words_is_shown_where_it_is_switched_on(shop: Atlas) -> None:
    said = (
        await hybrid_search(shop, "which key sorts the query keys of an order and where is it on for new shops")
    ).render()
    assert "SORT_ORDER_QUERY_KEYS = False" in said and "sort_order_query_keys: true" in said


async def test_no_line_is_repeated_and_the_budget_holds(shop: Atlas) -> None:
    question = "list everything that derives from LedgerThread or keeps making one for each of the orders"
    for budget in (120, 200, 400, 900):
        answer = await hybrid_search(shop, question, token_budget=budget)
        said = answer.render()
        assert answer.evidence.tokens <= budget or answer.evidence.below_floor
        lines = [each.strip() for each in _lines(said).splitlines() if each.strip()]
        before = said.partition(LINES_HEADING)[0]
        assert all(each.partition(": ")[2] not in before for each in lines)
        assert len(set(lines)) == len(lines)
        assert answer.structure()["evidence"].get("other_lines", []) == list(answer.evidence.lines)  # type: ignore[union-attr]
    assert "worker = LedgerThread()" in said, "the second half of the question"


@pytest.mark.parametrize(
    "question", ["LedgerThread", "subclasses of LedgerThread", "`no such text as this`", "what changed in shop/pump.py"]
)
async def test_what_is_answered_as_a_whole_has_none(shop: Atlas, question: str) -> None:
    assert LINES_HEADING not in (await hybrid_search(shop, question)).render()


async def test_a_line_of_a_file_that_has_changed_since_is_not_shown(shop: Atlas, tmp_path: Path) -> None:
    (tmp_path / "shop/tests/test_mail.py").write_text("def test_mail():\n    assert True\n")
    said = (await hybrid_search(shop, "which of our test files work by means of lettersink")).render()
    assert "from lettersink import catch" not in _lines(said)


def test_the_places_of_an_answer() -> None:
    said = (
        "callers of X shop/a.py:1: 3\nshop/b.py\n  Pump.run 17,19 (import 0.99)\n  other 21\n"
        "  imported by 2: shop/c.py: module 4; shop/d.py: module 5\n"
    )
    cited = {
        ("shop/a.py", 1),
        ("shop/b.py", 17),
        ("shop/b.py", 19),
        ("shop/b.py", 21),
        ("shop/c.py", 4),
        ("shop/d.py", 5),
    }
    assert cited <= cited_lines(said)
    assert ("shop/b.py", 4) not in cited_lines(said)


def test_words_and_names_of_a_question() -> None:
    stems, names = words_of("Which callers of get_host and ShopThread are the retried ones?")
    assert names == ("get_host", "shopthread")
    assert {"get", "host", "shop", "thread"} <= set(stems) and "the" not in stems
