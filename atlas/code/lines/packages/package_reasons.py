"""Why a project has a package: comments at its declarations and in configuration, and what a polyfill supplies.

A polyfill is imported nowhere: code calls what it adds by its own name, which `polyfills.toml` lists. Reads the indexed
texts only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from atlas.code.graph.declarations import Declaration, other_places
from atlas.code.lines.line_report import TextLine, several, shown
from atlas.code.lines.scan_texts import MAX_LINE, IndexedText, TextMatch, is_document, read_texts, scan_texts
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_COMMENT_LINES = 8
MOST_CONFIGURED = 3
MOST_SUPPLIED = 8
MAX_COMMENT = 400
"""Characters of a comment that are shown."""
_COMMENT = lazy_regex(r"\s*(?:#|//|<!--|;|--|/?\*+)(?P<said>.*)")
_BEHIND = lazy_regex(r"\s(?:#|//|<!--)(?P<said>[^\"'#]{3,300})$")
_WORDS = lazy_regex(r"(?:\b[A-Za-z]{2,20} ){3}")
"""Of a comment that is no code."""
_ENDS = " \t-/*>"
"""What closes a comment."""
_CONFIGURES = lazy_regex(
    r"\.(?:toml|ya?ml|json5?|cfg|ini|conf|xml|props|gradle|kts)$|(?:^|/)\.[\w-]+rc$|(?:^|/)Gemfile$"
)
_LOCKS = lazy_regex(r"(?:^|/)(?:[\w.-]*[-.]lock(?:\.\w+)?|[\w.-]*lock\.(?:json|ya?ml)|go\.sum)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polyfill:
    """A package that supplies what code calls by its own name."""

    package: re.Pattern[str]
    supplies: re.Pattern[str]


async def comments_about(reader: Reader, declared: Sequence[Declaration], where: Filter) -> list[TextLine]:
    """Return the comments at the declarations of a package, and those of other configuration that names it."""
    paths = {each.path for each in declared}
    files = {each.path: each for each in await read_texts(reader, where, lambda path: path in paths)}
    found = [
        TextLine("comment", f"{each.path}:{line}", said)
        for each in declared
        if each.path in files
        for place in (each, *other_places(each))
        if place.path == each.path
        for line, said in _comment_of(files[each.path], place.line)
        if said not in ("indirect", "feature")
    ]
    names = sorted({each.package or each.name for each in declared if each.kind != "indirect" and not each.is_inner})
    if not names:
        return found
    quoted = re.compile(rf"[\"'](?:{'|'.join(map(re.escape, names))})[\"']")
    scan = await scan_texts(
        reader, where, quoted, [name.encode() for name in names], lambda path: _is_configuration(path, paths)
    )
    told = [
        TextLine("configured", f"{each.file.path}:{line}", f"{said} / {shown(each.text)}")
        for each in scan.found
        for line, said in comment_at(each.file, each.line)
    ]
    return list(dict.fromkeys([*found, *told[:MOST_CONFIGURED]]))


async def supplied_by(reader: Reader, package: str, where: Filter) -> list[TextLine]:
    """Return the uses of what a polyfill supplies, by name; none for other packages."""
    known = next((each for each in _polyfills() if each.package.fullmatch(package)), None)
    if known is None:
        return []
    scan = await scan_texts(reader, where, known.supplies, (), lambda path: not is_document(path))
    by_name: dict[str, list[TextMatch]] = {}
    for each in scan.found:
        is_said = _COMMENT.match(each.text[:MAX_LINE]) is not None and "#[" not in each.text
        if not each.file.is_test and not is_said:
            by_name.setdefault(each.match[0], []).append(each)
    lines = [
        TextLine("supplies", name, several((each.file.path, each.line) for each in places))
        for name, places in sorted(by_name.items(), key=lambda each: -len(each[1]))
    ]
    return lines[:MOST_SUPPLIED]


@cache
def _polyfills() -> tuple[Polyfill, ...]:
    data = tomllib.loads((Path(__file__).parent / "polyfills.toml").read_text("utf-8"))
    return tuple(
        Polyfill(re.compile(each["package"], re.IGNORECASE), re.compile(rf"(?<![\w$>:]){_either(each)}(?!\w)"))
        for each in data["polyfills"]
    )


def _either(entry: dict[str, str]) -> str:
    return f"(?:{entry['supplies']})"


def _is_configuration(path: str, without: set[str]) -> bool:
    return path not in without and _CONFIGURES.search(path) is not None and _LOCKS.search(path) is None


def _comment_of(file: IndexedText, line: int) -> list[tuple[int, str]]:
    """Return the comment at a declaration, or above the header of the table that begins with it."""
    said = comment_at(file, line)
    is_first = 1 < line <= len(file.lines) and file.lines[line - 2].startswith("[target.")
    if said or not is_first:
        return said
    own = shown(file.lines[line - 1])
    return [(at, f"{text} / {own}") for at, text in comment_at(file, line - 1) if _WORDS.search(text)]


def comment_at(file: IndexedText, line: int) -> list[tuple[int, str]]:
    """Return the comment that ends above a line, or stands behind it, with its first line; [] without one."""
    if not 0 < line <= len(file.lines):
        return []
    behind = _BEHIND.search(file.lines[line - 1][:MAX_LINE])
    if behind is not None:
        return [(line, _cut(behind["said"].strip().rstrip(_ENDS)))]
    first = line
    while first > 1 and line - first < MOST_COMMENT_LINES and _COMMENT.match(file.lines[first - 2][:MAX_LINE]):
        first -= 1
    said = [
        match["said"].strip().rstrip(_ENDS)
        for text in file.lines[first - 1 : line - 1]
        if (match := _COMMENT.match(text[:MAX_LINE]))
    ]
    text = " ".join(filter(None, said))
    return [(first, _cut(text))] if text else []


def _cut(text: str) -> str:
    return text if len(text) <= MAX_COMMENT else f"{text[: MAX_COMMENT - 3]}..."
