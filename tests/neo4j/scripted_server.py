"""A Bolt 5.2 server that says what it is told to: the errors of a Memgraph, word for word, through the real driver.

Every RUN and every COMMIT takes the next line of the script: None succeeds, (code, message) fails, `HANG_UP` ends the
connection. A RUN that succeeds gives the rows that follow from its text in `answers`, else none.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

Failure = tuple[str, str]
MEMGRAPH = "Neo4j/v5.11.0 compatible graph database server - Memgraph"
TRANSIENT = "Memgraph.TransientError.MemgraphError.MemgraphError"
CLIENT = "Memgraph.ClientError.MemgraphError.MemgraphError"
HANG_UP: Failure = ("", "")

_NAMES = {0x01: "HELLO", 0x02: "GOODBYE", 0x0F: "RESET", 0x10: "RUN", 0x11: "BEGIN", 0x12: "COMMIT", 0x13: "ROLLBACK"}
_NAMES |= {0x2F: "DISCARD", 0x3F: "PULL", 0x6A: "LOGON", 0x6B: "LOGOFF", 0x54: "TELEMETRY"}
_SUCCESS, _RECORD, _IGNORED, _FAILURE = 0x70, 0x71, 0x7E, 0x7F


class ScriptedServer:
    """Use as an asynchronous context; `heard` is what it was sent, message by message, without the greetings."""

    def __init__(self, script: list[Failure | None], answers: Callable[[str], list[list[Any]]] = lambda _: []) -> None:
        self.script, self.answers = script, answers
        self.heard: list[tuple[str, list[Any]]] = []
        self.agent = MEMGRAPH
        self.refuses: Failure | None = None
        """What whoever logs on is told."""
        self._connections: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.uri = f"bolt://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    def hang_up(self) -> None:
        """End all connections, as a restart does."""
        for connection in self._connections:
            connection.close()

    def count(self, name: str) -> int:
        """How often a message came."""
        return sum(heard == name for heard, _ in self.heard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            await reader.readexactly(20)
            writer.write(bytes((0, 0, 2, 5)))
            await _Conversation(self, reader, writer).run()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()


class _Conversation:
    def __init__(self, server: ScriptedServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.failed, self.rows = False, list[list[Any]]()

    async def run(self) -> None:
        while True:
            name, fields = await self._message()
            if name == "GOODBYE":
                return
            if name not in ("HELLO", "LOGON"):
                self.server.heard.append((name, fields))
            self._answer(name, fields)
            await self.writer.drain()

    def _answer(self, name: str, fields: list[Any]) -> None:
        if name == "RESET":
            self.failed = False
        elif self.failed:
            return self._send(_IGNORED)
        if name == "HELLO":
            return self._send(_SUCCESS, {"server": self.server.agent, "connection_id": "bolt-1"})
        failure = self.server.refuses if name == "LOGON" else None
        if name in ("RUN", "COMMIT") and self.server.script:
            failure = self.server.script.pop(0)
        if failure == HANG_UP:
            raise ConnectionAbortedError
        if failure:
            self.failed = True
            return self._send(_FAILURE, {"code": failure[0], "message": failure[1]})
        if name == "RUN":
            self.rows = self.server.answers(fields[0])
            width = len(self.rows[0]) if self.rows else 1
            return self._send(_SUCCESS, {"fields": [f"c{number}" for number in range(width)]})
        if name in ("PULL", "DISCARD"):
            for row in self.rows if name == "PULL" else ():
                self._send(_RECORD, row)
            return self._send(_SUCCESS, {"has_more": False})
        return self._send(_SUCCESS, {})

    async def _message(self) -> tuple[str, list[Any]]:
        data = b""
        while True:
            (size,) = struct.unpack(">H", await self.reader.readexactly(2))
            if size == 0 and data:
                break
            data += await self.reader.readexactly(size)
        fields = [value for value, _ in [_unpack(data, 2)]] if data[0] & 0x0F else []
        at = _unpack(data, 2)[1] if fields else 2
        for _ in range((data[0] & 0x0F) - 1):
            value, at = _unpack(data, at)
            fields.append(value)
        return _NAMES[data[1]], fields

    def _send(self, tag: int, *fields: object) -> None:
        data = bytes((0xB0 + len(fields), tag)) + b"".join(map(_pack, fields))
        self.writer.write(struct.pack(">H", len(data)) + data + b"\0\0")


def _pack(value: object) -> bytes:
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xcb" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xc1" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return b"\xd2" + struct.pack(">I", len(data)) + data
    if isinstance(value, list):
        return b"\xd6" + struct.pack(">I", len(value)) + b"".join(map(_pack, value))
    assert isinstance(value, dict)
    return b"\xda" + struct.pack(">I", len(value)) + b"".join(_pack(key) + _pack(item) for key, item in value.items())


_SIZED = {0xD0: (">B", 1, "s"), 0xD1: (">H", 2, "s"), 0xD2: (">I", 4, "s"), 0xD4: (">B", 1, "l"), 0xD5: (">H", 2, "l")}
_SIZED |= {0xD6: (">I", 4, "l"), 0xD8: (">B", 1, "m"), 0xD9: (">H", 2, "m"), 0xDA: (">I", 4, "m")}
_NUMBERS = {0xC8: (">b", 1), 0xC9: (">h", 2), 0xCA: (">i", 4), 0xCB: (">q", 8), 0xC1: (">d", 8)}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    mark, at = data[at], at + 1
    if mark in _CONSTANTS:
        return _CONSTANTS[mark], at
    if mark in _NUMBERS:
        form, size = _NUMBERS[mark]
        return struct.unpack_from(form, data, at)[0], at + size
    if mark < 0x80 or mark >= 0xF0:
        return (mark if mark < 0x80 else mark - 256), at
    if mark in _SIZED:
        form, width, kind = _SIZED[mark]
        size, at = struct.unpack_from(form, data, at)[0], at + width
    else:
        kind, size = {0x80: "s", 0x90: "l", 0xA0: "m"}[mark & 0xF0], mark & 0x0F
    if kind == "s":
        return data[at : at + size].decode(), at + size
    items: list[Any] = []
    for _ in range(size * (2 if kind == "m" else 1)):
        item, at = _unpack(data, at)
        items.append(item)
    return (items if kind == "l" else dict(zip(items[::2], items[1::2], strict=True))), at
