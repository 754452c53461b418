"""Relations between entities: members from signatures, base classes, see-also, successors, errors. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from atlas.core.english.sentences import sentence_spans
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.extract.found import FoundEntity, FoundFact, FoundRelation
from atlas.packs.documentation.extract.names import canonical_symbol, code_spans, code_symbol, heading_symbol
from atlas.packs.documentation.extract.versions import outdated_subject
from atlas.packs.documentation.passages import subjects
from atlas.packs.documentation.rendering import RenderedArticle, RenderedBlock

_BASES = lazy_regex(
    r"^(?:Bases?\s*:|(?:Inherits|Extends|Subclass(?:es)?|Derived)\b|[^.]{0,40}\b(?:subclass|inherits)\b)"
)
_CLASS_BASES = lazy_regex(
    r"^\s*(?:abstract\s+)?(?:class|interface|trait|struct)\s+[\w.]+\s*(?:\(([^()=]*)\)|(?:extends|implements|:)\s+([^{]*))"
)
_SEE = lazy_regex(r"^\W*(?:see also|seealso)\b", re.IGNORECASE)
_CODE = r"`{1,2}~?(?P<%s>[A-Za-z_@][^`\n]{0,120})`{1,2}"
_OLD, _NEW = _CODE % "old", _CODE % "new"
_RENAMED = lazy_regex(
    rf"{_OLD}(?: [\w-]{{1,20}}){{0,2}} (?:is|was|are|were|has been|have been)(?: now)? "
    rf"(?:replaced (?:by|with)|renamed (?:to|as)|superseded by|moved to|deprecated in favou?r of)(?: the)? {_NEW}"
)
_REPLACES = lazy_regex(rf"{_NEW} (?:now )?(?:replaces|supersedes)(?: the)? {_OLD}")
_RENAME = lazy_regex(rf"\b[Rr]enamed?(?: the)? {_OLD} (?:to|as) {_NEW}")
_USE = lazy_regex(
    rf"\b[Uu]se(?: the)? {_NEW}(?: [\w-]{{1,20}}){{0,3}} instead\b(?! of)|\bin favou?r of(?: the)? {_CODE % 'other'}"
)
_OUTDATED = lazy_regex(
    rf"^\W{{0,3}}{_OLD}(?: [\w-]{{1,20}}){{0,3}} (?:is|was|are|were|has been|have been)(?: now)? (?:deprecated|removed)"
)
_INSTEAD = lazy_regex(rf"\b[Uu]se(?: the)? {_NEW} instead of {_OLD}")
REPLACED, RAISES = "replaced by", "raises"
MAX_SENTENCE = 1_000


_BOTH = (_RENAMED, _REPLACES, _RENAME, _INSTEAD)
_PROSE = frozenset((BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.TERM, BlockKind.NOTE, BlockKind.ROW))


def find_relations(rendered: RenderedArticle) -> Iterator[FoundRelation]:
    """Yield the relations of an article in the order of its text."""
    for section in rendered.sections:
        heading = heading_symbol(section.section.title)
        for subject, block in subjects(section.blocks):
            name = canonical_symbol(subject) or heading
            if name:
                yield from _of_block(name, block)
            if block.block.kind in _PROSE:
                yield from _successors(name, block)
        yield from _members([block for block in section.blocks if block.block.kind == BlockKind.SIGNATURE])


def error_relations(facts: Iterable[FoundFact]) -> Iterator[FoundRelation]:
    """Yield `raises` for each fact that names the cause of an error."""
    for fact in facts:
        if fact.kind == "error" and fact.subject and fact.value and fact.subject != fact.value:
            yield FoundRelation(fact.owner or fact.subject, fact.value, RAISES, "sentence", fact.line)


def error_entities(facts: Iterable[FoundFact]) -> Iterator[FoundEntity]:
    """Yield a mention of each error whose cause a fact names: prose and fields often write it without markup."""
    for fact in facts:
        if fact.kind == "error" and fact.value:
            yield FoundEntity(fact.value, "symbol", "code", fact.section, fact.line)


def _successors(about: str, rendered: RenderedBlock) -> Iterator[FoundRelation]:
    """Yield `replaced by` for what sentences name as old and new, or a notice about the described object as new."""
    is_outdated = rendered.block.label.startswith(("deprecated", "versionremoved"))
    old = about if is_outdated else ""
    for start, end in sentence_spans(rendered.text):
        sentence = rendered.text[start:end][:MAX_SENTENCE]
        pairs = [(found["old"], found["new"]) for one in _BOTH for found in one.finditer(sentence)]
        stated = _OUTDATED.match(sentence)
        old = canonical_symbol(stated["old"]) if stated else about if outdated_subject(sentence) else old
        if old and not pairs and (found := _USE.search(sentence)):
            pairs = [(old, found["new"] or found["other"])]
        for one, other in pairs:
            source, target = code_symbol(one) or canonical_symbol(one), code_symbol(other) or canonical_symbol(other)
            if source and target and source != target:
                yield FoundRelation(source, target, REPLACED, "sentence", rendered.block.line)


def _members(signatures: list[RenderedBlock]) -> Iterator[FoundRelation]:
    """Yield `member of` for each signature that is nested in another one."""
    around: list[tuple[int, str]] = []
    for block in signatures:
        depth, name = block.block.depth, canonical_symbol(block.block.label)
        while around and around[-1][0] >= depth:
            around.pop()
        if around and name:
            yield FoundRelation(name, around[-1][1], "member of", "signature", block.block.line)
        around.append((depth, name))


def _of_block(subject: str, rendered: RenderedBlock) -> Iterator[FoundRelation]:
    block, line = rendered.block, rendered.block.line
    if block.kind == BlockKind.SIGNATURE:
        found = _CLASS_BASES.match(block.text)
        for base in re.split(r"[,\s]+", (found[1] or found[2] or "")) if found else ():
            name = code_symbol(base) or (base if base[:1].isupper() and base.isidentifier() else "")
            if name and not name.startswith("metaclass"):
                yield FoundRelation(subject, name, "inherits from", "signature", line)
    elif block.kind == BlockKind.PARAGRAPH and _BASES.match(block.text):
        for name in _names(rendered):
            if name != subject:
                yield FoundRelation(subject, name, "inherits from", "sentence", line)
    elif (block.kind == BlockKind.NOTE and block.label.startswith("seealso")) or (
        block.kind == BlockKind.PARAGRAPH and _SEE.match(block.text)
    ):
        for name in _names(rendered):
            if name != subject:
                yield FoundRelation(subject, name, "see also", "see-also", line)


def _names(rendered: RenderedBlock) -> list[str]:
    linked = [canonical_symbol(link.target) for link in rendered.block.links if link.kind == "symbol"]
    coded = [code_symbol(code) for _, code in code_spans(rendered.block.text)]
    return [name for name in dict.fromkeys((*linked, *coded)) if name]
