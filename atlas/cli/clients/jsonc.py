"""JSON with comments and trailing commas: its value, and edits that add, replace or remove one member.

Comments, order, indentation and all other members keep their bytes. The value is read by Python's own parser after
comments and trailing commas are blanked, the places of members by a scan of the same text; the two check each other,
because callers compare the value after an edit with the one they want.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from atlas.cli.clients.edits import BrokenText, Edit, newline_of
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

MAX_BYTES = 16 << 20
"""`~/.claude.json` holds histories of some megabytes."""

MAX_INDENTED = 100
"""Members that are looked at for the indentation: on one long line, each look reads the line."""

# a string or comment that does not end takes the rest in one step: a hostile file must not be scanned once per quote
_STRING = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"?'
_COMMENT = lazy_regex(rf"{_STRING}|//[^\r\n]*|/\*(?>.*?\*/|.*)", re.DOTALL)
_COMMA = lazy_regex(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_TOKEN = lazy_regex(rf"{_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:\"]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` and the places of its parts."""

    key: str
    start: int
    value: int
    end: int
    comma: int
    """Position of the comma after the value, -1 without one."""


@dataclass(frozen=True, slots=True)
class _Object:
    """An object from its opening brace to the position after its closing one."""

    start: int
    end: int
    members: tuple[_Member, ...]

    def member(self, key: str) -> _Member | None:
        """Return the member that counts: the last of this name."""
        return next((one for one in reversed(self.members) if one.key == key), None)


def load(text: str) -> dict[str, Any]:
    """Return the value of a text; a text without any value is an empty object. Raises BrokenText."""
    blank = _blank(text)
    if not blank.strip():
        return {}
    try:
        value: Any = json.loads(_COMMA.sub(lambda found: _drop_comma(found, blank), blank))
    except json.JSONDecodeError as error:
        raise BrokenText(f"line {error.lineno}, column {error.colno}: {error.msg}", error.lineno) from error
    except ValueError as error:  # Python reads no integer of more than 4,300 digits
        raise BrokenText("line 1: a number has more than 4,300 digits", 1) from error
    except RecursionError as error:
        raise BrokenText("line 1: nested too deeply", 1) from error
    if not isinstance(value, dict):
        raise BrokenText("line 1: the file does not hold an object", 1)
    return cast("dict[str, Any]", value)


def put(text: str, path: Sequence[str], value: object) -> list[Edit]:
    """Return the edits that make `value` the member at `path`, with the objects around it where they are missing.

    Raises ConfigError when something else than an object is in the way.
    """
    blank = _blank(text)
    newline = newline_of(text)
    if not blank.strip():
        head = f"{text.rstrip()}{newline}" if text.strip() else ""
        document = _rendered(_nested(path, value), "  ", "", newline)
        return [Edit(0, text, f"{head}{document}{newline}")]
    root = found = _object_at(blank, blank.index("{"))
    for depth, key in enumerate(path):
        member = found.member(key)
        if member is None:
            return _insert(text, found, key, _nested(path[depth + 1 :], value), _unit(text, root))
        if depth == len(path) - 1:
            indent = _indent(text, member.start)
            one_line = "\n" not in text[member.value : member.end]
            new = (
                json.dumps(value, ensure_ascii=False)
                if one_line
                else _rendered(value, _unit(text, root), indent, newline)
            )
            return [Edit(member.value, text[member.value : member.end], new)]
        if blank[member.value] != "{":
            line = text.count("\n", 0, member.value) + 1
            raise ConfigError(
                f"line {line}: {key} is not an object", "Nothing was written. Correct it, then try again."
            )
        found = _object_at(blank, member.value)
    raise ValueError("an empty path")


def raw(text: str, path: Sequence[str]) -> str:
    """Return the text of the value at `path`, "" without one."""
    chain = _chain(_blank(text), path)
    return text[chain[-1][1].value : chain[-1][1].end] if len(chain) == len(path) else ""


def put_raw(text: str, path: Sequence[str], value: str) -> list[Edit]:
    """Return the edit that replaces the value at `path` by this text, byte for byte."""
    _, member = _chain(_blank(text), path)[-1]
    return [Edit(member.value, text[member.value : member.end], value)]


def remove(text: str, path: Sequence[str], made: int = 0) -> list[Edit]:
    """Return the edits that remove the member at `path`, and up to `made` objects around it that become empty."""
    blank = _blank(text)
    chain = _chain(blank, path)
    if len(chain) < len(path):
        return []
    while made and len(chain) > 1 and len(chain[-1][0].members) == 1:
        chain.pop()
        made -= 1
    found, member = chain[-1]
    inside = text[found.start + 1 : member.start], text[max(member.end, member.comma + 1) : found.end - 1]
    if len(found.members) == 1 and not "".join(inside).strip():
        return [Edit(found.start + 1, text[found.start + 1 : found.end - 1], "")]
    start, end = len(text[: member.start].rstrip()), max(member.end, member.comma + 1)
    if not re.match(r"[ \t]*(\r?\n|$)", text[end:]) and member is not found.members[-1]:
        start = member.start
    edits = [Edit(start, text[start:end], "")]
    if member is found.members[-1] and member.comma < 0 and len(found.members) > 1:
        comma = found.members[-2].comma
        edits = [Edit(comma, text[comma:end], "")] if comma + 1 == start else [Edit(comma, ",", ""), *edits]
    return edits


