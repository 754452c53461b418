"""MCP messages: over stdio and HTTP each is answered or ignored as JSON-RPC says, and the server goes on."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.fuzz.target import Target
from tests.surfaces.http_server import META, http_server, message
from tests.surfaces.processes import COMMAND, environment, filled

INFO = {"capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}, "protocolVersion": "2025-11-25"}


def rpc(method: str, number: object = 1, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


SEEDS = [
    rpc("initialize", **INFO),
    rpc("tools/list", **META),
    rpc("ping"),
    rpc("tools/call", name="get_node", arguments={"name": "Cart", "path": "shop/"}, **META),
    rpc(
        "tools/call", name="cypher_query", arguments={"query": "MATCH (n) RETURN n.name LIMIT 3", "params": {"a": [1]}}
    ),
    rpc("tools/call", name="hybrid_search", arguments={"query": "discount", "limit": 3, "token_budget": 500}, **META),
    rpc("tools/call", "text", name="get_context", arguments={"name": "Cart", "token_budget": 800}, **META),
    rpc("resources/read", uri="file:///etc/passwd"),
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}',
    b"[" + rpc("ping") + b"," + rpc("ping", 2) + b"]",
    b"[" * 5000,
    b'{"a":' * 5000,
    rpc("tools/call", 10**400, name="status", arguments={}),
]


class Messages(Target):
    name = "messages"
    words = (b'"id"', b'"method"', b'"params"', b'"jsonrpc"', b'"2.0"', b"null", b"true", b"1e400", b"-1", b"{}", b"[]", b'""', b'"_meta"', b'"tools/call"', b'"\\ud800"', b'"name"', b'"arguments"')  # fmt: skip

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._held = ExitStack()
        place = asyncio.run(filled(folder))
        self._stdio = self._held.enter_context(
            subprocess.Popen(
                [*COMMAND, "mcp", *place.options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
            )
        )
        self._held.callback(self._stdio.kill)
        self._served = self._held.enter_context(http_server(place))
        self._asked = 0
        self._say(SEEDS[0])
        self._say(SEEDS[8])

    def seeds(self) -> Sequence[bytes]:
        return SEEDS

    def check(self, data: bytes) -> str:
        self._say(data.replace(b"\r", b" ").replace(b"\n", b" "))
        self._asked += 1
        ours = f"fuzz-{self._asked}"
        self._say(rpc("ping", ours))
        while self._heard().get("id") != ours:
            pass
        version = META["_meta"]["io.modelcontextprotocol/protocolVersion"] if len(data) % 2 else "2025-11-25"
        _, headers = message("get_node")
        method = {"Mcp__Method": "tools/call", "Mcp__Name": "get_node"} if len(data) % 3 else {}
        kept = {name: value for name, value in headers.items() if not name.startswith("Mcp__")}
        reply = self._served.request("POST", "/mcp", data, **{**kept, **method, "MCP__Protocol__Version": version})
        assert reply.status in (200, 202, 400, 404), (reply.status, reply.body[:300])
        assert self._served.process.poll() is None
        assert "Traceback" not in self._served.log, self._served.log[-3000:]
        return str(reply.status)

    def close(self) -> None:
        self._held.close()

    def _say(self, line: bytes) -> None:
        assert self._stdio.stdin is not None
        self._stdio.stdin.write(line + b"\n")
        self._stdio.stdin.flush()

    def _heard(self) -> dict[str, object]:
        """The next message of the server, which must be one."""
        assert self._stdio.stdout is not None
        if not self._stdio.stdout.peek(1):  # type: ignore[attr-defined]
            raise AssertionError(f"the server over stdio ended: {self._stdio.wait(10)}")
        said = json.loads(self._stdio.stdout.readline())
        assert isinstance(said, dict) and said["jsonrpc"] == "2.0"
        return said
