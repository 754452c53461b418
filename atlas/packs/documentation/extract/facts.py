"""Facts of an article: definitions, defaults, versions, limits and error causes, each with its sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from atlas.core.english.sentences import sentence_spans
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.extract.entities import is_glossary, term_name
from atlas.packs.documentation.extract.field_lists import ERROR, PARAMETER, described_blocks
from atlas.packs.documentation.extract.found import FoundFact
from atlas.packs.documentation.extract.names import (
    canonical_symbol,
    canonical_term,
    code_spans,
    code_symbol,
    heading_symbol,
    last_part,
)
from atlas.packs.documentation.extract.statements import (
    default_value,
    defined_name,
    error_name,
    is_conditional,
    is_exception,
    limit_value,
)
from atlas.packs.documentation.extract.versions import (
    declared_outdated,
    note_fact,
    outdated_subject,
    sentence_facts,
    title_version,
)
from atlas.packs.documentation.rendering import RenderedArticle, RenderedBlock, RenderedSection, byte_offset

MAX_EVIDENCE = 600
VERB_FIRST = 3
"""Up to this character "Deprecated" opens a sentence whose subject follows it."""
_PART = lazy_regex(r"\b(?:arguments?|parameters?|keywords?|options?|kwargs?|passing|support for|behaviou?r)\b")
"""Words of a notice that is about a part of the described object."""
_GERUND = lazy_regex(r"^\W*(?:Deprecated\s+|[A-Za-z]+ly\s+)?[A-Za-z]{3,}ing\b")
_CAUSE = lazy_regex(r"\W*+(?:[Ii]f|[Ww]hen|[Ww]henever|[Rr]aised)\b")
"""What is said of an exception in the part "Raises" of a docstring."""
NEARBY = 2_000
"""Characters before a sentence in which the name that it is about is looked for."""
_BULLET = lazy_regex(r"^[-*]\s+")
_MARK = r"^\W*?(?:\d{1,3}[.)]\s+)?"
_STATED = r"(?:\s*\((?:[^()]|\([^()]*\)){1,60}\))*\s*(?:\s[-\u2013\u2014]\s|:\s|$)"
"""What may stand between a name and its description: "(int, optional) - "."""
_OPTION = lazy_regex(
    rf"{_MARK}`{{1,2}}(?P<code>[^`\n]{{1,80}})`{{1,2}}(?::?\s+`[^`\n]{{1,160}}`)?{_STATED}|"
    rf"{_MARK}(?P<name>[A-Za-z_$][\w.$-]*?):?\s+`[^`\n]{{1,160}}`{_STATED}"
)
"""A list item that describes an option: "`timeout` - Seconds. Defaults to 5.", "timeout `number` (optional) - ..."."""
MAX_OPTION = 300
"""Characters of a list item in which an option is looked for."""
_OF_A_NAME = frozenset(("default", "limit"))
"""Facts that say nothing without a subject."""
_PROSE = frozenset((BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.TERM, BlockKind.NOTE, BlockKind.ROW))


def find_facts(rendered: RenderedArticle) -> Iterator[FoundFact]:
    """Yield the facts of an article in the order of its text, each once per section."""
    for section in rendered.sections:
        seen: set[tuple[str, str, str, str]] = set()
        heading = heading_symbol(section.section.title)
        for about, block, field in described_blocks(section.blocks, heading):
            option = _option(block.block.text) if block.block.kind == BlockKind.ITEM else ""
            if field and field.kind == PARAMETER:
                option = field.names[0]
            raised = field.names if field and field.kind == ERROR else ()
            stated = (_fact(ERROR, about, name, section, block, *_first_span(block)) for name in raised)
            for fact in (*stated, *_of_block(rendered, section, block, option or about, is_field=field is not None)):
                if option and fact.subject == option:
                    fact = replace(fact, is_option=True, owner=about, of_whole=False)
                key = (fact.kind, fact.subject, fact.value, fact.sentence)
                if key not in seen:
                    seen.add(key)
                    yield fact


def _of_block(
    rendered: RenderedArticle, section: RenderedSection, block: RenderedBlock, about: str, *, is_field: bool
) -> Iterator[FoundFact]:
    kind = block.block.kind
    if kind not in _PROSE:
        return
    glossary = is_glossary(rendered, section)
    if kind == BlockKind.TERM and not is_field:
        name, named = term_name(block.block.label, glossary=glossary)
        raised = bool(name) and is_exception(name) and _CAUSE.match(block.block.text) is not None
        if raised and about:
            yield _fact("error", about, name, section, block, *_first_span(block))
        if name:
            about = name
            if block.block.text and not raised and (glossary or named == "symbol"):
                yield _fact("definition", name, "", section, block, *_first_span(block))
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
        for found, value, at in _statements(sentence, note):
            if outdated is not None and found == outdated[0]:
                continue
            named = _subject(found, value, about, sentence, at)
            if not named and found in _OF_A_NAME and not is_conditional(sentence):
                before = block.text[max(0, start - NEARBY) : start]
                named = _subject(found, value, "", before, len(before))
            if not named and found in _OF_A_NAME:
                continue
            fact = _fact(found, named, value, section, block, start, end)
            is_about = bool(about) and found == outdated_subject(sentence) and not _PART.search(sentence)
            yield replace(fact, of_whole=is_about)
        subject = defined_name(sentence) if kind == BlockKind.PARAGRAPH else ""
        name = code_symbol(subject.strip("`")) if "`" in subject else canonical_term(subject)
        if name and ("`" in subject or glossary):
            yield _fact("definition", name, "", section, block, start, end)


def _option(text: str) -> str:
    """Return the name of the option that a list item describes, "" for other items."""
    found = _OPTION.match(text[:MAX_OPTION])
    name = canonical_symbol(found["code"] or found["name"]) if found else ""
    return name if re.fullmatch(r"-{0,2}[A-Za-z_$][\w.$-]*", name) else ""


def _statements(sentence: str, note: str) -> Iterator[tuple[str, str, int]]:
    """Yield kind and value of what a sentence states, and where; versions are left to the notice that it stands in."""
    if not note:
        yield from ((kind, value, _place(kind, sentence)) for kind, value in sentence_facts(sentence))
    for kind, read in (("default", default_value), ("limit", limit_value), ("error", error_name)):
        said = read(sentence)
        if said is not None:
            yield kind, said.value, said.start


def _subject(kind: str, value: str, about: str, sentence: str, at: int) -> str:
    """Return what a statement at a place of a sentence is about: the described object, else a name in the sentence.

    That is the last name before a statement, or the first name after it; never its value. Of a notice about a part
    ("Passing strings to `f()` is deprecated") it is none.
    """
    if about and not (kind == "error" and last_part(about) == last_part(value)):
        return about
    if kind in ("deprecated", "removed", "changed") and (_PART.search(sentence) or _GERUND.match(sentence)):
        return ""
    named = [(place, code_symbol(code)) for place, code in code_spans(sentence)]
    named = [(place, name) for place, name in named if name and last_part(name) != last_part(value)]
    before = [name for place, name in named if place <= at]
    if kind in ("deprecated", "removed") and at > VERB_FIRST:
        return before[0] if before else ""
    if before and (kind in _OF_A_NAME or kind == "error"):
        return before[-1]
    return next((name for _, name in named), "")


def _place(kind: str, sentence: str) -> int:
    """Return where a sentence says that something is deprecated or removed, its end for other kinds."""
    found = re.search(rf"\b{kind}\b|\bno longer\b|\bstopped\b", sentence, re.IGNORECASE)
    return found.start() if found else len(sentence)


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
    text = _BULLET.sub("", " ".join(block.text[start:end].split()))
    span = (at, block.start + byte_offset(block.text, end))
    return FoundFact(kind, subject, value, text, section.section.anchor, line, *span)
