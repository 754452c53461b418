"""Messages of a server to the chat: each is read within its limits or refused, and what is shown is printable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from pydantic import ValidationError

from atlas.chat.approvals import Approvals
from atlas.chat.content import of_result
from atlas.chat.hub import Hub
from atlas.chat.offer import MAX_DEFINITION, MAX_NAME, ServerOffer, _prompt, _resource, _template, _Tools
from atlas.chat.references import expand, template_pattern, variables
from atlas.chat.schemas import argument_problem, result_problem
from atlas.chat.stdio import _parsed
from atlas.cli.chat.forms import fill_form
from atlas.core.invisible import one_line, printable
from tests.fuzz.target import Target


def answer(**result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


def request(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "s1", "method": method, "params": params}).encode()


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FIELDS = {
    "n": {"type": "integer", "minimum": 1, "default": 2},
    "e": {"enum": ["x", "y"], "enumNames": ["X"]},
    "l": {"type": "array", "items": {"anyOf": [{"const": "p", "title": "P"}]}},
    "d": {"type": "string", "format": "date-time", "maxLength": 30},
}
TOOL = {"name": "t", "description": "d", "inputSchema": SCHEMA, "outputSchema": SCHEMA}
SEEDS = [
    answer(tools=[{**TOOL, "annotations": {"readOnlyHint": True}}, {**TOOL, "name": "u"}], nextCursor="c"),
    answer(resources=[{"uri": "a://b", "name": "n", "description": "d"}]),
    answer(resourceTemplates=[{"uriTemplate": "a://{b}/{+c}{?d,e}", "name": "n"}]),
    answer(prompts=[{"name": "p", "arguments": [{"name": "a", "required": True}]}]),
    answer(content=[{"type": "text", "text": "x\x1b[31m"}], structuredContent={"a": "b"}),
    answer(content=[{"type": "image", "data": "aGk=", "mimeType": "image/png"}], isError=True),
    answer(content=[{"type": "resource", "resource": {"uri": "a://b", "text": "t"}}]),
    answer(
        content=[
            {"type": "resource_link", "uri": "a://b", "name": "n"},
            {"type": "audio", "data": "", "mimeType": "a/b"},
        ]
    ),
    request(
        "elicitation/create",
        message="m\nn",
        requestedSchema={"type": "object", "properties": FIELDS, "required": ["n"]},
    ),
    request("elicitation/create", mode="url", message="m", url="https://h/x", elicitationId="e"),
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"a":[1]}}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}',
    b"[" * 3000,
]
ANSWERS = ("y", "1", "x", "2026-11-25T10:00:00Z", "", "p")


class ServerMessages(Target):
    name = "server_messages"
    words = (
        *(b'"name"', b'"tools"', b'"inputSchema"', b'"properties"', b'"required"', b'"type"', b'"enum"', b'"default"'),
        *(b'"uriTemplate"', b"{+a}", b"{?a}", b"{", b"}", b"[]", b"{}", b"null", b"1e999", b"NaN", b"9" * 5000),
        *(b'"\\ud800"', b"\\u001b]0;", b"\\u202e", b"\\n", b'"pattern"', b'"$ref"', b'"url"', b'"minLength"'),
    )

    def seeds(self) -> Sequence[bytes]:
        return SEEDS

    def check(self, data: bytes) -> str:
        read = _parsed(data.replace(b"\n", b" "))
        if isinstance(read, Exception):
            return "refused"
        message = read.message
        if isinstance(message, types.JSONRPCResponse):
            return " ".join(one(message.result) for one in (self._tools, self._lists, self._result))
        if isinstance(message, types.JSONRPCRequest):
            return asyncio.run(self._question(message.params or {}))
        return type(message).__name__

    def _tools(self, result: dict[str, Any]) -> str:
        try:
            listed = types.ListToolsResult.model_validate(result).tools
        except (ValidationError, TypeError, ValueError):
            return "-"
        kept = _Tools()
        tools = tuple(one for one in map(kept.add, listed) if one is not None)
        assert all(len(text) <= MAX_DEFINITION for text in kept.definitions.values())
        server: Any = Server(ServerOffer(tools=tools, definitions=kept.definitions))
        routes = Hub([server]).tools()
        assert len({route.name for route in routes}) == len(routes) == len(tools)
        answers = Approvals()
        for route in routes:
            json.dumps(route.declaration, allow_nan=False).encode()
            argument_problem(route.tool, {"a": 1})
            result_problem(route.tool, types.CallToolResult(content=[], structured_content={"a": 1}))
            assert not answers.changes(route) and not answers.allows(route)
        return f"{len(tools)} tools"

    def _lists(self, result: dict[str, Any]) -> str:
        count = 0
        lists: list[tuple[Any, str, Any]] = [
            (types.ListResourcesResult, "resources", _resource),
            (types.ListResourceTemplatesResult, "resource_templates", _template),
            (types.ListPromptsResult, "prompts", _prompt),
        ]
        for kind, name, keep in lists:
            try:
                items = getattr(kind.model_validate(result), name)
            except (ValidationError, TypeError, ValueError):
                continue
            kept = [one for one in map(keep, items) if one is not None]
            count += len(kept)
            assert all(len(one.name) <= MAX_NAME for one in kept)
            for one in kept if name == "resource_templates" else ():
                expand(one.uri_template, dict.fromkeys(variables(one.uri_template), "x"))
                template_pattern(one.uri_template).fullmatch("a://b/c?d=e")
        return str(count)

    def _result(self, result: dict[str, Any]) -> str:
        try:
            found = types.CallToolResult.model_validate(result)
        except (ValidationError, TypeError, ValueError):
            return "-"
        text = of_result(found).text
        assert printable(printable(text)) == printable(text)
        printable(text).encode()
        return "result"

    async def _question(self, params: dict[str, Any]) -> str:
        kind = types.ElicitRequestURLParams if "url" in params else types.ElicitRequestFormParams
        try:
            asked = kind.model_validate(params)
        except (ValidationError, TypeError, ValueError):
            return "-"
        left = [*ANSWERS, *ANSWERS]
        lines: list[str] = []

        async def ask(line: str) -> str:
            lines.append(line)
            if not left:
                raise EOFError
            return left.pop(0)

        try:
            found = await fill_form("server", asked, ask, lines.append)
        except (TypeError, ValueError):  # the session answers with an error
            return "error"
        assert all(line == one_line(line) for line in lines)
        return found.action


class Server:
    """What a hub needs of a connection."""

    def __init__(self, offer: ServerOffer) -> None:
        from atlas.chat.server_spec import ServerSpec

        self.spec, self.offer, self.declared = ServerSpec("s", "x"), offer, offer.definitions

    def vouches(self, tool: types.Tool) -> bool:
        return True
