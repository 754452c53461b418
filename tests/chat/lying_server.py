"""A server without the SDK whose results are not what it declares: `lying_server.py [broken-list]`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


READS = {"readOnlyHint": True}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
RESULTS: dict[str, Any] = {
    "other": {"content": [], "structuredContent": {"n": "three"}},
    "none": {"content": []},
    "malformed": {"content": "text"},
    "unknown": {"content": [{"type": "hologram", "data": 3}]},
    "binary": {"content": [{"type": "resource", "resource": {"uri": "x://y", "blob": "AAECAw==", "mimeType": "a/b"}}]},
    "image": {"content": [{"type": "image", "data": "no base64!", "mimeType": "image/png"}]},
    "late": {"content": [{"type": "text", "text": "too late"}]},
    "fine": {"content": [{"type": "text", "text": "fine"}]},
}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "inputSchema": {} if name == "fine" else {"type": "object"}, "annotations": READS}
    | ({"outputSchema": NUMBER} if name in ("other", "none") else {})
    for name in (*RESULTS, "busy")
]

for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            send(id=message["id"], result={**answer, "serverInfo": {"name": "liar", "version": "1"}})
        case "tools/list":
            send(id=message["id"], result={"tools": [{"name": 3}] if "broken-list" in sys.argv else TOOLS})
        case "tools/call":
            name = message["params"]["name"]
            if name == "busy":
                send(id=message["id"], error={"code": -32000, "message": "the database is busy"})
                continue
            if name == "late":
                time.sleep(3)
            send(id=message["id"], result=RESULTS[name])
            if name == "late":
                send(id=message["id"], result=RESULTS[name])
        case _:
            if "id" in message and "method" in message:
                send(id=message["id"], error={"code": -32601, "message": "unknown"})
