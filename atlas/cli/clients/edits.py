"""Changes to a text as replacements of spans, so that everything outside them keeps its bytes.

An edit knows what it replaces: applied backwards, a list of edits gives the text before. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old`, which begins at character `start` of the text before, by `new`."""

    start: int
    old: str
    new: str


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with all edits made. They do not overlap; edits at one place are made in the order given."""
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda one: one.start):
        parts += (text[position : edit.start], edit.new)
        position = edit.start + len(edit.old)
    return "".join((*parts, text[position:]))


def revert(text: str, edits: Sequence[Edit]) -> str:
    """Return the text before these edits, which led to `text`."""
    backwards: list[Edit] = []
    shift = 0
    for edit in sorted(edits, key=lambda one: one.start):
        backwards.append(Edit(edit.start + shift, edit.new, edit.old))
        shift += len(edit.new) - len(edit.old)
    return apply(text, backwards)


def newline_of(text: str) -> str:
    """Return the line ending of a text: that of its first line."""
    first, found, _ = text.partition("\n")
    return "\r\n" if found and first.endswith("\r") else "\n"


class BrokenText(ConfigError):
    """A text that does not follow its format; `line` is 1-based."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, "Nothing was written. Correct the file, then run the command again.")
        self.line = line
