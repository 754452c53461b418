"""Texts that stand in the source as they are asked: in code before tests, and where tests are left out, in code alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas._parser import split_words
from atlas.code.atlas import Atlas
from atlas.code.question.parse_question import route
from atlas.code.retrieve.phrases import FEW_HITS, by_phrase
from atlas.core.model import Filter

from .shop import PROJECT

WHERE = Filter(project=PROJECT, include_tests=True)


async def found(shop: Atlas, text: str, where: Filter) -> list[str]:
    query = replace(route(text, split_words, shop.reader.languages), verbatim=text, phrases=())
    return sorted(hit.uid for hit in (await by_phrase(shop.reader, query, where)).hits)


@pytest.mark.parametrize(
    ("text", "in_code", "is_anywhere"),
    [
        ("return apply_discount", True, True),
        ("sum the prices of everything", True, True),
        ("test total", False, True),
        ("no such words anywhere", False, False),
    ],
)
async def test_code_that_has_a_text_goes_before_tests(
    shop: Atlas, text: str, *, in_code: bool, is_anywhere: bool
) -> None:
    code = replace(WHERE, include_tests=False)
    search = shop.reader.store.search_text
    hits = {side: sorted(hit.uid for hit in await search([text], side, FEW_HITS)) for side in (WHERE, code)}
    assert (bool(hits[code]), bool(hits[WHERE])) == (in_code, is_anywhere)
    assert await found(shop, text, WHERE) == (hits[code] or hits[WHERE])
    assert await found(shop, text, code) == hits[code]
