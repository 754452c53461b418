"""The tools that ask about code: name, description, arguments, answer and handler, with compact JSON Schemas.

Clients send them to the model in every session, so all of them together stay below 2,400 tokens; limits of length are
checked but not declared. They are written by hand because generated schemas contain titles, `$defs` and `anyOf null`.
Nothing expensive is imported: the server answers `tools/list` before it opens an index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from atlas.answers.tool import ARRAY, FLAG, OBJECT, STRING, Effort, Reads, Schema, Tool, list_of, place, text, whole

_PROJECT = {"project": text("", 200)}
_BUDGET = {"token_budget": whole("", 1, 200_000)}
_PATH = {"path": place("Path prefix or glob", 1000)}
_SYMBOL_ARGUMENTS: Mapping[str, Schema] = {
    "name": place("Name, qualified name, uid or path:line", 1000),
    **_PATH,
    "label": text("", 40),
    **_BUDGET,
    **_PROJECT,
}
_SEARCH: Mapping[str, Schema] = {
    "query": {**STRING, "minLength": 1, "maxLength": 100_000},
    **_PATH,
    "labels": list_of(text("", 40), 20, words=True),
    "languages": list_of(text("", 40), 20, words=True),
    "include_tests": {**FLAG, "description": "Default: ranked lower"},
    "limit": whole("", 1, 50),
    "brief": {**FLAG, "description": "One line a hit"},
    "snippets": {**FLAG, "description": "More matching lines"},
    "cursor": text("Next page", 200),
    **_BUDGET,
    **_PROJECT,
}
_HITS: Mapping[str, Schema] = {"hits": {**ARRAY, "description": "[name, path:line, summary, lines]"}}
_SYMBOL: Mapping[str, Schema] = {
    "outcome": {"enum": ["found", "ambiguous", "not_found"]},
    "node": OBJECT,
    "candidates": ARRAY,
    "near": ARRAY,
    "diagnosis": ARRAY,
}

_VOCABULARY = ("labels", "edge_types", "node_properties", "edge_properties", "strategies", "languages", "examples")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "hybrid_search",
        "Start here. Find code, docs and decisions by question, name or words; answers questions. Lists all callers, "
        "callees, call sites and references of X or a type; where X is defined or used; subclasses, implementations "
        "and overrides; modules that import X, dependencies; tests that cover X; docs that mention X; the path from "
        "A to B. Labels: Class Function Method Module Value DocSection ADR.",
        {
            **_SEARCH,
            "relation": text("Surer than words: callers usages tests members history ..."),
            "of": place("Symbol, file or path:line", 1000),
            "to": place("End of a path", 1000),
            "scope": place("Only in this file, folder or class", 1000),
        },
        {**_HITS, "relation": OBJECT, "report": OBJECT, "found": {"type": "integer"}, "parts": ARRAY},
        ("query",),
        cites=True,
        handler="atlas.code.tools.search.search:hybrid_search",
        is_search=True,
        compares_meaning=True,
        joins_packs=True,
        joins_workspace=True,
    ),
    Tool(
        "text_search",
        "Exact words: literal strings, error messages, keywords (BM25).",
        {
            **_SEARCH,
            "mode": {"enum": ["words", "exact", "regex"], "description": "exact, regex: lines on disk, like grep"},
        },
        _HITS,
        ("query",),
        ("hits",),
        cites=True,
        handler="atlas.code.tools.search.search:text_search",
        is_search=True,
    ),
    Tool(
        "vector_search",
        "Similar meaning only (embedding vectors), when the words differ.",
        _SEARCH,
        _HITS,
        ("query",),
        ("hits",),
        cites=True,
        handler="atlas.code.tools.search.search:vector_search",
        is_search=True,
    ),
    Tool(
        "get_node",
        "Facts of one symbol without its source: signature, docstring, modifiers, digest, neighbour counts.",
        _SYMBOL_ARGUMENTS,
        _SYMBOL,
        ("name",),
        ("outcome",),
        cites=True,
        handler="atlas.code.tools.symbol.node:get_node",
        joins_workspace=True,
    ),
    Tool(
        "get_context",
        "Read one symbol: its source code or body, class and module, and the neighbours around it by kind.",
        _SYMBOL_ARGUMENTS,
        {**_SYMBOL, "in": STRING, "source": OBJECT, "notes": ARRAY, "edges": OBJECT},
        ("name",),
        ("outcome",),
        cites=True,
        handler="atlas.code.tools.symbol.node:get_context",
        compares_meaning=True,
        joins_packs=True,
        joins_workspace=True,
    ),
    Tool(
        "impact",
        "Impact (blast radius) of a change: what breaks if I change a symbol or signature, or is affected by a git "
        "diff since a revision or staged changes; tests to run.",
        {
            "name": {**STRING, "place": True},
            "diff": text("Revision or A..B"),
            "staged": FLAG,
            "depth": {"type": "integer"},
            "format": {"enum": ["text", "mermaid"]},
            **_BUDGET,
            **_PROJECT,
        },
        {"report": OBJECT},
        cites=True,
        handler="atlas.code.tools.impact:impact",
        effort=Effort.QUERY,
        joins_workspace=True,
    ),
    Tool(
        "cypher_query",
        "Read-only openCypher over the graph: counts, aggregates and patterns that other tools do not answer.",
        {
            "query": {**STRING, "minLength": 1, "maxLength": 20_000},
            "parameters": OBJECT,
            "limit": whole("Rows", 1, 1000),
            **_BUDGET,
            **_PROJECT,
        },
        {"columns": ARRAY, "rows": ARRAY, "truncated": FLAG},
        ("query",),
        ("columns", "rows"),
        cites=True,
        handler="atlas.code.tools.cypher:cypher_query",
        effort=Effort.QUERY,
        is_bounded=True,
    ),
    Tool(
        "index",
        "Build or update the index from changed files; full: parse all files again.",
        {"full": FLAG},
        {"summary": OBJECT},
        certain=("summary",),
        read_only=False,
        handler="atlas.code.tools.state.installation:index",
        reads=Reads.INSTALLATION,
        effort=Effort.INDEX_PASS,
    ),
    Tool(
        "status",
        "What is indexed, stale or skipped and why; state of the daemon, queues and dead letters.",
        {
            "skipped": {**FLAG, "description": "List skipped and partial files"},
            "skipped_filter": place("Reason, path prefix or glob", 1000),
            "everything": {**FLAG, "description": "All projects"},
            **_BUDGET,
            **_PROJECT,
        },
        {
            "daemon": OBJECT,
            "projects": ARRAY,
            "tiers": ARRAY,
            "partial_files": OBJECT,
            "skipped_files": OBJECT,
        },
        certain=("projects",),
        handler="atlas.code.tools.state.installation:describe",
        reads=Reads.INSTALLATION,
    ),
    Tool(
        "health",
        "Diagnose the installation: what works, what is missing or broken, and how to fix it.",
        {},
        {"state": {"enum": ["ok", "degraded", "broken"]}, "checks": OBJECT},
        certain=("state", "checks"),
        handler="atlas.code.tools.state.installation:diagnose",
        reads=Reads.INSTALLATION,
        effort=Effort.SINGLE,
    ),
    Tool(
        "schema_info",
        "Labels, relationship types, properties and example queries for cypher_query.",
        {**_BUDGET, **_PROJECT},
        dict.fromkeys(_VOCABULARY, ARRAY),
        handler="atlas.code.tools.cypher:schema_info",
        reads=Reads.INDEX,
    ),
)
"""The tools that ask about code, in the order of `tools/list`."""
QUERIES = tuple(tool for tool in TOOLS if tool.reads is not Reads.INSTALLATION)
"""Those that ask the index."""

INSTRUCTIONS = (
    "Code Atlas answers from a graph of this project: code, docs, decisions, calls, tests and inheritance. "
    "Call hybrid_search first, then get_context for one symbol, before reading files; impact before a change. "
    "Cite path:line from the answers. "
    "Each edge has a resolution strategy and a confidence; unresolved calls are counted, not guessed. "
    "If an answer is stale or not indexed, call index. token_budget limits every answer; omissions are listed."
)


class Template(NamedTuple):
    """A family of resources."""

    uri: str
    name: str
    description: str


TEMPLATES = (
    Template("atlas://node/{uid}", "node", "A symbol by uid or qualified name: source, callers, callees, tests, docs."),
    Template("atlas://file/{path}", "file", "Outline of an indexed file: its symbols with their lines."),
)
MAX_COMPLETIONS = 100
"""Set by the protocol."""
