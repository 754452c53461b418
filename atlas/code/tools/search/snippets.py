"""The lines of a hit's source that match the query best. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from atlas.code.tools.symbol.symbols import SourceLine
from atlas.core.model import NodeRow

LINE_CHARACTERS = 160
"""A longer line is cut: minified code has one line a file."""
MAX_COMPARED = 400
"""Lines that are split into words: the first that contain a word of the query at all."""


def matching_lines(
    row: NodeRow,
    content: bytes,
    words: Collection[str],
    split_words: Callable[[str], list[str]],
    most: int,
    without: str = "",
) -> tuple[SourceLine, ...]:
    """Return at most `most` lines of a node, without its first one, that contain most words of the query, in order.

    A line with fewer words than the best one is left out, and so is one that is part of the
    text `without`.
    """
    if row.end_byte <= row.start_byte or not words:
        return ()
    lines = content[row.start_byte : row.end_byte].decode("utf-8", "replace").splitlines()
    start, counted = row.start_line, list[tuple[int, int]]()
    for number, line in _candidates(lines, words):
        found = len(set(split_words(line)).intersection(words))
        if found and line.strip(" \t\"'/*#") not in without:
            counted.append((found, number))
    if not counted:
        return ()
    best = max(found for found, _ in counted)
    chosen = [number for found, number in counted if found == best][:most]
    return tuple(SourceLine(start + number, cut_line(" ".join(lines[number].split()))) for number in chosen)


def _candidates(lines: Sequence[str], words: Collection[str]) -> list[tuple[int, str]]:
    folded = [word.casefold() for word in words]
    found = (
        (number, line)
        for number, line in enumerate(lines)
        if number and any(word in line.casefold() for word in folded)
    )
    return [each for each, _ in zip(found, range(MAX_COMPARED), strict=False)]


def cut_line(text: str) -> str:
    """Return a line, cut at `LINE_CHARACTERS`."""
    return text if len(text) <= LINE_CHARACTERS else f"{text[:LINE_CHARACTERS].rstrip()}..."
