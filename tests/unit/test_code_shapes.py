"""Which words of a question look like names of code, and which questions ask for a page."""

from __future__ import annotations

import pytest

from atlas.code.question.names import is_code_shaped
from atlas.code.question.parse_question import asks_for_page
from tests.unit.test_route import taken_apart


@pytest.mark.parametrize("word", ["toJSON", "isOK", "fooBar", "Cart", "cart_item", "a.b", "curl_init", "f()"])
def test_identifiers_are_shaped_like_code(word: str) -> None:
    assert is_code_shaped(word)


@pytest.mark.parametrize("word", ["cURL", "gRPC", "iOS", "eBPF", "mTLS", "curl", "self-written"])
def test_abbreviations_of_products_are_words(word: str) -> None:
    """Their capitals say nothing of the code: `the cURL transport` is no symbol `cURL`."""
    assert not is_code_shaped(word)
    assert word not in taken_apart(f"how long does the {word} transport wait for its socket before it fails?").names


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Point me to the documentation section telling what duties a self-written handler has", True),
        ("show me the section of the manual about retries", True),
        ("Find the guide page on streaming", True),
        ("which page explains retries", True),
        ("point me to the function that renders a page", False),
        ("show me the handler of the docs server", False),
    ],
)
def test_pages_are_asked_for_in_many_forms(question: str, asks: bool) -> None:
    assert asks_for_page(question) is asks
