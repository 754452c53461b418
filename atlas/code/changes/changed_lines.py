"""The lines that commits changed, compared with the words of a question.

`Flip the default of X` says less than the line that it wrote. A line that has several of a question's words tells more
than many lines with one each. Reads the version history within the limits of `History.added_lines`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from atlas.code.lines.line_report import TextLine, shown
from atlas.code.lines.scan_texts import is_document
from atlas.code.rank.bodies import words_of
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.history import Commit, History
from atlas.core.lazy_regex import lazy_regex

MAX_LINES = 6_000
MOST_LETTERS = 400
MOST_ROWS, LEAST_WORDS = 3, 2
"""Lines that are shown, and words of the question that each has: one is chance."""
_TESTS = lazy_regex(r"(?:^|/)(?:tests?|specs?|__tests__)/|[._-](?:test|spec)s?\.|(?:^|/)test_|Tests?\.\w+$")
ALIKE, MIN_LETTERS = 0.6, 12
"""Share of a line that stayed, and its letters: the few lines of code that a commit rewrote are what it changed."""


async def weigh_lines(
    reader: Reader, history: History, commits: Sequence[Commit], forms: Mapping[str, int], weights: Sequence[float]
) -> list[float]:
    """Return the weight of the words of the best line that each commit added; 0 for commits that are not read."""
    added = await history.added_lines([each.id for each in commits], lambda _: True)
    return [
        max(
            (
                sum(weights[word] for word in sorted({*words_of(line[:MOST_LETTERS], forms, reader.split_words)}))
                for lines in added.get(each.id, {}).values()
                for line in lines
            ),
            default=0.0,
        )
        for each in commits
    ]


async def changed_rows(reader: Reader, history: History, commit: Commit, forms: Mapping[str, int]) -> list[TextLine]:
    """Return the lines of code of a commit that have most words of a question, each with what stood there before.

    Without one, the few lines of code that it rewrote in part.
    """
    try:
        diff = await history.diff(f"{commit.id}^", commit.id)
    except AtlasError:
        return []
    found: list[tuple[int, int, TextLine]] = []
    alike: list[TextLine] = []
    for change in diff.changes:
        if change.old is None or change.new is None or is_document(change.path):
            continue
        old, new = _lines(change.old), _lines(change.new)
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "replace" or b - a != d - c:
                continue
            for before, after in zip(old[a:b], new[c:d], strict=True):
                has = len({*words_of(f"{before} {after}", forms, reader.split_words)})
                row = TextLine("lines", change.path, f"{shown(before)} -> {shown(after)}")
                if before.strip() == after.strip():
                    continue
                if has >= LEAST_WORDS:
                    found.append((-has, len(found), row))
                is_alike = len(before.strip()) >= MIN_LETTERS and SequenceMatcher(None, before, after).ratio() >= ALIKE
                if has < LEAST_WORDS and is_alike and _TESTS.search(change.path) is None:
                    alike.append(row)
    few = alike if len(alike) <= MOST_ROWS else []
    return [row for _, _, row in sorted(found)[:MOST_ROWS]] or few


def _lines(data: bytes) -> list[str]:
    return [line[:MOST_LETTERS] for line in data.decode("utf-8", "replace").splitlines()[:MAX_LINES]]
