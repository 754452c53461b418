"""What a note may contain."""

from __future__ import annotations

import math

import pytest

from atlas.core.errors import ConfigError
from atlas.knowledge.notes.checks import check_line, check_share, check_status, check_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("a\x00b", "NUL"),
        ("x" * 100_001, "at most 100000"),
        ("\ud800", "not valid Unicode"),
        ("key is AKIA" + "Z7QF2M4XB5LKD3TN", "contains a secret"),
    ],
)
def test_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        check_text("text", text)
    assert caught.value.hint and "Z7QF" not in str(caught.value)


def test_texts_are_normalised() -> None:
    assert check_text("text", " Cafe\u0301 ") == "Café"
    assert check_line("name", "two\n  lines") == "two lines"


@pytest.mark.parametrize("value", [7, -0.1, True, "0.5", None, math.nan, math.inf])
def test_shares_out_of_range(value: object) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        check_share("confidence", value)


def test_shares_and_statuses_in_range() -> None:
    assert [check_share("confidence", value) for value in (0, 1, 0.5)] == [0.0, 1.0, 0.5]
    assert check_status("disputed") == "disputed"
    with pytest.raises(ConfigError, match="unknown status"):
        check_status("done")
