"""Mentions of titles become links of articles that have none."""

from __future__ import annotations

import pytest

from atlas.packs.documentation.article import Article, Block, BlockKind, Link, Section
from atlas.packs.documentation.title_mentions import TitleMentions


def _article(title: str, text: str, links: tuple[Link, ...] = ()) -> Article:
    return Article(title, title, (Section("", title, 1, (Block(BlockKind.PARAGRAPH, text, links=links),)),))


TITLES = ["Ada Lovelace", "Analytical Engine (machine)", "Engine", "loom", "C++", "Mercury (planet)", "Mercury (god)"]


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("Written by Ada Lovelace in 1843.", ["Ada Lovelace"]),
        ("The Analytical Engine was never built.", ["Analytical Engine (machine)"]),
        ("An Engine and an Engine again.", ["Engine"]),
        ("A loom weaves.", []),
        ("Written in C++, later.", ["C++"]),
        ("Mercury is ambiguous, Mercury (planet) is not.", ["Mercury (planet)"]),
        ("ada lovelace in small letters", []),
        ("", []),
    ],
)
def test_mentions(text: str, mentioned: list[str]) -> None:
    articles = [_article(title, "A text.") for title in TITLES]
    one = _article("Note", text)
    assert [key for _, key, _ in TitleMentions([*articles, one]).of(one)] == mentioned


def test_an_article_with_links_says_itself_what_it_links_to() -> None:
    one = _article("Note", "Written by Ada Lovelace.", (Link("x", "x", "page"),))
    assert list(TitleMentions([_article("Ada Lovelace", "A text."), one]).of(one)) == []
