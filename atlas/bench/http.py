"""What many clients at once get from one MCP server over HTTP: errors, spread of answer times, growth of its memory.

The clients are plain HTTP/1.1 connections of this process, each with one request under way, so that what is measured is
the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas.bench.process import ATLAS, ENVIRONMENT, resident_mb, run
from atlas.bench.query import SAMPLE
from atlas.errors import AtlasError

REVISION = "2026-07-28"

WARM_REQUESTS = 500
"""Before the first look at memory: caches fill, threads start."""

MIX = (
    *("get_node",) * 5, *("hybrid_search",) * 4, *("get_context",) * 3, *("text_search",) * 2, *("cypher_query",) * 2,
    "vector_search", "status", "schema_info", "tools/list",
)  # fmt: skip
"""What twenty requests in a row are."""

CYPHER = "MATCH (n {uid: $uid})<-[:CALLS]-(m) RETURN m.qualified_name AS caller ORDER BY caller LIMIT 20"

TARGET_P95_MS, TARGET_GROWTH = 250.0, 10.0

Question = tuple[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class HttpReport:
    """What `atlas bench http` prints; times in milliseconds, memory in MB."""

    clients: int
    pause_ms: int
    requests: int
    errors: int
    first_error: str
    seconds: float
    p50_ms: float
    p95_ms: float
    worst_ms: float
    server_cpu_seconds: float
    """Of the server's whole life, its start included."""
    warm_rss_mb: float
    end_rss_mb: float

    @property
    def growth(self) -> float:
        """Percent by which the resident memory grew after the first requests."""
        return 100 * (self.end_rss_mb / self.warm_rss_mb - 1)

    @property
    def reached(self) -> bool:
        """Whether all targets were."""
        return not self.errors and self.p95_ms <= TARGET_P95_MS and self.growth < TARGET_GROWTH


def bench_http(tree: Path, data: Path, clients: int, requests: int, pause_ms: int) -> HttpReport:
    """Index `tree` into `data` when needed, then let clients loose. Raises AtlasError when it cannot be measured."""
    run(["index", str(tree), "--data-dir", str(data)])
    arguments = ["mcp", "--transport", "http", "--port", "0", "--project", str(tree), "--data-dir", str(data)]
    with subprocess.Popen(
        [*ATLAS, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        try:
            port = _port(process)
            answers = asyncio.run(_ask_all(process.pid, port, clients, requests, pause_ms))
        finally:
            process.send_signal(signal.SIGTERM)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    times, errors, seconds, warm, end = answers
    return HttpReport(
        clients=clients,
        pause_ms=pause_ms,
        requests=len(times),
        errors=len(errors),
        first_error=errors[0] if errors else "",
        seconds=seconds,
        p50_ms=statistics.median(times),
        p95_ms=statistics.quantiles(times, n=20)[-1],
        worst_ms=max(times),
        server_cpu_seconds=usage.ru_utime + usage.ru_stime,
        warm_rss_mb=warm,
        end_rss_mb=end,
    )


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        text = line.decode()
        if "http://127.0.0.1:" in text:
            return int(text.partition("http://127.0.0.1:")[2].partition("/")[0])
        print(text, end="", file=sys.stderr)  # noqa: T201 what the server says before it serves is why it does not
    raise AtlasError("the server ended before it served")


async def _ask_all(
    pid: int, port: int, clients: int, requests: int, pause_ms: int
) -> tuple[list[float], list[str], float, float, float]:
    first = await _Client.open(port)
    sample = {"query": SAMPLE, "limit": 1000, "token_budget": 200_000}
    rows: list[list[str]] = (await first.ask(("cypher_query", sample)))["structuredContent"]["rows"]
    first.close()
    if not rows:
        raise AtlasError("the tree has no symbols with docstrings to ask about")
    questions = [_question(number, rows) for number in range(max(requests, WARM_REQUESTS))]
    await _let_loose(port, clients, questions[:WARM_REQUESTS], 0)
    warm = resident_mb(pid)
    started = time.perf_counter()
    times, errors = await _let_loose(port, clients, questions[:requests], pause_ms / 1000)
    return times, errors, time.perf_counter() - started, warm, resident_mb(pid)


def _question(number: int, rows: Sequence[Sequence[str]]) -> Question:
    tool = MIX[number % len(MIX)]
    uid, _, docstring = rows[number * 7 % len(rows)]
    if tool in ("get_node", "get_context"):
        return tool, {"name": uid}
    if tool.endswith("_search"):
        return tool, {"query": docstring.strip().split("\n")[0]}
    return tool, {"query": CYPHER, "parameters": {"uid": uid}} if tool == "cypher_query" else {}


async def _let_loose(
    port: int, clients: int, questions: Sequence[Question], pause: float
) -> tuple[list[float], list[str]]:
    """Each client asks every `clients`-th question, one after the other; return milliseconds and errors of all."""
    times: list[float] = []
    errors: list[str] = []

    async def client(number: int) -> None:
        # spread over the pause, or all clients would ask at the same moment
        await asyncio.sleep(pause * number / clients)
        connection = await _Client.open(port)
        for question in questions[number::clients]:
            started = time.perf_counter()
            try:
                await connection.ask(question)
            except (AtlasError, OSError, EOFError) as error:
                errors.append(f"{question}: {error!r}")
                connection.close()
                connection = await _Client.open(port)
            times.append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(pause)
        connection.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return times, errors


class _Client:
    """One connection that is kept."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._port, self._reader, self._writer = port, reader, writer

    @classmethod
    async def open(cls, port: int) -> _Client:
        try:
            return cls(port, *await asyncio.open_connection("127.0.0.1", port))
        except ConnectionError as error:
            raise AtlasError("the server takes no connection: it ended, or has too many") from error

    def close(self) -> None:
        self._writer.close()

    async def ask(self, question: Question) -> dict[str, Any]:
        """Return the result. Raises AtlasError for any other answer, OSError and EOFError without one."""
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
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n"
            f"Mcp-Method: {method}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        await self._writer.drain()
        status, *fields = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        lengths = [line.partition(":")[2] for line in fields if line.lower().startswith("content-length:")]
        if not lengths:
            raise AtlasError(f"{status}: an answer without a length")
        answer = json.loads(await self._reader.readexactly(int(lengths[0])))
        if "result" not in answer or answer["result"].get("isError"):
            raise AtlasError(f"{status}: {str(answer)[:300]}")
        return answer["result"]
