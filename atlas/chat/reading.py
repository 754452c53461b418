"""`read_resource`: the chat's own tool, with which the model reads resources of the servers.

Which server has an address follows from what the servers list, from their templates, and from links that their tools
have returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from atlas.chat.connection import ServerConnection
from atlas.chat.references import template_pattern
from atlas.chat.routes import ResourceRoute, ToolServer
from atlas.chat.server_spec import ServerSpec
from atlas.core.errors import AtlasError, NotFound
from atlas.core.invisible import printable

NAME = "read_resource"
MAX_DESCRIBED = 900
"""Characters of the description; providers accept 1,024."""
MAX_LINKS = 1000
"""Links whose server is remembered, the newest ones."""


class ResourceReader:
    """The server of the chat's own tool, in this process."""

    def __init__(self, resources: Callable[[], Iterable[ResourceRoute]]) -> None:
        self.spec = ServerSpec("chat")
        self.declared: Mapping[str, str] = {}
        self._resources = resources
        self._links: dict[str, ServerConnection] = {}

    def tool(self) -> types.Tool | None:
        """Return the tool; None where no server has resources and no link is known."""
        listed = [route.uri for route in self._resources()]
        if not listed and not self._links:
            return None
        description = "Read a resource of a connected server by its address, as listed here or named in a result."
        for uri in listed:
            if len(description) + len(uri) > MAX_DESCRIBED:
                description += " ..."
                break
            description += f"\n{printable(uri)}"
        schema = {
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "Address; {names} of a template replaced"}},
            "required": ["uri"],
        }
        hints = types.ToolAnnotations(read_only_hint=True)
        return types.Tool(name=NAME, description=description, input_schema=schema, annotations=hints)

    def remember(self, result: types.CallToolResult, server: ToolServer) -> None:
        """Remember which server has returned a link to a resource."""
        for block in result.content:
            if isinstance(block, types.ResourceLink) and isinstance(server, ServerConnection):
                self._links.pop(str(block.uri), None)
                self._links[str(block.uri)] = server
                if len(self._links) > MAX_LINKS:
                    del self._links[next(iter(self._links))]

    def vouches(self, tool: types.Tool) -> bool:
        """Return True: it is the chat's own tool."""
        del tool
        return True

    async def call_tool(self, name: str, arguments: Mapping[str, Any], progress: ProgressFnT) -> types.CallToolResult:
        """Return a resource. Raises NotFound if no server has it, and what the server raises."""
        uri = arguments.get("uri")
        if not isinstance(uri, str):
            raise AtlasError("uri must be a string")
        server = self._server(uri)
        if server is None:
            listed = [route.uri for route in self._resources()]
            raise NotFound(f"no server has a resource {uri[:200]!r}", f"Resources: {', '.join(listed[:20]) or 'none'}.")
        found = await server.read_resource(uri)
        return types.CallToolResult(content=[types.EmbeddedResource(resource=one) for one in found.contents])

    def _server(self, uri: str) -> ServerConnection | None:
        routes = tuple(self._resources())
        for route in routes:
            if route.uri == uri and not route.is_template:
                return route.server
        if uri in self._links:
            return self._links[uri]
        fitting = (one.server for one in routes if one.is_template and template_pattern(one.uri).fullmatch(uri))
        return next(fitting, None)
