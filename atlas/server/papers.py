"""The MCP server of papers: tools, resources and the prompt of `atlas.papers.catalogue`, answered by a desk.

It is served as the server of a project is; see `atlas.server.mcp`.
"""

from __future__ import annotations

import logging

import mcp_types as types
from mcp.server.lowlevel import Server

from atlas import __version__
from atlas.answers.schema import check_arguments
from atlas.answers.tool import Tool
from atlas.core.errors import AtlasError
from atlas.papers.catalogue import (
    FOLDERS_URI,
    INSTRUCTIONS,
    PROMPT,
    PROMPT_DESCRIPTION,
    TOOLS,
    TOPIC_URI,
    search_prompt,
)
from atlas.papers.desk import PapersDesk
from atlas.server.mcp import Context, declared, failure, invalid, without_idle_tracing
from atlas.server.paper_changes import TopicSubscriptions

logger = logging.getLogger("atlas.papers")

TEXT = "text/plain"
MAX_LISTED = 200
"""Topics listed as resources; the folders resource names all."""
MAX_COMPLETIONS = 100
"""Set by the protocol."""


class _Handlers:
    """The requests of a client, answered by a desk."""

    def __init__(self, desk: PapersDesk) -> None:
        self._desk = desk
        self._tools = {tool.name: tool for tool in TOOLS}
        self._listed = types.ListToolsResult(tools=[_declared(tool) for tool in TOOLS])

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Return the tools."""
        return self._listed

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Return the answer of a tool; errors of a call are answers."""
        if params.name not in self._tools:
            raise invalid(AtlasError(f"unknown tool {params.name[:80]!r}", f"tools: {', '.join(self._tools)}"))
        try:
            arguments = check_arguments(self._tools[params.name].input_schema, params.arguments or {})
            text, document = await self._desk.call(params.name, arguments)
        except AtlasError as error:
            return failure(error)
        except Exception as error:  # the boundary: the client gets a message, the log the traceback
            logger.exception("tool %s failed", params.name)
            return failure(AtlasError(f"{type(error).__name__}: {error}", "This is a bug in Code Atlas; see its log."))
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=document)

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return the topics."""
        found = [types.Resource(uri=FOLDERS_URI, name="folders", description="Stored topics", mime_type=TEXT)]
        try:
            topics = await self._desk.topics()
        except AtlasError as error:
            raise invalid(error) from error
        found += [
            types.Resource(uri=TOPIC_URI.format(topic=one), name=one, mime_type=TEXT) for one in topics[:MAX_LISTED]
        ]
        return types.ListResourcesResult(resources=found)

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the template of a topic."""
        description = "Papers stored under a topic, newest first, 100 a page (?page=2)"
        topic = types.ResourceTemplate(uri_template=TOPIC_URI, name="topic", description=description, mime_type=TEXT)
        return types.ListResourceTemplatesResult(resource_templates=[topic])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the text of a resource."""
        uri = str(params.uri)
        try:
            text = await self._desk.resource(uri)
        except AtlasError as error:
            raise invalid(error, uri=uri) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=TEXT, text=text)])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return the topics that begin like a value."""
        try:
            topics = await self._desk.topics() if params.argument.name == "topic" else []
        except AtlasError:
            topics = []  # reading says why
        values = [one for one in topics if one.startswith(params.argument.value.casefold())]
        return types.CompleteResult(completion=types.Completion(values=values[:MAX_COMPLETIONS]))


def make_papers_server(desk: PapersDesk) -> Server[object]:
    """Return the MCP server of a desk."""
    handlers, subscriptions = _Handlers(desk), TopicSubscriptions(desk.stamps)
    server = Server[object](
        "code-atlas-papers",
        version=__version__,
        title="Code Atlas papers",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=_prompts,
        on_get_prompt=_prompt,
        on_completion=handlers.complete,
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
    )
    return without_idle_tracing(server)


async def _prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    arguments = [
        types.PromptArgument(name="topic", description="What the papers shall be about", required=True),
        types.PromptArgument(name="num_papers", description="How many papers; default 5", required=False),
    ]
    found = types.Prompt(name=PROMPT, title="Search for papers", description=PROMPT_DESCRIPTION, arguments=arguments)
    return types.ListPromptsResult(prompts=[found])


async def _prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    try:
        if params.name != PROMPT:
            raise AtlasError(f"unknown prompt {params.name[:80]!r}", f"Prompts: {PROMPT}.")
        text = search_prompt(params.arguments or {})
    except AtlasError as error:
        raise invalid(error) from error
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=PROMPT_DESCRIPTION, messages=[message])


def _declared(definition: Tool) -> types.Tool:
    """Return a tool for clients. Answers have no declared schema; those of the service come from another machine."""
    tool = declared(definition)
    tool.output_schema = None
    return tool
