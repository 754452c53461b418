"""Plain text: paragraphs between blank lines, headings that are underlined or numbered, and indented examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft

UNDERLINE = lazy_regex(r"([=\-~^*#])\1{2,}\s*$")
NUMBERED = lazy_regex(r"(?:(?P<number>\d{1,3}(?:\.\d{1,3}){0,4})\.?)\s+[A-Z][^.]{0,70}$")
CAPITALS = lazy_regex(r"[A-Z][A-Z0-9 ,:'()/-]{3,70}$")
BULLET = lazy_regex(r"\s*+[-*+•]\s++(?P<text>.++)$")


def read_plain_text(text: str, draft: Draft) -> None:
    """Read a text into a draft."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = at
        while end < len(lines) and lines[end].strip():
            end += 1
        _read_paragraph(lines[at:end], at + 1, draft)
        at = end


def _read_paragraph(lines: list[str], first: int, draft: Draft) -> None:
    if len(lines) >= 2 and UNDERLINE.match(lines[1]) and len(lines[0]) < 120 and not UNDERLINE.match(lines[0]):
        draft.heading(1 if lines[1][0] in "=#*" else 2, lines[0], first)
        if len(lines) > 2:
            _read_paragraph(lines[2:], first + 2, draft)
        return
    if len(lines) == 1 and not lines[0][0].isspace():
        if found := NUMBERED.match(lines[0]):
            draft.heading(found["number"].count(".") + 2, lines[0], first)
            return
        if CAPITALS.match(lines[0]):
            draft.heading(2, lines[0], first)
            return
    if all(line.startswith(("    ", "\t")) for line in lines) and not BULLET.match(lines[0]):
        draft.add(BlockKind.CODE, "\n".join(lines), line=first)
        return
    _read_items(lines, first, draft)


def _read_items(lines: list[str], first: int, draft: Draft) -> None:
    """Add a paragraph, or each item of a list."""
    text: list[str] = []
    kind, line = BlockKind.PARAGRAPH, first
    for number, one in enumerate(lines):
        if found := BULLET.match(one):
            draft.add(kind, " ".join(text), line=line)
            text, kind, line = [found["text"]], BlockKind.ITEM, first + number
        else:
            text.append(one.strip())
    draft.add(kind, " ".join(text), line=line)
