"""Lines of the index, lines of the editor, and positions in UTF-16 units.

The index numbers lines from 1 and has the text of the last pass; the editor numbers them from 0 and has what was typed
since. Where both texts differ, their lines are matched, and a line without a match has no place.
"""

from __future__ import annotations

import difflib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.core.contracts import Store
from atlas.core.lazy_regex import lazy_regex

_WORD = lazy_regex(r"\w+")

MAX_KEPT_BYTES = 64_000_000
"""Of texts that are kept between requests."""
MAX_DIFFERENT_LINES = 20_000
"""Longer texts that differ from the index are not matched line by line."""


@dataclass(frozen=True, slots=True)
class Span:
    """Part of one line, in UTF-16 units, the line from 0."""

    line: int
    start: int
    end: int


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(1 for one in text if ord(one) > 0xFFFF)


def word_at(line: str, column: int) -> tuple[str, int, int]:
    """Return the word around a column in UTF-16 units, with its columns; "" without one."""
    for found in _WORD.finditer(line):
        start = utf16_length(line[: found.start()])
        end = start + utf16_length(found[0])
        if start <= column <= end:
            return found[0], start, end
    return "", column, column


def spans_of(word: str, text: str, line: int) -> list[Span]:
    """Return where a word stands in a line of the index; the whole line's text if the line does not have it.

    A reference through an alias or an operator has another word.
    """
    found = [one for one in _WORD.finditer(text) if one[0] == word] if word in text else []
    if found and text.isascii():
        return [Span(line - 1, *one.span()) for one in found]
    if found:
        starts = [(utf16_length(text[: one.start()]), utf16_length(one[0])) for one in found]
        return [Span(line - 1, start, start + length) for start, length in starts]
    bare = text.strip()
    start = utf16_length(text[: len(text) - len(text.lstrip())])
    return [Span(line - 1, start, start + utf16_length(bare))]


class IndexedTexts:
    """Lines of files as the index has them, the last ones kept until its generation changes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._bytes = self._generation = 0

    async def lines(
        self, store: Store, project: str, paths: Sequence[str], generation: int
    ) -> dict[str, Sequence[str]]:
        """Return the lines of the files that the index has."""
        if generation != self._generation:
            self._kept.clear()
            self._bytes, self._generation = 0, generation
        missing = [path for path in dict.fromkeys(paths) if path not in self._kept]
        read: dict[str, tuple[str, ...]] = {}
        if missing:
            for path, content in (await store.content(project, missing)).items():
                text = content.decode("utf-8", "replace")
                read[path] = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
                self._kept[path] = read[path]
                self._bytes += len(content)
        found = {path: read.get(path) or self._kept[path] for path in paths if path in read or path in self._kept}
        while self._bytes > MAX_KEPT_BYTES and self._kept:
            _, lines = self._kept.popitem(last=False)
            self._bytes -= sum(map(len, lines)) + len(lines)
        return dict(found)


class LineMap:
    """Which line of the editor's text is which line of the index; both from 0."""

    def __init__(self, indexed: Sequence[str], edited: Sequence[str]) -> None:
        self._to_index: dict[int, int] | None = None
        self._to_editor: dict[int, int] = {}
        if list(indexed) == list(edited):
            return
        self._to_index = {}
        if max(len(indexed), len(edited)) > MAX_DIFFERENT_LINES:
            return
        for block in difflib.SequenceMatcher(None, edited, indexed, autojunk=False).get_matching_blocks():
            for offset in range(block.size):
                self._to_index[block.a + offset] = block.b + offset
                self._to_editor[block.b + offset] = block.a + offset

    def to_index(self, line: int) -> int | None:
        """Return the line of the index, None for one that was edited since."""
        return line if self._to_index is None else self._to_index.get(line)

    def to_editor(self, line: int) -> int | None:
        """Return the line of the editor, None for one that is gone."""
        return line if self._to_index is None else self._to_editor.get(line)
