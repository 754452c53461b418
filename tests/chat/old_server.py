"""A server of revision 2025-06-18 without the SDK: `ask` asks for the client's roots and the user's name."""

from __future__ import annotations

import json
import sys
from typing import Any


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    send(id=f"s{number}", method=method, params=params)
    while (answer := receive()).get("id") != f"s{number}":
        pass
    return answer["result"]


def call() -> str:
    send(method="notifications/message", params={"level": "warning", "data": "look out"})
    roots = request(1, "roots/list", {})["roots"]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = request(2, "elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
    return f"{answer['action']}; roots: {roots[0]['name']}"


TOOL = {"name": "ask", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}

while True:
    message = receive()
    match message.get("method"):
        case "initialize":
            info = {"name": "old", "version": "1"}
            capabilities = {"tools": {}, "logging": {}}
            send(
                id=message["id"],
                result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info},
            )
        case "tools/list":
            send(id=message["id"], result={"tools": [TOOL]})
        case "tools/call":
            text = call()
            send(id=message["id"], result={"content": [{"type": "text", "text": text}]})
        case _:
            if "id" in message and "method" in message:
                send(id=message["id"], error={"code": -32601, "message": "unknown"})
