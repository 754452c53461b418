"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str, *, more: bool = False) -> str:
    """Return `1 symbol`, `3 symbols`, or with `more` `3+ symbols`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number}{'+' if more else ''} {noun if number == 1 and not more else plural}"
