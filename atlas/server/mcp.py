"""The MCP server over stdio and HTTP: `tools/list` from the toolsets, `tools/call` through a session.

Errors of a tool are answers with `isError`, a message and a hint; a protocol error
indicates a bug. Standard output carries the protocol, standard error the log.
"""

from __future__ import annotations

import difflib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

# Two documented settings shorten the start by a fifth: nothing that is imported here becomes garbage, and pydantic
# would otherwise scan the entry points of every installed distribution for plugins.
gc.disable()
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import anyio  # noqa: E402
import mcp_types as types  # noqa: E402
from mcp.server.caching import CacheHint  # noqa: E402
from mcp.server.context import ServerRequestContext  # noqa: E402
from mcp.server.lowlevel import Server  # noqa: E402
from mcp.server.stdio import stdio_server  # noqa: E402
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402
from opentelemetry import trace  # noqa: E402

from atlas import __version__  # noqa: E402
from atlas.answers.schema import check_arguments  # noqa: E402
from atlas.answers.tool import Tool  # noqa: E402
from atlas.answers.toolset import Toolset  # noqa: E402
from atlas.app.session import Session  # noqa: E402
from atlas.app.toolset_host import ToolsetHost  # noqa: E402
from atlas.app.toolsets import TOOLSETS, instructions_for, offered_tools  # noqa: E402
from atlas.code.tools.catalogue import MAX_COMPLETIONS, TEMPLATES  # noqa: E402
from atlas.code.tools.prompts import PROMPTS, prompt_text  # noqa: E402
from atlas.core.errors import AtlasError, NotFound, SchemaMismatch  # noqa: E402
from atlas.knowledge.notes.checks import client_name  # noqa: E402
from atlas.runtime.process.extras import missing_extra  # noqa: E402
from atlas.runtime.process.stdin import Lines, claim_stdin  # noqa: E402
from atlas.server.http.log import RateLimitFilter  # noqa: E402
from atlas.server.malformed import malformed_answered, with_codes  # noqa: E402

if TYPE_CHECKING:
    from atlas.server.client_lines import ClientLines, ClientWriter
    from atlas.server.http.auth import Access
    from atlas.server.http.middleware import RequestLimits
    from atlas.server.http.server import Tls
    from atlas.server.roots import RootSessions
    from atlas.server.shared_sessions import AnyClientSession

gc.freeze()
gc.enable()

logger = logging.getLogger("atlas.mcp")

Context = ServerRequestContext[object, object]
Chosen = Callable[[Context], Awaitable["AnyClientSession"]]
"""Returns the session that answers a request."""

HTTP_PATH = "/mcp"

SWITCH_SECONDS = 0.001
"""Thread switch interval: the event loop regains the interpreter this soon, not after Python's default of 5 ms."""

GC_THRESHOLDS = 2_000, 20, 100
"""A full collection runs after 4 million new objects, not 70,000: with many alive it stops all threads for a second."""

INTERRUPTED = 130  # exit code of an interrupted command
_UNCHANGING = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


@dataclass(frozen=True, slots=True)
class HttpSite:
    """Address, access rules and limits of a server over HTTP."""

    listening: socket.socket
    access: Access
    limits: RequestLimits
    tls: Tls | None = None


class Served(Protocol):
    """What a server answers from."""

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...


Health = Callable[[], Awaitable[tuple[bool, dict[str, object]]]]
"""Returns whether queries can be answered, with details that anybody may read."""


def serve_stdio(session: Served, server: Server[object]) -> None:
    """Serve one client on stdin and stdout until it closes stdin.

    An interrupt ends the process immediately, with the usual exit code: the thread that waits for input cannot be
    woken, and store writes are transactions, so nothing is left half done.
    """
    _log_to_stderr()
    keep_loop_free()
    signal.signal(signal.SIGINT, _leave)
    anyio.run(_serve_stdio, session, server)


def _leave(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)


