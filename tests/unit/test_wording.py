"""Numbers with their nouns, as they stand in messages and answers."""

from __future__ import annotations

import pytest

from atlas.core.wording import counted, counts


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (2, "changed symbol", "2 changed symbols"),
        (3, "entry", "3 entries"),
        (2, "key", "2 keys"),
        (2, "batch", "2 batches"),
        (2, "class", "2 classes"),
    ],
)
def test_a_noun_agrees_with_its_number(number: int, noun: str, expected: str) -> None:
    assert counted(number, noun) == expected


def test_large_and_capped_numbers() -> None:
    assert counted(1200, "file", ",") == "1,200 files"
    assert counted(1, "hit", more=True) == "1+ hits"


def test_several_numbers() -> None:
    assert counts((1, "node"), (2, "edge")) == "1 node, 2 edges"
    assert counts((1, "entity"), (1200, "fact"), spec=",") == "1 entity, 1,200 facts"
