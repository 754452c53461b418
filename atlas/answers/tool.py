"""The definition of a tool for MCP clients, and the parts of JSON Schema that definitions consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]

_UNDECLARED = frozenset(("minLength", "maxLength", "maxItems"))

OBJECT: Schema = {"type": "object"}
STRING: Schema = {"type": "string"}
ARRAY: Schema = {"type": "array"}
FLAG: Schema = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Tool:
    """Definition of one tool. `answer` declares the properties that `structure` returns for it."""

    name: str
    description: str
    arguments: Mapping[str, Schema]
    answer: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    required: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    """Properties that every answer has."""
    cites: bool = False
    """The answer cites files and has a `stale` flag, true if one of them has changed."""
    read_only: bool = True
    destructive: bool = False
    """A call may remove what only its user can write again."""
    idempotent: bool = True
    """A repeated call with the same arguments changes nothing further."""
    is_knowledge: bool = False
    """Its answer is groups of items: notes and memories, see `atlas.knowledge.tools`, or packs."""
    is_pack: bool = False
    """It reads knowledge packs, see `atlas.packs.tools`; it needs no index."""

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
        """JSON Schema of the structured content; that of knowledge has a list for each group of items."""
        if self.is_knowledge:
            return {"type": "object", "required": ["status", "available_actions"]}
        return {
            "type": "object",
            "properties": {**({"stale": FLAG} if self.cites else {}), **self.answer, "evidence": OBJECT},
            "required": [*(["stale"] if self.cites else ()), *self.certain, "evidence"],
        }


def _short(schema: Schema) -> Schema:
    return {key: _short(value) if key == "items" else value for key, value in schema.items() if key not in _UNDECLARED}


def text(description: str = "", longest: int = 0) -> Schema:
    """Return the schema of a string; `longest` bounds its characters."""
    schema: Schema = {"type": "string"}
    if description:
        schema["description"] = description
    if longest:
        schema["maxLength"] = longest
    return schema


def whole(description: str, low: int, high: int) -> Schema:
    """Return the schema of an integer from `low` to `high`."""
    return {"type": "integer", "minimum": low, "maximum": high, **({"description": description} if description else {})}


def list_of(item: Schema, most: int = 0) -> Schema:
    """Return the schema of a list of at most `most` items (0 = any number)."""
    return {"type": "array", "items": item, **({"maxItems": most} if most else {})}
