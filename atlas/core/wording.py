"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str, spec: str = "", *, more: bool = False) -> str:
    """Return `1 symbol`, `3 entries`, with the format specification "," `1,200 files`, with `more` `3+ symbols`.

    `noun` is singular, with its adjectives, and has a regular plural.
    """
    last = noun[-2:]
    plural = f"{noun[:-1]}ies" if last[-1] == "y" and last[0] not in "aeou" else f"{noun}s"
    if last[-1] in "sx" or last in ("ch", "sh"):
        plural = f"{noun}es"
    return f"{number:{spec}}{'+' if more else ''} {noun if number == 1 and not more else plural}"


def counts(*pairs: tuple[int, str], spec: str = "") -> str:
    """Return `1 file, 3 symbols` for numbers with their nouns, formatted as `counted` does."""
    return ", ".join(counted(number, noun, spec) for number, noun in pairs)
