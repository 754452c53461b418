"""Tables of contents over all articles of a source: paths that authors wrote become keys, and titles become parents."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from atlas.packs.documentation.article import Article

MAX_PATTERNS = 500
"""Patterns in the tables of contents of one source that are looked up, each among all articles."""

INDEX_NAMES = ("index", "readme", "contents", "_index", "summary")
MAX_DEPTH = 12


def connect(articles: Sequence[Article]) -> list[Article]:
    """Return the articles with keys in `children`, and in `parents` the titles above each."""
    by_stem = {_stem(article.key): article.key for article in reversed(articles)}
    tables = _Tables(by_stem)
    children = {article.key: tuple(tables.resolve(article)) for article in articles}
    above: dict[str, str] = {}
    for key in sorted(children, key=lambda one: (one.count("/"), one)):
        for child in children[key]:
            if child != key:
                above.setdefault(child, key)
    titles = {article.key: article.title for article in articles}
    found: list[Article] = []
    for article in articles:
        chain = _chain(article.key, above)
        parents = tuple(titles[key] for key in chain) or article.parents or _folders(article.key, titles, by_stem)
        found.append(replace(article, children=children[article.key], parents=parents))
    return found


class _Tables:
    """Looks up what tables of contents name, each pattern once."""

    def __init__(self, by_stem: dict[str, str]) -> None:
        self._by_stem, self._keys = by_stem, frozenset(by_stem.values())
        self._matches: dict[str, list[str]] = {}

    def resolve(self, article: Article) -> Iterable[str]:
        """Yield the keys of an article's children."""
        folder = posixpath.dirname(article.key)
        for written in article.children:
            if "*" in written:
                yield from self._matching(posixpath.normpath(posixpath.join(folder, written)).lstrip("/"), article.key)
            elif "://" in written:
                if written in self._keys and written != article.key:
                    yield written
            elif (key := _find(written, folder, self._by_stem)) and key != article.key:
                yield key

    def _matching(self, pattern: str, own: str) -> Iterable[str]:
        if pattern not in self._matches:
            is_read = len(self._matches) < MAX_PATTERNS
            stems = self._by_stem.items() if is_read else ()
            self._matches[pattern] = sorted(key for stem, key in stems if fnmatchcase(stem, pattern))
        return (key for key in self._matches[pattern] if key != own)


def _find(written: str, folder: str, by_stem: dict[str, str]) -> str:
    """Return the key of a written path; one with "/" in front starts at some folder above the article."""
    stem = _stem(written.lstrip("/")) if written.startswith("/") else written
    bases = [folder]
    if written.startswith("/"):
        parts = folder.split("/") if folder else []
        bases = ["/".join(parts[:at]) for at in range(len(parts) + 1)]
    for base in bases:
        path = posixpath.normpath(posixpath.join(base, stem))
        for candidate in (_stem(path), path, f"{path}/index", f"{path}/README"):
            if candidate in by_stem:
                return by_stem[candidate]
    return ""


def _chain(key: str, above: dict[str, str]) -> list[str]:
    chain: list[str] = []
    while (key := above.get(key, "")) and key not in chain and len(chain) < MAX_DEPTH:
        chain.insert(0, key)
    return chain


def _folders(key: str, titles: dict[str, str], by_stem: dict[str, str]) -> tuple[str, ...]:
    """Return the titles of the folders above a file: that of their index article, else their name."""
    if "://" in key:
        return ()
    parts = key.split("/")[:-1]
    found: list[str] = []
    for at in range(1, len(parts) + 1):
        folder = "/".join(parts[:at])
        index = next((by_stem[f"{folder}/{name}"] for name in INDEX_NAMES if f"{folder}/{name}" in by_stem), "")
        if index != key:
            found.append(titles[index] if index else parts[at - 1].replace("-", " ").replace("_", " "))
    return tuple(found)


def _stem(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] if "." in name else name
    return f"{folder}/{stem}" if folder else stem
