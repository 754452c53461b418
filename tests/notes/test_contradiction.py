"""Possible contradictions on statements that were written without knowledge of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.search.notes.contradiction import clash, statement

CASES = [
    line.split("\t")
    for line in Path(__file__).with_name("data").joinpath("contradictions.tsv").read_text("utf-8").splitlines()
]


def test_precision_and_recall() -> None:
    found = [(label == "contradiction", clash(statement(one), statement(other))) for label, one, other in CASES]
    right = sum(is_one for is_one, hit in found if hit)
    assert right / sum(hit is not None for _, hit in found) >= 0.9
    assert right / sum(is_one for is_one, _ in found) >= 0.65


def test_the_order_of_the_statements_does_not_matter() -> None:
    for _, one, other in CASES:
        forth, back = clash(statement(one), statement(other)), clash(statement(other), statement(one))
        assert (forth is None) == (back is None), (one, other)
        if forth and back:
            assert (forth.kind, forth.one, forth.other) == (back.kind, back.other, back.one)


@pytest.mark.parametrize(
    ("one", "other", "kind", "words"),
    [
        ("The cache is thread-safe.", "The cache is not thread-safe.", "negation", ("cache thread-safe", "not")),
        ("The timeout is 30 seconds.", "The timeout is two minutes.", "quantity", ("30 seconds", "two minutes")),
        ("The queue drops the oldest item.", "The queue drops the newest item.", "opposite", ("oldest", "newest")),
        ("Rust is faster than Go.", "Go is faster than Rust.", "comparison", ("faster", "faster")),
        ("Sorting takes O(n log n) time.", "Sorting takes O(n^2) time.", "complexity", ("O(n log n)", "O(n^2)")),
    ],
)
def test_the_clashing_words_are_named(one: str, other: str, kind: str, words: tuple[str, str]) -> None:
    found = clash(statement(one), statement(other))
    assert found is not None
    assert (found.kind, (found.one, found.other)) == (kind, words)


@pytest.mark.parametrize("text", ["", "?", "\x00", "1" * 5000, "O(" * 500, "not " * 2000, "日本語のテキスト"])
def test_any_text_is_compared(text: str) -> None:
    assert clash(statement(text), statement(text)) is None
