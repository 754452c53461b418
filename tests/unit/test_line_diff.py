"""Line differences: they rebuild the new text from the old one, spans are followed, and no input is slow."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from atlas.core.line_diff import Hunk, diff_lines, lines_of, old_extent, shift_span

texts = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"]), max_size=12)


@given(texts, texts)
def test_hunks_rebuild_the_new_text(old: list[bytes], new: list[bytes]) -> None:
    rebuilt: list[bytes] = []
    at = 0
    for hunk in diff_lines(old, new):
        assert old[hunk.old_start : hunk.old_end] != new[hunk.new_start : hunk.new_end]
        rebuilt += old[at : hunk.old_start] + new[hunk.new_start : hunk.new_end]
        at = hunk.old_end
    assert rebuilt + old[at:] == new
    assert diff_lines(new, new) == []


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)), st.integers(0, 20), st.integers(1, 20))
def test_lines_are_found_where_they_came_from(one: set[int], other: set[int], start: int, size: int) -> None:
    old, new = ([b"%d" % number for number in sorted(each)] for each in (one, other))
    start, end = min(start, len(new)), min(start + size, len(new))
    if start == end:
        return
    hunks = diff_lines(old, new)
    span, extent = shift_span(hunks, start, end), old_extent(hunks, start, end)
    assert 0 <= extent[0] <= extent[1] <= len(old)
    assert set(new[start:end]) & set(old) <= set(old[slice(*extent)])
    if span is not None:
        assert span == extent and old[slice(*span)] == new[start:end]


def test_small_changes_are_small_hunks() -> None:
    old = lines_of(b"a\n}\n\nb\n}\n\nc\n}\n")
    new = lines_of(b"a\r\n}\r\n\r\nx\r\n}\r\n\r\nc\r\n}\r\ny\r\n")
    assert diff_lines(old, new) == [Hunk(3, 4, 3, 4), Hunk(8, 8, 8, 9)]


def test_no_text_takes_long() -> None:
    """Inputs for which difflib takes minutes: few distinct lines in long texts, and all lines in another order."""
    repeated = [b"%d" % (number % 7) for number in range(60_000)]
    swapped = [b"%d" % number for number in range(60_000)]
    for old, new in ((repeated, [*repeated[3:], b"x"]), (swapped, swapped[::-1])):
        started = time.process_time()
        diff_lines(old, new)
        assert time.process_time() - started < 3
