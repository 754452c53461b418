"""`atlas connect --check`: whether the entries of this project start a server that answers.

Only a command that `atlas connect` writes is run, and without the entry's variables: a file of a project may come from
a stranger.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.cli.clients.overview import ClientState, FileState
from atlas.cli.clients.owner import words_of
from atlas.cli.clients.recipes import RECIPES, Client
from atlas.core.wording import counted

MAX_SECONDS = 60.0
_OPTIONS = frozenset({"--project", "--data-dir", "--toolsets"})
_PROTOCOL = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Checked:
    """One entry that was looked at. `result` is `starts`, `fails` or `not started`."""

    client: str
    file: str
    name: str
    result: str
    detail: str
    seconds: float = 0.0


def check_all(states: Sequence[ClientState], root: Path, command: Sequence[str]) -> list[Checked]:
    """Return what became of every entry of this project in the clients' files."""
    return [
        check(Client(state.client), file, root, command)
        for state in states
        for file in (state.project, state.user)
        if file is not None and (file.entry is not None or file.problem)
    ]


def check(client: Client, file: FileState, root: Path, command: Sequence[str]) -> Checked:
    """Start the server of one entry, as far as it is one that `atlas connect` writes, and ask for its tools."""

    def checked(result: str, detail: str, seconds: float = 0.0) -> Checked:
        return Checked(client.value, file.file, file.name, result, detail, round(seconds, 2))

    if file.problem:
        return checked("fails", file.problem)
    if file.state not in ("connected", "portable"):
        why = {"off": "switched off in the client", "http": "over HTTP: `atlas mcp --transport http` must run"}
        return checked("not started", why.get(file.state, "its command is not that of this installation"))
    words = _runnable(client, words_of(file.entry), root, command)
    if not words:
        return checked("not started", "it has options that `atlas connect` does not write")
    if shutil.which(words[0]) is None:
        return checked("fails", f"{words[0]} is not on PATH")
    began = time.monotonic()
    try:
        detail = _ask(words, root)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return checked("fails", " ".join(str(error).split())[:300], time.monotonic() - began)
    return checked("starts", detail, time.monotonic() - began)


def _runnable(client: Client, words: list[str], root: Path, command: Sequence[str]) -> list[str]:
    """Return the command to run; [] for one that is not known to be ours."""
    start = ["atlas"] if words[:1] == ["atlas"] else list(command)
    rest = words[len(start) :]
    if words[: len(start)] != start or rest[:1] != ["mcp"] or len(rest) % 2 == 0:
        return []
    variable = RECIPES[client].folder_variable
    options = [str(root) if variable and word == variable else word for word in rest[1:]]
    if any(
        name not in _OPTIONS or value.startswith("-") for name, value in zip(options[::2], options[1::2], strict=True)
    ):
        return []
    return [*start, "mcp", *options]


def _ask(words: Sequence[str], root: Path) -> str:
    """Return which server answers with how many tools. Raises ValueError, OSError or SubprocessError."""
    environment = {**os.environ, "ATLAS_MCP_START_DAEMON": "false"}
    with subprocess.Popen(
        words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            talk = _Talk(process)
            about = {"name": "atlas connect --check", "version": "1"}
            hello = talk.call("initialize", protocolVersion=_PROTOCOL, capabilities={}, clientInfo=about)
            talk.tell("notifications/initialized")
            tools = talk.call("tools/list").get("tools")
            server = cast("dict[str, Any]", hello.get("serverInfo") or {})
            return f"{server.get('name', 'a server')} {server.get('version', '')}, {counted(len(tools or ()), 'tool')}"
        finally:
            with suppress(OSError):
                cast("Any", process.stdin).close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


class _Talk:
    """JSON-RPC with a process, a line for a message."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._id = 0
        self._read = b""
        self._until = time.monotonic() + MAX_SECONDS

    def tell(self, method: str, **parameters: object) -> None:
        self._send({"method": method, "params": parameters})

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": parameters})
        while True:
            found: Any = json.loads(self._line())
            if isinstance(found, dict) and found.get("id") == self._id and "method" not in found:  # pyright: ignore[reportUnknownMemberType]
                answer = cast("dict[str, Any]", found)
                if "result" not in answer:
                    raise ValueError(f"{method} is refused: {answer.get('error')}")
                return cast("dict[str, Any]", answer["result"])

    def _send(self, message: dict[str, object]) -> None:
        stream = self._process.stdin
        assert stream is not None
        stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        stream.flush()

    def _line(self) -> bytes:
        stream = self._process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._read:
                left = self._until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise ValueError(f"no answer within {MAX_SECONDS:.0f} s")
                block = os.read(stream.fileno(), 65_536)
                if not block:
                    raise ValueError(self._end())
                self._read += block
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _end(self) -> str:
        """Return why the server has ended: the last line that it wrote to stderr."""
        stream = self._process.stderr
        assert stream is not None
        said = stream.read().decode(errors="replace").strip().splitlines()
        return f"the server ended: {said[-1] if said else 'without a word'}"
