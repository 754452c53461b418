"""What a server offers: tools, resources, templates and prompts, read whole, and watched for changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError

MAX_PAGES = 100
"""Pages of one list: a server whose pages never end is cut."""

MAX_ITEMS = 5000

MAX_NAME, MAX_ADDRESS = 256, 2000
"""Characters of a name and of an address; what has longer ones is left out."""

MAX_DEFINITION, MAX_DEFINITIONS = 1 << 16, 1 << 20
"""Characters of a tool's definition as JSON, and of all of a server: they are sent to the model."""

MAX_TEXT = 2000
"""Characters of a description that are kept."""

MAX_ARGUMENTS = 100
"""Of a prompt."""

_KEPT = ("name", "title", "description", "input_schema", "output_schema", "annotations")


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """Everything that a server offers, within limits."""

    tools: tuple[types.Tool, ...] = ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    prompts: tuple[types.Prompt, ...] = ()
    instructions: str = ""
    version: str = ""
    """Name and version of the server, as it says."""
    definitions: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the name of a tool, what `definition_of` returns."""
    left_out: int = 0
    """Items that are too long, are listed twice, or are no JSON."""


def definition_of(tool: types.Tool) -> str:
    """Return what a tool is, as JSON on sorted lines: name, description, schemas, and annotations.

    Raises ValueError for a definition that no provider of a model could be sent.
    """
    dumped = tool.model_dump(by_alias=True, exclude_none=True, include=set(_KEPT))
    return json.dumps(dumped, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)


async def read_offer(client: Client) -> ServerOffer:
    """Return what a server offers. A list that it does not have is empty; raises MCPError for one that fails."""
    able, info, kept = client.server_capabilities, client.server_info, _Tools()
    tools, resources, templates, prompts = await asyncio.gather(
        _items(bool(able.tools), client.list_tools, "tools", kept.add),
        _items(bool(able.resources), client.list_resources, "resources", _resource),
        _items(bool(able.resources), client.list_resource_templates, "resource_templates", _template),
        _items(bool(able.prompts), client.list_prompts, "prompts", _prompt),
    )
    return ServerOffer(
        tools=tuple(tools[0]),
        resources=tuple(resources[0]),
        templates=tuple(templates[0]),
        prompts=tuple(prompts[0]),
        instructions=(client.instructions or "")[: 4 * MAX_TEXT],
        version=f"{info.name[:MAX_NAME]} {info.version[:MAX_NAME]}" if info is not None else "",
        definitions=kept.definitions,
        left_out=tools[1] + resources[1] + templates[1] + prompts[1],
    )


class _Tools:
    """The tools of a list that can be offered to a model."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}
        self._left = MAX_DEFINITIONS

    def add(self, tool: types.Tool) -> types.Tool | None:
        """Return what is kept of a tool, None if it is left out."""
        if len(tool.name) > MAX_NAME or tool.name in self.definitions:
            return None
        try:
            text = definition_of(tool)
        except (ValueError, RecursionError):
            return None
        if len(text) > min(MAX_DEFINITION, self._left):
            return None
        self._left -= len(text)
        self.definitions[tool.name] = text
        return types.Tool(**{name: getattr(tool, name) for name in _KEPT})


def _resource(one: types.Resource) -> types.Resource | None:
    if len(one.name) > MAX_NAME or len(str(one.uri)) > MAX_ADDRESS:
        return None
    return types.Resource(name=one.name, uri=one.uri, description=(one.description or "")[:MAX_TEXT])


def _template(one: types.ResourceTemplate) -> types.ResourceTemplate | None:
    if len(one.name) > MAX_NAME or len(one.uri_template) > MAX_ADDRESS:
        return None
    described = (one.description or "")[:MAX_TEXT]
    return types.ResourceTemplate(name=one.name, uri_template=one.uri_template, description=described)


def _prompt(one: types.Prompt) -> types.Prompt | None:
    given = one.arguments or []
    if len(given) > MAX_ARGUMENTS or any(len(name) > MAX_NAME for name in (one.name, *(each.name for each in given))):
        return None
    arguments = [
        types.PromptArgument(
            name=each.name, description=(each.description or "")[:MAX_TEXT], required=bool(each.required)
        )
        for each in given
    ]
    return types.Prompt(name=one.name, description=(one.description or "")[:MAX_TEXT], arguments=arguments)


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


async def _items(
    has: bool, ask: Callable[..., Awaitable[Any]], name: str, keep: Callable[[Any], object]
) -> tuple[list[Any], int]:
    """Return what is kept of a list, page by page, and how many items are not; none if the server does not know it."""
    items: list[Any] = []
    left_out = 0
    cursor: str | None = None
    for _ in range(MAX_PAGES if has else 0):
        try:
            page = await ask(cursor=cursor, cache_mode="refresh")
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                break
            raise
        listed: list[Any] = getattr(page, name)
        for item in listed[: MAX_ITEMS - len(items)]:
            one = keep(item)
            left_out += one is None
            items += [] if one is None else [one]
        following = page.next_cursor
        if not following or following == cursor or len(items) + left_out >= MAX_ITEMS:
            break
        cursor = following
    return items, left_out
