"""Titles of other articles in the text of articles without links, as in an encyclopedia. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Article, BlockKind

MAX_WORDS = 8
"""Of a title that is looked for."""
MAX_MENTIONS = 60
"""Per article."""
CONFIDENCE = 0.6
_WORD = lazy_regex(r"\w+(?:[.'’-]\w+)*\+*")
_QUALIFIER = lazy_regex(r"(?<!\s)\s*+\([^()]*+\)$")
_NAME = lazy_regex(r"[A-Z0-9]")


class TitleMentions:
    """The titles of articles, as sequences of words with their case. Of equal titles none is looked for."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self._titles: dict[tuple[str, ...], str] = {}
        taken: dict[tuple[str, ...], set[str]] = {}
        for article in articles:
            for title in dict.fromkeys((article.title, _QUALIFIER.sub("", article.title))):
                words = tuple(_WORD.findall(title))
                if 0 < len(words) <= MAX_WORDS and _is_telling(title, words):
                    taken.setdefault(words, set()).add(article.key)
        for words, keys in taken.items():
            if len(keys) == 1:
                self._titles[words] = next(iter(keys))
        self._longest = max(map(len, self._titles), default=0)

    def of(self, article: Article) -> Iterator[tuple[str, str, int]]:
        """Yield anchor of the section, key of the mentioned article and line; each article once, the longest title.

        Nothing for an article with links of its own: it links what it means.
        """
        if any(block.links for section in article.sections for block in section.blocks):
            return
        seen = {article.key}
        for section in article.sections:
            for block in section.blocks:
                if block.kind == BlockKind.CODE:
                    continue
                for key in self._in(block.text):
                    if key not in seen and len(seen) <= MAX_MENTIONS:
                        seen.add(key)
                        yield section.anchor, key, block.line

    def _in(self, text: str) -> Iterator[str]:
        words = _WORD.findall(text)
        place = 0
        while place < len(words):
            for length in range(min(self._longest, len(words) - place), 0, -1):
                key = self._titles.get(tuple(words[place : place + length]))
                if key is not None:
                    yield key
                    place += length - 1
                    break
            place += 1


def _is_telling(title: str, words: tuple[str, ...]) -> bool:
    """Return whether a title is a name or a term of several words: a single word in small letters is often no link."""
    return len(title) > 2 and (len(words) > 1 or bool(_NAME.search(title)))
