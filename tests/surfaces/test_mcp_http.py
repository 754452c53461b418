"""The server over HTTP as agents and strangers meet it: a process of its own, the SDK's client, and plain requests."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.cli.main import main

from .http_server import Reply, Served, begin_index, http_server, message
from .processes import Place, answer, filled, refusal
from .shop import fill, write_files

TOKEN = secrets.token_urlsafe(32)

ENDLESS = "UNWIND range(1, 90000) AS one UNWIND range(1, 90000) AS other RETURN count(*)"
"""Computes until its time is over."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The shop project with an index that was written by hand."""
    return asyncio.run(filled(tmp_path_factory.mktemp("http")))


@pytest.fixture(scope="module")
def served(place: Place) -> Iterator[Served]:
    """A server without a token that all tests share which only ask."""
    with http_server(place) as served:
        yield served


@pytest.fixture(scope="module")
def busy_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Another one, for tests that write."""
    return asyncio.run(filled(tmp_path_factory.mktemp("busy")))


@contextmanager
def busy(place: Place) -> Generator[threading.Event]:
    """While this lasts, or until the event is set, a call of `index` waits because somebody else writes."""
    opened, done = threading.Event(), threading.Event()

    async def hold() -> None:
        store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
        opened.set()
        await asyncio.to_thread(done.wait, 60)
        await store.aclose()

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(asyncio.run, hold())
        opened.wait(30)
        try:
            yield done
        finally:
            done.set()
            holding.result(30)


@contextmanager
def waiting_call(served: Served) -> Generator[Future[Reply]]:
    """A question that waits for its turn."""
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(served.ask, "get_node", {"name": "Cart"})
        time.sleep(0.5)  # nothing tells from outside that it is there
        yield call


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """Run a command that is expected to fail in this process; return its exit code."""
    for name in [name for name in os.environ if name.startswith("ATLAS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["atlas", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
async def test_both_eras_are_served_at_one_address(served: Served, mode: str) -> None:
    async with Client(served.url, mode=mode) as client:  # type: ignore[arg-type]
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert len((await client.list_tools()).tools) == 11
        found = await answer(client, "get_node", name="apply_discount")
        assert found["node"]["place"].startswith("shop/cart.py:")
        hits = (await answer(client, "hybrid_search", query="reduce the amount for customers"))["hits"]
        assert any(hit[1] == "shop/cart.py:20" for hit in hits)


async def test_paths_that_lead_out_of_the_project_are_refused(served: Served) -> None:
    async with Client(served.url) as client:
        for path in ("../../etc", "/etc/passwd", "shop/../../x"):
            assert "outside the project" in await refusal(client, "hybrid_search", query="x", path=path)
            assert "outside the project" in await refusal(client, "get_node", name="Cart", path=path)
            assert "outside the project" in await refusal(client, "get_context", name="Cart", path=path)
        found = await answer(client, "get_node", name="../../../../etc/passwd:1")
        assert found["outcome"] == "not_found"
        for uri, message in (
            ("file:///etc/passwd", "is not a resource of this server"),
            ("atlas://shop/x", "is not a resource of this server"),
            ("atlas://file/..%2f..%2fetc/passwd", "outside the project"),
            ("atlas://file/shop%5c..%5C..%5cetc", "outside the project"),
            ("atlas://file/%2Fetc%2Fpasswd", "outside the project"),
            ("atlas://file/shop%2fcart.py%0", "broken escape"),
            ("atlas://file/%2e%2e/%2e%2e/etc/passwd", "outside the project"),
            ("atlas://file//etc/passwd", "outside the project"),
            ("atlas://file/shop/cart.py%00", "control characters"),
            ("atlas://file/shop/%ff", "is not UTF-8"),
            ("atlas://file/shop/none.py", "is not in the index"),
            ("atlas://node/shop:shop.cart.Kart", "near: .*shop:shop.cart.Cart"),
        ):
            with pytest.raises(MCPError, match=message):
                await client.read_resource(uri)


async def test_resources_prompts_and_completion_are_served(served: Served) -> None:
    async with Client(served.url) as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["atlas://node/{uid}", "atlas://file/{path}"]
        assert not (await client.list_resources()).resources
        (content,) = (await client.read_resource("atlas://file/shop/cart.py")).contents
        assert "  12-14 method Cart.total(self) -> int" in content.text.splitlines()
        (filled_in,) = (await client.read_resource("atlas://file/shop%2Fcart.py")).contents
        assert filled_in.text == content.text
        assert [each.name for each in (await client.list_prompts()).prompts] == [
            "explain_symbol",
            "review_change",
            "plan_refactoring",
        ]
        prompt = await client.get_prompt("explain_symbol", {"symbol": "Cart.total"})
        assert "callers of Cart.total" in prompt.messages[0].content.text
        with pytest.raises(MCPError, match="missing argument goal"):
            await client.get_prompt("plan_refactoring", {"symbol": "Cart"})
        symbol = PromptReference(name="explain_symbol")
        found = await client.complete(symbol, {"name": "symbol", "value": "Cart.to"})
        assert found.completion.values == ["shop.cart.Cart.total"]
        path = ResourceTemplateReference(uri="atlas://file/{path}")
        found = await client.complete(path, {"name": "path", "value": "shop/st"})
        assert found.completion.values == ["shop/store.py"]


@pytest.mark.parametrize(
    "host", ["example.org", "localhost.example.org", "127.0.0.1@example.org", "192.168.0.7", "a b"]
)
def test_a_foreign_host_is_refused(served: Served, host: str) -> None:
    for path in ("/mcp", "/healthz"):
        reply = served.request("POST" if path == "/mcp" else "GET", path, None, Host=host)
        assert reply.status in (400, 421) if " " in host else reply.status == 421
        assert b"generation" not in reply.body


@pytest.mark.parametrize(
    "origin", ["https://example.org", "null", "http://localhost.example.org", "file://", "http://0.0.0.0"]
)
def test_a_foreign_origin_is_refused(served: Served, origin: str) -> None:
    assert served.ask("get_node", {"name": "Cart"}, Origin=origin).status == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080"])
def test_pages_of_this_machine_may_ask(served: Served, origin: str) -> None:
    assert not served.ask("get_node", {"name": "Cart"}, Origin=origin).result.get("isError")
    assert served.ask("get_node", {"name": "Cart"}, Host="localhost:1").status == 200


def test_only_what_there_is_can_be_reached(served: Served) -> None:
    assert served.request("GET", "/").status == 404
    assert served.request("POST", "/mcp/../healthz", b"").status == 404
    for method in ("GET", "DELETE", "OPTIONS", "PUT"):
        reply = served.request(method, "/mcp", Accept="text/event-stream")
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
        assert "access-control-allow-origin" not in reply.headers
    body, headers = message("get_node", {"name": "Cart"})
    assert served.request("POST", "/mcp", b"{", **headers).status == 400
    assert served.request("POST", "/mcp", body, **{**headers, "Content__Type": "text/plain"}).status == 400


def test_large_bodies_are_refused_whether_announced_or_not(served: Served) -> None:
    body, headers = message("hybrid_search", {"query": "x" * 5_000_000})
    assert served.request("POST", "/mcp", body, **headers).status == 413

    def parts() -> Iterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    refused = served.request("POST", "/mcp", parts(), **headers)
    assert refused.status == 413
    assert "1,048,576" in json.loads(refused.body)["error"]["message"]
    assert served.ask("get_node", {"name": "Cart"}).status == 200


def test_health_is_for_everybody_and_says_little(place: Place, served: Served) -> None:
    reply = served.request("GET", "/healthz")
    assert reply.status == 200
    assert json.loads(reply.body) == {"status": "ok", "version": json.loads(reply.body)["version"], "generation": 1}
    assert str(place.root).encode() not in reply.body


def test_metrics_count_calls(served: Served) -> None:
    assert served.ask("get_node", {"name": "Cart"}).status == 200
    reply = served.request("GET", "/metrics")
    assert reply.status == 200
    assert b'atlas_calls_total{tool="get_node",outcome="ok"}' in reply.body and b"atlas_http_requests 0" in reply.body


async def test_health_without_an_index_and_after_there_is_one(tmp_path: Path) -> None:
    empty = Place(tmp_path / "shop", tmp_path / "data")
    write_files(empty.root)
    with http_server(empty, ATLAS_MCP_TOKEN=TOKEN) as served:
        reply = served.request("GET", "/healthz")
        assert (reply.status, json.loads(reply.body)["reason"]) == (503, "there is no index yet")
        assert served.request("GET", "/metrics").status == 401, "they need the token"
        assert str(tmp_path).encode() not in reply.body
        store = EmbeddedStore.open(empty.data, writing=True, vector_index=VectorIndex)
        await fill(store, empty.root)
        await store.aclose()
        await asyncio.sleep(1.1)  # an answer is remembered for a second
        assert json.loads(served.request("GET", "/healthz").body)["generation"] == 1


async def test_a_token_is_asked_for_even_on_loopback_and_told_to_nobody(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o644)
    with http_server(place, "--token-file", str(file), ATLAS_MCP_TOKEN="of the environment") as served:
        assert f"warning: {file} can be read by other users" in served.log
        without = served.ask("get_node", {"name": "Cart"})
        assert (without.status, without.headers["www-authenticate"]) == (401, 'Bearer realm="code-atlas"')
        for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ", f"Basic {TOKEN}", "Bearer \xe4"):
            refused = served.ask("get_node", {"name": "Cart"}, Authorization=wrong)
            assert (refused.status, "invalid_token" in refused.headers["www-authenticate"]) == (401, True)
        assert served.request("GET", "/healthz").status == 200
        assert not served.ask("get_node", {"name": "Cart"}, Authorization=f"bearer {TOKEN}").result.get("isError")
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http_client,
            Client(streamable_http_client(served.url, http_client=http_client)) as client,
        ):
            assert (await answer(client, "get_node", name="apply_discount"))["outcome"] == "found"
        assert "rejected with 401" in served.log
        assert served.stop() == 0
    assert TOKEN not in served.log


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "requires a token"),
        ("", "contains no token"),
        ("short", "fewer than 16"),
        ("with a space in it, and long", "characters"),
        ("x" * 5000, "larger than 4096"),
    ],
)
def test_others_are_not_let_in_without_a_token(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    words: str,
) -> None:
    arguments = ["mcp", "--transport", "http", "--host", "0.0.0.0", "--port", "0", *place.options]
    if content is not None:
        (tmp_path / "token").write_text(content)
        arguments += ["--token-file", str(tmp_path / "token")]
    assert command(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "hint:" in said
    assert "chmod 600" in said
    assert not content or content not in said


def test_others_are_let_in_with_a_token_and_warned_of(place: Place) -> None:
    arguments = ("--host", "0.0.0.0", "--allow-host", "Atlas.Example.Org")
    with http_server(place, *arguments, ATLAS_MCP_TOKEN=TOKEN) as served:
        assert "warning: without TLS" in served.log
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert served.ask("get_node", {"name": "Cart"}).status == 401
        for host in ("127.0.0.1", "10.0.0.1:80", "[fd00::1]:80", "atlas.example.org", socket.gethostname()):
            assert served.ask("get_node", {"name": "Cart"}, Host=host, **bearer).status == 200, host
        assert served.ask("get_node", {"name": "Cart"}, Host="example.org", **bearer).status == 421
        foreign = {"Host": "10.0.0.1:80", "Origin": "http://10.0.0.2:80"}
        assert served.ask("get_node", {"name": "Cart"}, **foreign, **bearer).status == 403
        assert (
            served.ask("get_node", {"name": "Cart"}, **{**foreign, "Origin": "http://10.0.0.1:80"}, **bearer).status
            == 200
        )


def test_tls(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = tmp_path / "both.pem"
    certificate.write_bytes(self_signed())
    with http_server(place, "--tls-cert", str(certificate), "--host", "localhost") as served:
        assert served.url.startswith("https://localhost:")
        context = ssl.create_default_context(cafile=str(certificate))
        with (
            socket.create_connection(("127.0.0.1", served.port), 30) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secure,
        ):
            secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert secure.recv(1000).startswith(b"HTTP/1.1 200")
    certificate.write_text("nothing")
    arguments = ("mcp", "--transport", "http", "--port", "0", "--tls-cert", str(certificate), *place.options)
    assert command(monkeypatch, *arguments) == 2
    assert "TLS files cannot be used" in capsys.readouterr().err


def self_signed() -> bytes:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + made.public_bytes(serialization.Encoding.PEM)


def test_beyond_its_limits_the_server_says_so_at_once_and_goes_on(busy_place: Place) -> None:
    with http_server(busy_place, ATLAS_MCP_MAX_CONCURRENT="2", ATLAS_MCP_MAX_WAITING="1") as served:
        with busy(busy_place) as done:
            calls = [begin_index(served) for _ in range(2)]
            with waiting_call(served) as waiting:
                for _ in range(5):
                    started = time.perf_counter()
                    refused = served.ask("get_node", {"name": "Cart"})
                    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
                    assert time.perf_counter() - started < 2
                assert served.request("GET", "/healthz").status == 200
                assert not waiting.done()
                done.set()
                assert waiting.result(60).status == 200
        assert [call.result().get("isError", False) for call in calls] == [False] * 2
        assert served.ask("get_node", {"name": "Cart"}).status == 200


def test_a_client_with_too_many_requests_is_told_so_and_others_are_served(busy_place: Place) -> None:
    arguments = ("--host", "0.0.0.0")
    with http_server(busy_place, *arguments, ATLAS_MCP_MAX_PER_CLIENT="2", ATLAS_MCP_TOKEN=TOKEN) as served:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        with busy(busy_place):
            calls = [begin_index(served, **bearer) for _ in range(2)]
            refused = served.ask("get_node", {"name": "Cart"}, **bearer)
            assert (refused.status, refused.headers["retry-after"]) == (429, "1")
            assert served.ask("get_node", {"name": "Cart"}).status == 401
            assert served.ask("get_node", {"name": "Cart"}, source="127.0.0.2", **bearer).status == 200
            calls.pop().connection.close()
            wait_until(lambda: served.ask("get_node", {"name": "Cart"}, **bearer).status == 200)
        assert not calls[0].result().get("isError")
        assert "rejected with 429" in served.log


def test_long_calls_do_not_hold_up_short_ones(busy_place: Place) -> None:
    with http_server(busy_place) as served, ThreadPoolExecutor(2) as pool:
        with busy(busy_place):
            indexing = [begin_index(served) for _ in range(2)]
            long = [pool.submit(served.ask, "cypher_query", {"query": ENDLESS}) for _ in range(2)]
            for _ in range(5):
                started = time.perf_counter()
                assert not served.ask("get_node", {"name": "Cart"}).result.get("isError")
                assert time.perf_counter() - started < 3
            assert not any(call.done() for call in long)
        assert not any(call.result().get("isError") for call in indexing)
        assert all("timeout" in call.result().result["content"][0]["text"] for call in long)


def test_slow_queries_leave_all_turns_to_short_questions(place: Place) -> None:
    slow = {"query": "UNWIND range(1, 99999) AS x UNWIND range(1, 99999) AS y WITH x WHERE x < 0 RETURN x"}
    with http_server(place, ATLAS_MCP_MAX_CONCURRENT="2") as served, ThreadPoolExecutor(8) as pool:
        assert served.ask("get_node", {"name": "Cart"}).status == 200
        queries = [pool.submit(served.ask, "cypher_query", slow) for _ in range(8)]
        wait(queries, timeout=2)
        for _ in range(5):
            assert served.ask("get_node", {"name": "Cart"}).result["structuredContent"]["outcome"] == "found"
        assert not any(query.done() for query in queries)
        served.process.kill()
        assert all(isinstance(query.exception(30), (OSError, http.client.HTTPException)) for query in queries)


async def test_who_leaves_the_queue_makes_room(busy_place: Place) -> None:
    with http_server(busy_place, ATLAS_MCP_MAX_CONCURRENT="1", ATLAS_MCP_MAX_WAITING="1") as served:
        with busy(busy_place) as done:
            call = begin_index(served)
            body, headers = message("get_node", {"name": "Cart"})
            impatient = served.connect()
            impatient.request("POST", "/mcp", body, {name.replace("__", "-"): one for name, one in headers.items()})
            await asyncio.sleep(0.5)
            assert served.ask("get_node", {"name": "Cart"}).status == 503
            impatient.close()
            await asyncio.sleep(0.2)
            with waiting_call(served) as waiting:
                assert not waiting.done(), "the place of the one that left was not free"
                done.set()
                assert waiting.result(60).status == 200
        assert not call.result().get("isError")


def test_a_request_that_takes_too_long_is_given_up_in_both_eras(busy_place: Place) -> None:
    with http_server(busy_place, ATLAS_MCP_REQUEST_SECONDS="1", ATLAS_MCP_MAX_CONCURRENT="1") as served:
        with busy(busy_place):
            assert served.ask("index").status == 504
            body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "index", "arguments": {}}}
            legacy = {
                "Content__Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP__Protocol__Version": "2025-11-25",
            }
            started = time.perf_counter()
            connection = served.connect()
            connection.request(
                "POST", "/mcp", json.dumps(body), {name.replace("__", "-"): one for name, one in legacy.items()}
            )
            with closing(connection), pytest.raises(http.client.IncompleteRead):
                connection.getresponse().read()  # the stream had begun: it ends without an answer
            assert time.perf_counter() - started < 10
            assert served.ask("get_node", {"name": "Cart"}).status == 200
        assert "took too long" in served.log


@pytest.mark.parametrize(("kind", "workers"), [(signal.SIGTERM, "1"), (signal.SIGINT, "2")])
def test_at_the_end_what_is_under_way_is_finished(busy_place: Place, kind: signal.Signals, workers: str) -> None:
    with http_server(busy_place, "--workers", workers) as served:
        with busy(busy_place):
            call = begin_index(served)
            served.process.send_signal(kind)
            wait_until(lambda: is_closed(served))
            assert served.process.poll() is None
        assert call.result()["structuredContent"]["summary"]["files"] > 0
        assert served.process.wait(30) == 0
    assert "Traceback" not in served.log


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_second_signal_ends_at_once(busy_place: Place, workers: str) -> None:
    with http_server(busy_place, "--workers", workers) as served, busy(busy_place):
        call = begin_index(served)
        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_closed(served))
        started = time.perf_counter()
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(30)
        assert time.perf_counter() - started < 8
        with closing(call.connection), pytest.raises((http.client.IncompleteRead, ConnectionError)):
            call.answer.read()


def test_several_processes_serve_one_address_and_are_replaced(place: Place) -> None:
    with http_server(place, "--workers", "2") as served:
        first = children(served)
        assert len(first) == 2
        for _ in range(6):
            assert served.ask("get_node", {"name": "Cart"}).status == 200
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: len(children(served)) == 2 and first[0] not in children(served))
        assert first[1] in children(served)
        for _ in range(6):
            assert served.ask("get_node", {"name": "Cart"}).status == 200
        assert "ended by signal 9" in served.log
        second = children(served)
        served.process.kill()  # it cannot tell them anything, yet they must not go on
        wait_until(lambda: is_closed(served) and not any(map(is_running, second)))


def children(served: Served) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [int(pid) for pid, parent, state in rows if int(parent) == served.process.pid and "Z" not in state]


def is_running(process: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and "Z" not in done.stdout


def is_closed(served: Served) -> bool:
    try:
        served.request("GET", "/healthz")
    except ConnectionError:
        return True
    return False


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def test_sixteen_clients_at_once_get_their_own_answers(served: Served) -> None:
    names = ["Cart", "apply_discount", "Store", "nobody"]

    async def ask(number: int) -> None:
        async with Client(served.url, mode="legacy" if number % 2 else "2026-07-28") as client:
            for name in names[number % 4 :] + names[: number % 4]:
                found = await answer(client, "get_node", name=name, path="shop/")
                if name == "nobody":
                    assert found["outcome"] == "not_found"
                else:
                    uids = [found["node"]["uid"]] if "node" in found else found["candidates"]
                    assert all(name in uid for uid in uids)

    await asyncio.gather(*(ask(number) for number in range(16)))
    assert "Traceback" not in served.log


def test_a_port_in_use_and_an_address_of_others_are_said(
    place: Place, served: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for workers in ("1", "2"):
        arguments = ("mcp", "--transport", "http", "--port", str(served.port), "--workers", workers, *place.options)
        assert command(monkeypatch, *arguments) == 7
        assert "in use" in capsys.readouterr().err
    foreign = ("mcp", "--transport", "http", "--host", "192.0.2.1", "--port", "0", *place.options)
    assert command(monkeypatch, *foreign) == 2
    assert "192.0.2.1" in capsys.readouterr().err


@pytest.mark.parametrize("era", ["handshake", "envelope"])
def test_malformed_requests_have_the_codes_of_json_rpc(served: Served, era: str) -> None:
    _, headers = message()
    if era == "handshake":
        headers = {name: value for name, value in headers.items() if not name.lower().startswith("mcp")}
    for body, code in (
        (b"{nope", -32700),
        (b"", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"2.0","id":7}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600),
    ):
        reply = served.request("POST", "/mcp", body, **headers)
        error = json.loads(reply.body)["error"]
        assert (reply.status, error["code"]) == (400, code), body[:60]
        assert len(error["message"]) < 200
    assert served.ask("get_node", {"name": "Cart"}).result
