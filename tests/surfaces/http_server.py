"""A real `atlas mcp --transport http` process, and plain requests to it that no client library would send."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.surfaces import forked

from .processes import COMMAND, Place, environment

REVISION = "2026-07-28"
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


@dataclass(frozen=True)
class Reply:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def result(self) -> dict[str, Any]:
        assert self.status == 200, self.body
        return json.loads(self.body)["result"]


@dataclass
class Served:
    """A server that runs."""

    process: subprocess.Popen[str] | forked.Running
    url: str
    lines: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def connect(self, source: str = "127.0.0.1") -> http.client.HTTPConnection:
        """A connection that comes from one of the machine's own addresses."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=(source, 0))

    def request(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        source: str = "127.0.0.1",
        **headers: str,
    ) -> Reply:
        """Send one request; `__` in the name of a header stands for a hyphen, and Host may be given."""
        connection = self.connect(source)
        try:
            named = {name.replace("__", "-"): value for name, value in headers.items()}
            connection.request(
                method, path, body, named, encode_chunked=body is not None and not isinstance(body, bytes)
            )
            answer = connection.getresponse()
            return Reply(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask(
        self, tool: str, arguments: Mapping[str, object] | None = None, source: str = "127.0.0.1", **headers: str
    ) -> Reply:
        """Call a tool as revision 2026-07-28 does; no tool lists them."""
        body, more = message(tool, arguments)
        return self.request("POST", "/mcp", body, source, **more, **headers)

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(kind)
        return self.process.wait(30)


@dataclass
class Begun:
    """A call whose answer has begun: it is at work."""

    connection: http.client.HTTPConnection
    answer: http.client.HTTPResponse

    def result(self) -> dict[str, Any]:
        """What the stream ends with. Raises IncompleteRead when it ends without."""
        with closing(self.connection):
            last = self.answer.read().decode().strip().splitlines()[-1]
        return json.loads(last.removeprefix("data: "))["result"]


def begin_index(served: Served, **more: str) -> Begun:
    """Call `index` while somebody else writes; return when it says that it waits."""
    body, headers = message("index", progress=True)
    connection = served.connect()
    connection.request(
        "POST", "/mcp", body, {name.replace("__", "-"): value for name, value in (headers | more).items()}
    )
    return Begun(connection, connection.getresponse())


def message(
    tool: str = "", arguments: Mapping[str, object] | None = None, *, progress: bool = False
) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a call."""
    method = "tools/call" if tool else "tools/list"
    params: dict[str, object] = {"name": tool, "arguments": dict(arguments or {}), **META} if tool else dict(META)
    if progress:
        params["_meta"] = {**META["_meta"], "progressToken": 1}
    headers = {
        "Content__Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP__Protocol__Version": REVISION,
        "Mcp__Method": method,
        **({"Mcp__Name": tool} if tool else {}),
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode(), headers


@contextmanager
def http_server(
    place: Place, *arguments: str, open_files: int = 0, own_token: bool = False, **env: str
) -> Iterator[Served]:
    """A server on a free port, until the end of the block; `open_files` is how many it may have.

    Without a token in the arguments or the environment it asks for none, unless it shall make its own.
    """
    is_told = own_token or "ATLAS_MCP_TOKEN" in env or "--token-file" in arguments
    words = ["mcp", "--transport", "http", "--port", "0", *place.options, *arguments]
    words += [] if is_told else ["--no-token"]
    # who is told a token is looked at from outside, with its arguments
    if is_told or open_files or not forked.can_fork(env):
        limit = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"] if open_files else []
        process = subprocess.Popen(
            [*limit, *COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**env),
        )
    else:
        process = forked.Running(words, environment(**env))
    served = Served(process, "")
    listening = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            served.lines.append(line)
            found = re.search(r"serving \S+ at (\S+)", line)
            if found:
                served.url = found[1]
                listening.set()
        listening.set()

    reading = threading.Thread(target=read)
    reading.start()
    try:
        listening.wait(60)
        assert served.url, f"the server did not start: {served.log}"
        yield served
    finally:
        process.kill()
        process.wait(30)
        reading.join(30)
        assert process.stderr is not None
        process.stderr.close()
