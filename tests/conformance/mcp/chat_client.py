"""The client of the official suite's client scenarios: a connection of `atlas chat` that uses all that a server offers.

The suite starts it with the address of the scenario's server. It calls each tool with arguments that fit its schema,
reads each resource, gets each prompt, and answers forms with their defaults. `MCP_CONFORMANCE_CONTEXT` may name calls.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types

from atlas.chat.connection import ConnectionState, ServerConnection
from atlas.chat.server_spec import ServerSpec
from atlas.core.errors import AtlasError

SAMPLES = {"string": "text", "number": 5, "integer": 5, "boolean": True, "array": [], "object": {}, "null": None}


class Defaults:
    """A host that accepts every form with its defaults, as `--yes` does."""

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        schema: dict[str, Any] = getattr(params, "requested_schema", None) or {}
        properties: dict[str, Any] = schema.get("properties", {})
        given = {name: one["default"] for name, one in properties.items() if "default" in one}
        wanted = [name for name in schema.get("required", []) if name not in given]
        given |= {name: sample(properties[name]) for name in wanted}
        return types.ElicitResult(action="accept", content=given)

    def log(self, server: str, level: str, text: str) -> None:
        print(f"{level}: {text}", file=sys.stderr)


def sample(schema: dict[str, Any]) -> Any:
    """Return a value that fits a schema."""
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type", "object") == "object" and "properties" in schema:
        return {name: sample(one) for name, one in schema["properties"].items()}
    kind = schema.get("type", "string")
    return SAMPLES.get(kind[0] if isinstance(kind, list) else kind, "text")


async def progress(done: float, total: float | None, message: str | None) -> None:
    """Take no notice."""


async def main(url: str) -> int:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    spec = ServerSpec("suite", url=url)
    client = types.Implementation(name="code-atlas-chat", version="1.0.0")
    connection = ServerConnection(spec, client, (Path.cwd(),), Defaults())
    await connection.start()
    if connection.state is not ConnectionState.READY:
        print(connection.problem, file=sys.stderr)
        return 1
    named = context.get("toolCalls")
    calls = [(one["name"], one.get("arguments", {})) for one in named or ()]
    if os.environ.get("MCP_CONFORMANCE_SCENARIO") == "json-schema-2020-12-preservation":
        # the scenario wants to see what is left of the first tool's schema
        focal, echo = connection.offer.tools
        calls = [(echo.name, {"schema": focal.input_schema})]
    calls = calls or [(tool.name, sample({"type": "object", **tool.input_schema})) for tool in connection.offer.tools]
    requests = [lambda name=name, given=given: connection.call_tool(name, given, progress) for name, given in calls]
    requests += [lambda uri=str(one.uri): connection.read_resource(uri) for one in connection.offer.resources]
    for prompt in connection.offer.prompts:
        given = {argument.name: "text" for argument in prompt.arguments or ()}
        requests.append(lambda name=prompt.name, given=given: connection.get_prompt(name, given))
    for request in requests:
        try:
            print(str(await request())[:300], file=sys.stderr)
        except AtlasError as error:  # the chat goes on, and so does this client
            print(f"error: {error.message}", file=sys.stderr)
    await connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
