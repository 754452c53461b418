"""The answer of a search for lines: as short as that of grep, each path once, with the definition around each line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure
from atlas.core.wording import counted


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A matching line: number, text, and the innermost definition around it, "" for none."""

    line: int
    text: str
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class FileOfLines:
    """The lines of one file that a page shows; `count` includes the others."""

    path: str
    count: int
    lines: tuple[FoundLine, ...] = ()


@dataclass(frozen=True, slots=True)
class LineAnswer(Answer):
    """One page of lines that match an exact text or a regular expression."""

    cites: ClassVar[bool] = True

    tool: str
    query: str
    """As it is shown: a text in quotes, an expression between slashes."""
    found: int
    """Matching lines; a lower bound if `more` is set."""
    file_count: int
    more: bool
    shown: tuple[FileOfLines, ...]
    others: tuple[FileOfLines, ...]
    """Files behind the page that are named with their counts."""
    unnamed: int
    """Files behind the page that are not named."""
    not_searched: str
    """`12 binary, 1 too-large`: files that were left out; "" for none."""
    scope: str
    """What the arguments restrict the search to, with " in" before it; "" for everything."""
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield the total, then path and lines of each file, then the counts of further files."""
        yield self.head()
        for file in self.shown:
            partly = f": {counted(file.count, 'line')}" if len(file.lines) < file.count else ""
            yield f"{file.path}{partly}"
            yield from (f"  {_line(each)}" for each in file.lines)
        if self.others:
            yield f"further: {self._others()}"

    def head(self) -> str:
        """Return the total in words: `"text": 7 lines in 3 files`."""
        if not self.found:
            left_out = f" (not searched: {self.not_searched})" if self.not_searched else ""
            place = f" of those{self.scope}" if self.scope else ""
            return f"{self.query} occurs in no file{place}{left_out}"
        least = "at least " if self.more else ""
        files = counted(self.file_count, "file")
        return f"{self.query}: {least}{counted(self.found, 'line')} in {files}{self.scope}"

    def content(self) -> Structure:
        """Return `[path, count, line ...]` of each file; the count only where not all lines are shown."""
        hits: list[list[object]] = []
        for file in self.shown:
            partly = [file.count] if len(file.lines) < file.count else []
            hits.append([file.path, *partly, *map(_line, file.lines)])
        content: Structure = {"hits": hits, "said": self.head()}
        return {**content, "further": self._others()} if self.others else content

    def emptied(self) -> Self:
        """Return the total alone."""
        return replace(self, shown=(), others=())

    def result(self) -> AnswerOutcome:
        """Return an outcome that asks for no newer files: those on disk were read."""
        return AnswerOutcome(is_empty=not self.found)

    def _others(self) -> str:
        named = [f"{file.path} {file.count}" for file in self.others]
        return ", ".join([*named, f"{self.unnamed} more"] if self.unnamed else named)


def _line(found: FoundLine) -> str:
    around = f" in {found.symbol}" if found.symbol else ""
    return f"{found.line}{around}: {found.text}"
