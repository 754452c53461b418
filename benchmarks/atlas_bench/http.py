"""Load test of one MCP server over HTTP: errors, distribution of answer times, memory growth.

The clients are plain HTTP/1.1 connections of this process, each with one request in progress. Requests are built before
the clock starts and answers are only searched for errors, so that the measurement covers the server. The clients' CPU
time is reported too, because they share the machine with it.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import AtlasError
from atlas_bench.process import ATLAS, ENVIRONMENT, run
from atlas_bench.query import SAMPLE

REVISION = "2026-07-28"

WARM_REQUESTS = 500
"""Requests before the first memory reading: caches fill and threads start."""

MIX = (
    *("get_node",) * 5, *("hybrid_search",) * 4, *("get_context",) * 3, *("text_search",) * 2, *("cypher_query",) * 2,
    "vector_search", "status", "schema_info", "tools/list",
)  # fmt: skip
"""Tools called in twenty consecutive requests."""

CYPHER = "MATCH (n {uid: $uid})<-[:CALLS]-(m) RETURN m.qualified_name AS caller ORDER BY caller LIMIT 20"

TARGET_P95_MS, TARGET_GROWTH = 250.0, 10.0

RESULT_WITHIN = 64
"""Bytes of an answer that contain its id and whether it is a result."""

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")

TOKEN = secrets.token_urlsafe(32)
"""The benchmark's own server must not answer other users of the machine either."""

