"""Tool definitions for MCP clients: name, description, arguments and answer of each, as compact JSON Schemas.

Clients send them to the model in every session, so all of them together stay below 3,000 tokens. They are written by
hand because generated schemas contain titles, `$defs` and `anyOf null`. Nothing expensive is imported: the server
answers `tools/list` before it opens an index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

INSTRUCTIONS = (
    "Code Atlas answers from a graph of this project: code, docs, decisions, calls, tests and inheritance. "
    "Call hybrid_search first, then get_context for one symbol, before reading files; impact before a change. "
    "Cite path:line from the answers. "
    "Each edge has a resolution strategy and a confidence; unresolved calls are counted, not guessed. "
    "If an answer is stale or not indexed, call index. token_budget limits every answer; omissions are listed."
)


@dataclass(frozen=True, slots=True)
class Tool:
    """Definition of one tool. `answer` declares the properties that `structure` returns for it."""

    name: str
    description: str
    arguments: Mapping[str, Schema]
    answer: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    """Properties that every answer has."""
    cites: bool = False
    """The answer cites files and has a `stale` flag, true if one of them has changed."""
    read_only: bool = True

    @property
    def input_schema(self) -> Schema:
        """JSON Schema of the arguments; additional properties are not allowed."""
        schema: Schema = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        return {**schema, "required": list(self.required)} if self.required else schema

    @property
    def output_schema(self) -> Schema:
        """JSON Schema of the structured content."""
        return {
            "type": "object",
            "properties": {**({"stale": _FLAG} if self.cites else {}), **self.answer, "evidence": _EVIDENCE},
            "required": [*(["stale"] if self.cites else ()), *self.certain, "evidence"],
        }


def _text(description: str = "", longest: int = 0) -> Schema:
    schema: Schema = {"type": "string"}
    if description:
        schema["description"] = description
    if longest:
        schema["maxLength"] = longest
    return schema


def _whole(description: str, low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high, **({"description": description} if description else {})}


def _list(item: Schema, most: int = 0) -> Schema:
    return {"type": "array", "items": item, **({"maxItems": most} if most else {})}


_OBJECT: Schema = {"type": "object"}
_STRING: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_EVIDENCE: Schema = {
    "type": "object",
    "properties": {
        "project": _STRING,
        "generation": _COUNT,
        "freshness": {"enum": ["fresh", "stale", "unknown"]},
        "cursor": _STRING,
    },
    "required": ["project", "generation"],
}
_FOUND: Schema = {
    "type": "object",
    "properties": {
        "uid": _STRING,
        "kind": _STRING,
        "place": {**_STRING, "description": "path:line"},
        "digest": _STRING,
        "signature": _STRING,
    },
    "required": ["uid", "kind"],
}

_PROJECT = {"project": _text("", 200)}
_BUDGET = {"token_budget": _whole("Maximum tokens", 1, 200_000)}
_PATH = {"path": _text("Path prefix or glob", 1000)}
_NAME = {"name": _text("Name, suffix of a qualified name, uid, or path:line", 1000)}

_SEARCH: Mapping[str, Schema] = {
    "query": {**_text("Question, words or names", 100_000), "minLength": 1},
    **_PATH,
    "labels": _list(_text("", 40), 20),
    "languages": _list(_text("", 40), 20),
    "include_tests": {**_FLAG, "description": "Default: ranked lower"},
    "limit": _whole("", 1, 50),
    "cursor": _text("From previous page", 200),
    **_BUDGET,
    **_PROJECT,
}
_HITS: Mapping[str, Schema] = {"hits": _list(_FOUND), "found": _COUNT, "more": _FLAG}
_SYMBOL: Mapping[str, Schema] = {
    "outcome": {"enum": ["found", "ambiguous", "not_found"]},
    "how": _STRING,
    "node": _FOUND,
    "candidates": _list(_OBJECT),
    "near": _list(_OBJECT),
    "diagnosis": _list(_STRING),
}

_VOCABULARY = ("labels", "edge_types", "node_properties", "edge_properties", "strategies", "languages", "examples")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "hybrid_search",
        "Search code, docs and decisions by name, words, meaning and graph combined. Start here. "
        "Also answers 'callers of X', 'subclasses of X', 'tests for X', 'where is X used'. "
        "Labels: Class Function Method Module Value DocSection ADR.",
        _SEARCH,
        {**_HITS, "relation": _OBJECT, "report": _OBJECT},
        ("query",),
        ("found",),
        cites=True,
    ),
    Tool("text_search", "Search by words only (BM25).", _SEARCH, _HITS, ("query",), ("hits", "found"), cites=True),
    Tool(
        "vector_search", "Search by meaning only (vectors).", _SEARCH, _HITS, ("query",), ("hits", "found"), cites=True
    ),
    Tool(
        "get_node",
        "One symbol: signature, docs, digests, neighbour counts. An ambiguous name lists candidates.",
        {**_NAME, **_PATH, "label": _text("", 40), **_BUDGET, **_PROJECT},
        _SYMBOL,
        ("name",),
        ("outcome",),
        cites=True,
    ),
    Tool(
        "get_context",
        "One symbol with its source, class and module, callers, callees, types, docs and tests. "
        "Edges are [name, where, strategy, confidence].",
        {**_NAME, **_PATH, "label": _text("", 40), **_BUDGET, **_PROJECT},
        {**_SYMBOL, "in": _list(_STRING), "source": _OBJECT, "edges": _OBJECT},
        ("name",),
        ("outcome",),
        cites=True,
    ),
    Tool(
        "impact",
        "Impact of changing a symbol, or of a git diff: users, tests, docs.",
        {
            "name": _STRING,
            "diff": _text("Revision or A..B"),
            "staged": _FLAG,
            "depth": _COUNT,
            "format": {"enum": ["text", "mermaid"]},
            **_BUDGET,
            **_PROJECT,
        },
        {"report": _OBJECT},
        cites=True,
    ),
    Tool(
        "cypher_query",
        "Read-only openCypher over the graph; schema_info has labels, types and examples.",
        {
            "query": {**_text("", 20_000), "minLength": 1},
            "parameters": _OBJECT,
            "limit": _whole("Rows", 1, 1000),
            **_BUDGET,
            **_PROJECT,
        },
        {"columns": _list(_STRING), "rows": _list({"type": "array"}), "truncated": _FLAG},
        ("query",),
        ("columns", "rows"),
        cites=True,
    ),
    Tool(
        "index",
        "Update the index from the files; only changed files are read. full: read all files.",
        {"full": _FLAG},
        {"summary": _OBJECT},
        certain=("summary",),
        read_only=False,
    ),
    Tool(
        "status",
        "What is indexed, stale or skipped and why; state of the daemon, queues and dead letters.",
        {
            "skipped": {**_FLAG, "description": "List skipped and partial files"},
            "skipped_filter": _text("Reason, path prefix or glob", 1000),
            "everything": {**_FLAG, "description": "All projects"},
            **_BUDGET,
            **_PROJECT,
        },
        {
            "daemon": _OBJECT,
            "projects": _list(_OBJECT),
            "tiers": _list(_OBJECT),
            "partial_files": _OBJECT,
            "skipped_files": _OBJECT,
        },
        certain=("projects",),
    ),
    Tool(
        "health",
        "What works, what is missing, and how to fix it.",
        {},
        {"state": {"enum": ["ok", "degraded", "broken"]}, "checks": _list(_OBJECT)},
        certain=("state", "checks"),
    ),
    Tool(
        "schema_info",
        "Labels, edge types, properties, strategies and example queries for cypher_query.",
        {**_BUDGET, **_PROJECT},
        {name: _list(_STRING) for name in _VOCABULARY},
    ),
)
"""In the order of `tools/list`."""

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
