"""The tools that servers offer, by toolset: one entry for each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.answers.tool import Tool
from atlas.code.tools.catalogue import TOOLS
from atlas.core.errors import ConfigError
from atlas.knowledge.tools.catalogue import CLAIM_TOOLS, MEMORY_TOOLS
from atlas.packs.tools.catalogue import PACK_TOOLS

INSTRUCTIONS = (
    "Code Atlas answers from a graph of this project: code, docs, decisions, calls, tests and inheritance. "
    "Call hybrid_search first, then get_context for one symbol, before reading files; impact before a change. "
    "Cite path:line from the answers. "
    "Each edge has a resolution strategy and a confidence; unresolved calls are counted, not guessed. "
    "If an answer is stale or not indexed, call index. token_budget limits every answer; omissions are listed."
)


TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "code": tuple(tool.name for tool in TOOLS),
    "query": tuple(tool.name for tool in TOOLS if tool.name not in ("index", "status", "health")),
    "claims": tuple(tool.name for tool in CLAIM_TOOLS),
    "memory": tuple(tool.name for tool in MEMORY_TOOLS),
    "packs": tuple(tool.name for tool in PACK_TOOLS),
}
"""Names of the tools that a server offers together: `code` has all that need an index, `query` those that ask it,
`claims` and `memory` those that read and write notes, `packs` those that read knowledge packs."""


ALL_TOOLS = (*TOOLS, *CLAIM_TOOLS, *MEMORY_TOOLS, *PACK_TOOLS)
"""In the order of `tools/list`."""


def offered_tools(toolsets: Sequence[str], *, offer_index: bool = True, offer_writes: bool = True) -> tuple[Tool, ...]:
    """Return the tools of some toolsets in the order of `ALL_TOOLS`.

    `offer_index` False omits `index`, `offer_writes` False the tools that write notes. Raises ConfigError for an
    unknown toolset or none.
    """
    unknown = [name for name in toolsets if name not in TOOLSETS]
    if unknown or not toolsets:
        message = f"unknown toolset {unknown[0][:80]!r}" if unknown else "no toolset is given"
        raise ConfigError(message, f"Toolsets: {', '.join(TOOLSETS)}.")
    names = {name for toolset in toolsets for name in TOOLSETS[toolset]}
    return tuple(
        tool
        for tool in ALL_TOOLS
        if tool.name in names and (tool.read_only or (offer_index if tool.name == "index" else offer_writes))
    )


BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in ALL_TOOLS}
