"""Entities of an article: signatures, headings that are API names, terms of definition lists, inline code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.core.english.sentences import first_sentence
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.extract.found import FoundEntity
from atlas.packs.documentation.extract.names import canonical_symbol, canonical_term, code_spans, code_symbol
from atlas.packs.documentation.rendering import RenderedArticle, RenderedBlock, RenderedSection

_GLOSSARY = lazy_regex(r"\b(?:glossary|terminology|terms|definitions)\b", re.IGNORECASE)
_HEADING_CALL = lazy_regex(r"(?<![\w.])[\d.]*+([A-Za-z_][\w.]*+\(\))")
_TEXT = frozenset((BlockKind.PARAGRAPH, BlockKind.TERM, BlockKind.NOTE, BlockKind.ITEM))


def find_entities(rendered: RenderedArticle) -> Iterator[FoundEntity]:
    """Yield what an article defines or mentions, in the order of its text; a name once per section and strategy."""
    for section in rendered.sections:
        seen: set[tuple[str, str]] = set()
        for entity in (*_of_heading(rendered, section), *_of_blocks(rendered, section)):
            key = (entity.name, entity.strategy)
            if entity.name and key not in seen:
                seen.add(key)
                yield entity


def is_glossary(rendered: RenderedArticle, section: RenderedSection) -> bool:
    """Return whether the terms of a section are defined there for all articles."""
    return bool(_GLOSSARY.search(section.section.title) or _GLOSSARY.search(rendered.article.title))


def term_name(label: str, *, glossary: bool) -> tuple[str, str]:
    """Return name and kind of the term of a definition list, ("", "") if it is neither an API name nor a term."""
    label = label.partition(" : ")[0]  # what follows is a classifier: `step : int`
    spans = code_spans(label)
    if not glossary and spans:
        symbol = code_symbol(spans[0][1]) or canonical_symbol(spans[0][1])
        return (symbol, "symbol") if symbol else ("", "")
    symbol = code_symbol(label)
    if symbol:
        return symbol, "symbol"
    term = canonical_term(label)
    return (term, "term") if term and (glossary or len(term.split()) <= 4) else ("", "")


def _of_heading(rendered: RenderedArticle, section: RenderedSection) -> Iterator[FoundEntity]:
    title = section.section.title
    spans = [code for _, code in code_spans(title)]
    names = [code_symbol(code) or canonical_symbol(code) for code in spans]
    if not spans:
        names = (
            [code_symbol(title)] if " " not in title else [canonical_symbol(n) for n in _HEADING_CALL.findall(title)]
        )
    for name in dict.fromkeys(names):
        summary = _summary(section.blocks)
        anchor, line = section.section.anchor, section.section.line
        yield FoundEntity(name, "symbol", "heading", anchor, line, "", summary, section.start, section.start)


def _of_blocks(rendered: RenderedArticle, section: RenderedSection) -> Iterator[FoundEntity]:
    anchor, glossary = section.section.anchor, is_glossary(rendered, section)
    for position, rendered_block in enumerate(section.blocks):
        block = rendered_block.block
        if block.kind == BlockKind.SIGNATURE:
            name = canonical_symbol(block.label) or canonical_symbol(block.text)
            summary = _summary(section.blocks, position + 1)
            yield FoundEntity(
                *(name, block.role or "symbol", "signature", anchor, block.line),
                *(" ".join(block.text.split()), summary, rendered_block.start, rendered_block.end),
            )
        elif block.kind == BlockKind.TERM:
            name, kind = term_name(block.label, glossary=glossary)
            summary = first_sentence(block.text)
            if kind == "symbol" or glossary:
                yield FoundEntity(name, kind, "term", anchor, block.line, "", summary, *_span(rendered_block))
        if block.kind in _TEXT or block.kind == BlockKind.ROW:
            for _, code in code_spans(block.text):
                yield FoundEntity(code_symbol(code), "symbol", "code", anchor, block.line)
            for link in block.links:
                if link.kind == "symbol":
                    yield FoundEntity(canonical_symbol(link.target), "symbol", "code", anchor, block.line)


def _span(block: RenderedBlock) -> tuple[int, int]:
    return block.start, block.end


def _summary(blocks: tuple[RenderedBlock, ...], first: int = 0) -> str:
    """Return the first sentence of what follows a signature or heading, up to the next signature.

    `first` is the index of what follows: a copy of the rest for each signature takes quadratic time.
    """
    for position in range(first, len(blocks)):
        block = blocks[position]
        if block.block.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM):
            return first_sentence(block.block.text)
        if block.block.kind == BlockKind.SIGNATURE:
            return ""
    return ""
