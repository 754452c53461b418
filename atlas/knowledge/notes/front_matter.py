"""Writing front matter: YAML for our own values, and edits of a file that leave every other byte as it is.

A top-level key is replaced, removed or appended as whole lines; list keys are written with one item a line, so that two
branches that each add an item merge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from atlas.code.notes.note import Note
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

Scalar = str | int | float
Value = Scalar | Sequence["Value"] | Mapping[str, "Value"]

_PLAIN = lazy_regex(r"[A-Za-z][\w./@+-]*(?::[\w./@+-]+)*|\d{4}-\d\d-\d\dT[\d:.]+Z", re.ASCII)
"""Strings that need no quotes in a block or flow of YAML 1.1 and 1.2."""
_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))
_UNPRINTABLE = lazy_regex(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that YAML does not allow unescaped, in addition to those that JSON escapes."""
_FENCE = "---"


def new_file(values: Mapping[str, Value], body: str) -> bytes:
    """Return the bytes of a new note; keys with an empty value are left out."""
    lines = [line for name, value in values.items() for line in _lines(name, value)]
    return "\n".join((_FENCE, *lines, _FENCE, body.strip(), "")).encode()


def with_values(data: bytes, note: Note, changes: Mapping[str, Value]) -> bytes:
    """Return a file with top-level keys set; an empty value removes a key. Other bytes stay.

    Raises ConfigError for a file whose front matter cannot be read.
    """
    _check_readable(note)
    newline = _newline(data)
    texts = {name: b"".join(line.encode() + newline for line in _lines(name, value)) for name, value in changes.items()}
    parts = [(key.start, key.end, texts.pop(key.name)) for key in note.keys if key.name in texts]
    return _spliced(data, [*parts, (note.front_end, note.front_end, b"".join(texts.values()))])


def read_text(data: bytes, note: Note, name: str) -> str:
    """Return a top-level value that was written on one line as text, "" if there is none."""
    key = next((one for one in note.keys if one.name == name), None)
    line = data[key.start : key.end].decode("utf-8", "replace").partition(":")[2].strip() if key is not None else ""
    if line.startswith('"'):
        try:
            line = str(json.loads(line))
        except ValueError:
            return line
    return "" if "\n" in line else line


def with_item(data: bytes, note: Note, name: str, item: Value, position: int | None = None) -> bytes:
    """Return a file with an item appended to a list key, or with the item at `position` replaced. Other items stay.

    Raises ConfigError for a list that is not written as one block item after the other, or as one line.
    """
    _check_readable(note)
    key = next((one for one in note.keys if one.name == name), None)
    if key is None:
        return with_values(data, note, {name: [item]})
    newline = _newline(data)
    starts = _item_starts(data[key.start : key.end])
    if starts:
        indent = re.match(rb" *", data[key.start + starts[0] :])
        text = (indent.group() if indent else b"") + b"- " + _flow(item).encode() + newline
        if position is None:
            return _spliced(data, [(key.end, key.end, text)])
        ends = [*starts[1:], key.end - key.start]
        return _spliced(data, [(key.start + starts[position], key.start + ends[position], text)])
    line = data[key.start : key.end].rstrip()
    if position is None and line.endswith(b"]") and line.count(b"\n") == 0:
        is_empty = re.search(rb"\[\s*\]$", line) is not None
        at = key.start + len(line) - 1
        return _spliced(data, [(at, at, ("" if is_empty else ", ").encode() + _flow(item).encode())])
    raise ConfigError(f"the list {name!r} of the note is not written one item a line", "Write one `- ` item a line.")


def item_at(data: bytes, note: Note, name: str, line: int) -> int:
    """Return the position, in a list key, of the item that a 1-based line of the file belongs to; 0 for other lists."""
    key = next((one for one in note.keys if one.name == name), None)
    starts = _item_starts(data[key.start : key.end]) if key is not None else []
    lines = [data.count(b"\n", 0, key.start + start) + 1 for start in starts] if key is not None else []
    return max(0, sum(start <= line for start in lines) - 1)


def with_line(data: bytes, text: str) -> bytes:
    """Return a file with one more line at its end."""
    newline = _newline(data)
    return data + (b"" if data.endswith(b"\n") else newline) + text.encode() + newline


def with_body(data: bytes, note: Note, body: str) -> bytes:
    """Return a file with another body."""
    _check_readable(note)
    newline = _newline(data)
    return data[: note.body] + body.strip().replace("\n", newline.decode()).encode() + newline


def without(data: bytes, start: int, end: int) -> bytes:
    """Return a file without a byte range."""
    return data[:start] + data[end:]


def _lines(name: str, value: Value) -> list[str]:
    if isinstance(value, str | int | float):
        return [f"{name}: {_flow(value)}"] if value != "" else []
    if isinstance(value, Mapping) or all(isinstance(one, str) for one in value):
        return [f"{name}: {_flow(value)}"] if value else []
    return [f"{name}:", *(f"  - {_flow(item)}" for item in value)] if value else []


def _flow(value: Value) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
    if isinstance(value, int | float):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_flow(one)}" for name, one in value.items() if one != "") + "}"
    return "[" + ", ".join(map(_flow, value)) + "]"


def _quoted(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def _item_starts(text: bytes) -> list[int]:
    """Return the offsets of the lines that begin an item of a block list; empty for any other value."""
    first = text.find(b"\n") + 1
    indent = re.match(rb"[^\n:]*+:[^\S\n]*+(?:#[^\n]*+)?\n(?:[ ]*+(?:#[^\n]*+)?+\n)*+( *+)- ", text)
    if not first or indent is None:
        return []
    prefix = re.compile(rb"^" + indent.group(1) + rb"- ", re.MULTILINE)
    return [found.start() for found in prefix.finditer(text)]


def _newline(data: bytes) -> bytes:
    return b"\r\n" if data[: data.find(b"\n") + 1].endswith(b"\r\n") else b"\n"


def _spliced(data: bytes, parts: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Replace byte ranges that do not overlap."""
    for start, end, text in sorted(parts, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def _check_readable(note: Note) -> None:
    broken = next((problem for problem in note.problems if problem.code == "note-yaml"), None)
    if broken or not note.front_end:
        what = f"line {broken.line}: {broken.message}" if broken else "there is none"
        raise ConfigError(f"the note's front matter cannot be read: {what}", "Correct the file by hand first.")
