"""Characters that a reader does not see or that a terminal or editor obeys, and how text from outside is shown without.

Bidirectional overrides make a line read differently from what it says, and control characters drive a terminal. Where
text meets a person they are written as escape sequences, or left out; JSON and XML keep them as their own escapes, so
that a program reads the text as it is.

Names and notes in answers are shown with all that is invisible escaped (`escaped`, `escaped_text`, `quoted`). Whole
answers, commands and the chat keep joiners and variation selectors, which emoji and scripts need (`printable`,
`one_line`). Fields of paper
services are stored without such characters (`visible`), exports are written without them (`plain`).
"""

from __future__ import annotations

import json
from typing import Literal
from unicodedata import category, combining, normalize

from atlas.core.lazy_regex import lazy_regex

_UNSEEN = (
    r"\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff"
    r"\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What changes the order of other characters, ends lines, or says something to a model that a person does not see."""
INVISIBLE = lazy_regex(rf"[\x00-\x1f\x7f-\x9f\u00ad\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f{_UNSEEN}]")
"""Control characters, surrogates, and those that change the direction of text or are not visible."""
_REORDERING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_OBEYED = {code: None for code in (*range(32), *range(127, 160), *_REORDERING) if code not in (9, 10)}
"""Control characters except tab and newline, and bidirectional overrides."""
_NOT_XML = {code: None for code in (*range(32), 127, 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)) if code not in (9, 10, 13)}
"""Characters that XML 1.0 does not allow, not even as references."""

MOST_MARKS = 32
"""Combining marks of one character that are kept: the Stream-Safe Text Format (Unicode Standard Annex 15) has 30."""
_HIDDEN = lazy_regex(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_UNSEEN}]|[\ufe00-\ufe0f]{{2,}}")
"""The same without tabs, line feeds, joiners and single variation selectors, which scripts and emoji need; several
selectors in a row are a text of their own."""


def plain(text: str) -> str:
    """Return a text without the characters that a terminal or an editor obeys."""
    return text.translate(_OBEYED)


def escaped(text: str) -> str:
    """Return a text with control characters, invisible ones and those that change its direction as escape sequences."""
    return INVISIBLE.sub(lambda found: _escape(ord(found.group())), text)


def quoted(text: str) -> str:
    """Return a text of a note as data: in quotes, which it cannot end, with invisible characters escaped."""
    return '"' + escaped(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def escaped_text(text: str) -> str:
    """Return a text of several lines as `escaped`, with its line ends and tabs."""
    return INVISIBLE.sub(lambda found: found[0] if found[0] in "\n\r\t" else _escape(ord(found[0])), text)


def printable(text: str) -> str:
    """Return a text with control, bidirectional and invisible characters escaped; line feeds and tabs stay."""
    shown = text.replace("\r\n", "\n") if "\r" in text else text
    return _HIDDEN.sub(lambda found: "".join(_escape_short(ord(one)) for one in found[0]), shown)


def one_line(text: str, most: int = 0) -> str:
    """Return a printable text on one line, line feeds escaped; `most` characters at most, 0 = all."""
    cut = text if not most or len(text) <= most else f"{text[: most - 1]}…"
    return printable(cut).replace("\n", "\\n")


def visible(text: str) -> str:
    """Return the normal form of a text without control and formatting characters; line feeds and tabs stay."""
    return normal_form("".join(one for one in text if one in "\n\t" or category(one) not in ("Cc", "Cf", "Cs")))


def json_text(value: object, indent: int | None = None) -> str:
    """Return JSON on one line, or indented, in which such characters are escaped; a reader gets the same value."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return INVISIBLE.sub(lambda found: "\n" if found[0] == "\n" else json.dumps(found[0])[1:-1], text)


def xml_text(text: str) -> str:
    """Return text that is XML already with such characters as references; what XML does not allow is left out."""
    allowed = text.translate(_NOT_XML)
    return INVISIBLE.sub(lambda found: found[0] if found[0] in "\t\n" else f"&#{ord(found[0])};", allowed)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_short(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else _escape(code)


def normal_form(text: str, form: Literal["NFC", "NFKC", "NFKD"] = "NFC") -> str:
    """Return a text in a normal form, without the marks beyond `MOST_MARKS` of a character.

    `unicodedata.normalize` sorts the marks of one character by insertion: 100,000 marks take it seven seconds.
    """
    if text.isascii():
        return text
    kept: list[str] = []
    marks = 0
    for one in text:
        marks = marks + 1 if combining(one) else 0
        if marks <= MOST_MARKS:
            kept.append(one)
    return normalize(form, "".join(kept))
