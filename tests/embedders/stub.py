"""An embedding server on loopback that behaves as TEI does (limits, permits, status codes), and misbehaves on request.

Vectors are of hashed words: texts that share words are near, and different models make different vectors.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """`body` is JSON, or bytes sent as they are; `cut` closes the connection in the middle of it."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


def failure(status: int, text: str, kind: str, **headers: str) -> Reply:
    return Reply(status, {"error": text, "error_type": kind}, {k.replace("_", "-"): v for k, v in headers.items()})


Misbehaviour = Callable[[str, list[str]], "Reply | Awaitable[Reply] | None"]
"""(path, texts) -> what to answer instead; None = behave."""


@dataclass
class Stub:
    """Settings may be changed while it runs."""

    dimension: int = 384
    model: str = "test/code-embedder"
    sha: str = "a" * 40
    key: str = ""
    max_client_batch_size: int = 32
    max_batch_tokens: int = 16384
    max_input_length: int = 8192
    max_concurrent_requests: int = 512
    payload_limit: int = 2_000_000
    kind: str = "embedding"
    seconds: float = 0.0
    """How long a request takes."""
    misbehave: Misbehaviour | None = None
    embed: Callable[[list[str]], Awaitable[list[list[float]]]] | None = None
    """Makes real vectors."""
    base64: bool = False
    shuffle: bool = False

    requests: list[tuple[str, list[str]]] = field(default_factory=list)
    """Of paths that embed."""
    codes: list[int] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    connections: int = 0
    infos: int = 0
    at_work: int = 0
    most_at_work: int = 0
    permits_used: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        return [text for _, texts in self.requests for text in texts]

    async def asked(self, count: int) -> None:
        """Wait until that many requests to embed have come in."""
        async with asyncio.timeout(10):
            while len(self.requests) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Stub]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    async def start(self) -> None:
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 24)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """End as a killed process does: connections break."""
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5.0)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        _, path, _ = head[0].split()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        reply = await self._answer(path, headers, body)
        self.codes.append(reply.status)
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        writer.write(f"HTTP/1.1 {reply.status} X\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode())
        writer.write(data[: len(data) // 2] if reply.cut else data)
        await writer.drain()
        return not reply.cut

    async def _answer(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return failure(401, f"Unauthorized: {headers.get('authorization')}", "Unauthorized")
        if path == "/info":
            self.infos += 1
            return Reply(200, self._info())
        if path not in ("/embed", "/v1/embeddings"):
            return failure(404, "no such route", "NotFound")
        if len(body) > self.payload_limit:
            return Reply(413, b"length limit exceeded")
        asked: dict[str, Any] = json.loads(body)
        self.bodies.append(asked)
        texts = asked.get("inputs", asked.get("input"))
        self.requests.append((path, texts))
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            if self.misbehave is not None and (instead := self.misbehave(path, texts)) is not None:
                return instead if isinstance(instead, Reply) else await instead
            return await self._vectors(path, texts, asked)
        finally:
            self.at_work -= 1

    async def _vectors(self, path: str, texts: list[str], asked: dict[str, Any]) -> Reply:
        if not texts:
            return failure(400, "`inputs` cannot be empty", "Empty")
        if len(texts) > self.max_client_batch_size:
            said = f"batch size {len(texts)} > maximum allowed batch size {self.max_client_batch_size}"
            return failure(422, said, "Validation")
        taken = 0
        try:
            for text in texts:  # one permit for each, none is waited for
                if self.permits_used >= self.max_concurrent_requests:
                    return failure(429, "Model is overloaded", "Overloaded")
                self.permits_used += 1
                taken += 1
                if not text:
                    return failure(400, "`inputs` cannot be empty", "Empty")
                tokens = len(text.encode()) // 4 + 2
                if tokens > self.max_input_length and not asked.get("truncate"):
                    said = f"`inputs` must have less than {self.max_input_length} tokens. Given: {tokens}"
                    return failure(422, said, "Validation")
            await asyncio.sleep(self.seconds)
            cut = [text[: 4 * self.max_input_length] for text in texts]
            vectors = await self.embed(cut) if self.embed else [self.vector(text) for text in cut]
        finally:
            self.permits_used -= taken
        return Reply(200, vectors if path == "/embed" else self._openai(vectors))

    def _openai(self, vectors: list[list[float]]) -> dict[str, Any]:
        import base64
        import struct

        def shown(vector: list[float]) -> object:
            packed = struct.pack(f"<{len(vector)}f", *vector)
            return base64.b64encode(packed).decode() if self.base64 else vector

        data = [{"object": "embedding", "index": i, "embedding": shown(v)} for i, v in enumerate(vectors)]
        return {"object": "list", "data": data[::-1] if self.shuffle else data, "model": self.model, "usage": {}}

    def _info(self) -> dict[str, Any]:
        return {
            "model_id": self.model,
            "model_sha": self.sha,
            "model_dtype": "float32",
            "model_type": {self.kind: {"pooling": "cls"}},
            "max_concurrent_requests": self.max_concurrent_requests,
            "max_input_length": self.max_input_length,
            "max_batch_tokens": self.max_batch_tokens,
            "max_client_batch_size": self.max_client_batch_size,
            "auto_truncate": True,
            "version": "1.9.3",
        }

    def vector(self, text: str) -> list[float]:
        """The vector of a text, not normalised when there is more than one word."""
        values = [0.0] * self.dimension
        for word in re.findall(r"[a-z]{3,}", text.lower()):
            values[zlib.crc32(f"{self.sha}{word}".encode()) % self.dimension] += 1.0
        length = math.hypot(*values)
        return [value / length for value in values] if length else [1.0, *values[1:]]
