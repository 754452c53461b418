"""The pages of knowledge packs: which are installed, search and answers, articles to read, and two versions compared.

Articles are text of strangers. Their headings, blocks of code and paragraphs are told apart for reading; nothing in
them is markup or a link, and addresses stay text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atlas.answers.items import ItemsAnswer
from atlas.app.session import Session
from atlas.app.toolsets import open_packs
from atlas.code.reader import Reader
from atlas.core.errors import NotFound
from atlas.core.lazy_regex import lazy_regex
from atlas.server.explorer.questions import Asker, Given

if TYPE_CHECKING:
    from atlas.packs.opening import OpenPack
    from atlas.packs.profiles import PackDifference

TOKEN_BUDGET = 12_000
ARTICLE_TOKENS = 40_000
SECTIONS = 25
ARTICLES = 200
"""On one page of a pack's articles."""
CHANGES = 200
"""Of one kind that are shown of a comparison."""
SECONDS = 10.0
_HEADING = lazy_regex(r"(#{1,6}) +(\S.*)")
_FENCE = lazy_regex(r"`{3,}")
_ARTICLES = (
    "MATCH (a:Article) WHERE $words = '' OR toLower(a.name) CONTAINS $words OR toLower(a.path) CONTAINS $words "
    "RETURN a.qualified_name AS key, a.name AS name, a.path AS path ORDER BY path SKIP {} LIMIT {}"
)


@dataclass(frozen=True, slots=True)
class ArticlePart:
    """A part of an article: `code`, `heading` or `text`."""

    kind: str
    text: str


def passages_of(parts: Sequence[str]) -> list[ArticlePart]:
    """Return parts of Markdown text as what a page shows: blocks of code without their fences, headings, paragraphs."""
    found: list[ArticlePart] = []
    for part in parts:
        lines = part.split("\n")
        plain: list[str] = []
        fence = ""
        code: list[str] = []
        for line in lines:
            mark = _FENCE.match(line)
            if fence and line.strip() == fence:
                found.append(ArticlePart("code", "\n".join(code)))
                fence, code = "", []
            elif fence:
                code.append(line)
            elif mark:
                found += _plain(plain)
                plain, fence = [], mark[0]
            elif heading := _HEADING.fullmatch(line):
                found += [*_plain(plain), ArticlePart("heading", heading[2].rstrip("# "))]
                plain = []
            else:
                plain.append(line)
        found += _plain(plain)
        if code:
            found.append(ArticlePart("code", "\n".join(code)))
    return found


def _plain(lines: Sequence[str]) -> list[ArticlePart]:
    text = "\n".join(lines).strip("\n")
    return [ArticlePart("text", text)] if text.strip() else []


class PackPages:
    """The pages over the packs that a session serves."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page of all packs shows, or that of one. Raises AtlasError as the tools do."""
        listed = await ask("list_packs", token_budget=TOKEN_BUDGET)
        assert isinstance(listed, ItemsAnswer)
        words, pack = given.text("words").strip(), given.text("pack").strip()
        known = [one.data for group in listed.body.groups for one in group.items if one.data]
        values: dict[str, object] = {
            "title": pack or "Packs",
            "packs": known,
            "damaged": [one.line for group in listed.body.groups for one in group.items if not one.data],
            "said": listed.body.title,
            "pack": pack,
            "answer": None,
            "sections": [],
            "articles": [],
            "next": 0,
            "compared": None,
            "evidence": None,
        }
        if words and given.text("mode") == "answer":
            return {**values, **_answered(await self._asked(ask, "ask_pack", {"question": words}, pack))}
        if words:
            found = await self._asked(ask, "search_pack", {"query": words, "limit": SECTIONS}, pack)
            source = found.body.title.partition(",")[0]
            return {**values, "said": found.body.title, "source": source, "sections": _items(found, "sections")}
        if given.text("old") and given.text("new"):
            changes = await self._compared(given.text("old"), given.text("new"))
            return {**values, "title": "Compare packs", "compared": changes}
        if pack:
            return {**values, **await self._articles(pack, given)}
        return values

    async def article(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page of an article, a section or an API symbol shows. Raises NotFound."""
        name, pack = given.text("article"), given.text("pack")
        if not name:
            raise NotFound("no article is named", "Choose one of a pack.")
        found = await self._asked(ask, "pack_article", {"article": name}, pack, ARTICLE_TOKENS)
        title, _, address = found.body.title.partition(": ")[2].partition(" (")
        return {
            "title": title or name,
            "pack": pack,
            "said": found.body.title,
            "address": address.removesuffix(")"),
            "whole": name.partition("#")[0] if "#" in name else "",
            "passages": passages_of([str(one["text"]) for one in _items(found, "text")]),
            "withheld": found.evidence.withheld,
            "evidence": None,
        }

    async def _asked(
        self, ask: Asker, tool: str, asked: Mapping[str, object], pack: str, budget: int = TOKEN_BUDGET
    ) -> ItemsAnswer:
        named = {"pack": pack} if pack else {}
        answer = await ask(tool, **asked, **named, token_budget=budget)
        assert isinstance(answer, ItemsAnswer)
        return answer

    async def _articles(self, pack: str, given: Given) -> dict[str, object]:
        """Return a page of the articles of a pack, by path."""
        opened = await self._opened(pack)
        start = given.number("from", 100_000)
        words = given.text("filter").strip().lower()
        table = await opened.cypher(_ARTICLES.format(start, ARTICLES + 1), {"words": words}, ARTICLES + 1, SECONDS)
        rows = [{"key": str(row[0]), "name": str(row[1]), "path": str(row[2])} for row in table.rows]
        manifest = opened.manifest
        return {
            "articles": rows[:ARTICLES],
            "next": start + ARTICLES if len(rows) > ARTICLES else 0,
            "manifest": manifest,
            "counts": {str(name): count for name, count in manifest.counts.items()},
        }

    async def _opened(self, name: str) -> OpenPack:
        from atlas.packs.opening import installed_pack

        return await self._session.opened_by(open_packs).opened(await asyncio.to_thread(installed_pack, name))

    async def _compared(self, old: str, new: str) -> dict[str, object]:
        from atlas.packs.profiles import difference

        packs = [await self._opened(name) for name in (old, new)]
        found = await difference(packs[0], packs[1])
        return {"names": [pack.manifest.title for pack in packs], "groups": _changes(found)}


def _changes(found: PackDifference) -> list[tuple[str, int, tuple[str, ...]]]:
    """Return (what, number, the first ones) of each kind of change that there is."""
    kinds = {
        "articles that are new": found.added,
        "articles that changed": found.changed,
        "articles that are gone": found.removed,
        "entities that are new": found.entities_added,
        "entities that are gone": found.entities_removed,
        "facts that are new": found.facts_added,
        "facts that are gone": found.facts_removed,
    }
    return [(name, len(keys), keys[:CHANGES]) for name, keys in kinds.items() if keys]


def _answered(answer: ItemsAnswer) -> dict[str, object]:
    return {
        "said": answer.body.title,
        "source": answer.body.title.partition(",")[0],
        "answer": {
            "passages": passages_of([str(one["text"]) for one in _items(answer, "answer")]),
            "sources": _items(answer, "sources"),
            "facts": _items(answer, "facts"),
            "withheld": _items(answer, "withheld"),
            "is_known": answer.body.status == "ok",
        },
        "notes": answer.evidence.notes,
    }


def _items(answer: ItemsAnswer, name: str) -> list[Mapping[str, Any]]:
    return [one.data for group in answer.body.groups if group.name == name for one in group.items]
