"""All servers of a chat: connected at once, each failure on its own, and one table of names over all of them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import mcp_types as types

from atlas.chat.connection import ServerConnection, State
from atlas.chat.reading import ResourceReader
from atlas.chat.routes import PromptRoute, ResourceRoute, ToolRoute, ToolServer

MAX_NAME = 64
"""Characters of a tool's name that providers accept."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class Hub:
    """The servers of one chat. Use from one event loop: `start`, any number of look-ups, `close`."""

    def __init__(self, connections: Sequence[ServerConnection]) -> None:
        self.connections: Mapping[str, ServerConnection] = {one.spec.name: one for one in connections}
        self.reader = ResourceReader(self.resources)

    async def start(self, report: Callable[[ServerConnection], None]) -> None:
        """Connect all servers at once; `report` is called for each one that is ready or has failed."""

        async def connect(connection: ServerConnection) -> None:
            await connection.start()
            report(connection)

        await asyncio.gather(*(connect(one) for one in self.connections.values()))

    async def close(self) -> None:
        """End every session and process; idempotent."""
        await asyncio.gather(*(one.close() for one in self.connections.values()))

    async def refresh(self) -> None:
        """Read again what servers offer that have said that it has changed."""
        stale = [one for one in self.connections.values() if one.state is State.READY]
        await asyncio.gather(*(one.refresh() for one in stale), return_exceptions=True)

    def tools(self) -> tuple[ToolRoute, ...]:
        """Return the tools of all servers by server and name and the chat's own one, each under a unique name."""
        pairs: list[tuple[ToolServer, types.Tool]]
        pairs = [(one, tool) for one in self.connections.values() for tool in one.offer.tools]
        own = self.reader.tool()
        if own is not None:
            pairs.append((self.reader, own))
        names = _unique_names([(one.spec.name, tool.name) for one, tool in pairs])
        return tuple(ToolRoute(name, one, tool) for name, (one, tool) in zip(names, pairs, strict=True))

    def prompts(self) -> tuple[PromptRoute, ...]:
        """Return the prompts of all servers, each under a unique name."""
        pairs = [(one, prompt) for one in self.connections.values() for prompt in one.offer.prompts]
        names = _unique_names([(one.spec.name, prompt.name) for one, prompt in pairs])
        return tuple(PromptRoute(name, one, prompt) for name, (one, prompt) in zip(names, pairs, strict=True))

    def resources(self) -> Iterator[ResourceRoute]:
        """Yield the resources and then the templates of every server."""
        for one in self.connections.values():
            for resource in one.offer.resources:
                yield ResourceRoute(one, str(resource.uri), resource.name, resource.description or "")
            for template in one.offer.templates:
                described = template.description or ""
                yield ResourceRoute(one, template.uri_template, template.name, described, is_template=True)


def _unique_names(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a name for each (server, name): the name itself, behind the server's where several servers share it."""
    given = list(pairs)
    shared = Counter(_plain(name) for _, name in given)
    taken: set[str] = set()
    names: list[str] = []
    for server, name in given:
        plain = _plain(name)
        chosen = plain if shared[plain] == 1 else _plain(f"{server}__{name}")
        number = 2
        while chosen in taken:
            ending = f"_{number}"
            chosen = f"{_plain(f'{server}__{name}')[: MAX_NAME - len(ending)]}{ending}"
            number += 1
        taken.add(chosen)
        names.append(chosen)
    return names


def _plain(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:MAX_NAME] or "_"


def argument_problem(tool: types.Tool, arguments: object) -> str:
    """Return why arguments do not fit a tool's own schema, "" if they do or if the schema itself is broken."""
    if not isinstance(arguments, dict):
        return f"the arguments must be a JSON object, not {type(arguments).__name__}"
    given = cast("dict[str, object]", arguments)
    required = tool.input_schema.get("required")
    missing = (
        [name for name in cast("list[object]", required) if name not in given] if isinstance(required, list) else []
    )
    return f"missing arguments: {', '.join(map(str, missing))}" if missing else ""
