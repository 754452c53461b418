"""hybrid_search of `path:line` and of paths: the innermost definition at the line, then its file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas.code.atlas import Atlas
from atlas.code.find import Mode
from atlas.code.reader import RankingOptions
from atlas.code.retrieve.places import AT_LINE, FILE
from atlas.code.tools.search.explain import explain, explanation_lines, find_to_explain
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer

TOTAL, CART, DISCOUNT = "shop.cart.Cart.total", "shop.cart.Cart", "shop.cart.apply_discount"


async def ranked(shop: Atlas, question: str, **arguments: str) -> list[str]:
    found = await find_to_explain(shop, Mode.HYBRID, question, **arguments)
    return [each.node.row.qualified_name for each in found.ranked]


@pytest.mark.parametrize(
    "question",
    [
        "shop/cart.py:14",
        "./shop/cart.py:14",
        "shop/shop/cart.py:14",
        "/usr/lib/site-packages/shop/cart.py:14",
        "https://example.com/shop/blob/main/shop/cart.py#L14",
        "cart.py:14",
        "shop/cart.py:13-14",
        "shop/cart.py#L14",
        "shop/cart.py(14)",
        "shop/cart.py line 14",
        'File "shop/cart.py", line 14',
        "why is the sum wrong at shop/cart.py:14 when loading",
    ],
)
async def test_the_innermost_definition_at_a_line_comes_first_and_then_its_file(shop: Atlas, question: str) -> None:
    assert (await ranked(shop, question))[:2] == [TOTAL, "shop.cart"]


async def test_a_place_of_evidence_leads_back_to_its_hit(shop: Atlas) -> None:
    for name in ("apply_discount", "MemoryStore", "test_total"):
        symbol = (await hybrid_search(shop, name)).hits[0].symbol
        answer = await hybrid_search(shop, symbol.place)
        assert answer.hits[0].symbol.uid == symbol.uid
        assert not any("relevant" in note or "weak" in note for note in answer.evidence.notes)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("shop/cart.py:10", "shop.cart.Cart.__init__"),
        ("shop/cart.py:8", CART),
        ("shop/cart.py:12-18", CART),
        ("shop/cart.py:14-22", TOTAL),
        ("shop/cart.pyi:1", "shop.cart.apply_discount#2"),
        ("docs/guide.md:5", "docs/guide.md#discounts"),
        ("tests/test_cart.py:6", "tests.test_cart.test_total"),
        ("shop/cart.py:3", "shop.cart"),
        ("shop/cart.py:9000", "shop.cart"),
    ],
)
async def test_what_a_place_means(shop: Atlas, question: str, first: str) -> None:
    """A constructor is not its class there, nor a stub its definition; a range means what has all of it."""
    names = await ranked(shop, question)
    assert names[0] == first
    assert len(names) == len(set(names))


async def test_several_places_are_in_order(shop: Atlas) -> None:
    names = await ranked(shop, "compare shop/store.py:8 with shop/cart.py:22")
    assert names[:4] == ["shop.store.Store.load", DISCOUNT, "shop.store", "shop.cart"]


@pytest.mark.parametrize(
    "question",
    ["shop/store.py", "./shop/store.py", "shop/shop/store.py", "store.py", "`store.py`", "show shop/store.py"],
)
async def test_a_path_is_its_file_and_others_follow(shop: Atlas, question: str) -> None:
    names = await ranked(shop, question)
    assert names[0] == "shop.store"
    assert len(names) > 3


@pytest.mark.parametrize(
    "question", ["shop/absent.py:14", "absent/cart.py", "other/cart.py:14", "total:14", "shop/cart"]
)
async def test_a_path_that_the_project_lacks_is_text(shop: Atlas, question: str) -> None:
    without = replace(shop, reader=replace(shop.reader, ranking=RankingOptions(off=frozenset(("places",)))))
    assert await ranked(shop, question) == await ranked(without, question)


@pytest.mark.parametrize(
    "question",
    [
        "who calls shop/cart.py:22",
        "who calls cart.py:22",
        "who calls shop/cart.py line 22",
        "callers of shop/cart.py(22)",
    ],
)
async def test_a_question_about_edges_means_the_definition_at_a_line(shop: Atlas, question: str) -> None:
    found = await find_to_explain(shop, Mode.HYBRID, question)
    assert found.relation is not None
    assert [each.node.row.qualified_name for each in found.relation.related] == [TOTAL]


async def test_a_filter_holds_for_places(shop: Atlas) -> None:
    assert "shop.cart" not in " ".join(await ranked(shop, "shop/cart.py:14", path="tests/"))
    answer = await hybrid_search(shop, "shop/cart.py:14", labels=["Class"])
    assert isinstance(answer, SearchAnswer)
    assert answer.hits[0].symbol.qualified_name == CART


async def test_the_explanation_names_the_place(shop: Atlas) -> None:
    found = await find_to_explain(shop, Mode.HYBRID, "shop/cart.py:14")
    lines = "\n".join(explanation_lines(found, RankingOptions(), 2))
    assert AT_LINE in lines and FILE in lines
    stages = explain(found, RankingOptions(off=frozenset(("places",))), 2)["stages"]
    assert isinstance(stages, dict)
    assert stages["places"] == "off"
