"""The values of documentation: an article with its sections, their blocks and links. All are frozen.

Readers of formats produce them, extraction and the graph of a pack consume them. Texts are plain: inline code keeps its
backticks, other markup is removed, links keep their text, and their targets stand in `links`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block of text is."""

    PARAGRAPH = "paragraph"
    CODE = "code"
    """A literal or code block; `label` is its language, "" if unknown."""
    ITEM = "item"
    """One item of a list."""
    TERM = "term"
    """One entry of a definition list, field list or glossary: `label` is the term, `text` its definition."""
    ROW = "row"
    """One row of a table, its cells joined by " | "; `label` has the header cells, joined in the same way."""
    SIGNATURE = "signature"
    """The signature of a documented object: `label` is its qualified name, `text` the signature as written. The blocks
    behind it up to the next signature of the same depth, a block that is `within` fewer objects, or the end of the
    section, describe it."""
    NOTE = "note"
    """An admonition or version notice: `label` is its kind (`note`, `warning`, `deprecated 4.2`, `versionadded 5.0`,
    `versionchanged 5.1`, `versionremoved 6.0`)."""


DOCSTRING = "docstring"
"""Format of the articles that are made of a package's own code."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written."""

    target: str
    text: str
    kind: str
    """`url` (absolute), `page` (another file or page, with or without `#anchor`), `label` (a target that its document
    names, such as Sphinx `:ref:`), `symbol` (an API name, such as `:func:` or `{@link}`)."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a section."""

    kind: BlockKind
    text: str
    label: str = ""
    role: str = ""
    """Of signatures: what is documented (`class`, `function`, `method`, `attribute`, `setting`, `command`, ...)."""
    depth: int = 0
    """Nesting of signatures (a method within a class is 1) and of list items; 0 is outermost."""
    line: int = 0
    """1-based line in the source; 0 if unknown."""
    links: tuple[Link, ...] = ()
    within: int = 0
    """Number of described objects around; 0 if unknown, or if it follows their descriptions."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the blocks below it, up to the next heading. The first section of an article is its lead."""

    anchor: str
    """Unique in the article; "" for the lead. The fragment of its URL if the page has one, else a slug of the title."""
    title: str
    level: int
    """1 = the article's own title, 2 = h2, 3 = h3 ..."""
    blocks: tuple[Block, ...]
    line: int = 0
    labels: tuple[str, ...] = ()
    """Further names by which links reach the section (Sphinx labels, ids of elements)."""
    is_searched: bool = True
    """Whether its text has passages. Docstrings of a package with documentation of its own have none, unless that names
    their symbols and leaves the text to them."""


@dataclass(frozen=True, slots=True)
class Article:
    """One document or page."""

    key: str
    """Unique in the pack and stable between builds: the path below the source with "/", or the canonical URL."""
    title: str
    sections: tuple[Section, ...]
    url: str = ""
    """Where a person reads it; "" if only as a file."""
    format: str = ""
    """markdown restructuredtext html asciidoc text notebook pdf openapi docstring."""
    retrieved: str = ""
    """ISO 8601 in UTC, of web pages; "" for files."""
    licence: str = ""
    """As stated by the page or its source; "" if not stated."""
    source: str = ""
    """The source as the user named it."""
    source_version: str = ""
    """Version of the archive or package, commit of the work tree, ETag or Last-Modified of the page; "" if unknown."""
    digest: str = ""
    """32 hex digits over the bytes that it was read from."""
    language: str = ""
    """Natural language, such as `en`; "" if unknown."""
    parents: tuple[str, ...] = ()
    """Titles of the categories above it, outermost first, from tables of contents and folders."""
    children: tuple[str, ...] = ()
    """Keys of the articles that its table of contents names (toctree, nav, summary), in order."""
    problems: tuple[str, ...] = ()
    """`line: code: message` each, of what could not be read."""


OBJECT_BYTES = 150
"""Of a block or link without its texts, in CPython."""


def memory_of(article: Article) -> int:
    """Return about how many bytes an article holds; a page of small parts holds ten times its size."""
    size = sys.getsizeof
    total = 0
    for section in article.sections:
        total += OBJECT_BYTES + size(section.title) + sum(map(size, section.labels))
        for block in section.blocks:
            total += OBJECT_BYTES + size(block.text) + size(block.label)
            total += sum(OBJECT_BYTES + size(link.target) + size(link.text) for link in block.links)
    return total + sum(map(size, article.children))
