"""Differences between two texts by lines, in time O(n log n) for any input; `unified` writes them for people. Pure.

Patience diff (B. Cohen): lines that occur once in both texts and stand in the same order are anchors; between anchors
the same is done again. What is left has no unique common line and counts as one hunk, which may be larger than needed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_LEVELS = 24
"""Nested searches for anchors; each reads the remaining lines once."""

MAX_LINES = 200_000
"""Lines of one text that are compared; larger texts differ in one hunk between their common ends."""

CONTEXT_LINES = 2
MAX_COMPARED = 2000
"""Lines of which a difference is searched; more are shown as removed and added."""


class Hunk(NamedTuple):
    """Lines `old_start..old_end` became `new_start..new_end`: 0-based, ends excluded, an empty range on one side."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: bytes) -> list[bytes]:
    r"""Return the lines of a text without line ends; `\r\n` equals `\n`."""
    return [line.removesuffix(b"\r") for line in text.split(b"\n")]


def diff_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[Hunk]:
    """Return the hunks in order; adjacent ones are merged, equal texts have none."""
    found: list[Hunk] = []
    pending = [(0, len(old), 0, len(new), 0)]
    while pending:
        a, b, c, d, level = pending.pop()
        a, b, c, d = _trimmed(old, new, a, b, c, d)
        if a == b and c == d:
            continue
        anchors = _anchors(old[a:b], new[c:d]) if a < b and c < d and level < MAX_LEVELS else []
        if not anchors or max(b - a, d - c) > MAX_LINES:
            found.append(Hunk(a, b, c, d))
            continue
        at, into = a, c
        for here, there in anchors:
            pending.append((at, a + here, into, c + there, level + 1))
            at, into = a + here + 1, c + there + 1
        pending.append((at, b, into, d, level + 1))
    return _merged(sorted(found))


def shift_span(hunks: Iterable[Hunk], start: int, end: int) -> tuple[int, int] | None:
    """Return where the new lines `start..end` (0-based, end excluded) stood before; None if a hunk touches them.

    Lines that a hunk removed inside the span touch it, lines inserted or removed right before or behind it do not.
    """
    shift = 0
    for hunk in hunks:
        if hunk.new_end <= start:
            shift = hunk.old_end - hunk.new_end
        elif hunk.new_start < end:
            return None
    return start + shift, end + shift


def old_extent(hunks: Iterable[Hunk], start: int, end: int) -> tuple[int, int]:
    """Return the old lines from which the new lines `start..end` came (0-based, end excluded), hunks included.

    An empty range means that all of the lines are new.
    """
    first = last = 0
    shift_first = shift_last = 0
    for hunk in hunks:
        if hunk.new_end <= start:
            shift_first = hunk.old_end - hunk.new_end
        elif hunk.new_start <= start:
            first = hunk.old_start - start - shift_first
        if hunk.new_end < end or hunk.new_start < hunk.new_end == end:
            shift_last = hunk.old_end - hunk.new_end
        elif hunk.new_start < end:
            last = hunk.old_end - end - shift_last
    return start + shift_first + first, end + shift_last + last


def _trimmed(old: Sequence[bytes], new: Sequence[bytes], a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return a, b, c, d


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return positions of lines that are unique in both texts, the longest sequence that ascends in both."""
    there = _unique(new)
    pairs = [(here, there[line]) for line, here in _unique(old).items() if line in there]
    pairs.sort()
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        rank = bisect_left(tails, position)
        before.append(ends[rank - 1] if rank else -1)
        if rank == len(tails):
            tails.append(position)
            ends.append(index)
        else:
            tails[rank], ends[rank] = position, index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _unique(lines: Sequence[bytes]) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    repeated: set[bytes] = set()
    for position, line in enumerate(lines):
        if line in found:
            repeated.add(line)
        else:
            found[line] = position
    return {line: position for line, position in found.items() if line not in repeated}


def _merged(hunks: Iterable[Hunk]) -> list[Hunk]:
    merged: list[Hunk] = []
    for hunk in hunks:
        if merged and merged[-1].old_end == hunk.old_start and merged[-1].new_end == hunk.new_start:
            merged[-1] = Hunk(merged[-1].old_start, hunk.old_end, merged[-1].new_start, hunk.new_end)
        else:
            merged.append(hunk)
    return merged


def unified(before: list[str], after: list[str], old: str = "", new: str = "") -> list[str]:
    """Return the unified difference, searched only between the first and the last line that differ; [] without one."""
    import difflib

    if before == after:
        return []
    least = min(len(before), len(after))
    first = next((n for n in range(least) if before[n] != after[n]), least)
    last = next((n for n in range(least - first) if before[-1 - n] != after[-1 - n]), least - first)
    start = max(0, first - CONTEXT_LINES)
    left, right = (lines[start : len(lines) - max(0, last - CONTEXT_LINES)] for lines in (before, after))
    if max(len(left), len(right)) > MAX_COMPARED:
        shown = [f"-{line}" for line in left] + [f"+{line}" for line in right]
        return [f"--- {old}", f"+++ {new}", f"@@ -{start + 1} +{start + 1} @@", *shown]
    lines = difflib.unified_diff(left, right, old, new, lineterm="", n=CONTEXT_LINES)
    return [_shifted(line, start) if line.startswith("@@ ") else line for line in lines]


def _shifted(heading: str, lines: int) -> str:
    return re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + lines), heading)
