"""Passages: parts of a section of several sentences that are embedded and found as one. Pure.

A passage never crosses a heading or the signature of a documented object, and ends with a sentence or a line of code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.core.english.sentences import sentence_spans
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.rendering import RenderedBlock, RenderedSection, byte_offset

TARGET = 800
"""Characters after which a passage ends with the next block."""
LONGEST = 1600
"""A block of more characters is divided between sentences or lines."""
SHORT = 200
"""A passage of fewer characters takes the next block, however long it is."""
_LINES = frozenset((BlockKind.CODE, BlockKind.ROW))


@dataclass(frozen=True, slots=True)
class ArticlePassage:
    """A passage with its span in the text of the article."""

    start: int
    end: int
    line: int
    subject: str
    """The qualified name of the object that it describes, "" outside of descriptions."""


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    size: int
    line: int
    sticks: bool
    """The next piece belongs to it: a paragraph that ends with a colon, or a signature."""


def passages(section: RenderedSection) -> list[ArticlePassage]:
    """Return the passages of a section in order."""
    found: list[ArticlePassage] = []
    for subject, blocks in _scopes(section.blocks):
        found += _joined(subject, [piece for block in blocks for piece in _pieces(block)])
    return found


def subjects(blocks: Sequence[RenderedBlock]) -> Iterator[tuple[str, RenderedBlock]]:
    """Yield each block with the qualified name of the signature that it describes, "" for none."""
    open_signatures: list[tuple[int, str]] = []
    for block in blocks:
        if block.block.kind == BlockKind.SIGNATURE:
            depth = block.block.depth
            while open_signatures and open_signatures[-1][0] >= depth:
                open_signatures.pop()
            open_signatures.append((depth, block.block.label))
        elif within := block.block.within:
            while open_signatures and open_signatures[-1][0] >= within:
                # the description of an object goes on behind that of its part
                open_signatures.pop()
        yield (open_signatures[-1][1] if open_signatures else ""), block


def _scopes(blocks: Sequence[RenderedBlock]) -> Iterator[tuple[str, list[RenderedBlock]]]:
    """Yield the blocks of each signature; several signatures in a row (overloads) are one scope."""
    current: list[RenderedBlock] = []
    about = last = ""
    for subject, block in subjects(blocks):
        follows = bool(current) and all(
            one.block.kind == BlockKind.SIGNATURE and one.block.depth == block.block.depth for one in current
        )
        is_other = not follows if block.block.kind == BlockKind.SIGNATURE else subject != last
        if is_other and current:
            yield about, current
            current = []
        about, last = subject if not current else about, subject
        current.append(block)
    if current:
        yield about, current


def _pieces(block: RenderedBlock) -> Iterator[_Piece]:
    kind, text = block.block.kind, block.text
    sticks = kind == BlockKind.SIGNATURE or text.rstrip().endswith(":")
    if len(text) <= LONGEST:
        yield _Piece(block.start, block.end, len(text), block.block.line, sticks)
        return
    start = last = 0
    for end in (*_breaks(text, in_lines=kind in _LINES), len(text)):
        if end - start > TARGET and last > start:
            yield _piece(block, start, last)
            start = last
        while end - start > LONGEST:
            yield _piece(block, start, start + TARGET)
            start += TARGET
        last = end
    if start < len(text):
        yield _piece(block, start, len(text))


def _breaks(text: str, *, in_lines: bool) -> list[int]:
    if in_lines:
        return [position + 1 for position, character in enumerate(text) if character == "\n"]
    return [start for start, _ in sentence_spans(text)][1:]


def _piece(block: RenderedBlock, start: int, end: int) -> _Piece:
    at = block.start + byte_offset(block.text, start)
    line = block.block.line and block.block.line + block.text.count("\n", 0, start)
    return _Piece(at, block.start + byte_offset(block.text, end), end - start, line, sticks=False)


def _joined(subject: str, pieces: Sequence[_Piece]) -> list[ArticlePassage]:
    found: list[list[_Piece]] = []
    for piece in pieces:
        size = sum(one.size for one in found[-1]) if found else 0
        fits = size + piece.size <= TARGET or size < SHORT or (found[-1][-1].sticks and size + piece.size <= LONGEST)
        if found and fits:
            found[-1].append(piece)
        else:
            found.append([piece])
    if len(found) > 1 and sum(one.size for one in found[-1]) < SHORT:
        last = found.pop()
        found[-1] += last
    return [ArticlePassage(group[0].start, group[-1].end, group[0].line, subject) for group in found]
