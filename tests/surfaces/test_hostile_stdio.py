"""A client over stdio that sends what no client should, or never reads: the server's memory is bounded and it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from .processes import COMMAND, Place, environment, filled

MOST_MB = 150
INITIALIZE = {
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
    "protocolVersion": "2025-11-25",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return asyncio.run(filled(tmp_path_factory.mktemp("stdio")))


class Talk:
    """A server process, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.say("initialize", 0, **INITIALIZE)
        self.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert self.heard(0)["result"]

    def say(self, method: str, number: object, **params: object) -> None:
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.stdin.write(json.dumps(line).encode() + b"\n")
        self.stdin.flush()

    def heard(self, number: object) -> dict[str, object]:
        """The answer with an id; what comes before it is thrown away."""
        while True:
            line = self.stdout.readline()
            assert line, "the server has ended"
            message = json.loads(line)
            if message.get("id") == number:
                return message

    def is_well(self) -> bool:
        self.say("tools/call", "well", name="get_node", arguments={"name": "Cart"})
        return "error" not in self.heard("well")

    @property
    def rss_mb(self) -> float:
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, check=True)
        return int(listed.stdout) / 1024


@contextmanager
def talking(place: Place, stderr: int = subprocess.DEVNULL) -> Iterator[Talk]:
    with subprocess.Popen(
        [*COMMAND, "mcp", *place.options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(),
    ) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def test_a_line_without_end_needs_no_memory(place: Place) -> None:
    with talking(place) as talk:
        assert talk.is_well()
        before = talk.rss_mb
        for _ in range(300):
            talk.stdin.write(b"x" * 1_000_000)
        talk.stdin.flush()
        assert talk.rss_mb - before < MOST_MB
        talk.stdin.write(b"\n")
        assert talk.is_well()


def test_a_client_that_goes_away_before_its_answers_leaves_no_error(place: Place) -> None:
    with talking(place, subprocess.PIPE) as talk:
        for number in range(1, 20):
            talk.say("tools/call", number, name="get_node", arguments={"name": "Cart"})
        talk.stdout.close()
        talk.stdin.close()
        assert talk.process.wait(30) == 1
        assert talk.process.stderr is not None
        assert talk.process.stderr.read() == b""


def test_a_large_request_is_read(place: Place) -> None:
    with talking(place) as talk:
        talk.say("tools/call", 5, name="get_node", arguments={"name": "Cart", "path": "x" * 1_000_000})
        assert talk.heard(5)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00\x80",
        b"[" * 1_000_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_node","arguments":{"name":"\\ud800"}}}',
        b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 5000) + b"]",
        b"\n" * 1000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 2000,
    ],
    ids=["not UTF-8", "deep", "deep arguments", "lone surrogate", "batch", "empty lines", "one id"],
)
def test_odd_lines_end_nothing(place: Place, line: bytes) -> None:
    with talking(place) as talk:
        talk.stdin.write(line + b"\n")
        talk.stdin.flush()
        assert talk.is_well()


def test_who_never_reads_is_not_read_either(place: Place) -> None:
    request = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n'
    with talking(place) as talk:
        assert talk.is_well()
        before = talk.rss_mb
        os.set_blocking(talk.stdin.fileno(), False)
        sent, last = 0, time.monotonic()
        while sent < 40_000 * len(request) and time.monotonic() - last < 3:
            _, ready, _ = select.select([], [talk.stdin], [], 1)
            if ready:
                sent += os.write(talk.stdin.fileno(), (request * 50)[sent % len(request) :][:4096])
                last = time.monotonic()
        assert sent < 40_000 * len(request), "all of it was taken in though nothing was read"
        assert talk.rss_mb - before < MOST_MB
        os.set_blocking(talk.stdin.fileno(), True)
        reading = subprocess.Popen(["cat"], stdin=talk.stdout, stdout=subprocess.DEVNULL)
        try:
            # it goes on where it was once somebody reads
            talk.stdin.write(request[sent % len(request) :] + request * 1000)
            talk.stdin.flush()
        finally:
            reading.kill()
            reading.wait()
        assert talk.process.poll() is None


MALFORMED = (
    (b"{nope", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"x" * 5_000_000, -32600, None),
    (b"[]", -32600, None),
    (b'"x"', -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600, None),
    (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
    (b'{"jsonrpc":"1.0","id":"a","method":"tools/list"}', -32600, "a"),
    (b'{"jsonrpc":"2.0","id":8,"method":5}', -32600, 8),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[{"id":1}]}', -32600, 9),
)
"""A line, the code of its answer, and the id in it."""


def test_malformed_requests_are_answered_and_the_session_goes_on(place: Place) -> None:
    with talking(place) as talk:
        for line, code, number in MALFORMED:
            talk.stdin.write(b"\n" + line + b"\n")
            talk.stdin.flush()
            answer = json.loads(talk.stdout.readline())
            assert (answer["error"]["code"], answer["id"]) == (code, number), line[:60]
            assert len(answer["error"]["message"]) < 200
        assert talk.is_well()
