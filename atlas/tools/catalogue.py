"""Tool definitions for MCP clients: name, description, arguments and answer of each, as compact JSON Schemas.

Clients send them to the model in every session, so all of them together stay below 2,400 tokens; limits of length are
checked but not declared. They are written by hand because generated schemas contain titles, `$defs` and `anyOf null`.
Nothing expensive is imported: the server answers `tools/list` before it opens an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from atlas.errors import ConfigError

Schema = dict[str, Any]

_UNDECLARED = frozenset(("minLength", "maxLength", "maxItems"))

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
    def declared_input(self) -> Schema:
        """The input schema as clients see it: without limits of length, which no model reaches by itself."""
        return {**self.input_schema, "properties": {name: _short(one) for name, one in self.arguments.items()}}

    @property
    def output_schema(self) -> Schema:
        """JSON Schema of the structured content."""
        return {
            "type": "object",
            "properties": {**({"stale": _FLAG} if self.cites else {}), **self.answer, "evidence": _OBJECT},
            "required": [*(["stale"] if self.cites else ()), *self.certain, "evidence"],
        }


def _short(schema: Schema) -> Schema:
    return {key: _short(value) if key == "items" else value for key, value in schema.items() if key not in _UNDECLARED}


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
_ARRAY: Schema = {"type": "array"}
_FLAG: Schema = {"type": "boolean"}

_PROJECT = {"project": _text("", 200)}
_BUDGET = {"token_budget": _whole("", 1, 200_000)}
_PATH = {"path": _text("Path prefix or glob", 1000)}
_SYMBOL_ARGUMENTS: Mapping[str, Schema] = {
    "name": _text("Name, qualified name, uid or path:line", 1000),
    **_PATH,
    "label": _text("", 40),
    **_BUDGET,
    **_PROJECT,
}
_SEARCH: Mapping[str, Schema] = {
    "query": {**_STRING, "minLength": 1, "maxLength": 100_000},
    **_PATH,
    "labels": _list(_text("", 40), 20),
    "languages": _list(_text("", 40), 20),
    "include_tests": {**_FLAG, "description": "Default: ranked lower"},
    "limit": _whole("", 1, 50),
    "brief": {**_FLAG, "description": "One line a hit"},
    "snippets": {**_FLAG, "description": "More matching lines"},
    "cursor": _text("Next page", 200),
    **_BUDGET,
    **_PROJECT,
}
_HITS: Mapping[str, Schema] = {"hits": {**_ARRAY, "description": "[name, path:line, summary, lines]"}}
_SYMBOL: Mapping[str, Schema] = {
    "outcome": {"enum": ["found", "ambiguous", "not_found"]},
    "node": _OBJECT,
    "candidates": _ARRAY,
    "near": _ARRAY,
    "diagnosis": _ARRAY,
}

_VOCABULARY = ("labels", "edge_types", "node_properties", "edge_properties", "strategies", "languages", "examples")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "hybrid_search",
        "Start here. Find code, docs and decisions by question, name or words; answers questions. Lists all callers, "
        "callees, call sites and references of X or a type; where X is defined or used; subclasses, implementations "
        "and overrides; modules that import X, dependencies; tests that cover X; docs that mention X; the path from "
        "A to B. Labels: Class Function Method Module Value DocSection ADR.",
        _SEARCH,
        {**_HITS, "relation": _OBJECT, "report": _OBJECT, "found": {"type": "integer"}},
        ("query",),
        cites=True,
    ),
    Tool(
        "text_search",
        "Exact words: literal strings, error messages, keywords (BM25).",
        _SEARCH,
        _HITS,
        ("query",),
        ("hits",),
        cites=True,
    ),
    Tool(
        "vector_search",
        "Similar meaning only (embedding vectors), when the words differ.",
        _SEARCH,
        _HITS,
        ("query",),
        ("hits",),
        cites=True,
    ),
    Tool(
        "get_node",
        "Facts of one symbol without its source: signature, docstring, modifiers, digest, neighbour counts.",
        _SYMBOL_ARGUMENTS,
        _SYMBOL,
        ("name",),
        ("outcome",),
        cites=True,
    ),
    Tool(
        "get_context",
        "Read one symbol: its source code or body, class and module, and the neighbours around it by kind.",
        _SYMBOL_ARGUMENTS,
        {**_SYMBOL, "in": _STRING, "source": _OBJECT, "notes": _ARRAY, "edges": _OBJECT},
        ("name",),
        ("outcome",),
        cites=True,
    ),
    Tool(
        "impact",
        "Impact (blast radius) of a change: what breaks if I change a symbol or signature, or is affected by a git "
        "diff since a revision or staged changes; tests to run.",
        {
            "name": _STRING,
            "diff": _text("Revision or A..B"),
            "staged": _FLAG,
            "depth": {"type": "integer"},
            "format": {"enum": ["text", "mermaid"]},
            **_BUDGET,
            **_PROJECT,
        },
        {"report": _OBJECT},
        cites=True,
    ),
    Tool(
        "cypher_query",
        "Read-only openCypher over the graph: counts, aggregates and patterns that other tools do not answer.",
        {
            "query": {**_STRING, "minLength": 1, "maxLength": 20_000},
            "parameters": _OBJECT,
            "limit": _whole("Rows", 1, 1000),
            **_BUDGET,
            **_PROJECT,
        },
        {"columns": _ARRAY, "rows": _ARRAY, "truncated": _FLAG},
        ("query",),
        ("columns", "rows"),
        cites=True,
    ),
    Tool(
        "index",
        "Build or update the index from changed files; full: parse all files again.",
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
            "projects": _ARRAY,
            "tiers": _ARRAY,
            "partial_files": _OBJECT,
            "skipped_files": _OBJECT,
        },
        certain=("projects",),
    ),
    Tool(
        "health",
        "Diagnose the installation: what works, what is missing or broken, and how to fix it.",
        {},
        {"state": {"enum": ["ok", "degraded", "broken"]}, "checks": _OBJECT},
        certain=("state", "checks"),
    ),
    Tool(
        "schema_info",
        "Labels, relationship types, properties and example queries for cypher_query.",
        {**_BUDGET, **_PROJECT},
        dict.fromkeys(_VOCABULARY, _ARRAY),
    ),
)
"""In the order of `tools/list`."""

TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "code": tuple(tool.name for tool in TOOLS),
    "query": tuple(tool.name for tool in TOOLS if tool.name not in ("index", "status", "health")),
}
"""Names of the tools that a server offers together: `code` has all that need an index, `query` those that ask it."""


def offered_tools(toolsets: Sequence[str], *, offer_index: bool = True) -> tuple[Tool, ...]:
    """Return the tools of some toolsets in the order of `TOOLS`; `offer_index` False omits those that write.

    Raises ConfigError for an unknown toolset or none.
    """
    unknown = [name for name in toolsets if name not in TOOLSETS]
    if unknown or not toolsets:
        message = f"unknown toolset {unknown[0][:80]!r}" if unknown else "no toolset is given"
        raise ConfigError(message, f"Toolsets: {', '.join(TOOLSETS)}.")
    names = {name for toolset in toolsets for name in TOOLSETS[toolset]}
    return tuple(tool for tool in TOOLS if tool.name in names and (offer_index or tool.read_only))


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

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
