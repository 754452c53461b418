"""Joins the articles of a package's code to its documentation: one name per symbol, no text searched twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Article, Block, BlockKind, Section
from atlas.packs.documentation.code.files import family_of
from atlas.packs.documentation.extract.names import canonical_symbol, code_spans, code_symbol, last_part

LEAST_NAMED = 0.1
"""Share of the public symbols that documentation names: Django's .48, Fastify's .13, tokio's design notes .02."""
_NEWS = lazy_regex(
    r"(?:^|/)(?:releases?|change[-_]?logs?|changes|whatsnew|history|news|readme)(?:[/._\d-]|$)", re.IGNORECASE
)


def joined(code: Sequence[Article], documents: Sequence[Article], *, is_documented: bool) -> list[Article]:
    """Return the articles of code as the documentation calls their symbols.

    `is_documented`: the package has documentation of its own. Then only those docstrings are searched to which it
    leaves the description of a symbol, as autodoc directives do; the others give entities a signature and a summary.
    A folder of notes on the design is no such documentation: it must name some of the public symbols. The documentation
    of a Rust crate is its comments, whatever else it has.
    """
    names, named = frozenset(_signatures(documents)), _named_in(documents)
    is_documented = is_documented and _named_share(code, named) >= LEAST_NAMED
    announced = frozenset(_without_description(documents)) if is_documented else frozenset[str]()
    found: list[Article] = []
    for article in code:
        sections = [_renamed(section, names) for section in article.sections]
        is_described = is_documented and family_of(article.key) != "rust"
        if is_described:
            sections = [one for one in sections if one.level == 1 or _says_something(one, names, named)]
            title = article.title in announced
            sections = [replace(one, is_searched=title or _is_announced(one, announced)) for one in sections]
        if len(sections) > 1:
            found.append(replace(article, sections=_with_one_unsearched(sections) if is_described else tuple(sections)))
    return found


def _named_in(documents: Sequence[Article]) -> frozenset[str]:
    """Return the last parts of the names that documentation has as code, release notes and readmes apart."""
    return frozenset(name for article in documents if not _NEWS.search(article.key) for name in _names_in(article))


def _named_share(code: Sequence[Article], named: frozenset[str]) -> float:
    """Return the share of the public symbols of code that documentation names."""
    symbols = [last_part(section.title) for article in code for section in article.sections if section.level > 1]
    return sum(symbol in named for symbol in symbols) / len(symbols) if symbols else 0.0


def _names_in(article: Article) -> Iterator[str]:
    for section in article.sections:
        yield from (last_part(canonical_symbol(code)) for _, code in code_spans(section.title))
        if " " not in section.title and code_symbol(section.title):
            yield last_part(canonical_symbol(section.title))
        for block in section.blocks:
            if block.kind is BlockKind.SIGNATURE:
                yield last_part(block.label)
                continue
            yield from (last_part(canonical_symbol(code)) for _, code in code_spans(block.text))
            yield from (last_part(link.target.strip("~!() ")) for link in block.links if link.kind == "symbol")


def _with_one_unsearched(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return sections of which those that are not searched are one, since each costs rows in a pack.

    Entities have place and text of their own. The first section, that of the module, is the one if it is not searched.
    """
    rest = [one for one in sections if not one.is_searched]
    if not rest:
        return tuple(sections)
    blocks = tuple(block for one in rest for block in one.blocks)
    labels = tuple(dict.fromkeys(label for one in rest for label in one.labels))
    whole = replace(rest[0], blocks=blocks, labels=labels)
    return tuple(whole if one is rest[0] else one for one in sections if one.is_searched or one is rest[0])


def _signatures(articles: Sequence[Article]) -> Iterator[str]:
    for article in articles:
        for section in article.sections:
            yield from (block.label for block in section.blocks if block.kind is BlockKind.SIGNATURE)


def _without_description(articles: Sequence[Article]) -> Iterator[str]:
    """Yield the names of symbols whose description the documentation leaves to their docstrings."""
    for article in articles:
        for section in article.sections:
            for block, after in zip_longest(section.blocks, section.blocks[1:]):
                if block.kind is BlockKind.SIGNATURE and _is_bare(block, after):
                    yield block.label


def _is_bare(block: Block, after: Block | None) -> bool:
    """Return whether a signature stands alone, or is a name without arguments, as autodoc directives have it."""
    if block.role == "module":
        return not block.text.startswith("module ")  # which is what `module` directives give: they announce no members
    if block.role in ("function", "method", "decorator") and "(" not in block.text:
        return True
    return after is None or (after.kind is BlockKind.SIGNATURE and after.depth <= block.depth)


def _renamed(section: Section, names: frozenset[str]) -> Section:
    """Return a section under the name that the documentation has, if that is the full one and not the exported one."""
    full = section.labels[0] if section.labels else ""
    if not full or section.title in names or full not in names:
        return section
    blocks = (
        replace(block, label=f"{full}{block.label.removeprefix(section.title)}")
        if block.kind is BlockKind.SIGNATURE
        else block
        for block in section.blocks
    )
    return replace(section, title=full, labels=(section.title,), blocks=tuple(blocks))


def _says_something(section: Section, names: frozenset[str], named: frozenset[str]) -> bool:
    """Return whether code says more than that a symbol exists, or the documentation names it without its signature."""
    if section.title in names or any(block.kind is not BlockKind.SIGNATURE for block in section.blocks):
        return True
    own = last_part(section.title)
    return own in named and code_symbol(own) != ""


def _is_announced(section: Section, announced: frozenset[str]) -> bool:
    """Return whether the documentation names a symbol or its module and says nothing about it."""
    names = {section.title, *section.labels}
    modules = {name.rpartition(".")[0] for name in names}
    return bool(announced & (names | modules))
