"""The call of a step in the text of the index, and the conditions that it stands under, found by indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Match, NodeRow

AROUND = 80
"""Lines above a call in which the conditions around it are looked for."""
MAX_NODES = 4_000
"""Definitions of a file among which the one around a line is looked for."""
SHOWN = 300
"""Characters of a line."""
JOINED = 3
"""Lines of one condition."""
OPENERS = (":", "{", "then", "do", "(", "->", "=>")
"""Ends of a line that opens what is indented below it."""
_FIRST = frozenset(
    """
    if elif else elsif elseif unless for foreach while until switch match case when with try catch except finally do
    loop select default rescue ensure synchronized lock using
    """.split()  # noqa: SIM905 one word a line would fill pages
)
"""Words that begin a line which decides about what is indented below it."""
_OTHERWISE = frozenset(("else", "elif", "elsif", "elseif", "case", "default", "when"))
"""Words that say something only beside a line of the same depth: what they are the alternative to."""
_DECIDES = frozenset(("if", "unless", "switch", "match", "select", "elif", "elsif", "elseif"))

Conditions = tuple[tuple[int, str], ...]
"""(line, text) of what a call is indented under, outermost first."""


@dataclass(frozen=True, slots=True)
class CallText:
    """A call as it is written."""

    text: str
    conditions: Conditions


@dataclass(slots=True)
class Texts:
    """The texts and definitions of files, each read once for a page."""

    reader: Reader
    _lines: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _rows: dict[str, list[NodeRow]] = field(default_factory=dict[str, list[NodeRow]])

    async def lines(self, path: str) -> list[str]:
        """Return the lines of a file, none for one that the index has no text of."""
        if path not in self._lines:
            content = await self.reader.store.content(self.reader.project, [path])
            self._lines[path] = content.get(path, b"").decode("utf-8", "replace").splitlines()
        return self._lines[path]

    async def around(self, path: str, line: int) -> NodeRow | None:
        """Return the innermost function around a line."""
        if path not in self._rows:
            found = await self.reader.store.find(path, Match.PATH, Filter(project=self.reader.project), MAX_NODES)
            self._rows[path] = [each.row for each in found if each.row.label in (Label.FUNCTION, Label.METHOD)]
        inside = [row for row in self._rows[path] if row.start_line <= line <= row.end_line]
        return max(inside, key=lambda row: (row.start_line, -row.end_line), default=None)

    async def call(self, path: str, line: int) -> CallText:
        """Return the text of a line, and the conditions around it inside of its function."""
        lines = await self.lines(path)
        if not 0 < line <= len(lines):
            return CallText("", ())
        row = await self.around(path, line)
        return CallText(
            lines[line - 1].strip()[:SHOWN], conditions_above(lines, line, (row.line or row.start_line) if row else 0)
        )


def conditions_above(text: Sequence[str], number: int, first: int = 0) -> Conditions:
    """Return the lines that a line is indented under, outermost first.

    `first`: the line of the definition around it, whose own lines and those outside of it are none; 0 for none.
    """
    base = _depth(text[first - 1]) if 0 < first <= len(text) else -1
    depth, beside, found = _depth(text[number - 1]), -1, list[tuple[int, str]]()
    for at in range(number - 1, max(number - AROUND, first, 0), -1):
        line = text[at - 1]
        if not line.strip() or line.lstrip().startswith((")", "]")):
            continue  # ends what a line above it begins
        own, word = _depth(line), _word(line)
        if own <= base:
            break
        decides = own == beside and word in _DECIDES
        if decides or (own < depth and (word in _FIRST or line.rstrip().endswith(OPENERS))):
            depth = own
            beside = own if word in _OTHERWISE else -1
            found.append((at, _joined(text, at, word)))
    return tuple(reversed(found))


def block_below(text: Sequence[str], number: int) -> tuple[int, int]:
    """Return the first and last line of what is indented below a line, that line included."""
    depth, last = _depth(text[number - 1]), number
    for at in range(number + 1, len(text) + 1):
        line = text[at - 1]
        if line.strip() and _depth(line) <= depth:
            break
        last = at
    return number, last


def _joined(text: Sequence[str], at: int, word: str) -> str:
    """Return a line, with those below it that belong to its condition."""
    lines = [text[at - 1].strip()]
    while word in _FIRST and len(lines) < JOINED and not lines[-1].endswith((*OPENERS, ")", ";")) and at < len(text):
        at += 1
        lines.append(text[at - 1].strip())
    return " ".join(lines)[:SHOWN]


def _word(line: str) -> str:
    """Return the word that a line begins with, behind a brace."""
    bare = line.lstrip(" \t}")
    end = next((at for at, letter in enumerate(bare[:20]) if not letter.isalpha()), 20)
    return bare[:end]


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
