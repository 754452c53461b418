"""What an unsure answer lists besides ranked hits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas.code.atlas import Atlas
from atlas.code.find import SearchResult
from atlas.code.tools.citations import LISTED_CHARACTERS, short_title
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.unranked import is_unsure, with_unranked
from atlas.core.model import Filter, Scored

from .shop import PROJECT

SENTENCE = "keep values in the basket"
CART = "shop:shop.cart.Cart"


async def only(shop: Atlas, *uids: str, question: str = SENTENCE) -> SearchResult:
    """Return what a search finds, with these candidates alone."""
    found = await shop.search(question, Filter(project=PROJECT))
    ranked = tuple(each for each in found.ranked if each.node.row.uid in uids)
    assert len(ranked) == len(uids)
    return replace(found, ranked=ranked, total=len(ranked))


async def test_candidates_that_are_not_ranked_come_last_and_once(shop: Atlas) -> None:
    found = await only(shop, CART)
    unranked = (Scored(CART, 9.0), Scored("shop:shop.cart.apply_discount", 9.0), Scored("shop:gone", 1.0))
    more = await with_unranked(shop.reader, replace(found, unranked=unranked))
    assert [each.node.row.uid for each in more.ranked] == [CART, "shop:shop.cart.apply_discount"]
    assert more.total == 2
    assert more.ranked[1].score <= more.ranked[0].score


@pytest.mark.parametrize("question", ["Cart", "basket"])
async def test_a_name_needs_nothing_further(shop: Atlas, question: str) -> None:
    found = replace(await shop.search(question, Filter(project=PROJECT)), unranked=(Scored(CART, 1.0),))
    if question == "Cart":
        assert not is_unsure(found)
        assert await with_unranked(shop.reader, found) is found
    assert not is_unsure(replace(found, relevance=0.1)), "nothing relevant"


async def test_an_answer_never_passes_its_budget(shop: Atlas) -> None:
    for budget in (150, 300, 600, 900):
        answer = await hybrid_search(shop, SENTENCE, token_budget=budget)
        assert answer.evidence.tokens <= budget


def test_long_titles_are_cut_in_lists() -> None:
    assert short_title("total") == "total"
    assert len(short_title("a" * 80)) == LISTED_CHARACTERS
    assert short_title("a" * 80).endswith("...")
