"""What an answer claims: the places that it names, read from structured content or from the text of a command.

Layouts differ and change, so this reads what they have in common: `path:line`, lists of lines, names next to them, and
paths as keys above rows. It decides nothing about right and wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

ABOUT = frozenset(
    (
        "of",
        "to",
        "near",
        "missing",
        "diagnosis",
        "why",
        "candidates",
        "next",
        "subject",
        "evidence",
        "notes",
        "withheld",
    )
)
"""Keys whose content describes the question or the index, not the answer."""
SUBJECT = frozenset(("of", "to", "subject", "candidates"))
"""Those of `ABOUT` that hold the answer if the question is where something is."""

_NO_SUFFIX = "Makefile|Dockerfile|LICENSE|README|Gemfile|Rakefile|ChangeLog|CHANGELOG|CHANGES|NEWS|AUTHORS|MAINTAINERS"
_PATH = rf"(?:\.(?=\w))?[\w@+~#$-][\w@+~#$./-]*\.[A-Za-z]\w*|(?:[\w@+~#.-]+/)*(?:{_NO_SUFFIX})"
_LINES = r"\d{1,7}(?:-\d{1,7})?(?:,\s?\d{1,7}(?:-\d{1,7})?)*"
PLACE = re.compile(rf"(?P<path>{_PATH}):(?P<lines>{_LINES})")
IS_PATH = re.compile(rf"(?:{_PATH}):?")
IS_LINES = re.compile(rf"\(?(?:lines? )?:?(?P<lines>{_LINES})[,;)]?")
SEPARATOR = re.compile(r"\.|::|#|->|/|\\")
NAME = re.compile(rf"[A-Za-z_$~][\w$~]*(?:(?:{SEPARATOR.pattern})[A-Za-z_$~][\w$~]*)*")


@dataclass(frozen=True, slots=True)
class Claim:
    """One row of an answer: a path, the lines it names there, and the names in the row (last parts included)."""

    path: str
    lines: frozenset[int]
    names: frozenset[str]


def of_structure(content: Mapping[str, object], without: frozenset[str] = ABOUT) -> list[Claim]:
    """Return the claims of structured content in order, leaving out what is below some keys."""
    return list(_walk(content, "", without))


def of_text(text: str) -> list[Claim]:
    """Return the claims of lines such as `path:line:text` (grep) in order."""
    return list(_of_lines(text, ""))


def plain_name(name: str) -> str:
    """Return a name with dots between its parts, whatever its language puts there."""
    return SEPARATOR.sub(".", name)


def _walk(value: object, path: str, without: frozenset[str]) -> Iterator[Claim]:
    if isinstance(value, str):
        yield from _of_lines(value, path)
    elif isinstance(value, Mapping):
        yield from _of_object(cast(Mapping[str, object], value), path, without)
    elif isinstance(value, Sequence):
        row = cast(Sequence[object], value)
        if _is_row(row, path):
            yield from _of_lines(" ".join(str(each) for each in row), path)
            yield from _of_beside([each for each in row if isinstance(each, str)])
            return
        for position, each in enumerate(row):
            if not (isinstance(each, str) and IS_PATH.fullmatch(each) and "/" in each):
                yield from _walk(each, path, without)
            elif any(isinstance(rest, (list, Mapping)) for rest in row[position + 1 : position + 2]):
                path = each
            else:
                yield Claim(each, frozenset(), frozenset())


def _is_row(row: Sequence[object], path: str) -> bool:
    """Whether a list is one row (`[name, place, ...]`, `[path, line, ...]`), not a list of rows."""
    if len(row) < 2 or not all(isinstance(each, (str, int, float)) for each in row):
        return False
    texts = [each for each in row if isinstance(each, str)]
    if len(texts) > 1 and PLACE.fullmatch(texts[1]) and not PLACE.search(texts[0]):
        return True
    return len(texts) < len(row) or (bool(NAME.fullmatch(texts[0])) and bool(_lines_of(" ".join(texts), path)))


def _of_object(value: Mapping[str, object], path: str, without: frozenset[str]) -> Iterator[Claim]:
    here = _text(value, ("path", "file"))
    path = here if IS_PATH.fullmatch(here) else path
    names = _names(_text(value, _NAMED).partition(":")[2] or _text(value, _NAMED))
    place = _text(value, _PLACED)
    if place:
        found = PLACE.search(place)
        lines = found["lines"] if found else _lines_of(place, path)
        if lines and (found or path):
            yield Claim(found["path"] if found else path, _numbers(lines), names)
    elif here and path and names:
        yield Claim(path, frozenset(), names)
    for key, inner in value.items():
        if isinstance(inner, str) and key not in without and IS_PATH.fullmatch(key):
            yield from _of_joined(inner, key)
        elif key not in without and key not in _OWN:
            yield from _walk(inner, key.rstrip(":") if IS_PATH.fullmatch(key) else path, without)


def _of_joined(text: str, path: str) -> Iterator[Claim]:
    """Yield the rows of one file that a report joins: `name 12 (rule 0.97) [2] < chain; other 40`."""
    for row in text.split("; "):
        own = row.partition(" < ")[0]
        lines = _lines_of(own, path)
        yield Claim(path, _numbers(lines) if lines else frozenset(), _names(own.partition(" (")[0]))


_BESIDE = re.compile(r"(?P<name>\S.*?) (?P<line>\d{1,7})(?:, |$)")
_SAME_FILE = ("also: ", "in this file (")
_NAMED = ("uid", "qualified_name", "name", "symbol")
_PLACED = ("place", "at", "lines", "line")
_OWN = frozenset((*_NAMED, *_PLACED, "path", "file", "digest", "signature", "summary"))


def _text(value: Mapping[str, object], keys: Sequence[str]) -> str:
    """Return the first of these values that is there, as text."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, (str, int)) and not isinstance(found, bool):
            return str(found)
        if isinstance(found, Sequence) and all(isinstance(each, int) for each in cast(Sequence[object], found)):
            return ",".join(str(each) for each in cast(Sequence[int], found))
    return ""


