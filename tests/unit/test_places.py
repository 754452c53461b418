"""The places that a short question writes: paths with a line, or a path alone."""

from __future__ import annotations

import time

import pytest

from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.retrieve.places import MAX_PLACES, WrittenPlace, read_places
from atlas.parsing import search_terms

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def read(text: str) -> list[tuple[str, int, int]]:
    return [(place.path, place.line, place.last) for place in read_places(text, LANGUAGES)]


@pytest.mark.parametrize(
    "text",
    [
        "shop/cart.py:12",
        "shop/cart.py:12:5",
        "shop/cart.py:L12",
        "shop/cart.py#L12",
        "shop/cart.py#L12C3",
        "shop/cart.py(12)",
        "shop/cart.py(12,5)",
        "shop/cart.py line 12",
        "shop/cart.py, line 12",
        "`shop/cart.py` at line 12",
        'File "shop/cart.py", line 12',
        "line 12 of shop/cart.py",
        "line 12 in the file `shop/cart.py`",
        "why does shop/cart.py:12 fail?",
        "see (shop/cart.py:12).",
        "shop/cart.py:12: error",
    ],
)
def test_a_path_with_a_line(text: str) -> None:
    assert read(text) == [("shop/cart.py", 12, 12)]


@pytest.mark.parametrize(
    "text",
    [
        "shop/cart.py:12-40",
        "shop/cart.py#L12-L40",
        "shop/cart.py#L12-40",
        "shop/cart.py lines 12-40",
        "lines 12 to 40 of shop/cart.py",
    ],
)
def test_a_path_with_a_range_of_lines(text: str) -> None:
    assert read(text) == [("shop/cart.py", 12, 40)]


def test_a_range_that_ends_before_it_begins_is_its_first_line() -> None:
    assert read("shop/cart.py:12-4") == [("shop/cart.py", 12, 12)]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("shop/cart.py", "shop/cart.py"),
        ("./shop/cart.py", "./shop/cart.py"),
        ("`shop/cart.py`?", "shop/cart.py"),
        (r"shop\cart.py", r"shop\cart.py"),
        ("cart.py", "cart.py"),
        ("open the file shop/cart.py", "shop/cart.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
    ],
)
def test_a_path_that_is_the_whole_question(text: str, path: str) -> None:
    assert read(text) == [(path, 0, 0)]


@pytest.mark.parametrize(
    "text",
    [
        "how is shop/cart.py tested",
        "the error on line 12",
        "Cart.total",
        "shop.cart",
        "12:30",
        "cart.py:0",
        "cart.py:123456789",
        "",
        "/",
        "...:1",
    ],
)
def test_no_place(text: str) -> None:
    assert [place for place in read(text) if place[0] != "12"] == []


def test_places_keep_their_order_and_are_limited() -> None:
    text = "from line 3 of b.py to a.py:7 and a.py:7"
    assert read_places(text, LANGUAGES) == (WrittenPlace("b.py", 3, 3), WrittenPlace("a.py", 7, 7))
    assert len(read(" ".join(f"a.py:{line}" for line in range(1, 99)))) == MAX_PLACES


@pytest.mark.parametrize("piece", ["a/", "a.py:", "line 1 of ", "a" * 50 + " ", "1-", "[", "a.py line "])
def test_reading_takes_linear_time(piece: str) -> None:
    began = time.process_time()
    read(piece * (2_000 // len(piece)))
    assert time.process_time() - began < 0.5
