"""Runs a command to completion, or exchanges messages with one over pipes, and reports its cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from atlas.core.errors import AtlasError

ATLAS = (sys.executable, "-P", "-m", "atlas")
"""`-P`: the measured tree must not be able to shadow a module."""
ENVIRONMENT = {
    "ATLAS_MCP_START_DAEMON": "false",
    **os.environ,
    "PYTHONPATH": str(Path(__file__).parents[2]),
}
"""The child processes run this code, installed or not; a session starts no daemon that stays behind."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Resources that a finished process used."""

    cpu_seconds: float
    """User and system time of the process and of the child processes it waited for."""
    wall_seconds: float
    peak_rss_mb: float


def run(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[Cost, str]:
    """Run `atlas` with these arguments; return its cost and standard output. Raises AtlasError if it fails.

    `environment`: variables besides those of this process.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        [*ATLAS, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, **(environment or {})},
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read().decode()
        errors = process.stderr.read().decode() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = (errors.strip() or output.strip()).splitlines()
        # The last line of a traceback says what happened; the rest would hide which command it was.
        raise AtlasError(f"atlas {' '.join(arguments)} failed: {said[-1] if said else process.returncode}")
    # ru_maxrss is kilobytes on Linux and bytes on macOS
    peak = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, peak), output


class McpProcess:
    """A running `atlas mcp` over stdio, addressed in plain JSON-RPC to exclude the time of a client library."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            [*ATLAS, "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        )
        self._last = 0

    def start(self) -> float:
        """Initialise, list the tools, and return the seconds from process start to that answer."""
        self._request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "atlas bench", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._request("tools/list", {})
        return time.perf_counter() - self._started

    def call(self, tool: str, arguments: Mapping[str, object]) -> tuple[float, dict[str, Any]]:
        """Call a tool; return seconds and result. Raises AtlasError if the tool reports an error."""
        started = time.perf_counter()
        result = self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        seconds = time.perf_counter() - started
        if result.get("isError"):
            raise AtlasError(f"{tool} {dict(arguments)}: {result['content']}")
        return seconds, result

    def rss_mb(self) -> float:
        """Return the current resident memory in MB."""
        return resident_mb(self._process.pid)

    def close(self) -> None:
        """Stop the server as clients do: by closing its input."""
        self._pipe(self._process.stdin).close()
        self._process.wait(10)
        self._pipe(self._process.stdout).close()

    def _request(self, method: str, parameters: Mapping[str, object]) -> dict[str, Any]:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": dict(parameters)})
        while line := self._pipe(self._process.stdout).readline():
            message = json.loads(line)
            if message.get("id") == self._last:
                if "error" in message:
                    raise AtlasError(f"{method}: {message['error']}")
                return message["result"]
        raise AtlasError(f"{method}: the server ended with {self._process.wait(10)}")

    def _send(self, message: Mapping[str, object]) -> None:
        pipe = self._pipe(self._process.stdin)
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise AtlasError("the server has no pipe")
        return pipe


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(pages.stdout) / 1024


def folder_mb(folder: Path) -> float:
    """Return the total size of all files below a folder in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / (1 << 20)
