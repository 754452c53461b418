"""Definitions of the toolset `packs`; it costs at most 1,300 tokens of schemas."""

from __future__ import annotations

from functools import partial

from atlas.answers.items import ITEMS_SCHEMA
from atlas.answers.tool import Tool, text, whole

_BUDGET = {"token_budget": whole("", 1, 200_000)}
_PACK = {"pack": text("NAME or NAME@VERSION; default: the best of all installed", 200)}
_QUESTION = {**text("", 100_000), "minLength": 1}

_tool = partial(Tool, output=ITEMS_SCHEMA)

PACK_TOOLS: tuple[Tool, ...] = (
    _tool(
        "list_packs",
        "Installed packs: documentation of libraries and versions, asked offline.",
        {**_BUDGET},
        handler="atlas.packs.tools.ask:list_packs",
    ),
    _tool(
        "ask_pack",
        "Answer a question from a library's documentation with quotes, sources and facts; says if it does not know.",
        {
            "question": _QUESTION,
            **_PACK,
            "profile": {"enum": ["baseline", "balanced", "maximum"]},
            **_BUDGET,
        },
        required=("question",),
        handler="atlas.packs.tools.ask:ask_pack",
    ),
    _tool(
        "search_pack",
        "Find sections of documentation; each with article, heading and the start of its text.",
        {"query": _QUESTION, **_PACK, "limit": whole("", 1, 50), **_BUDGET},
        required=("query",),
        handler="atlas.packs.tools.ask:search_pack",
    ),
    _tool(
        "pack_article",
        "Read an article of a pack, one section of it, or what describes an API symbol.",
        {
            "article": {
                **text("Key, title, URL, ARTICLE#SECTION from another answer, or a symbol's dotted name", 2000),
                "minLength": 1,
            },
            **_PACK,
            **_BUDGET,
        },
        required=("article",),
        handler="atlas.packs.tools.ask:pack_article",
    ),
)
