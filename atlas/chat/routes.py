"""What servers offer, under the names by which the model and the user know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from atlas.chat.connection import ServerConnection
from atlas.chat.server_spec import ServerSpec


class ToolServer(Protocol):
    """What answers calls of tools: a connection, or the chat itself."""

    @property
    def spec(self) -> ServerSpec:
        """Its description; the name is shown."""
        ...

    @property
    def declared(self) -> Mapping[str, str]:
        """The definitions of its tools as they were when it was connected, by name."""
        ...

    def vouches(self, tool: types.Tool) -> bool:
        """Return whether what the tool declares about itself is believed: it is as when the server was connected."""
        ...

    async def call_tool(self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT) -> types.CallToolResult:
        """Return the result of a tool. Raises AtlasError."""
        ...


@dataclass(frozen=True, slots=True)
class ToolRoute:
    """A tool under the name that the model sees."""

    name: str
    server: ToolServer
    tool: types.Tool

    @property
    def read_only(self) -> bool:
        """Whether the server declares that the tool changes nothing, and is believed."""
        hints = self.tool.annotations
        return bool(hints and hints.read_only_hint) and self.server.vouches(self.tool)

    @property
    def declaration(self) -> dict[str, object]:
        """The tool as chat models expect it."""
        schema: dict[str, object] = dict(self.tool.input_schema)
        schema.pop("$schema", None)
        schema["type"] = "object"
        if not isinstance(schema.get("properties"), dict):
            schema["properties"] = {}
        description = (self.tool.description or self.tool.title or "")[:1024]
        return {
            "type": "function",
            "function": {"name": self.name, "description": description, "parameters": schema},
        }


@dataclass(frozen=True, slots=True)
class ResourceRoute:
    """A resource, or a template of resources, of one server."""

    server: ServerConnection
    uri: str
    name: str
    description: str
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class PromptRoute:
    """A prompt under the name that the user types."""

    name: str
    server: ServerConnection
    prompt: types.Prompt
