"""The values that `Excerpts` takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class HitSpan(NamedTuple):
    """A hit in its file: lines from 1, bytes, and the chance that it is meant."""

    language: str
    first: int
    last: int
    start: int
    end: int
    """Behind its last byte."""
    likelihood: float


class HitSource(NamedTuple):
    """The file of a hit."""

    path: str
    content: bytes
    """As it is indexed; b"" if nothing is to be shown of it."""
    line: int
    """The line of the file that is shown of the hit in any case."""
    summary: str
    """What is shown of its documentation."""
    spans: Sequence[HitSpan]
    """The hit, then the other hits of the file."""


RatedBody = tuple[list[tuple[float, int, list[tuple[int, str]]]], int]
"""Pieces as (value, tokens, lines), a line as (number, text); characters of all pieces in the lines of the hit."""
