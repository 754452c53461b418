"""Read rows from JSON, JSON Lines and CSV, one at a time, within limits.

A JSON document is a list of rows, an object with named lists of rows (`{"entities": [...], "relations": [...]}`), or an
object of rows by id. A line that cannot be read is a problem and does not end the file, except inside of a JSON list.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from atlas.core.lazy_regex import lazy_regex

MAX_INPUT = 128 << 20
"""Bytes of one file."""
MAX_ROWS = 1_000_000
"""Rows of one file."""
_MAX_LINE = 8 << 20
"""Characters of a row in JSON Lines."""

_CLAIMS = ("@graph", "notes", "units", "claims", "propositions", "hypotheses")
_MEMORIES = ("entities", "relations", "observations", "results", "memories", "messages")
SECTIONS = frozenset((*_CLAIMS, *_MEMORIES))
"""Keys of a document whose values are rows."""
_ABOUT_DOCUMENT = frozenset(("@context", "@id", "@type", "version", "metadata", "meta", "project", "generated_at"))
_OWN_ROW = frozenset(("type", "content", "text", "entity", "memory"))
"""Keys of a row, if the only line of a file is an object."""
_SPACE = lazy_regex(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Row:
    """A value with its 1-based line. `section` is the list, and `key` the key that it stands under, if any."""

    line: int
    value: Any
    section: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class BadRow:
    """What cannot be read, and why."""

    line: int
    message: str


def read_rows(data: bytes, name: str) -> Iterator[Row | BadRow]:
    """Yield the rows of a file; `name` tells CSV from JSON. Never raises for bad content."""
    if len(data) > MAX_INPUT:
        yield BadRow(1, f"the file has more than {MAX_INPUT >> 20} MiB: split it")
        return
    # Bytes that are not UTF-8 become surrogates, so that only the text that holds them is refused.
    text = data.decode("utf-8-sig", "surrogateescape")
    rows = _csv_rows(text) if name.lower().endswith(".csv") else _json_rows(text)
    for count, row in enumerate(rows):
        if count == MAX_ROWS:
            yield BadRow(row.line, f"the file has more than {MAX_ROWS:,} rows: split it")
            return
        yield row


def _csv_rows(text: str) -> Iterator[Row | BadRow]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="")
    try:
        is_empty = not reader.fieldnames
    except csv.Error as error:
        yield BadRow(1, f"the heading cannot be read: {error}")
        return
    if is_empty:
        yield BadRow(1, "the file is empty")
        return
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadRow(line, f"the row cannot be read: {error}")
            continue
        if "" in row:
            yield BadRow(line, "the row has more cells than the heading")
        else:
            yield Row(line, {name: cell for name, cell in row.items() if cell})


def _json_rows(text: str) -> Iterator[Row | BadRow]:
    at = _skip(text, 0)
    if at == len(text):
        yield BadRow(1, "the file is empty")
    elif text[at] == "{" and _is_lines(text, at):
        yield from _lines(text)
    else:
        yield from _Document(text).rows(at)


def _is_lines(text: str, at: int) -> bool:
    """Return whether the first line is a whole object and no document: then each line is a row."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    if end - at > _MAX_LINE:
        return False
    try:
        first, more = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return False
    if more > end:
        return False
    if text.startswith("{", _skip(text, more)) and _skip(text, more) < end:
        return True
    if _skip(text, more) < end:
        return False
    if not isinstance(first, dict):
        return False
    names = cast("dict[str, Any]", first)
    is_document = any(isinstance(names.get(name), list) for name in SECTIONS - {"observations"})
    return not is_document and (_skip(text, end) < len(text) or not _OWN_ROW.isdisjoint(names))


def _lines(text: str) -> Iterator[Row | BadRow]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        if len(line) > _MAX_LINE:
            yield BadRow(number, f"the line has more than {_MAX_LINE >> 20} Mi characters")
            continue
        at = _skip(line, 0)
        try:
            while at < len(line):
                # some programs write several documents on a line
                value, at = _DECODER.raw_decode(line, at)
                yield Row(number, value)
                at = _skip(line, at)
        except (ValueError, RecursionError) as error:
            yield BadRow(number, f"the line is not JSON: {_why(error)}")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class _Document:
    """A reader of one JSON document that decodes one row after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line, self._counted = 1, 0
        self._decoder = _DECODER

    def rows(self, at: int) -> Iterator[Row | BadRow]:
        try:
            if self._text[at] == "[":
                at = yield from self._items(at, "")
            elif self._text[at] == "{":
                at = yield from self._members(at)
            else:
                raise ValueError("neither a list nor an object")
            if _skip(self._text, at) < len(self._text):
                yield BadRow(self._line_at(at), "the file goes on after the JSON document")
        except (ValueError, RecursionError) as error:
            where = getattr(error, "pos", self._counted)
            yield BadRow(self._line_at(where), f"the file is not JSON: {_why(error)}; what follows is not read")

    def _items(self, at: int, section: str) -> Generator[Row, None, int]:
        """Yield the items of the list that starts at an offset; returns the offset after it."""
        at = _skip(self._text, at + 1)
        if self._text[at : at + 1] == "]":
            return at + 1
        while True:
            line = self._line_at(at)
            value, at = self._decoder.raw_decode(self._text, at)
            yield Row(line, value, section)
            at, ends = self._next(at, "]")
            if ends:
                return at

    def _members(self, at: int) -> Generator[Row, None, int]:
        """Yield the rows of the object that starts at an offset; returns the offset after it."""
        at = _skip(self._text, at + 1)
        if self._text[at : at + 1] == "}":
            return at + 1
        while True:
            key, at = self._decoder.raw_decode(self._text, at)
            at = _skip(self._text, at)
            if not isinstance(key, str) or self._text[at : at + 1] != ":":
                raise json.JSONDecodeError("a key and a colon are missing", self._text, at)
            at = _skip(self._text, at + 1)
            line = self._line_at(at)
            if key in SECTIONS and self._text[at : at + 1] == "[":
                at = yield from self._items(at, key)
            else:
                value, at = self._decoder.raw_decode(self._text, at)
                if key not in _ABOUT_DOCUMENT:
                    yield Row(line, value, "", key)
            at, ends = self._next(at, "}")
            if ends:
                return at

    def _next(self, at: int, end: str) -> tuple[int, bool]:
        """Return the offset of the next item, or the one after the end, and whether it is the end."""
        at = _skip(self._text, at)
        mark = self._text[at : at + 1]
        if mark == end:
            return at + 1, True
        if mark != ",":
            raise json.JSONDecodeError(f"a comma or {end} is missing", self._text, at)
        return _skip(self._text, at + 1), False

    def _line_at(self, at: int) -> int:
        if at > self._counted:
            self._line += self._text.count("\n", self._counted, at)
            self._counted = at
        return self._line


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