def serve_http(
    server: Server[object], session: Served, site: HttpSite, ready: Callable[[], None], health: Health
) -> None:
    """Serve any number of clients with one session until a signal; `ready` is called once requests are accepted.

    Every revision of the protocol is served at `HTTP_PATH`, without sessions: requests are independent of each other.
    """
    _log_to_stderr()
    keep_loop_free()
    from atlas.runtime.process.memory import limit_malloc_arenas

    limit_malloc_arenas()
    anyio.run(_serve_http, server, session, site, ready, health)


def make_server(
    session: AnyClientSession,
    *,
    offer_index: bool = True,
    toolsets: Sequence[str] = ("code",),
    offer_writes: bool = True,
    known: Mapping[str, Toolset[ToolsetHost]] = TOOLSETS,
    roots: RootSessions | None = None,
) -> Server[object]:
    """Return the MCP server of a session, whose toolsets are `known`. Raises ConfigError for an unknown toolset.

    `roots`: sessions with the projects of the client's roots, instead of `session`.
    """

    async def chosen(context: Context) -> AnyClientSession:
        return session if roots is None else await roots.of(context.session)

    tools = offered_tools(toolsets, offer_index=offer_index, offer_writes=offer_writes, known=known)
    listed = types.ListToolsResult(tools=[declared(tool) for tool in tools])
    offered = {tool.name: tool for tool in tools}
    # Without these, the SDK builds the whole answer of tools/list for each call over HTTP, to look for headers in it.
    schemas = {tool.name: tool.declared_input for tool in tools}

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = _offered(offered, params.name)
        try:
            arguments = check_arguments(tool.input_schema, params.arguments or {})
            project = await chosen(context)
            report = context.session.report_progress
            text, structure = await project.call(tool, arguments, report, _client(context), offered=offered)
        except AtlasError as error:
            return failure(error)
        except Exception as error:  # noqa: BLE001 the boundary: the client gets a message, the log the traceback
            return failure(_explained(error, params.name))
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structure)

    server = Server[object](
        "code-atlas",
        version=__version__,
        title="Code Atlas",
        instructions=instructions_for(toolsets, tools, known) or None,
        cache_hints={method: CacheHint(ttl_ms=3_600_000, scope="public") for method in _UNCHANGING},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_no_resources,
        on_list_resource_templates=_templates,
        on_read_resource=_reader(chosen),
        on_list_prompts=_prompts,
        on_get_prompt=_prompt,
        on_completion=_completer(chosen),
    )
    if roots is not None:
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots.has_changed)
    return without_idle_tracing(server)


def _explained(error: Exception, tool: str) -> AtlasError:
    """Return what the client is told of an error that no tool foresees; the log gets the traceback."""
    if (missing := missing_extra(error)) is not None:
        return missing
    logger.error("tool %s failed", tool, exc_info=error)
    return AtlasError(f"{type(error).__name__}: {error}", "This is a bug in Code Atlas; see its log.")


def without_idle_tracing(server: Server[object]) -> Server[object]:
    """Return the server without the SDK's spans unless tracing is configured: they cost each request 0.05 ms."""
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        server.middleware.clear()
    return server


async def _no_resources(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])  # thousands of symbols: clients use the templates


async def _templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    listed = [
        types.ResourceTemplate(
            uri_template=each.uri, name=each.name, description=each.description, mime_type="text/plain"
        )
        for each in TEMPLATES
    ]
    return types.ListResourceTemplatesResult(resource_templates=listed)


def _reader(chosen: Chosen) -> Callable[..., Awaitable[types.ReadResourceResult]]:
    async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await (await chosen(context)).resource(uri)
        except AtlasError as error:
            raise invalid(error, uri=uri) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    return read


async def _prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    listed = [
        types.Prompt(
            name=each.name,
            title=each.title,
            description=each.description,
            arguments=[
                types.PromptArgument(name=one.name, description=one.description, required=one.required)
                for one in each.arguments
            ],
        )
        for each in PROMPTS
    ]
    return types.ListPromptsResult(prompts=listed)


