"""Places that lines of an answer name become links: `path:line`, and the numbers behind a path in a list of names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.code.tools.symbol.symbol_lines import TITLES
from atlas.core.lazy_regex import lazy_regex
from atlas.server.explorer.render import file_url

_BLANK = lazy_regex(r"(\s+)")
_NUMBERS = lazy_regex(r"(\d{1,7})(?:,\d{1,7})*(?:\.\.\.)?[,;]?")
"""`97`, `96,110`, or `96,110,131...`, with the mark behind it."""
_LIST = lazy_regex(rf" *(?:{'|'.join(TITLES.values())}) \d+:|\d+ symbols are called `[^`]*`:")
"""How a line begins that lists names with their lines by file; other lines quote text."""
MAX_PATHS = 500
"""Words of an answer that are looked up."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line, and where it leads; "" for text."""

    text: str
    href: str = ""


Leads = Callable[[str, str], str]
"""(path, line) -> the page that shows it."""


async def pieces_of(reader: Reader, lines: Sequence[str], leads: Leads = file_url) -> list[list[Piece]]:
    """Return each line in pieces. Only paths of indexed files are links: other words may look like one.

    A line that is not indented names its subject, whose file the lines below it leave out.
    """
    words = [word for line in lines for word in line.split() if ":" in word or "." in word]
    wanted = list(dict.fromkeys(_place(word)[0] for word in words))[:MAX_PATHS]
    known = await reader.store.records(reader.project, wanted)
    own = ""
    found: list[list[Piece]] = []
    for line in lines:
        if not line.startswith(" "):
            own = next((path for path, at in map(_place, line.split()) if at and path in known), "")
        found.append([*_pieces(line, known, own, leads)])
    return found


def _place(word: str) -> tuple[str, str]:
    """Return (path, line) of `path:line`, (path, "") of `path:`; marks behind it are left out."""
    path, _, line = word.rstrip(",;:").rpartition(":")
    return (path, line) if path and line.isdigit() else (word.rstrip(",;:"), "")


def _pieces(line: str, known: Mapping[str, object], own: str, leads: Leads) -> Iterator[Piece]:
    parts = _BLANK.split(line)
    listed = _LIST.match(line)
    position, current = 0, ""
    for at, part in enumerate(parts):
        path, number = _place(part)
        position += len(part)
        if path in known:
            current = path
            yield Piece(part, leads(path, number) if number else file_url(path))
        elif current and listed and (lines := _NUMBERS.fullmatch(part)) and _ends_entry(parts[at:]):
            yield Piece(part, leads(current, lines[1]))
        else:
            if part.endswith(":"):  # a path with blanks: its numbers are of no file that is known here
                current = own if listed and position == listed.end() else ""
            yield Piece(part)


def _ends_entry(rest: Sequence[str]) -> bool:
    """Return whether a number ends an entry of a list, so that it is a line: in `and 4 more` it does not."""
    return rest[0].endswith((",", ";")) or len(rest) < 3 or rest[2].startswith("+")
