"""Dates as people write them."""

from __future__ import annotations

import pytest

from atlas.core.errors import ConfigError
from atlas.knowledge.tools.times import moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 May 2023", "2023-05-08T00:00:00Z"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
        ("12 p.m. on Feb. 29 2024", "2024-02-29T12:00:00Z"),
        ("Monday, May 8th, 2023 at 13:56", "2023-05-08T13:56:00Z"),
        ("1st of March 2024", "2024-03-01T00:00:00Z"),
        ("2023/05/08 10:00:30", "2023-05-08T10:00:30Z"),
    ],
)
def test_dates_in_words(text: str, expected: str) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize(
    "text", ["31 February 2023", "13 pm on 8 May 2023", "May 2023", "8 Mayor 2023", "05/08/2023", "8 May 2023 or later"]
)
def test_what_is_no_date(text: str) -> None:
    with pytest.raises(ConfigError):
        moment(text)