async def _prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    try:
        prompt, text = prompt_text(params.name, params.arguments or {})
    except AtlasError as error:
        raise invalid(error) from error
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def _completer(chosen: Chosen) -> Callable[..., Awaitable[types.CompleteResult]]:
    async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        try:
            values = await (await chosen(context)).completions(params.argument.name, params.argument.value)
        except AtlasError:
            values = []  # without an index there is nothing to complete; reading says why
        return types.CompleteResult(completion=types.Completion(values=values, has_more=len(values) >= MAX_COMPLETIONS))

    return complete


def invalid(error: AtlasError, **data: str) -> MCPError:
    """Return a protocol error with the message, similar names and hint of an error."""
    return MCPError(types.INVALID_PARAMS, "; ".join(_error_lines(error)), data or None)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RateLimitFilter())  # libraries log a line or a traceback for each invalid message
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


async def _serve_http(
    server: Server[object], session: Served, site: HttpSite, ready: Callable[[], None], health: Health
) -> None:
    from atlas.server.http.middleware import RequestLimiter
    from atlas.server.http.server import serve

    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=site.limits.body_bytes)
    try:
        async with manager.run():
            limiter = RequestLimiter(with_codes(manager.handle_request), HTTP_PATH, site.access, site.limits, health)
            await serve(limiter, site.listening, ready, site.tls, site.limits.at_work + site.limits.waiting)
    finally:
        await session.aclose()


async def session_health(session: Session) -> tuple[bool, dict[str, object]]:
    """Return whether queries can be answered, with details that anybody may read: neither paths nor names."""
    try:
        generation = await session.generation()
    except NotFound:
        reason = "there is no index yet"
    except SchemaMismatch:
        reason = "the index is of another version"
    except AtlasError as error:
        logger.warning("the store cannot be opened: %s", error.message)
        reason = "the store cannot be opened"
    else:
        return True, {"status": "ok", "version": __version__, "generation": generation}
    return False, {"status": "unavailable", "version": __version__, "reason": reason}


async def _serve_stdio(session: Served, server: Server[object]) -> None:
    try:
        await serve_messages(server, claim_stdin())
    finally:
        await session.aclose()


async def serve_messages(
    server: Server[object], lines: Lines | ClientLines, written: ClientWriter | None = None
) -> None:
    """Serve one client until its lines end; answers go to `written`, else to standard output."""
    stdin, stdout = cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str] | None", written)
    async with (
        stdio_server(stdin, stdout) as (incoming, outgoing),
        malformed_answered(incoming, outgoing) as messages,
    ):
        await server.run(messages, outgoing, server.create_initialization_options())


def keep_loop_free() -> None:
    """Have the event loop regain the interpreter soon, and few full collections; for the whole process."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*GC_THRESHOLDS)


def _client(context: Context) -> str:
    """Return name and version of the client as it says in the handshake, "" if it does not."""
    known = context.session.client_params
    if known is None:
        return ""
    return client_name(known.client_info.name, known.client_info.version)


def _offered(tools: Mapping[str, Tool], name: str) -> Tool:
    if name not in tools:
        near = difflib.get_close_matches(name, tools, 1)
        hint = f"did you mean {near[0]}?" if near else f"tools: {', '.join(tools)}"
        raise MCPError(types.INVALID_PARAMS, f"unknown tool {name[:80]!r}; {hint}")
    return tools[name]


def failure(error: AtlasError) -> types.CallToolResult:
    """Return an error as a tool result."""
    from atlas.core.invisible import escaped

    # names in messages may be those of notes and files of anybody
    lines = [escaped(line) for text in _error_lines(error) for line in text.splitlines() or [""]]
    return types.CallToolResult(
        content=[types.TextContent(text="\n".join((f"error: {lines[0]}", *lines[1:])))], is_error=True
    )


def _error_lines(error: AtlasError) -> list[str]:
    """Return message, similar names and hint."""
    lines = [error.message]
    if isinstance(error, NotFound) and error.near:
        lines.append(f"near: {', '.join(error.near)}")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return lines


def declared(tool: Tool) -> types.Tool:
    """Return a tool as clients see it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.declared_input,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )
