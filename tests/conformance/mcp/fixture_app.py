"""The product's own server over HTTP with what the official conformance suite asks for by name put beside its tools.

Run as a program: `fixture_app.py PROJECT DATA_DIR` serves on a free port of 127.0.0.1 and says where on standard error.
Everything between the network and the tools is the product's: socket, gate, transport, server factory.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from atlas.app.session import Session
from atlas.runtime.config.load import load_settings
from atlas.server.http.auth import make_access
from atlas.server.http.middleware import RequestLimits
from atlas.server.http.server import listen, url_of
from atlas.server.mcp import HTTP_PATH, Context, HttpSite, make_server, serve_http, session_health

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

Call = Callable[[Context, types.CallToolRequestParams], Awaitable[Any]]
Ask = dict[str, Any]

SECRET = secrets.token_bytes(32)


def text(words: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=failed)


def result(*blocks: Any) -> types.CallToolResult:
    return types.CallToolResult(content=list(blocks))


def embedded(uri: str, mime: str, words: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime, text=words))


IMAGE = types.ImageContent(data=PIXEL, mime_type="image/png")
AUDIO = types.AudioContent(data=SILENCE, mime_type="audio/wav")


async def log_thrice(context: Context, params: types.CallToolRequestParams) -> Any:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", words, related_request_id=context.request_id)
        await asyncio.sleep(0.05)
    return text("logged")


async def progress_thrice(context: Context, params: types.CallToolRequestParams) -> Any:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)
    return text("done")


def at_once(answer: types.CallToolResult) -> Call:
    async def call(context: Context, params: types.CallToolRequestParams) -> Any:
        return answer

    return call


def elicit(message: str, name: str, kind: str = "string") -> Ask:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(question: str, most: int) -> Ask:
    messages = [{"role": "user", "content": {"type": "text", "text": question}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: Ask = {"method": "roots/list", "params": {}}


def need(requests: dict[str, Ask], state: str = "") -> types.InputRequiredResult:
    found: Ask = {"resultType": "input_required", "inputRequests": requests}
    if state:
        found["requestState"] = f"{state}.{hmac.new(SECRET, state.encode(), hashlib.sha256).hexdigest()}"
    return types.InputRequiredResult.model_validate(found)


def state_of(params: Any) -> str:
    """The state that was handed out and came back, "" when none came. Raises MCPError for one that is not ours."""
    if not params.request_state:
        return ""
    state, _, signature = params.request_state.partition(".")
    if not hmac.compare_digest(signature, hmac.new(SECRET, state.encode(), hashlib.sha256).hexdigest()):
        raise MCPError(types.INVALID_PARAMS, "the state is not what was handed out")
    return state


def asking(requests: dict[str, Ask], state: str = "", answer: str = "state-ok") -> Call:
    """A tool that needs the answers to all `requests` first."""

    async def call(context: Context, params: types.CallToolRequestParams) -> Any:
        given, returned = params.input_responses or {}, state_of(params)
        if set(requests) <= set(given) and returned == state:
            return text(f"{answer} { ({name: str(one) for name, one in given.items()}) }")
        return need(requests, state)

    return call


async def two_rounds(context: Context, params: types.CallToolRequestParams) -> Any:
    given, state = params.input_responses or {}, state_of(params)
    if state == "second" and "step2" in given:
        return text("all is known")
    if state == "first" and "step1" in given:
        return need({"step2": elicit("Step 2: What is your favorite color?", "color")}, "second")
    return need({"step1": elicit("Step 1: What is your name?", "name")}, "first")


async def what_the_client_can(context: Context, params: types.CallToolRequestParams) -> Any:
    can = context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, Ask] = {}
    if can.sampling is not None:
        requests["question"] = sample("What is the capital of France?", 100)
    if can.elicitation is not None:
        requests["name"] = elicit("What is your name?", "name")
    return need(requests) if requests else text("the client can do nothing")


async def needs_sampling(context: Context, params: types.CallToolRequestParams) -> Any:
    can = context.session.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY, "needs sampling", {"requiredCapabilities": {"sampling": {}}}
        )
    return text("the client can sample")


NAME = {"user_name": elicit("What is your name?", "name")}
CALLS: dict[str, Call] = {
    "test_simple_text": at_once(text("This is a simple text response for testing.")),
    "test_image_content": at_once(result(IMAGE)),
    "test_audio_content": at_once(result(AUDIO)),
    "test_embedded_resource": at_once(
        result(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))
    ),
    "test_multiple_content_types": at_once(
        result(
            types.TextContent(text="Multiple content types test:"),
            IMAGE,
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        )
    ),
    "test_error_handling": at_once(text("This tool intentionally returns an error for testing", failed=True)),
    "json_schema_2020_12_tool": at_once(text("ok")),
    "test_tool_with_logging": log_thrice,
    "test_logging_tool": log_thrice,
    "test_tool_with_progress": progress_thrice,
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": asking(NAME),
    "test_input_required_result_elicitation": asking(NAME, answer="Hello,"),
    "test_input_required_result_sampling": asking({"capital_question": sample("What is the capital of France?", 100)}),
    "test_input_required_result_list_roots": asking({"client_roots": ROOTS}),
    "test_input_required_result_request_state": asking({"confirm": elicit("Please confirm", "ok", "boolean")}, "asked"),
    "test_input_required_result_tampered_state": asking(
        {"confirm": elicit("Please confirm", "ok", "boolean")}, "asked"
    ),
    "test_input_required_result_multiple_inputs": asking(
        {**NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}, "asked"
    ),
    "test_input_required_result_multi_round": two_rounds,
    "test_input_required_result_capabilities": what_the_client_can,
}

PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""As the suite prescribes it, to see that no keyword is lost on the way."""

