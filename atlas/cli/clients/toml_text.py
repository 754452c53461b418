"""TOML: edits that add, replace or remove one table, found by a scan of statements.

The scan knows strings, comments and brackets, no more. Comments, order and all other statements keep their bytes.
Callers parse the text after an edit and compare it with what they want, so a form that the scan does not see (an entry
inside an inline table) ends in an error and never in a wrong file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atlas.cli.clients.edits import BrokenText, Edit, newline_of
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

MAX_BYTES = 256 << 10
"""Python's parser needs a second for a megabyte of headers, and an edit reads a file several times."""

# a string that does not end takes the rest in one step: a hostile file must not be scanned once per quote
_BASIC = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"?'
_LITERAL = r"'[^'\r\n]*+'?"
_LONG = r'"""(?:[^"\\]|\\.|"{1,2}+(?!"))*+"{0,5}' + r"|'''(?:[^']|'{1,2}+(?!'))*+'{0,5}"
_PART = rf"[ \t]*+(?:[A-Za-z0-9_-]++|{_BASIC}|{_LITERAL})[ \t]*+"
_KEY = lazy_regex(rf"{_PART}(?:\.{_PART})*+")
_TOKEN = lazy_regex(rf"{_LONG}|{_BASIC}|{_LITERAL}|#[^\n]*+|[\[\]{{}}]|\n|[^\n\"'#\[\]{{}}]++|.", re.DOTALL)
_QUOTED = lazy_regex(rf"{_BASIC}|{_LITERAL}")
_BLANK_REST = lazy_regex(r"\s*(\Z|\r?\n)")

MAX_GAP = 1000
"""Characters at the end of a text that are searched for a blank line."""

MAX_PARTS = 32
"""Of a dotted key: the TOML parser's memory grows with the square of its parts."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or a key with its value: its full path, and its lines."""

    is_header: bool
    path: tuple[str, ...]
    start: int
    end: int


def load(text: str) -> dict[str, Any]:
    """Return the document. Raises BrokenText."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MAX_PARTS and _has_long_key(line):
            raise BrokenText(f"line {number}: a dotted key with too many parts", number)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also an integer of more than 4,300 digits
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise BrokenText(f"line {line}: {error}", line) from error
    except RecursionError as error:
        raise BrokenText("line 1: nested too deeply", 1) from error


def table(path: Sequence[str], entry: Mapping[str, object], newline: str = "\n") -> str:
    """Return a table as text. Values are strings, booleans, lists of strings and maps of strings."""
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(name)} = {_value(value)}" for name, value in entry.items())]
    return newline.join((*lines, ""))


def put(text: str, path: Sequence[str], value: Mapping[str, object]) -> list[Edit]:
    """Return the edits that make `value` the table at `path`: in place of the one that is there, else at the end."""
    newline = newline_of(text)
    runs = _runs(text, tuple(path))
    new = table(path, value, newline)
    if len(runs) == 1 and runs[0][0].is_header and runs[0][0].path == tuple(path):
        start, end = runs[0][0].start, runs[0][-1].end
        return [Edit(start, text[start:end], new)]
    edits = [Edit(run[0].start, text[run[0].start : run[-1].end], "") for run in runs]
    return [*edits, Edit(len(text), "", _gap(text, newline) + new)]


def raw(text: str, path: Sequence[str]) -> str:
    """Return the text of the table at `path`, "" without one."""
    return "".join(text[run[0].start : run[-1].end] for run in _runs(text, tuple(path)))


def put_raw(text: str, path: Sequence[str], value: str) -> list[Edit]:
    """Return the edits that replace the table at `path` by this text."""
    first, *others = _runs(text, tuple(path))
    edits = [Edit(first[0].start, text[first[0].start : first[-1].end], value)]
    return edits + [Edit(run[0].start, text[run[0].start : run[-1].end], "") for run in others]


def remove(text: str, path: Sequence[str], made: int = 0) -> list[Edit]:
    """Return the edits that remove the table at `path` with the blank line before it. Tables around it are implicit."""
    del made
    edits: list[Edit] = []
    for run in _runs(text, tuple(path)):
        start, end = run[0].start, run[-1].end
        before = text.rfind("\n", 0, max(0, start - 1)) + 1
        if text[before:start].endswith("\n") and not text[before:start].strip() and _BLANK_REST.match(text, end):
            start = before
        edits.append(Edit(start, text[start:end], ""))
    return edits


def has_comment(text: str) -> bool:
    """Return whether the text of a table holds a comment."""
    return any(token[0].startswith("#") for token in _TOKEN.finditer(text))


def made_for(document: dict[str, Any], path: Sequence[str]) -> int:
    """Return 0: a table makes those around it implicitly."""
    del document, path
    return 0


def _has_long_key(line: str) -> bool:
    parts = 0
    for part in _QUOTED.sub("_", line).split("."):
        parts = parts + 1 if re.fullmatch(r"[\w \t-]+", part.strip("[{")) else 0
        if parts > MAX_PARTS:
            return True
    return False


def _gap(text: str, newline: str) -> str:
    """Return what separates a new table from the text before it: the end of its last line and a blank line."""
    if not text.strip():
        return ""
    ending = "" if text.endswith("\n") else newline
    *_, last, rest = ("", "", *text[-MAX_GAP:].split("\n"))
    return ending if not rest and not last.strip() else ending + newline


def _runs(text: str, path: tuple[str, ...]) -> list[list[_Statement]]:
    """Return the statements below `path`, those that follow each other together."""
    runs: list[list[_Statement]] = []
    joined = False
    for statement in _statements(text):
        if statement.path[: len(path)] != path:
            joined = False
            continue
        if not joined:
            runs.append([])
        runs[-1].append(statement)
        joined = True
    return runs


def _statements(text: str) -> list[_Statement]:
    """Return all statements of a valid document in order."""
    found: list[_Statement] = []
    table_path: tuple[str, ...] = ()
    position = 0
    while position < len(text):
        end = _end_of(text, position)
        line = text[position:end].lstrip()
        if line.startswith("["):
            key = _KEY.match(line.lstrip("["))
            table_path = _path(key[0]) if key else ()
            found.append(_Statement(True, table_path, position, end))
        elif key := _KEY.match(line):
            found.append(_Statement(False, (*table_path, *_path(key[0])), position, end))
        position = end
    return found


def _end_of(text: str, position: int) -> int:
    """Return the position after the line break that ends the statement, comment or blank line at `position`."""
    depth = 0
    for token in _TOKEN.finditer(text, position):
        if token[0] == "\n" and depth == 0:
            return token.end()
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
    return len(text)


def _path(key: str) -> tuple[str, ...]:
    """Return the parts of a dotted key, unquoted."""
    if not ("'" in key or '"' in key):
        return tuple(part.strip() for part in key.split("."))
    at: Any = tomllib.loads(f"{key.strip()} = 0")
    parts: list[str] = []
    while isinstance(at, dict):
        ((part, at),) = at.items()  # pyright: ignore[reportUnknownVariableType]
        parts.append(part)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(parts)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(name))} = {_value(one)}" for name, one in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, (str, bool, list, tuple)):
        # JSON's strings, booleans and lists are TOML's, but for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise ConfigError(f"no TOML for {value!r}", "This is a bug: report it.")
