"""What a server offers: tools, resources, templates and prompts, read whole, and watched for changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError

MAX_PAGES = 100
"""Pages of one list: a server whose pages never end is cut."""

MAX_ITEMS = 5000


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything that a server offers."""

    tools: tuple[types.Tool, ...] = ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    prompts: tuple[types.Prompt, ...] = ()
    instructions: str = ""
    version: str = ""
    """Name and version of the server, as it says."""


async def read_offer(client: Client) -> Offer:
    """Return what a server offers. A list that it does not have is empty; raises MCPError for one that fails."""
    able = client.server_capabilities
    info = client.server_info
    tools = _pages(lambda at: client.list_tools(cursor=at, cache_mode="refresh"), "tools") if able.tools else _none()
    resources = templates = _none
    if able.resources:
        resources = lambda: _pages(lambda at: client.list_resources(cursor=at, cache_mode="refresh"), "resources")  # noqa: E731
        templates = lambda: _pages(  # noqa: E731
            lambda at: client.list_resource_templates(cursor=at, cache_mode="refresh"), "resource_templates"
        )
    prompts = (
        _pages(lambda at: client.list_prompts(cursor=at, cache_mode="refresh"), "prompts") if able.prompts else _none()
    )
    found = await asyncio.gather(tools, resources(), templates(), prompts)
    return Offer(
        tools=tuple(found[0]),
        resources=tuple(found[1]),
        templates=tuple(found[2]),
        prompts=tuple(found[3]),
        instructions=client.instructions or "",
        version=f"{info.name} {info.version}" if info is not None else "",
    )


@asynccontextmanager
async def watch_offer(client: Client, changed: Callable[[], None]) -> AsyncGenerator[None]:
    """Call `changed` when a server of revision 2026-07-28 says that a list has changed, during the block."""
    task = asyncio.create_task(_listen(client, changed))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _listen(client: Client, changed: Callable[[], None]) -> None:
    with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as events:
            async for _ in events:
                changed()


async def _none() -> list[Any]:
    return []


async def _pages(ask: Callable[[str | None], Awaitable[Any]], field: str) -> list[Any]:
    """Return all items of a list; none if the server does not know the request."""
    items: list[Any] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        try:
            page = await ask(cursor)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                return items
            raise
        items += getattr(page, field)
        following = page.next_cursor
        if not following or following == cursor or len(items) >= MAX_ITEMS:
            break
        cursor = following
    return items[:MAX_ITEMS]
