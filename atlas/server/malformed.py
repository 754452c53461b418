"""Answers to messages that are no JSON (-32700) or no JSON-RPC (-32600), which the SDK logs or calls invalid arguments.

A client that waits for the answer of a malformed request learns of it, and the session goes on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from atlas.runtime.process.stdin import STDIO_LINE, TOO_LONG

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

NO_REQUEST = "not a JSON-RPC 2.0 message: it needs jsonrpc, method and, to be answered, id; batches are not supported"
SDK_PREFIX = "Validation error"
"""How the SDK's answer over HTTP to a message that is no JSON-RPC begins."""


class Incoming(Protocol):
    """The messages of a client; what cannot be read is an exception."""

    def __aiter__(self) -> Incoming: ...
    async def __anext__(self) -> SessionMessage | Exception: ...


class Outgoing(Protocol):
    """Where messages to a client are written."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message."""
        ...


@asynccontextmanager
async def malformed_answered(incoming: Incoming, outgoing: Outgoing) -> AsyncGenerator[Any]:
    """Yield the well-formed messages of a client; the others are answered."""
    forward, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async def read() -> None:
        async with forward:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    await forward.send(item)
                elif (error := error_of(item)) is not None:
                    await outgoing.send(SessionMessage(error))

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        yield messages
        group.cancel_scope.cancel()


def error_of(problem: Exception) -> types.JSONRPCError | None:
    """Return the answer to a line that is no message, None for an empty line."""
    if not isinstance(problem, ValidationError):
        return _error(types.PARSE_ERROR, "not JSON")
    errors = problem.errors(include_url=False, include_context=False)
    first = errors[0]
    if first["type"] == "json_invalid":
        if not str(first["input"]).strip():
            return None
        if first["input"] == TOO_LONG:
            return _error(types.INVALID_REQUEST, f"a message may have at most {STDIO_LINE:,} characters")
        return _error(types.PARSE_ERROR, f"not JSON: {first['msg'].removeprefix('Invalid JSON: ')}")
    whole = next((one["input"] for one in errors if one["type"] == "missing" and len(one["loc"]) == 2), None)
    number = cast("dict[str, object]", whole).get("id") if isinstance(whole, dict) else None
    known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
    return _error(types.INVALID_REQUEST, NO_REQUEST, known)


def _error(code: int, message: str, number: int | str | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message))


def with_codes(app: App) -> App:
    """Return an HTTP application that answers what is no JSON-RPC with -32600 and few words, not with -32602."""

    async def answer(scope: Any, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        refused: list[Message] = []

        async def correct(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 400:
                refused.append(message)
            elif not refused:
                await send(message)
            else:
                body = _corrected(message.get("body", b""))
                start = refused.pop()
                kept = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
                await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
                await send({**message, "body": body})

        await app(scope, receive, correct)

    return answer


def _corrected(body: bytes) -> bytes:
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return body
    if error.get("code") != types.INVALID_PARAMS or not str(error.get("message")).startswith(SDK_PREFIX):
        return body
    return _error(types.INVALID_REQUEST, NO_REQUEST).model_dump_json(by_alias=True).encode()
