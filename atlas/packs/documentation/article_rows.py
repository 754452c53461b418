"""Rows of an article, its sections and passages, with the words of the passages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.core.english.sentences import first_sentence
from atlas.core.ids import make_uid
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PASSAGE, EdgeRow, EdgeType, Label, NodeRow, SearchText
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.passages import passages
from atlas.packs.documentation.rendering import RenderedArticle, RenderedSection
from atlas.packs.documentation.rows import digest, node_row, properties_text
from atlas.parsing import stem_words

_MARKUP = lazy_regex(r"[`*]")


def article_uid(pack: str, key: str) -> str:
    """Return the uid of an article."""
    return make_uid(pack, key)


def section_uid(pack: str, key: str, anchor: str) -> str:
    """Return the uid of a section; the anchor of the lead is ""."""
    return make_uid(pack, f"{key}#{anchor}")


def section_url(url: str, anchor: str) -> str:
    """Return where a person reads a section, "" if only as a file."""
    return f"{url}#{anchor}" if url and anchor else url


@dataclass(frozen=True, slots=True)
class SectionRows:
    """The row of a section with those of its passages."""

    level: int
    row: NodeRow
    passages: tuple[NodeRow, ...]


@dataclass(frozen=True, slots=True)
class ArticleRows:
    """The row of an article with those of its sections, in the order of its text."""

    row: NodeRow
    sections: tuple[SectionRows, ...]

    def __iter__(self) -> Iterator[NodeRow]:
        yield self.row
        for section in self.sections:
            yield section.row
            yield from section.passages


def article_rows(pack: str, one: RenderedArticle) -> ArticleRows:
    """Return the rows of an article, its sections and passages."""
    article = one.article
    said = {
        **{"url": article.url, "format": article.format, "licence": article.licence, "source": article.source},
        **{"version": article.source_version, "retrieved": article.retrieved, "language": article.language},
        "digest": article.digest,
        "word_count": _words(one.content),
        "section_count": len(one.sections),
        "expansion_state": "processed" if any(one.is_searched for one in article.sections) else "loaded",
    }
    title = article.title or article.key
    row = node_row(
        *(pack, Label.ARTICLE, "article", title, article.key, article.key),
        span=(0, len(one.content)),
        docstring=_summary(one),
        properties=said,
    )
    sections: list[SectionRows] = []
    around: list[tuple[int, str]] = []
    for index, section in enumerate(one.sections):
        own = section.section
        while around and around[-1][0] >= own.level:
            around.pop()
        titles = [article.title, *(outer for level, outer in around if level > 1), own.title]
        around.append((own.level, own.title))
        of_section = node_row(
            *(pack, Label.SECTION, "section", own.title or title, f"{article.key}#{own.anchor}", article.key),
            line=own.line,
            span=(section.start, section.end),
            properties={
                **{"level": own.level, "index": index, "anchor": own.anchor},
                **{"url": section_url(article.url, own.anchor)},
                "word_count": _words(one.content[section.start : section.end]),
            },
        )
        sections.append(SectionRows(own.level, of_section, tuple(_passage_rows(pack, one, section, titles))))
    return ArticleRows(row, tuple(sections))


def part_edges(rows: ArticleRows) -> Iterator[EdgeRow]:
    """Yield HAS_SECTION from the article and from outer sections, and HAS_CHUNK."""
    around: list[tuple[int, str]] = []
    for index, section in enumerate(rows.sections):
        uid = section.row.uid
        while around and around[-1][0] >= section.level:
            around.pop()
        source = around[-1][1] if around else rows.row.uid
        said = _index(index)
        yield EdgeRow(source, uid, EdgeType.HAS_SECTION, section.row.line, "structure", 1.0, (), said)
        if section.level > 1:
            around.append((section.level, uid))
        for number, row in enumerate(section.passages):
            yield EdgeRow(uid, row.uid, EdgeType.HAS_CHUNK, row.line, "structure", 1.0, (), _index(number))


def _passage_rows(
    pack: str, one: RenderedArticle, section: RenderedSection, titles: Sequence[str]
) -> Iterator[NodeRow]:
    """Yield the rows of the passages of a section. The embedded text has the headings in front, see `heading`."""
    key, own = one.article.key, section.section
    if not own.is_searched:
        return
    for number, passage in enumerate(passages(section)):
        name = heading([*titles, passage.subject])
        text = one.content[passage.start : passage.end]
        yield node_row(
            *(pack, Label.CHUNK, PASSAGE, own.title or one.article.title, f"{key}#{own.anchor}/{number}", key),
            line=passage.line or own.line,
            span=(passage.start, passage.end),
            chunk=(digest(name, text), name),
            properties={"index": number, "subject": passage.subject, "word_count": _words(text)},
        )


def heading(titles: Sequence[str]) -> str:
    """Return the titles above a passage as one text: "Title > Section > subject"."""
    return " > ".join(dict.fromkeys(_MARKUP.sub("", title).strip() for title in titles if title))


def passage_texts(rows: ArticleRows, content: bytes) -> list[SearchText]:
    """Return the words of the passages, as stems: the section's title, the headings around it, the text."""
    texts: list[SearchText] = []
    for section in rows.sections:
        title = stem_words(section.row.name)
        for row in section.passages:
            text = content[row.start_byte : row.end_byte].decode("utf8", "replace")
            texts.append(SearchText(row.uid, title, stem_words(row.chunk_name), "", stem_words(text), ""))
    return texts


def _words(text: bytes) -> int:
    return len(text.split())


def _index(number: int) -> str:
    return properties_text({"index": number})


def _summary(one: RenderedArticle) -> str:
    """Return the first sentence of the first paragraph."""
    for section in one.sections:
        for block in section.blocks:
            if block.block.kind == BlockKind.PARAGRAPH:
                return first_sentence(block.block.text)
    return ""
