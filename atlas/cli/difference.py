"""Two texts as lines -> their unified difference, in time that is bounded by the lines that differ. Pure."""

from __future__ import annotations

import re

CONTEXT_LINES = 2

MAX_COMPARED = 2000
"""Lines of which a difference is searched; more are shown as removed and added."""


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
