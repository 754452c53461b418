"""Clients that hold connections of a server without being of any use: a process of its own, started by tests and bench.

`python -m tests.surfaces.hostile PORT KIND COUNT` opens COUNT connections to a server on this machine, says `held` when
all were opened once, and opens again those that end, a limited number a second, until its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .http_server import META, message
from .processes import REPOSITORY, environment

REOPENED_PER_SECOND = 50
OPENED_AT_ONCE = 50


def post(body: bytes, *, version: str = "HTTP/1.1", length: int | None = None, **headers: str) -> bytes:
    """A request as bytes; `length` is what it says about its body."""
    named = {"Host": "127.0.0.1", **message("get_node")[1], **headers}
    lines = [f"{name.replace('__', '-')}: {value}" for name, value in named.items() if value]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    head = "\r\n".join([f"POST /mcp {version}", *lines])
    return f"{head}\r\n\r\n".encode() + body


def call(tool: str = "get_node", number: int = 1, **arguments: object) -> bytes:
    """The body of a call."""
    params = {"name": tool, "arguments": arguments or {"name": "Cart"}, **META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


CHUNKED = post(b"", Transfer__Encoding="chunked").replace(b"Content-Length: 0\r\n", b"")
CYPHER = "UNWIND range(1, 400) AS n RETURN n, 'a value that is long enough to fill an answer'"


@dataclass(frozen=True)
class Kind:
    """One way to be of no use."""

    first: bytes
    """Sent on each new connection."""
    drip: bytes = b""
    """Sent every second as long as it lasts."""
    reads: bool = True
    again: bool = False
    """Send `first` again after each answer."""
    leaves: bool = False
    """Close the connection as soon as `first` is sent."""


def header_flood() -> bytes:
    more = "".join(f"X-{number}: {'a' * 1000}\r\n" for number in range(1000))
    return post(call()).replace(b"\r\n", b"\r\n" + more.encode(), 1)


KINDS: dict[str, Kind] = {
    "nothing sent": Kind(b""),
    "half headers": Kind(post(b"")[:60]),
    "slow headers": Kind(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"a"),
    "half bodies": Kind(post(b'{"jsonrpc"', length=1000)),
    "slow bodies": Kind(post(b"{", length=100_000), b" "),
    "large half bodies": Kind(post(b" " * 1_000_000, length=1_000_100)),
    "endless chunks": Kind(CHUNKED, b"1\r\n \r\n"),
    "tiny chunks": Kind(CHUNKED + b"1\r\n \r\n" * 20_000),
    "idle": Kind(post(call())),
    "idle after a refusal": Kind(post(b"", Host="example.org")),
    "GET streams": Kind(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"),
    "unread answers": Kind(post(call("cypher_query", query=CYPHER, token_budget=20_000)) * 20, reads=False),
    "pipelined": Kind(post(call()) * 50),
    "sent ahead": Kind(post(call()) + b"x" * 1_000_000, reads=False),
    "large headers": Kind(header_flood()),
    "deep JSON": Kind(post(b"[" * 1_000_000)),
    "deep arguments": Kind(post(call(number=1)[:-3] + b',"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_002)),
    "batches": Kind(post(b"[" + b",".join([call()] * 200) + b"]")),
    "one id": Kind(post(call(number=7))),
    "flood of questions": Kind(post(call()), again=True),
    "cancelled": Kind(post(call()), leaves=True),
    "HTTP/1.0": Kind(post(call(), version="HTTP/1.0")),
    "foreign Host": Kind(post(call(), Host="example.org"), again=True),
    "foreign Origin": Kind(post(call(), Origin="https://example.org"), again=True),
    "no token": Kind(post(call()), again=True),
    "no HTTP": Kind(b"\x00\xff" * 1000),
}
"""By name; "no token" is meant for a server that asks for one."""


class Hostile(asyncio.Protocol):
    """One connection."""

    def __init__(self, kind: Kind, lost: Callable[[Hostile], None]) -> None:
        self._kind, self._lost = kind, lost
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        if not self._kind.reads:
            transport.pause_reading()
        transport.write(self._kind.first)
        if self._kind.leaves:
            transport.close()

    def data_received(self, data: bytes) -> None:
        if self._kind.again and self.transport is not None:
            self.transport.write(self._kind.first)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(self)


@dataclass
class Crowd:
    """All connections of a kind."""

    port: int
    kind: Kind
    count: int
    open: set[Hostile] = field(default_factory=set)

    async def hold(self) -> None:
        for start in range(0, self.count, OPENED_AT_ONCE):
            await asyncio.gather(*(self._open() for _ in range(min(OPENED_AT_ONCE, self.count - start))))
        print("held", flush=True)
        while True:
            await asyncio.sleep(1)
            for one in self.open:
                if one.transport is not None and self.kind.drip:
                    one.transport.write(self.kind.drip)
            missing = min(self.count - len(self.open), REOPENED_PER_SECOND)
            await asyncio.gather(*(self._open() for _ in range(missing)))

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, made = await loop.create_connection(
                lambda: Hostile(self.kind, self.open.discard), "127.0.0.1", self.port
            )
        except OSError:
            return
        if made.transport is not None and not made.transport.is_closing():
            self.open.add(made)


@contextmanager
def hostile(port: int, kind: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Hold connections until the end of the block, which begins when all were opened once."""
    command = [sys.executable, "-m", "tests.surfaces.hostile", str(port), kind, str(count)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, env=environment()
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def main(port: str, kind: str, count: str) -> None:
    wanted = int(count) + 50
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))

    async def run() -> None:
        holding = asyncio.create_task(Crowd(int(port), KINDS[kind], int(count)).hold())
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        holding.cancel()

    asyncio.run(run())


if __name__ == "__main__":
    main(*sys.argv[1:])
