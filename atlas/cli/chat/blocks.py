"""Text that arrives in pieces -> complete blocks of Markdown, which can be rendered without being drawn again. Pure."""

from __future__ import annotations

FENCES = ("```", "~~~")


class Blocks:
    """Collects pieces of text. A block ends at a blank line outside of a code fence."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rest: list[str] = []
        self._fence = ""

    def feed(self, text: str) -> list[str]:
        """Add a piece; return the blocks that are complete."""
        complete: list[str] = []
        self._rest.append(text)
        if "\n" not in text:  # a line that never ends is not put together with each piece
            return complete
        *lines, rest = "".join(self._rest).split("\n")
        self._rest = [rest]
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
        if rest := "".join(self._rest):
            self._lines.append(rest)
        self._rest, self._fence = [], ""
        return self._taken()

    def _taken(self) -> str:
        block, self._lines = "\n".join(self._lines), []
        return block
