"""Definitions of the toolset `packs`; it costs at most 1,300 tokens of schemas."""

from __future__ import annotations

from functools import partial

from atlas.answers.tool import Tool, text, whole

_BUDGET = {"token_budget": whole("", 1, 200_000)}
_PACK = {"pack": text("NAME or NAME@VERSION; default: the best of all installed", 200)}
_QUESTION = {**text("", 100_000), "minLength": 1}

_tool = partial(Tool, is_knowledge=True, is_pack=True)

PACK_TOOLS: tuple[Tool, ...] = (
    _tool("list_packs", "Installed packs: documentation of libraries and versions, asked offline.", {**_BUDGET}),
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
    ),
    _tool(
        "search_pack",
        "Find sections of documentation; each with article, heading and the start of its text.",
        {"query": _QUESTION, **_PACK, "limit": whole("", 1, 50), **_BUDGET},
        required=("query",),
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
    ),
)
