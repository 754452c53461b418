"""Stores that differ are shown by their rows."""

from __future__ import annotations

from tests.pipeline.trees import Dump, differences


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show only what differs between two whole stores."""
    if op == "==" and isinstance(left, Dump) and isinstance(right, Dump):
        return ["what the stores hold is the same", *differences(left, right)]
    return None
