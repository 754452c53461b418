"""The table of measured precision keeps the stated confidences: what the linker states, and how far it is from measurement."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from test_cases import CASES, link  # noqa: E402

MEASURED = HERE.parents[1] / "docs" / "measurements" / "edges.md"
ROW = re.compile(r"^\| `([a-z-]+)` \| ([\d,]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)", re.MULTILINE)
LEAST = 50
"""Judged edges that make a measurement."""
LARGEST_GAP = 0.05

Row = tuple[int, int, float, float]


def table() -> dict[str, Row]:
    """Judged edges, wrong ones, precision and stated confidence of each rule."""
    rows = ROW.findall(MEASURED.read_text("utf-8"))
    return {
        rule: (int(judged.replace(",", "")), int(wrong), float(precision), float(stated))
        for rule, judged, wrong, precision, _before, stated in rows
    }


def stated() -> dict[str, set[float]]:
    """What the linker states for calls in the cases, by rule."""
    found: dict[str, set[float]] = {}
    for case in CASES:
        linker = link(case)
        for path in linker.digests():
            for _source, _target, kind, _line, strategy, confidence, *_rest in linker.unit(path).edges():
                if kind == "CALLS":
                    found.setdefault(strategy, set()).add(round(confidence, 4))
    return found


def test_the_linker_states_what_the_table_says() -> None:
    claimed = stated()
    rows = table()
    assert len(rows) >= 20
    for rule, (_judged, _wrong, _precision, confidence) in rows.items():
        assert claimed.get(rule, {confidence}) == {confidence}, rule
    assert len(rows.keys() & claimed.keys()) >= 18


@pytest.mark.parametrize("rule", sorted(table()))
def test_stated_confidence_is_measured_precision(rule: str) -> None:
    judged, wrong, precision, confidence = table()[rule]
    assert precision == pytest.approx((judged - wrong) / judged, abs=0.0006)
    if judged >= LEAST:
        assert abs(precision - confidence) <= LARGEST_GAP
