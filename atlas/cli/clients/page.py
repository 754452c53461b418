"""A whole file as one value: the page of a skill. The functions are those of the other formats."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.cli.clients.edits import Edit

MAX_BYTES = 1 << 20


def load(text: str) -> str:
    """Return the text; "" is not a page."""
    return text


def put(text: str, path: Sequence[str], value: str) -> list[Edit]:
    """Return the edit that makes `value` the page."""
    del path
    return [Edit(0, text, value)]


def raw(text: str, path: Sequence[str]) -> str:
    """Return the text."""
    del path
    return text


put_raw = put


def remove(text: str, path: Sequence[str], made: int = 0) -> list[Edit]:
    """Return the edit that empties the page."""
    del path, made
    return [Edit(0, text, "")]


def has_comment(text: str) -> bool:
    """Return False: comments are text here."""
    del text
    return False


def made_for(document: object, path: Sequence[str]) -> int:
    """Return 0: nothing is around a page."""
    del document, path
    return 0