Question = tuple[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class HttpReport:
    """Output of `atlas bench http`; times in milliseconds, memory in MB."""

    clients: int
    workers: int
    pause_ms: int
    requests: int
    errors: int
    first_error: str
    seconds: float
    p50_ms: float
    p95_ms: float
    worst_ms: float
    server_cpu_ms: float
    """Sum over all processes of the server, per request."""
    client_cpu_ms: float
    """CPU time of this process, per request."""
    warm_rss_mb: float
    """Sum over all processes of the server; shared memory counts for each."""
    end_rss_mb: float

    @property
    def growth(self) -> float:
        """Growth of the resident memory after the first requests, in percent."""
        return 100 * (self.end_rss_mb / self.warm_rss_mb - 1)

    @property
    def reached(self) -> bool:
        """Whether all targets were met."""
        return not self.errors and self.p95_ms <= TARGET_P95_MS and self.growth < TARGET_GROWTH


def bench_http(tree: Path, data: Path, clients: int, requests: int, pause_ms: int, workers: int = 1) -> HttpReport:
    """Index `tree` into `data` if needed, then measure the server under load.

    Raises AtlasError if it cannot be measured.
    """
    run(["index", str(tree), "--data-dir", str(data)])
    arguments = ["mcp", "--transport", "http", "--port", "0", "--project", str(tree), "--data-dir", str(data)]
    arguments += ["--workers", str(workers)]
    environment = {**ENVIRONMENT, "ATLAS_MCP_TOKEN": TOKEN}
    with subprocess.Popen(
        [*ATLAS, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            port = _port(process)
            load = asyncio.run(_ask_all(process.pid, port, clients, requests, pause_ms))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    spent = load.end.cpu_seconds - load.warm.cpu_seconds
    return HttpReport(
        clients=clients,
        workers=workers,
        pause_ms=pause_ms,
        requests=len(load.times),
        errors=len(load.errors),
        first_error=load.errors[0] if load.errors else "",
        seconds=load.seconds,
        p50_ms=statistics.median(load.times),
        p95_ms=statistics.quantiles(load.times, n=20)[-1],
        worst_ms=max(load.times),
        server_cpu_ms=1000 * spent / len(load.times),
        client_cpu_ms=1000 * load.client_cpu_seconds / len(load.times),
        warm_rss_mb=load.warm.rss_mb,
        end_rss_mb=load.end.rss_mb,
    )


@dataclass(frozen=True, slots=True)
class _Used:
    """Resources that all processes of a server have used so far."""

    cpu_seconds: float
    rss_mb: float


@dataclass(frozen=True, slots=True)
class _Load:
    times: list[float]
    errors: list[str]
    seconds: float
    client_cpu_seconds: float
    warm: _Used
    end: _Used


def _used(server: int) -> _Used:
    """Read the values from `ps`, which knows the child processes on every system."""
    command = ["ps", "-A", "-o", "pid=,ppid=,rss=,time="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    own = [row for row in rows if str(server) in row[:2]]
    return _Used(sum(_seconds(row[3]) for row in own), sum(int(row[2]) for row in own) / 1024)


def _seconds(time_text: str) -> float:
    """Convert `[[days-]hours:]minutes:seconds` to seconds."""
    days, _, clock = time_text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        text = line.decode()
        if "http://127.0.0.1:" in text:
            return int(text.partition("http://127.0.0.1:")[2].partition("/")[0])
        print(text, end="", file=sys.stderr)  # noqa: T201 the server's messages explain why it does not serve
    raise AtlasError("the server ended before it served")


async def _ask_all(pid: int, port: int, clients: int, requests: int, pause_ms: int) -> _Load:
    first = await _Client.open(port)
    sample = {"query": SAMPLE, "limit": 1000, "token_budget": 200_000}
    answer = json.loads(await first.ask(_request(port, ("cypher_query", sample))))
    rows: list[list[str]] = answer["result"]["structuredContent"]["rows"]
    first.close()
    if not rows:
        raise AtlasError("the tree has no symbols with docstrings to ask about")
    questions = [_request(port, _question(number, rows)) for number in range(max(requests, WARM_REQUESTS))]
    await _let_loose(port, clients, questions[:WARM_REQUESTS], 0)
    warm, started, used = _used(pid), time.perf_counter(), time.process_time()
    times, errors = await _let_loose(port, clients, questions[:requests], pause_ms / 1000)
    seconds, used = time.perf_counter() - started, time.process_time() - used
    return _Load(times, errors, seconds, used, warm, _used(pid))


def _question(number: int, rows: Sequence[Sequence[str]]) -> Question:
    tool = MIX[number % len(MIX)]
    uid, _, docstring = rows[number * 7 % len(rows)]
    if tool in ("get_node", "get_context"):
        return tool, {"name": uid}
    if tool.endswith("_search"):
        return tool, {"query": docstring.strip().split("\n")[0]}
    return tool, {"query": CYPHER, "parameters": {"uid": uid}} if tool == "cypher_query" else {}


async def _let_loose(
    port: int, clients: int, questions: Sequence[bytes], pause: float
) -> tuple[list[float], list[str]]:
    """Send every `clients`-th request from each client in sequence; return all times in milliseconds and the errors."""
    times: list[float] = []
    errors: list[str] = []

    async def client(number: int) -> None:
        # spread over the pause, so that the clients do not all ask at the same moment
        await asyncio.sleep(pause * number / clients)
        connection = await _Client.open(port)
        for question in questions[number::clients]:
            started = time.perf_counter()
            try:
                await connection.ask(question)
            except (AtlasError, OSError, EOFError) as error:
                errors.append(f"{question.decode()}: {error!r}")
                connection.close()
                connection = await _Client.open(port)
            times.append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(pause)
        connection.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return times, errors


def _request(port: int, question: Question) -> bytes:
    """Return the bytes of the request."""
    name, arguments = question
    method = "tools/list" if name == "tools/list" else "tools/call"
    parameters: dict[str, object] = {} if method == name else {"name": name, "arguments": arguments}
    parameters["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
    named = "" if method == name else f"Mcp-Name: {name}\r\n"
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nMcp-Method: {method}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Client:
    """One persistent connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> _Client:
        try:
            return cls(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 20))
        except ConnectionError as error:
            raise AtlasError("the server accepts no connection: it ended, or has too many") from error

    def close(self) -> None:
        self._writer.close()

    async def ask(self, request: bytes) -> bytes:
        """Return the body of a result.

        Raises AtlasError for any other answer, and OSError or EOFError if none arrives.
        """
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length is None:
            raise AtlasError(f"{head!r}: an answer without a length")
        body = await self._reader.readexactly(int(length[1]))
        if b'"result":' not in body[:RESULT_WITHIN] or b'"isError":true' in body:
            raise AtlasError(f"{head[:30]!r}: {body[:300]!r}")
        return body
