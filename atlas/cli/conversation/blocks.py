"""Text that arrives in pieces -> complete blocks of Markdown, which can be rendered without being drawn again. Pure."""

from __future__ import annotations

FENCES = ("```", "~~~")


class Blocks:
    """Collects pieces of text. A block ends at a blank line outside of a code fence."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rest = ""
        self._fence = ""

    def feed(self, text: str) -> list[str]:
        """Add a piece; return the blocks that are complete."""
        complete: list[str] = []
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            mark = line.lstrip()[:3]
            if self._fence:
                self._fence = "" if mark == self._fence else self._fence
            elif mark in FENCES:
                self._fence = mark
            if line.strip() or self._fence:
                self._lines.append(line)
            elif self._lines:
                complete.append(self._taken())
        return complete

    def end(self) -> str:
        """Return what is left, "" if nothing is."""
        if self._rest:
            self._lines.append(self._rest)
        self._rest = self._fence = ""
        return self._taken()

    def _taken(self) -> str:
        block, self._lines = "\n".join(self._lines), []
        return block
