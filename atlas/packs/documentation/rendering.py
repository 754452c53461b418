"""The text of an article as a pack stores it: headings and blocks in order, with the span of each in bytes. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Article, Block, BlockKind, Section

_VERSION_NOTES = {
    "deprecated": "Deprecated since version",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated-removed": "Deprecated since version",
}
VERSION_STATED = lazy_regex(r"(?:Soft )?(?:New|Added|Changed|Deprecated|Removed) (?:in|since) (?:\w+ )?\S*\d", re.I)
"""The start of a note that says itself what the title of its kind would say."""
_TIGHT = frozenset((BlockKind.ITEM, BlockKind.ROW))
"""Blocks that follow one of their kind without a blank line."""


@dataclass(frozen=True, slots=True)
class RenderedBlock:
    """A block with its text and place."""

    block: Block
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RenderedSection:
    """A section with its blocks; its span starts with its heading and ends with its last block."""

    section: Section
    blocks: tuple[RenderedBlock, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RenderedArticle:
    """An article with its text."""

    article: Article
    content: bytes
    sections: tuple[RenderedSection, ...]


def render(article: Article) -> RenderedArticle:
    """Return the text of an article with all places."""
    parts: list[bytes] = []
    size = 0

    def write(text: str) -> tuple[int, int]:
        nonlocal size
        data = text.encode("utf8", "replace")
        start = size
        parts.append(data)
        size += len(data)
        return start, size

    sections: list[RenderedSection] = []
    for section in article.sections:
        start, end = write(f"{'#' * max(section.level, 1)} {section.title}" if section.title else "")
        blocks: list[RenderedBlock] = []
        header = ""
        for block in section.blocks:
            text = block_text(block, "" if block.kind != BlockKind.ROW or block.label == header else block.label)
            header = block.label if block.kind == BlockKind.ROW else ""
            if not text:
                continue
            tight = blocks and block.kind in _TIGHT and blocks[-1].block.kind == block.kind
            write("\n" if tight else "\n\n")
            at, end = write(text)
            blocks.append(RenderedBlock(block, text, at, end))
        sections.append(RenderedSection(section, tuple(blocks), start, end))
        write("\n\n")
    return RenderedArticle(article, b"".join(parts), tuple(sections))


def block_text(block: Block, header: str = "") -> str:
    """Return the text of a block; `header`: the cells above the first row of a table."""
    text = block.text.strip("\n") if block.kind == BlockKind.CODE else block.text.strip()
    match block.kind:
        case BlockKind.CODE:
            fence = "````" if "```" in text else "```"
            return f"{fence}{block.label}\n{text}\n{fence}" if text else ""
        case BlockKind.ITEM:
            return f"{'  ' * block.depth}- {text}" if text else ""
        case BlockKind.TERM:
            return f"{block.label}: {text}" if text else block.label
        case BlockKind.ROW:
            return f"{header}\n{text}" if header else text
        case BlockKind.NOTE:
            if VERSION_STATED.match(text) and block.label.partition(" ")[0] in _VERSION_NOTES:
                return text
            return f"{note_title(block.label)}: {text}" if text else note_title(block.label)
        case BlockKind.SIGNATURE:
            return text or block.label
        case _:
            return text


def note_title(label: str) -> str:
    """Return the words before a note: "Deprecated since version 4.2", "Warning"."""
    kind, _, version = label.partition(" ")
    if kind in _VERSION_NOTES:
        return f"{_VERSION_NOTES[kind]} {version}".strip()
    return re.sub(r"[-_]", " ", label).strip().capitalize() or "Note"


def byte_offset(text: str, character: int) -> int:
    """Return how many bytes the first characters of a text take."""
    return character if text.isascii() else len(text[:character].encode("utf8", "replace"))
