"""Servers over HTTP that attack the chat: answers that are packed or never end, and streams that end at once."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from atlas.chat.server_spec import ServerSpec

from .test_rogue import chat, memory, results

TOOL = {"name": "fine", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def packed(body: bytes) -> bytes:
    """An answer behind 400 MB of spaces, packed."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(b" " * (1 << 20)) for _ in range(400)), packer.compress(body), packer.flush()])


class Rogue(ThreadingHTTPServer):
    daemon_threads = True
    attack = ""
    streams = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the client has ended the connection."""


class Handler(BaseHTTPRequestHandler):
    server: Rogue
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.streams += 1
        body = b"retry: 0\nid: 1\ndata:\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self) -> None:
        self._answer(200, b"{}")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self._answer(202, b"")
            return
        result: dict[str, Any] | None = None
        match message["method"]:
            case "initialize":
                info = {"name": "rogue", "version": "1"}
                able = {"tools": {}}
                result = {"protocolVersion": "2025-06-18", "capabilities": able, "serverInfo": info}
            case "tools/list":
                result = {"tools": [TOOL]}
            case "tools/call" if self.server.attack == "endless":
                self._endless()
                return
            case "tools/call":
                result = {"content": [{"type": "text", "text": "fine done"}]}
            case _:
                pass
        error = {"code": -32601, "message": "unknown"}
        answer = {"result": result} if result is not None else {"error": error}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()
        is_packed = self.server.attack == "packed" and message["method"] == "tools/call"
        self._answer(200, packed(body) if is_packed else body, is_packed=is_packed)

    def _answer(self, status: int, body: bytes, *, is_packed: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", "s")
        if is_packed:
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(1 << 40))
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" " * (1 << 20))
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def rogue(attack: str) -> Iterator[Rogue]:
    server = Rogue(("127.0.0.1", 0), Handler)
    server.attack = attack
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("attack", ["packed", "endless"])
async def test_an_answer_that_unpacks_or_never_ends_is_an_error(tmp_path: Path, attack: str) -> None:
    before, began = memory(), time.monotonic()
    with rogue(attack) as server:
        spec = ServerSpec("rogue", url=f"http://127.0.0.1:{server.server_port}/mcp")
        async with chat(tmp_path, spec, "fine", call_seconds=20) as (session, _, _):
            assert session.hub.connections["rogue"].state == "ready", session.hub.connections["rogue"].problem
            await session.ask("go")
            assert results(session)[0].startswith("error: rogue"), results(session)[0][:200]
    assert memory() - before < 250
    assert time.monotonic() - began < 60


async def test_a_stream_that_ends_at_once_is_not_opened_thousands_of_times(tmp_path: Path) -> None:
    with rogue("") as server:
        spec = ServerSpec("rogue", url=f"http://127.0.0.1:{server.server_port}/mcp")
        async with chat(tmp_path, spec, "fine") as (session, _, _):
            await session.ask("go")
            assert results(session) == ["fine done"]
            await asyncio.sleep(5)
        assert 2 <= server.streams <= 250
