"""The tools of packs: list them, ask one or all of them, search, and read an article."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.answers.assemble import fit_counted
from atlas.answers.evidence import Evidence
from atlas.answers.items import ItemsAnswer, ItemsBody
from atlas.answers.schema import check_range
from atlas.core.errors import NotFound
from atlas.core.invisible import escaped
from atlas.core.wording import counted
from atlas.packs import opening
from atlas.packs.profiles import ArticleText, find_article, override_notes, profile_options
from atlas.packs.questions.answer import ask
from atlas.packs.questions.retrieval.search import search
from atlas.packs.tools.bodies import answer_body, article_body, hits_body, packs_body
from atlas.parsing import Cl100kCounter

if TYPE_CHECKING:
    from atlas.packs.opening import OpenPack
    from atlas.packs.questions.values import PackAnswer
    from atlas.packs.toolset import PackDesk

MAX_NOTE = 400
BUDGET = 1500
ARTICLE_BUDGET = 4000
OVERHEAD = 250
"""Tokens of an answer's frame: title, sources and evidence."""


async def list_packs(desk: PackDesk, *, token_budget: int = BUDGET) -> ItemsAnswer:
    """Return the installed packs."""
    body = packs_body(await asyncio.to_thread(opening.list_packs))
    return _fitted(desk.project, "list_packs", body, token_budget)


async def ask_pack(
    desk: PackDesk, *, question: str, pack: str = "", profile: str = "balanced", token_budget: int = BUDGET
) -> ItemsAnswer:
    """Return the answer of a pack, or of the pack that is surest. Raises NotFound without any.

    Packs that the question names, and those of the project's dependencies, are asked first and win among near equals.
    """

    async def asked(one: OpenPack) -> PackAnswer:
        options = profile_options(one, profile)
        options = replace(options, max_tokens=max(min(options.max_tokens, token_budget - OVERHEAD), 60))
        return await ask(one.reader, question, options)

    notes: list[str] = []
    found = await desk.each(pack, notes, asked, question)
    best, answer, _ = max(found, key=lambda one: (not one.found.is_refused, one.found.confidence + one.gain))
    notes += (*override_notes(best), *answer.notes)
    return _fitted(desk.project, "ask_pack", answer_body(_named(best), answer), token_budget, notes)


async def search_pack(
    desk: PackDesk, *, query: str, pack: str = "", limit: int = 5, token_budget: int = BUDGET
) -> ItemsAnswer:
    """Return the sections of a pack that fit best, or of the pack with the best one. Raises NotFound without any."""
    notes: list[str] = []
    found = await desk.each(
        pack,
        notes,
        lambda one: search(one.reader, query, replace(profile_options(one, "balanced"), limit=limit)),
        query,
    )
    best, hits, _ = max(found, key=lambda one: one.found[0].score if one.found else 0.0)
    return _fitted(desk.project, "search_pack", hits_body(_named(best), hits), token_budget, notes)


async def pack_article(
    desk: PackDesk, *, article: str, pack: str = "", token_budget: int = ARTICLE_BUDGET
) -> ItemsAnswer:
    """Return an article of the first pack that has it. Raises NotFound."""

    async def read(one: OpenPack) -> ArticleText | NotFound:
        try:
            return await find_article(one, article)
        except NotFound as error:
            return error

    notes: list[str] = []
    found = await desk.each(pack, notes, read)
    for one, text, _ in found:
        if isinstance(text, ArticleText):
            body = article_body(one.manifest.title, text.title, text.url, text.text)
            return _fitted(desk.project, "pack_article", body, token_budget, notes)
    raise next(error for _, error, _ in found if isinstance(error, NotFound))


def _named(pack: OpenPack) -> str:
    return f"{pack.manifest.name}@{pack.manifest.version}"


def _fitted(project: str, tool: str, body: ItemsBody, budget: int, notes: Sequence[str] = ()) -> ItemsAnswer:
    check_range("token_budget", budget, 1, 200_000)
    counter = Cl100kCounter()
    said = tuple(dict.fromkeys(escaped(note)[:MAX_NOTE] for note in notes if note))

    def build(shown: int) -> ItemsAnswer:
        withheld = (f"{counted(body.size - shown, 'item')}; raise token_budget",) if shown < body.size else ()
        evidence = Evidence(project, 1, "-", "", (), counter.encoding, 0, budget, said, withheld)
        return ItemsAnswer(tool, body.cut(shown), evidence)

    return fit_counted(counter, budget, build, body.size)
