"""The definition of a tool: its handler, what clients see of it, and what a session has to know to call it.

Also the parts of JSON Schema that definitions consist of. Nothing of a tool is known elsewhere by its name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any

from atlas.answers.answer import Answer

Schema = dict[str, Any]

_UNDECLARED = frozenset(("minLength", "maxLength", "maxItems", "words", "place"))

OBJECT: Schema = {"type": "object"}
STRING: Schema = {"type": "string"}
ARRAY: Schema = {"type": "array"}
FLAG: Schema = {"type": "boolean"}


Handler = Callable[..., Awaitable[Answer]]
"""Takes what its toolset has opened, and the arguments by name."""


class Reads(StrEnum):
    """What an answer describes."""

    FILES = "files"
    """The files of the project: newer ones are waited for, and a first index may begin."""
    INDEX = "index"
    """The index as it is."""
    INSTALLATION = "installation"
    """Index, daemon and services as they are; no daemon is started for it."""


class Effort(StrEnum):
    """How long a call may take, which says how many may run at once; see `atlas.runtime.process.bulkhead`."""

    SHORT = "short"
    QUERY = "query"
    SINGLE = "single"
    INDEX_PASS = "index pass"


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
    open_world: bool = False
    """It asks an external service."""
    handler: Handler | str = ""
    """The function, or `module:function`, which is imported on the first call: the list of tools costs no import."""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parameters of the handler that are not called like the argument, whose name Python uses itself."""
    output: Schema | None = None
    """Schema of the structured content if it is not made of `answer`."""
    reads: Reads = Reads.FILES
    effort: Effort = Effort.SHORT
    is_bounded: bool = False
    """Its answer is bounded by its rows: a large token budget does not make the call long."""
    is_search: bool = False
    """The settings of searches are the defaults of its arguments."""
    compares_meaning: bool = False
    """Its answer says if the configured sentence transformer is missing."""
    joins_workspace: bool = False
    """What other projects of the workspace have to do with its answer is added."""
    joins_packs: bool = False
    """What packs say about the external symbols of its answer is added."""

    @property
    def function(self) -> Handler:
        """The handler; imported if it is given by its name."""
        if not isinstance(self.handler, str):
            return self.handler
        module, _, name = self.handler.partition(":")
        function: Handler = getattr(import_module(module), name)
        return function

    async def run(self, context: object, arguments: Mapping[str, object]) -> Answer:
        """Return the answer to arguments that match the schema. Raises what the handler raises."""
        return await self.function(context, **{self.parameters.get(key, key): arguments[key] for key in arguments})

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
        if self.output is not None:
            return self.output
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


def place(description: str, longest: int) -> Schema:
    """Return the schema of a string that may name a file, so that it may be a `file://` URI."""
    return {**text(description, longest), "place": True}


def list_of(item: Schema, most: int = 0, *, words: bool = False) -> Schema:
    """Return the schema of a list of at most `most` items (0 = any number).

    `words`: no item has a comma, so that one string may name several.
    """
    listed: Schema = {"type": "array", "items": item, **({"maxItems": most} if most else {})}
    return {**listed, "words": True} if words else listed