def has_comment(text: str) -> bool:
    """Return whether the text of a value holds a comment."""
    return _blank(text) != text


def made_for(document: dict[str, Any], path: Sequence[str]) -> int:
    """Return how many objects around the member at `path` do not exist yet."""
    at: Any = document
    for depth, key in enumerate(path[:-1]):
        if key not in at:
            return len(path) - 1 - depth
        at = at[key]
    return 0


def _chain(blank: str, path: Sequence[str]) -> list[tuple[_Object, _Member]]:
    """Return the objects and members along `path`, as far as they exist."""
    chain: list[tuple[_Object, _Member]] = []
    position = blank.find("{")
    for key in path:
        if position < 0 or blank[position] != "{":
            break
        found = _object_at(blank, position)
        member = found.member(key)
        if member is None:
            break
        chain.append((found, member))
        position = member.value
    return chain


def _object_at(blank: str, start: int) -> _Object:
    """Return the object that begins at `start` of a valid text without comments."""
    members: list[_Member] = []
    depth, key, value, end, key_start = 0, "", -1, -1, -1
    colon = False
    for found in _TOKEN.finditer(blank, start):
        token = found[0]
        if depth == 1 and token in "},":
            if value >= 0:
                members.append(_Member(key, key_start, value, end, found.start() if token == "," else -1))
            key_start, value, colon = -1, -1, False
        elif depth == 1 and not colon and key_start < 0:
            key, key_start = json.loads(token), found.start()
            continue
        elif depth == 1 and token == ":" and not colon:
            colon = True
            continue
        if depth and colon and value < 0:
            value = found.start()
        depth += (token in "{[") - (token in "}]")
        end = found.end()
        if not depth:
            return _Object(start, found.end(), tuple(members))
    raise ValueError("an object that does not end")


def _insert(text: str, found: _Object, key: str, value: object, unit: str) -> list[Edit]:
    """Return the edits that append a member, in the style of the object: on a line of its own, or on the same line."""
    newline = newline_of(text)
    body = text[found.start + 1 : found.end - 1]
    last = found.members[-1] if found.members else None
    whole_file = not text[: found.start].strip() and not text[found.end :].strip()
    if "\n" not in body and (last or ("\n" not in text.strip() and not whole_file)):
        member = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        if last is None:
            return [Edit(found.start + 1, body, f"{body.rstrip()}{member}")]
        if last.comma >= 0:
            return [Edit(last.comma + 1, "", f" {member},")]
        return [Edit(last.end, "", f", {member}")]
    outer = _indent(text, found.start)
    child = outer + unit
    if last and not text[text.rfind("\n", 0, last.start) + 1 : last.start].strip():
        child = _indent(text, last.start)
    member = f"{newline}{child}{json.dumps(key, ensure_ascii=False)}: {_rendered(value, unit, child, newline)}"
    end = found.start + 1 + len(body.rstrip())
    if last is None:
        return [Edit(end, text[end : found.end - 1], f"{member}{newline}{outer}")]
    if last.comma >= 0:
        return [Edit(end, "", f"{member},")]
    if end == last.end:
        return [Edit(end, "", f",{member}")]
    return [Edit(last.end, "", ","), Edit(end, "", member)]


def _rendered(value: object, unit: str, indent: str, newline: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _unit(text: str, root: _Object) -> str:
    """Return one step of indentation: that of the file's first member on a line of its own, else two spaces."""
    for member in root.members[:MAX_INDENTED]:
        indent = text[text.rfind("\n", 0, member.start) + 1 : member.start]
        if indent and not indent.strip():
            return indent
    return "  "


def _indent(text: str, position: int) -> str:
    """Return the white space at the beginning of the line of a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


@lru_cache(maxsize=2)
def _blank(text: str) -> str:
    """Return the text with spaces for comments; every other character keeps its place."""
    return _COMMENT.sub(_blank_comment, text)


def _blank_comment(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] == '"':
        return token
    if token.startswith("/*") and not (len(token) > 3 and token.endswith("*/")):
        line = found.string.count("\n", 0, found.start()) + 1
        raise BrokenText(f"line {line}: a comment that does not end", line)
    return re.sub(r"[^\r\n]", " ", token)


def _drop_comma(found: re.Match[str], blank: str) -> str:
    """Blank a trailing comma; one that follows no value stays, so that the parser rejects it."""
    before = found.start() - 1
    while before >= 0 and blank[before].isspace():
        before -= 1
    return found[0] if found[0] != "," or blank[before] in "[{,:" else " "
