"""Categories of articles: from tables of contents, else as the source names them, else from folders. Pure."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence

from atlas.core.ids import make_uid
from atlas.core.model import EdgeRow, EdgeType, Label, NodeRow
from atlas.packs.documentation.article import Article
from atlas.packs.documentation.article_rows import article_uid
from atlas.packs.documentation.rows import node_row

MAX_DEPTH = 8


class Categories:
    """The categories of all articles of a pack."""

    def __init__(self, pack: str, articles: Sequence[Article]) -> None:
        self._pack = pack
        by_key = {article.key: article for article in articles}
        above: dict[str, str] = {}
        for article in articles:
            for child in article.children:
                if child in by_key and child != article.key:
                    above.setdefault(child, article.key)
        self._chains = {article.key: _chain(article, above, by_key) for article in articles}

    def nodes(self) -> list[NodeRow]:
        """Return the project's node and those of the categories."""
        chains = {chain[: depth + 1] for chain in self._chains.values() for depth in range(len(chain))}
        counts = Counter(chain[: depth + 1] for chain in self._chains.values() for depth in range(len(chain)))
        root = node_row(self._pack, Label.PROJECT, "project", self._pack, self._pack, "")
        rows = [
            node_row(
                *(self._pack, Label.CATEGORY, "category", chain[-1], _name(chain), ""),
                properties={"article_count": counts[chain]},
            )
            for chain in sorted(chains)
        ]
        return [root, *rows]

    def edges(self) -> list[EdgeRow]:
        """Return the edges from categories to the ones above them."""
        chains = {chain[: depth + 1] for chain in self._chains.values() for depth in range(1, len(chain))}
        return [_edge(self._uid(chain), self._uid(chain[:-1])) for chain in sorted(chains)]

    def of_article(self, key: str) -> Iterator[EdgeRow]:
        """Yield the edge from an article to its category."""
        chain = self._chains[key]
        if chain:
            yield _edge(article_uid(self._pack, key), self._uid(chain))

    def _uid(self, chain: tuple[str, ...]) -> str:
        return make_uid(self._pack, _name(chain))


def _chain(article: Article, above: dict[str, str], by_key: dict[str, Article]) -> tuple[str, ...]:
    """Return the titles above an article, outermost first."""
    titles: list[str] = []
    key, seen = article.key, {article.key}
    while (key := above.get(key, "")) and key not in seen and len(titles) < MAX_DEPTH:
        seen.add(key)
        titles.append(by_key[key].title or key)
    if titles:
        return tuple(reversed(titles))
    if article.parents:
        return article.parents[:MAX_DEPTH]
    folder = "" if "://" in article.key else posixpath.dirname(article.key)
    return tuple(folder.split("/")[:MAX_DEPTH]) if folder else ()


def _name(chain: tuple[str, ...]) -> str:
    return f"category:{' > '.join(chain)}"


def _edge(source: str, target: str) -> EdgeRow:
    return EdgeRow(source, target, EdgeType.IN_CATEGORY, 0, "contents", 1.0)
