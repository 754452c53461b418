"""All servers of a chat: connected at once, each failure on its own, and one table of names over all of them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import mcp_types as types

from atlas.chat.connection import ConnectionState, ServerConnection
from atlas.chat.offer import definition_of
from atlas.chat.reading import ResourceReader
from atlas.chat.routes import PromptRoute, ResourceRoute, ToolRoute, ToolServer
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex

MAX_NAME = 64
"""Characters of a tool's name that providers accept."""

_NOT_IN_NAMES = lazy_regex(r"[^A-Za-z0-9_-]+")


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
        stale = [one for one in self.connections.values() if one.state is ConnectionState.READY]
        await asyncio.gather(*(one.refresh() for one in stale), return_exceptions=True)

    async def has_changed(self, route: ToolRoute) -> bool:
        """Return whether a server no longer offers a tool as the model has been told, after reading it again if due."""
        server = self.connections.get(route.server.spec.name)
        if server is None or server is not route.server:  # the chat's own tool
            return False
        with contextlib.suppress(AtlasError):
            await server.refresh()
        now = server.offer.definitions.get(route.tool.name)
        return all(tool is not route.tool for tool in server.offer.tools) and now != definition_of(route.tool)

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
        if chosen in taken:
            # a name that does not depend on the number or order of others, which a server could choose
            ending = f"_{hashlib.blake2b(repr((server, name)).encode(), digest_size=8).hexdigest()}"
            chosen = f"{_plain(f'{server}__{name}')[: MAX_NAME - len(ending)]}{ending}"
        taken.add(chosen)
        names.append(chosen)
    return names


def _plain(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:MAX_NAME] or "_"
