"""A body in pieces that can be shown or left out: statements, paragraphs, single lines. Pure functions.

A piece never ends inside a statement that has no block of its own. A compound statement is divided into its head, the
statements of its blocks, and what stands between them, such as `else:`. A line without words, such as a closing brace,
belongs to the piece before it. Where there are no statements, paragraphs are pieces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

MAX_PIECE, MAX_PARAGRAPH = 6, 12
"""Lines of a piece. A longer statement, such as a table of values, and a longer paragraph are divided into lines."""
TAB = 4
"""Spaces of a tab."""
_CONDITION = re.compile(r"\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless|when|case|guard)\b")
_WORD_CHARACTER = re.compile(r"[^\W_]")

Statement = tuple[int, int, int]
"""First line, last line, number of blocks around it; lines count from 0."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a body that are shown together, counted from the first line of the node."""

    first: int
    last: int


def pieces_of(lines: Sequence[str], statements: Sequence[Statement], head: int = 0) -> list[Piece]:
    """Return the pieces of a body in order, without those up to the line of its name, `head`: the hit's line has it."""
    worded = _worded(lines)
    starts = _borders(lines, statements, worded)
    pieces = (Piece(first, _last_line(lines, first, end)) for first, end in pairwise([*starts, len(lines)]))
    return [piece for piece in pieces if piece.first > head and any(worded[piece.first : piece.last + 1])]


def with_conditions(lines: Sequence[str], pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces with each condition of one line beside the statement that it guards: together they say when."""
    found: list[Piece] = []
    for piece in pieces:
        head = found[-1] if found else None
        is_guarded = (
            head is not None
            and head.first == head.last == piece.first - 1
            and piece.last - head.first < MAX_PIECE
            and _CONDITION.match(lines[head.first]) is not None
            and _indent(lines[piece.first]) > _indent(lines[head.first])
        )
        if head is not None and is_guarded:
            found[-1] = Piece(head.first, piece.last)
        else:
            found.append(piece)
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def borders(lines: Sequence[str], statements: Sequence[Statement]) -> list[int]:
    """Return the lines before which a body can be cut: the first lines of its pieces, 0 first."""
    return _borders(lines, statements, _worded(lines))


def _borders(lines: Sequence[str], statements: Sequence[Statement], worded: Sequence[bool]) -> list[int]:
    if not lines:
        return []
    starts = _starts(statements, worded) if statements else _paragraphs(lines)
    found: list[int] = []
    most = MAX_PIECE if statements else MAX_PARAGRAPH
    for first, end in pairwise([*starts, len(lines)]):
        is_long = _last_line(lines, first, end) - first >= most
        found += range(first, end) if is_long else [first]
    return found


def _starts(statements: Sequence[Statement], worded: Sequence[bool]) -> list[int]:
    """Return the first lines of pieces: where the innermost statement changes."""
    total = len(worded)
    owner = [-1] * total
    for number, (first, last, _) in enumerate(statements):  # outer ones come first
        end = min(last + 1, total)
        owner[first:end] = [number] * (end - first)
    begins = {first for first, _, _ in statements}
    return [0, *(at for at in range(1, total) if worded[at] and (owner[at] != owner[at - 1] or at in begins))]


def _paragraphs(lines: Sequence[str]) -> list[int]:
    """Return the first line, that behind it, and those that follow an empty line."""
    begins = (number for number in range(2, len(lines)) if lines[number].strip() and not lines[number - 1].strip())
    return [0, *([1] if len(lines) > 1 else []), *begins]


def _last_line(lines: Sequence[str], first: int, end: int) -> int:
    """Return the last line of a piece that is not empty."""
    last = end - 1
    while last > first and not lines[last].strip():
        last -= 1
    return last


def has_words(line: str) -> bool:
    """Return whether a line has more than marks."""
    return _WORD_CHARACTER.search(line) is not None


def _worded(lines: Sequence[str]) -> list[bool]:
    search = _WORD_CHARACTER.search
    return [search(line) is not None for line in lines]


def indentation(lines: Sequence[str]) -> int:
    """Return the indentation that all lines of a body but the first have, where a tab is four spaces."""
    least = -1
    for line in islice(lines, 1, None):
        spread = line.expandtabs(TAB).rstrip()
        if spread and (least < 0 or _indent(spread) < least):
            least = _indent(spread)
            if not least:
                break
    return max(least, 0)


def dedented(line: str, common: int) -> str:
    """Return a line without so much of its indentation; tabs become four spaces."""
    spread = line.expandtabs(TAB).rstrip()
    return spread[min(common, _indent(spread)) :] if common else spread
