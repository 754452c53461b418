"""From fetched pages to articles: each page once, under its canonical address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.core.wording import counted
from atlas.packs.documentation.article import Article, memory_of
from atlas.packs.documentation.formats.document import Document
from atlas.packs.documentation.formats.reading import MEDIA_TYPES, read_article
from atlas.packs.documentation.sources.crawl.addresses import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from atlas.packs.documentation.sources.crawl.state import FetchedPage
    from atlas.packs.documentation.sources.values import SourceSpec


def media_type_of(headers: Mapping[str, str]) -> str:
    """Return the media type of a response in lower case, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_readable(url: str, headers: Mapping[str, str]) -> bool:
    """Return whether a reader knows the content of a response."""
    media_type = media_type_of(headers)
    if not media_type or media_type in MEDIA_TYPES or media_type.startswith("text/"):
        return media_type not in ("text/css", "text/javascript", "text/csv", "text/calendar", "text/xml")
    return media_type == "application/octet-stream" and urlsplit(url).path.lower().endswith((".pdf", ".md", ".ipynb"))


def articles_of(
    source: SourceSpec, urls: Sequence[str], page_of: Callable[[str], FetchedPage], max_memory: int
) -> tuple[list[Article], list[tuple[str, str]]]:
    """Return the articles of pages, sorted by key, and the pages that gave none with the reason.

    One page is in memory at a time. Of pages with one canonical address or equal content, the first in order counts.
    Pages after the one with which the articles hold `max_memory` bytes are left out.
    """
    found: dict[str, Article] = {}
    digests: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    held = 0
    for number, url in enumerate(urls):
        if held > max_memory:
            problems.append(
                (url, f"the articles hold {max_memory:,} bytes ({counted(len(urls) - number, 'page', ',')} left out)")
            )
            break
        page = page_of(url)
        article = read_article(document_of(source, page))
        key = canonical(article.url) or page.url
        if not article_has_content(article):
            reason = article.problems[0].partition(": ")[2] if article.problems else "no text"
            problems.append((page.url, reason))
        elif key in found:
            problems.append((page.url, f"same page as {found[key].url}"))
        elif article.digest in digests:
            problems.append((page.url, f"same content as {digests[article.digest]}"))
        else:
            digests[article.digest] = key
            found[key] = _with_key(article, key)
            held += memory_of(article)
    return [found[key] for key in sorted(found)], problems


def article_has_content(article: Article) -> bool:
    """Return whether there is anything to keep: text, or a table of contents."""
    return bool(article.children) or any(section.blocks for section in article.sections)


def document_of(source: SourceSpec, page: FetchedPage) -> Document:
    """Return what a reader takes of a page."""
    headers = page.headers
    content_type = headers.get("content-type", "")
    _, _, charset = content_type.lower().partition("charset=")
    return Document(
        key=page.url,
        data=page.body,
        path=urlsplit(page.url).path,
        url=page.url,
        media_type=media_type_of(headers),
        charset=charset.partition(";")[0].strip("\"' "),
        retrieved=page.retrieved,
        source=source.text,
        source_version=headers.get("etag", "") or headers.get("last-modified", ""),
        cut=page.cut,
        headers=headers,
    )


def _with_key(article: Article, key: str) -> Article:
    from dataclasses import replace

    children = tuple(dict.fromkeys(one for child in article.children if (one := canonical(child))))
    return replace(article, key=key, url=article.url or key, children=children)
