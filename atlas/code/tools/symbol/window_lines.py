"""The lines of a function that a question for behaviour asks for: its best windows, or all of a short body. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from atlas.code.rank.bodies import BodyWindow, body_lines
from atlas.code.tools.search.parts import Body
from atlas.code.tools.search.snippets import cut_line
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.core.model import NodeRow

MOST_TOKENS = (240, 130, 70)
"""Of the body of the first hit, of the second, and so on. In functions that decide what is asked for, the deciding line
is among the best windows of 120 tokens in .65 of 69 cases, of 200 in .8 (docs/measurements/search.md)."""
_TAB = 4


def window_body(
    row: NodeRow,
    content: bytes,
    windows: Sequence[BodyWindow],
    count: Callable[[str], int],
    most: int,
    shown: Iterable[int] = (),
) -> Body:
    """Return the lines of a function's body that are shown in at most `most` tokens, one piece for each run of them.

    `shown`: lines of the file that are shown with another hit.
    """
    lines = _lines(row, content)
    known = {row.line, *shown}
    prices = {number: count(text) + 2 for number, text in lines.items() if number not in known}
    numbers = _chosen(windows, prices, most)
    pieces = tuple(tuple(SourceLine(number, lines[number]) for number in run) for run in _runs(numbers))
    tokens = tuple(sum(prices[line.line] for line in piece) for piece in pieces)
    return Body(pieces, (), tokens, sum(map(len, lines.values())))


def _lines(row: NodeRow, content: bytes) -> dict[int, str]:
    """Return the lines of a body that have more than marks, by number, without the indentation that all have."""
    spread = [line.expandtabs(_TAB).rstrip() for line in body_lines(row, content)]
    common = min((len(line) - len(line.lstrip()) for line in spread[1:] if line), default=0)
    texts = [spread[0], *(line[common:] for line in spread[1:])] if spread else []
    numbered = enumerate(texts, row.line)
    return {number: cut_line(text) for number, text in numbered if any(map(str.isalnum, text))}


def _chosen(windows: Sequence[BodyWindow], prices: dict[int, int], most: int) -> list[int]:
    """Return the lines of the best windows that cost at most `most` together, in order; of one window at least."""
    values: dict[int, list[float]] = {}
    for window in windows:
        for line in range(window.first, window.last + 1):
            values.setdefault(line, []).append(window.value)
    means = {line: sum(each) / len(each) for line, each in values.items() if line in prices}
    chosen: set[int] = set()
    left = most
    for line in sorted(means, key=lambda each: (-means[each], each)):
        if prices[line] > left:
            break
        left -= prices[line]
        chosen.add(line)
    return sorted(chosen)


def _runs(numbers: Sequence[int]) -> list[Sequence[int]]:
    """Return numbers that follow each other together."""
    breaks = [at for at, (one, following) in enumerate(pairwise(numbers), 1) if following > one + 1]
    borders = [0, *breaks, len(numbers)]
    return [numbers[start:end] for start, end in pairwise(borders) if end > start]
