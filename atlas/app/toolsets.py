"""The toolsets that servers offer: one entry for each, with what a session opens for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from atlas.answers.tool import Effort, Tool
from atlas.answers.toolset import OpenToolset, Toolset
from atlas.code.tools.catalogue import INSTRUCTIONS, QUERIES, TOOLS
from atlas.core.errors import AtlasError, ConfigError
from atlas.knowledge.tools.catalogue import CLAIM_INSTRUCTIONS, CLAIM_TOOLS, MEMORY_INSTRUCTIONS, MEMORY_TOOLS
from atlas.packs.tools.catalogue import PACK_TOOLS
from atlas.runtime.process.installation_key import has_packs

if TYPE_CHECKING:
    from pathlib import Path

    from atlas.answers.answer import Answer
    from atlas.app.toolset_host import ToolsetHost
    from atlas.core.contracts import Store
    from atlas.packs.toolset import PackDesk
    from atlas.runtime.config.load import Settings


class OfferedTools(TypedDict):
    """Which tools a server offers."""

    offer_index: bool
    toolsets: tuple[str, ...]
    offer_writes: bool


def open_code(session: ToolsetHost) -> OpenToolset:
    """Return what answers from the index; packs add what they say about external symbols."""
    from atlas.app.code_tools import CodeTools

    async def pack_lines(store: Store, project: str, answer: Answer) -> tuple[str, ...]:
        if not has_packs():  # the import takes a tenth of a session's start
            return ()
        from atlas.packs.links import pack_notes

        return await pack_notes(session.opened_by(open_packs), store, project, answer)

    return CodeTools(session, pack_lines)


def open_knowledge(session: ToolsetHost) -> OpenToolset:
    """Return what answers from notes and memories."""
    from atlas.app.papers import make_paper_links
    from atlas.knowledge.toolset import KnowledgeDesk

    # which papers the user has stored is the user's own, as personal notes are
    papers = make_paper_links(session.settings) if session.personal is not None else None
    return KnowledgeDesk(session.settings, session, session.personal, papers)


def open_packs(session: ToolsetHost) -> PackDesk:
    """Return what answers from knowledge packs."""
    from atlas.adapters.opening.models import make_language_model, make_reranker
    from atlas.packs.links import packs_of_project
    from atlas.packs.toolset import PackDesk

    settings = session.settings

    async def of_project() -> list[Path]:
        try:
            atlas = await session.opened()
        except AtlasError:  # packs are asked without an index, too
            return []
        return await packs_of_project(atlas.reader.store, settings.project_name)

    return PackDesk(settings.project_name, make_language_model(settings), make_reranker(settings), of_project)


TOOLSETS: Mapping[str, Toolset[ToolsetHost]] = {
    toolset.name: toolset
    for toolset in (
        Toolset("code", TOOLS, open_code, INSTRUCTIONS),
        Toolset("query", QUERIES, open_code, INSTRUCTIONS),
        Toolset("claims", CLAIM_TOOLS, open_knowledge, CLAIM_INSTRUCTIONS, is_per_client=True),
        Toolset("memory", MEMORY_TOOLS, open_knowledge, MEMORY_INSTRUCTIONS, is_per_client=True),
        Toolset("packs", PACK_TOOLS, open_packs),
    )
}
"""By name, in the order of `tools/list`: `code` has all that need an index, `query` those that ask it, `claims` and
`memory` those that read and write notes, `packs` those that read knowledge packs."""


def tools_of(toolsets: Iterable[Toolset[ToolsetHost]]) -> dict[str, Tool]:
    """Return the tools of toolsets by name, each once."""
    return {tool.name: tool for toolset in toolsets for tool in toolset.tools}


def offered_tools(
    toolsets: Sequence[str],
    *,
    offer_index: bool = True,
    offer_writes: bool = True,
    known: Mapping[str, Toolset[ToolsetHost]] = TOOLSETS,
) -> tuple[Tool, ...]:
    """Return the tools of some toolsets in the order of `known`.

    `offer_index` False omits the tool that makes an index, `offer_writes` False the tools that write notes. Raises
    ConfigError for an unknown toolset or none.
    """
    unknown = [name for name in toolsets if name not in known]
    if unknown or not toolsets:
        message = f"unknown toolset {unknown[0][:80]!r}" if unknown else "no toolset is given"
        raise ConfigError(message, f"Toolsets: {', '.join(known)}.")
    chosen = tools_of(known[name] for name in toolsets)
    return tuple(
        tool
        for name, tool in tools_of(known.values()).items()
        if name in chosen and (tool.read_only or (offer_index if tool.effort is Effort.INDEX_PASS else offer_writes))
    )


def offer_of(settings: Settings) -> OfferedTools:
    """Return which tools the settings offer."""
    mcp = settings.mcp
    return {
        "offer_index": mcp.allow_index,
        "toolsets": mcp.toolsets,
        "offer_writes": settings.knowledge.allow_write,
    }


def with_toolsets(settings: Settings, toolsets: str) -> Settings:
    """Return the settings with the toolsets of the command line, "" = not given.

    Raises ConfigError for an unknown toolset, also in the settings.
    """
    if toolsets:
        chosen = tuple(name.strip() for name in toolsets.split(",") if name.strip())
        settings = replace(settings, mcp=replace(settings.mcp, toolsets=chosen))
    offered_tools(settings.mcp.toolsets)
    return settings


def instructions_for(
    toolsets: Sequence[str], tools: Sequence[Tool], known: Mapping[str, Toolset[ToolsetHost]] = TOOLSETS
) -> str:
    """Return what the server tells a client at the start: of the toolsets in use, each sentence once.

    A sentence that names a tool which is not offered is omitted.
    """
    offered = {tool.name for tool in tools}
    absent = tools_of(known.values()).keys() - offered
    sentences = dict.fromkeys(
        part for name in toolsets for part in re.split(r"(?<=\.) ", known[name].instructions) if part
    )
    return " ".join(one for one in sentences if absent.isdisjoint(re.findall(r"\w+", one)))


BY_NAME: Mapping[str, Tool] = tools_of(TOOLSETS.values())
