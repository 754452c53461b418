"""Where links between articles lead: pages by path or URL, labels, API names. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote, urldefrag, urljoin

from atlas.packs.documentation.article import Article, Link

Place = tuple[str, str]
"""Key of an article and anchor of a section; "" is the article as a whole."""


class LinkTable:
    """The places of all articles that links can lead to."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self._pages: dict[str, str] = {}
        self._labels: dict[str, Place] = {}
        self._anchors: dict[str, dict[str, str]] = {}
        for article in articles:
            for name in _page_names(article.key):
                self._pages.setdefault(name, article.key)
            if article.url:
                self._pages.setdefault(_canonical_url(article.url), article.key)
            anchors = self._anchors.setdefault(article.key, {})
            for section in article.sections:
                for label in (section.anchor, *section.labels):
                    anchors.setdefault(label, section.anchor)
                for label in section.labels:
                    self._labels.setdefault(_label(label), (article.key, section.anchor))

    def resolve(self, article: Article, link: Link) -> Place | None:
        """Return where a link leads within the pack; None for links out of it and for API names."""
        if link.kind == "label":
            own = self._anchors[article.key].get(link.target)
            return (article.key, own) if own is not None else self._labels.get(_label(link.target))
        if link.kind not in ("page", "url"):
            return None
        target, fragment = urldefrag(link.target)
        key = self._page(article, target) if target else article.key
        if key is None:
            return None
        return key, self._anchors[key].get(unquote(fragment), "") if fragment else ""

    def _page(self, article: Article, target: str) -> str | None:
        if "://" in target or article.url:
            found = self._pages.get(_canonical_url(urljoin(article.url, target)))
            if found is not None or "://" in target:
                return found
        path = unquote(target)
        if path.startswith("/"):
            return next((self._pages[name] for name in _page_names(path.lstrip("/")) if name in self._pages), None)
        near = posixpath.normpath(posixpath.join(posixpath.dirname(article.key), path))
        return next((self._pages[name] for name in _page_names(near) if name in self._pages), None)


def link_anchors(articles: Sequence[Article]) -> Iterator[tuple[str, str]]:
    """Yield the title of a section and the text of a link that leads to it from another article."""
    table = LinkTable(articles)
    titles = {
        (article.key, section.anchor): section.title or article.title
        for article in articles
        for section in article.sections
    } | {(article.key, ""): article.title for article in articles}
    for article in articles:
        for section in article.sections:
            for block in section.blocks:
                for link in block.links:
                    place = table.resolve(article, link)
                    if place is not None and place[0] != article.key and link.text and place in titles:
                        yield titles[place], link.text


def _page_names(key: str) -> list[str]:
    """Return the names by which links mean a page: with and without its ending, a folder for its index."""
    key = key.strip("/")
    stem, dot, ending = key.rpartition(".")
    names = [key, *((stem,) if dot and "/" not in ending else ())]
    for name in tuple(names):
        folder, _, last = name.rpartition("/")
        if last in ("index", "README", "readme") and folder:
            names.append(folder)
    return names


def _canonical_url(url: str) -> str:
    base = urldefrag(url)[0].partition("?")[0]
    for ending in ("index.html", "index.htm"):
        base = base.removesuffix(ending)
    return base.rstrip("/")


def _label(label: str) -> str:
    return " ".join(label.split()).casefold()