HEADER_TOOL = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}

RESOURCES = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", PIXEL),
    "test://watched-resource": ("text/plain", "watched"),
}
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
HINT = CacheHint(ttl_ms=60_000, scope="public")


async def list_resources(context: Context, params: Any) -> Any:
    listed = [types.Resource(uri=uri, name=uri, mime_type=mime) for uri, (mime, _) in RESOURCES.items()]
    return types.ListResourcesResult(resources=listed, ttl_ms=HINT.ttl_ms, cache_scope=HINT.scope)


async def list_templates(context: Context, params: Any) -> Any:
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data", name="template", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[template], ttl_ms=HINT.ttl_ms, cache_scope=HINT.scope)


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    if uri.startswith("test://template/"):
        words = '{"id":"%s","templateTest":true,"data":"Data for ID: %s"}' % ((uri.split("/")[3],) * 2)
        content: Any = types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
    elif uri not in RESOURCES:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    elif RESOURCES[uri][0] == "image/png":
        content = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    else:
        content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=RESOURCES[uri][1])
    return types.ReadResourceResult(contents=[content], ttl_ms=HINT.ttl_ms, cache_scope=HINT.scope)


async def list_prompts(context: Context, params: Any) -> Any:
    listed = [
        types.Prompt(
            name=name,
            description=f"Fixture {name}.",
            arguments=[types.PromptArgument(name=one, description=one, required=True) for one in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=listed, ttl_ms=HINT.ttl_ms, cache_scope=HINT.scope)


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    said: list[Any] = [types.TextContent(text="This is a simple prompt for testing.")]
    if params.name == "test_prompt_with_arguments":
        words = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
        said = [types.TextContent(text=words)]
    elif params.name == "test_prompt_with_embedded_resource":
        said = [
            embedded(str(given.get("resourceUri")), "text/plain", "Embedded resource content for testing."),
            *said,
        ]
    elif params.name == "test_prompt_with_image":
        said = [IMAGE, *said]
    elif params.name == "test_input_required_result_prompt":
        if "user_context" not in (params.input_responses or {}):
            return need({"user_context": elicit("What context should the prompt use?", "context")})
    elif params.name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in said])


async def complete(context: Context, params: types.CompleteRequestParams) -> Any:
    values = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def nothing(context: Context, params: Any) -> Any:
    return types.EmptyResult()


def add_fixtures(server: Server[object]) -> None:
    """Put the suite's tools beside the product's, and resources, prompts and completion, which the product has not."""
    product_list, product_call = server.get_request_handler("tools/list"), server.get_request_handler("tools/call")
    assert product_list is not None
    assert product_call is not None

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> Any:
        listed = await product_list.handler(context, params)
        schemas = {"json_schema_2020_12_tool": PERSON, "test_custom_header": HEADER_TOOL}
        more = [
            types.Tool(name=name, description=f"Fixture {name}.", input_schema=schemas.get(name, {"type": "object"}))
            for name in (*CALLS, "test_custom_header")
        ]
        return types.ListToolsResult(tools=[*listed.tools, *more], ttl_ms=HINT.ttl_ms, cache_scope=HINT.scope)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
        if params.name == "test_custom_header":
            return text(str((params.arguments or {}).get("region")))
        call = CALLS.get(params.name)
        return await (call(context, params) if call else product_call.handler(context, params))

    server.get_tool_input_schema = None  # the fixtures' schemas are found in their list
    paged = types.PaginatedRequestParams
    server.add_request_handler("tools/list", paged, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.add_request_handler("resources/list", paged, list_resources)
    server.add_request_handler("resources/templates/list", paged, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, nothing)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, nothing)
    server.add_request_handler("prompts/list", paged, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)


def main(project: str, data_dir: str) -> None:
    session = Session(load_settings(project, data_dir, environment={}))
    server = make_server(session)
    add_fixtures(server)
    with listen("127.0.0.1", 0) as listening:
        access = make_access("127.0.0.1", is_open=False)
        site = HttpSite(listening, access, RequestLimits(1 << 20, 60, 8, 64))
        where = url_of(listening, "127.0.0.1", None, HTTP_PATH)
        serve_http(
            server,
            session,
            site,
            lambda: print(f"serving fixtures at {where}", file=sys.stderr, flush=True),
            lambda: session_health(session),
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
