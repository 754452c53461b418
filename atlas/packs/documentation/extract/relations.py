"""Relations between entities: members from signatures, base classes, see-also. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.extract.found import FoundRelation
from atlas.packs.documentation.extract.names import canonical_symbol, code_spans, code_symbol
from atlas.packs.documentation.passages import subjects
from atlas.packs.documentation.rendering import RenderedArticle, RenderedBlock

_BASES = re.compile(
    r"^(?:Bases?\s*:|(?:Inherits|Extends|Subclass(?:es)?|Derived)\b|[^.]{0,40}\b(?:subclass|inherits)\b)"
)
_CLASS_BASES = re.compile(
    r"^\s*(?:abstract\s+)?(?:class|interface|trait|struct)\s+[\w.]+\s*(?:\(([^()=]*)\)|(?:extends|implements|:)\s+([^{]*))"
)
_SEE = re.compile(r"^\W*(?:see also|seealso)\b", re.IGNORECASE)


def find_relations(rendered: RenderedArticle) -> Iterator[FoundRelation]:
    """Yield the relations of an article in the order of its text."""
    for section in rendered.sections:
        for subject, block in subjects(section.blocks):
            name = canonical_symbol(subject)
            if name:
                yield from _of_block(name, block)
        yield from _members([block for block in section.blocks if block.block.kind == BlockKind.SIGNATURE])


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