def _of_lines(text: str, path: str) -> Iterator[Claim]:
    for line in text.splitlines():
        places = list(PLACE.finditer(line))
        for place in places:
            before = line[: place.start()]
            names = _names(before) or _names(line[place.end() :])
            yield Claim(place["path"].removeprefix("./"), _numbers(place["lines"]), names)
        if places:
            continue
        if IS_PATH.fullmatch(line.strip()) and (not path or "/" in line):
            path = line.strip().rstrip(":")
        elif path and (lines := _lines_of(line, path)):
            yield Claim(path, _numbers(lines), _names(line.split(lines)[0]))


def _of_beside(row: Sequence[str]) -> Iterator[Claim]:
    """Yield what a row names of the file of its first place: `a/b.py:3`, `also: name 12, other 40`."""
    place = next((found for each in row if (found := PLACE.fullmatch(each))), None)
    if place is None:
        return
    for rest in (each.partition(": ")[2] for each in row if each.startswith(_SAME_FILE)):
        end = 0
        while (match := _BESIDE.match(rest, end)) is not None:
            yield Claim(place["path"], _numbers(match["line"]), _names(match["name"]))
            end = match.end()


def _lines_of(row: str, path: str) -> str:
    """Return the lines that a row below a path names: of its first words, the one that is a list of numbers."""
    if found := PLACE.search(row):
        return found["lines"]
    for word in row.split()[:5] if path else ():
        if match := IS_LINES.fullmatch(word):
            return match["lines"]
    return ""


def _names(text: str) -> frozenset[str]:
    """Return the names in a text, each with its trailing parts: `a.B.c` -> `a.B.c`, `B.c`, `c`."""
    found: set[str] = set()
    for name in NAME.findall(text):
        parts = SEPARATOR.split(name)
        found |= {".".join(parts[start:]) for start in range(len(parts))}
    return frozenset(found)


def _numbers(lines: str) -> frozenset[int]:
    found: set[int] = set()
    for part in lines.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            end = int(last) if last.isdigit() else int(first)
            found |= set(range(int(first), min(end, int(first) + 1000) + 1))
    return frozenset(found)
