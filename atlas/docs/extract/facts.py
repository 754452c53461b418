"""Facts of an article: definitions, defaults, versions, limits and error causes, each with its sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from atlas.docs.article import BlockKind
from atlas.docs.extract.entities import is_glossary, term_name
from atlas.docs.extract.found import FoundFact
from atlas.docs.extract.names import canonical_symbol, canonical_term, code_spans, code_symbol
from atlas.docs.extract.statements import default_value, defined_name, error_name, limit_value
from atlas.docs.extract.versions import (
    declared_outdated,
    note_fact,
    outdated_subject,
    sentence_facts,
    title_version,
)
from atlas.docs.passages import subjects
from atlas.docs.rendering import RenderedArticle, RenderedBlock, RenderedSection, byte_offset
from atlas.docs.sentences import sentence_spans

MAX_EVIDENCE = 600
_PART = re.compile(r"\b(?:arguments?|parameters?|keywords?|options?|kwargs?|passing|support for|behaviou?r)\b")
"""Words of a notice that is about a part of the described object."""
_PROSE = frozenset((BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.TERM, BlockKind.NOTE, BlockKind.ROW))


def find_facts(rendered: RenderedArticle) -> Iterator[FoundFact]:
    """Yield the facts of an article in the order of its text, each once per section."""
    for section in rendered.sections:
        seen: set[tuple[str, str, str, str]] = set()
        heading = _heading_subject(section)
        for subject, block in subjects(section.blocks):
            about = canonical_symbol(subject) if subject else heading
            for fact in _of_block(rendered, section, block, about):
                key = (fact.kind, fact.subject, fact.value, fact.sentence)
                if key not in seen:
                    seen.add(key)
                    yield fact


def _heading_subject(section: RenderedSection) -> str:
    """Return the API name that a heading consists of, "" for other headings."""
    title = section.section.title
    spans = code_spans(title)
    if len(spans) == 1:
        return code_symbol(spans[0][1]) or canonical_symbol(spans[0][1])
    return code_symbol(title) if " " not in title else ""


def _of_block(
    rendered: RenderedArticle, section: RenderedSection, block: RenderedBlock, about: str
) -> Iterator[FoundFact]:
    kind = block.block.kind
    if kind not in _PROSE:
        return
    glossary = is_glossary(rendered, section)
    if kind == BlockKind.TERM:
        name, named = term_name(block.block.label, glossary=glossary)
        if name:
            about = name
            if block.block.text and (glossary or named == "symbol"):
                start, end = _first_span(block)
                yield _fact("definition", name, "", section, block, start, end)
    note, version = note_fact(block.block.label) if kind == BlockKind.NOTE else ("", "")
    if note:
        fact = _fact(note, about, version, section, block, 0, len(block.text))
        yield replace(fact, of_whole=bool(about) and not _PART.search(block.block.text[:120]))
    for start, end in sentence_spans(block.text):
        sentence = block.text[start:end]
        outdated = _outdated(rendered, section, sentence)
        if outdated is not None and not note:
            fact = _fact(*outdated, section, block, start, end)
            yield replace(fact, of_whole=True)
        for found, value in _statements(sentence, note):
            if outdated is not None and found == outdated[0]:
                continue
            fact = _fact(found, about or _mentioned(sentence), value, section, block, start, end)
            is_about = bool(about) and found == outdated_subject(sentence) and not _PART.search(sentence)
            yield replace(fact, of_whole=is_about)
        subject = defined_name(sentence) if kind == BlockKind.PARAGRAPH else ""
        name = code_symbol(subject.strip("`")) if "`" in subject else canonical_term(subject)
        if name and ("`" in subject or glossary):
            yield _fact("definition", name, "", section, block, start, end)


def _statements(sentence: str, note: str) -> Iterator[tuple[str, str]]:
    """Yield kind and value of what a sentence states; versions are left to the notice that it stands in."""
    if not note:
        yield from sentence_facts(sentence)
    for kind, read in (("default", default_value), ("limit", limit_value), ("error", error_name)):
        value = read(sentence)
        if value:
            yield kind, value


def _outdated(rendered: RenderedArticle, section: RenderedSection, sentence: str) -> tuple[str, str, str] | None:
    """Return kind, name and version of what a sentence declares deprecated or removed as a whole, None for others.

    Without a version it is that of the titles above, as in release notes.
    """
    code, noun, kind = declared_outdated(sentence)
    name = code_symbol(code)
    if not name or _PART.search(noun):
        return None
    stated = dict(sentence_facts(sentence)).get(kind, "")
    return kind, name, stated or title_version(section.section.title, rendered.article.title)


def _mentioned(sentence: str) -> str:
    """Return the first API name in a sentence, which the statement is taken to be about."""
    return next((name for _, code in code_spans(sentence) if (name := code_symbol(code))), "")


def _first_span(block: RenderedBlock) -> tuple[int, int]:
    spans = sentence_spans(block.text)
    return spans[0] if spans else (0, len(block.text))


def _fact(
    kind: str, subject: str, value: str, section: RenderedSection, block: RenderedBlock, start: int, end: int
) -> FoundFact:
    if end - start > MAX_EVIDENCE:
        end = block.text.rfind(" ", start, start + MAX_EVIDENCE)
        end = end if end > start else start + MAX_EVIDENCE
    at = block.start + byte_offset(block.text, start)
    line = block.block.line and block.block.line + block.text.count("\n", 0, start)
    text = " ".join(block.text[start:end].split())
    span = (at, block.start + byte_offset(block.text, end))
    return FoundFact(kind, subject, value, text, section.section.anchor, line, *span)
