"""While a client holds many useless connections, an honest client is served: a real server process each."""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from atlas.server.http.connections import STALL_SECONDS

from .honest import ask_often
from .hostile import KINDS, call, hostile, post
from .http_server import Served, http_server, message
from .processes import Place, filled
from .test_mcp_http import self_signed

TOKEN = secrets.token_urlsafe(32)
COUNT = 150
HELD = sorted(KINDS.keys() - {"flood of questions", "no token"})
MOST_MB = 512


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return asyncio.run(filled(tmp_path_factory.mktemp("hostile")))


@pytest.fixture(scope="module")
def served(place: Place) -> Iterator[Served]:
    """A server that goes through all of it."""
    with http_server(place) as served:
        assert not ask_often(served.port, 2).errors
        yield served


def memory_mb(served: Served) -> float:
    listed = subprocess.run(["ps", "-o", "rss=", "-p", str(served.process.pid)], capture_output=True, check=True)
    return int(listed.stdout) / 1024


@pytest.mark.parametrize("kind", HELD)
def test_an_honest_client_is_served_while_others_hold_connections(served: Served, kind: str) -> None:
    before = memory_mb(served)
    with hostile(served.port, kind, COUNT):
        seen = ask_often(served.port, 10)
        assert memory_mb(served) - before < MOST_MB
    assert not seen.errors
    assert served.process.poll() is None
    assert "Traceback" not in served.log


def test_more_connections_than_the_process_may_have_files(place: Place) -> None:
    with http_server(place, open_files=256) as served:
        for kind in ("nothing sent", "half bodies", "idle"):
            with hostile(served.port, kind, 400):
                assert not ask_often(served.port, 10).errors
        assert "could not be accepted" not in served.log


def test_more_connections_than_several_processes_may_have(place: Place) -> None:
    with http_server(place, "--workers", "2", open_files=256) as served, hostile(served.port, "half headers", 600):
        assert not ask_often(served.port, 20).errors


def test_strangers_cost_those_with_a_token_nothing(place: Place) -> None:
    with http_server(place, ATLAS_MCP_TOKEN=TOKEN, ATLAS_MCP_MAX_PER_CLIENT="1") as served:
        with hostile(served.port, "no token", COUNT):
            assert not ask_often(served.port, 10, token=TOKEN).errors
        with hostile(served.port, "half bodies", COUNT):
            assert not ask_often(served.port, 10, token=TOKEN).errors


def test_tls_handshakes_that_never_end_are_closed_for_others(
    place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    certificate = tmp_path_factory.mktemp("tls") / "both.pem"
    certificate.write_bytes(self_signed())
    arguments = ("--tls-cert", str(certificate), "--host", "localhost")
    with http_server(place, *arguments, open_files=256) as served, hostile(served.port, "nothing sent", 400):
        context = ssl.create_default_context(cafile=str(certificate))
        for _ in range(5):
            with (
                socket.create_connection(("127.0.0.1", served.port), 30) as plain,
                context.wrap_socket(plain, server_hostname="localhost") as secure,
            ):
                secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert secure.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_body_that_stops_ends_with_408_and_the_connection(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 30) as half:
        half.sendall(post(b'{"jsonrpc"', length=1000))
        said = b"".join(iter(lambda: half.recv(65_536), b""))
    assert said.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in said.lower()


def test_headers_that_stop_end_the_connection(served: Served) -> None:
    with ExitStack() as held:
        begun = [held.enter_context(socket.create_connection(("127.0.0.1", served.port), 30)) for _ in range(2)]
        begun[0].sendall(post(b"")[:60])
        # on a connection that was of use already, too
        body, headers = message("get_node", {"name": "Cart"})
        kept = served.connect()
        kept.request("POST", "/mcp", body, {name.replace("__", "-"): value for name, value in headers.items()})
        assert kept.getresponse().read()
        kept.sock.sendall(b"POST /mcp")
        assert [one.recv(1) for one in (*begun, kept.sock)] == [b""] * 3
        kept.close()


def test_who_does_not_read_gives_up_the_turn_and_then_the_connection(place: Place) -> None:
    # the older revision answers with a stream, and this answer does not fit into the kernel's buffers
    word = "abcdefgh" * 250
    question = {"query": f"UNWIND range(1, 1000) AS n RETURN '{word}'", "limit": 1000, "token_budget": 200_000}
    body = call("cypher_query", **question)
    with http_server(place, ATLAS_MCP_MAX_CONCURRENT="1", ATLAS_MCP_MAX_WAITING="3") as served, ExitStack() as held:
        all_unread = [held.enter_context(socket.socket()) for _ in range(3)]
        for unread in all_unread:
            unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            unread.connect(("127.0.0.1", served.port))
            unread.sendall(post(body, MCP__Protocol__Version="2025-11-25", Mcp__Method="", Mcp__Name=""))
        assert not ask_often(served.port, 5).errors
        # What the kernel has taken can be read, then the connection ends without the rest. The answers follow one
        # another: that of the first client has been waiting longest.
        said = b""
        with suppress(ConnectionError):
            time.sleep(STALL_SECONDS + 5)
            said = b"".join(iter(lambda: all_unread[0].recv(65_536), b""))
        assert not said.endswith(b"0\r\n\r\n")
