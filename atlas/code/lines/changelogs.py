"""Changelogs by their headings: a line belongs to the nearest version above it. Pure but for `read_changelogs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from atlas.code.lines.scan_texts import IndexedText, is_document, read_texts
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

_FILES = lazy_regex(
    r"(?:^|/)(?:change(?:s|[-_]?log)?|history|news|release[-_]?notes?|releases?|upgrad(?:e|ing)[\w-]*|migrat(?:e|ing|ion)[\w-]*|whats?[-_]?new\w*|[\w.-]*-upgrade)"
    r"(?:[-_.][\w.-]*)?(?:/[^\n]*)?$",
    re.IGNORECASE,
)
_VERSION = lazy_regex(
    r"^(?:[#=*\s]{0,6}|\* ?)\[?(?:\*\*)?(?:[A-Za-z][\w-]*,? ){0,2}?(?:version |release |changes in "
    r"|v)?\[?v?(?P<version>\d+\.\d+[\w.+-]*|\d+\.x)(?:\*\*)?\]?(?P<rest>[^\n]*)$"
    r"|^#{1,3} \[?(?P<unreleased>unreleased)",
    re.IGNORECASE,
)
_PART = lazy_regex(
    r"^\s{0,2}(?:#{2,5} |\* |- |\*\*)?(?P<part>added|deprecated|removed|changed|fixed|features?"
    r"|bug ?fixes|new features?|deprecations?|removals?|breaking changes?|enhancements?|fix(?:es)?)\b\W*$",
    re.IGNORECASE,
)
MAX_HEADING = 300
"""Characters of a line that may be a heading."""
MOST_CONTINUED = 6
"""Lines that continue an item."""


@dataclass(frozen=True, slots=True)
class ChangelogLine:
    """A line of a changelog with the version and part that it stands under."""

    file: IndexedText
    line: int
    version: str
    part: str
    text: str


def is_changelog(path: str) -> bool:
    """Return whether a path is that of a file about releases."""
    return _FILES.search(path) is not None


async def read_changelogs(reader: Reader, where: Filter) -> list[IndexedText]:
    """Return the documents about releases."""
    files = await read_texts(reader, where, lambda path: is_changelog(path) and (is_document(path) or "." not in path))
    return list(files)


def item_of(line: ChangelogLine) -> str:
    """Return a line with those that continue it: they are indented further and begin no item."""
    own = len(line.text) - len(line.text.lstrip())
    text = [line.text.strip()]
    for further in line.file.lines[line.line : line.line + MOST_CONTINUED]:
        begun = further.lstrip()
        if not begun or len(further) - len(begun) <= own or begun.startswith(("- ", "* ", "+ ", "#")):
            break
        text.append(begun.strip()[:MAX_HEADING])
    return " ".join(text)


def changelog_lines(file: IndexedText, holds: Callable[[str], bool] = bool) -> Iterator[ChangelogLine]:
    """Yield the lines of a changelog that say something and pass, each with its version and part."""
    version, part = _version_of(file.path), ""
    for number, line in enumerate(file.lines, 1):
        head = _VERSION.match(line[:MAX_HEADING])
        behind = file.lines[number] if number < len(file.lines) else ""
        if head is not None and _is_heading(line, head["rest"] or "", behind):
            version, part = head["version"] or head["unreleased"], ""
        elif (section := _PART.match(line)) is not None:
            part = section["part"].lower()
        elif line.strip(" \t=-~^#*") and holds(line):
            yield ChangelogLine(file, number, version, part, line)


def _version_of(path: str) -> str:
    match = re.search(r"(\d+\.\d+[\d.]*\d|\d+\.\d+)", path.rpartition("/")[2])
    return match[1] if match else ""


def _is_heading(line: str, rest: str, behind: str) -> bool:
    is_underlined = bool(re.match(r"^[=\-~^*#]{3,}\s*$", behind))
    is_date = (
        re.match(r"^\W*(?:$|\(?\d{4}|\(?\d{1,2}\w*\.? \w+|[-–—/(:]|released|\(?[A-Z][a-z]+ \d|https?:|\[)", rest)
        is not None
    )
    return line.startswith("#") or is_underlined or (is_date and not line.startswith((" ", "\t")) and len(line) < 80)
