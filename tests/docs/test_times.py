"""The time that a build writes down."""

from __future__ import annotations

import pytest

from atlas.packs.documentation.sources.values import VARIABLE, build_time


@pytest.mark.parametrize(
    ("stated", "expected"), [("0", "1970-01-01T00:00:00Z"), ("1700000000", "2023-11-14T22:13:20Z")]
)
def test_a_stated_time_is_written(stated: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, stated)
    assert build_time() == expected


@pytest.mark.parametrize("stated", ["", "soon", "-5", "9" * 30])
def test_another_value_leaves_the_clock(stated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, stated)
    assert build_time() > "2024"
