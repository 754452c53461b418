"""Services that lie, stall and swell: each answer is refused or bounded in time, memory and requests.

The command is a real process; the service writes bytes to the socket.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from tests.papers.arxiv_server import ATTENTION, FEED, arxiv_server

MEASURED = """
import re, runpy, sys
out = sys.argv.pop(1)
sys.argv[0] = "atlas"
try:
    runpy.run_module("atlas", run_name="__main__")
finally:
    with open("/proc/self/status") as status, open(out, "w") as file:
        file.write(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1])
"""
"""Runs the command and writes its peak of memory: that of the system's accounting holds the memory of this process."""
REPOSITORY = Path(__file__).parents[2]
TIMEOUT = 1
"""Of the service, in seconds: an answer may take three times as long in all."""
MAX_MEMORY = 450 << 20
MIB = 1 << 20

Answer = Callable[[socket.socket], None]


@dataclass
class Service:
    """A service in threads, and what it was asked."""

    port: int
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"


@contextmanager
def service(answer: Answer) -> Iterator[Service]:
    """Answer every request with what a function writes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        served = Service(listening.getsockname()[1])

        def work(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(65_536)
                served.requests.append(request.decode("latin-1"))
                answer(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=work, args=(listening.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield served


def reply(body: bytes, status: str = "200 OK", **headers: str) -> Answer:
    """A whole answer."""
    named = {"Content-Length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    head = f"HTTP/1.1 {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items()) + "\r\n"
    return lambda connection: connection.sendall(head.encode() + body)


def feed(entries: str = "", total: str = "1") -> bytes:
    return FEED.format(total=total, start=0, size=1, entries=entries).encode()


def entry(identifier: str = "2401.00001v1", title: str = "A title", **more: str) -> str:
    extra = "".join(f"<arxiv:{tag}>{escape(value)}</arxiv:{tag}>" for tag, value in more.items())
    return (
        f"<entry><id>http://arxiv.org/abs/{escape(identifier)}</id><title>{escape(title)}</title>"
        "<published>2024-01-02T03:04:05Z</published><updated>2024-01-02T03:04:05Z</updated>"
        f"<summary>{escape(title)}</summary><author><name>{escape(title)}</name></author>{extra}</entry>"
    )


@dataclass(frozen=True)
class Done:
    code: int
    output: str
    cpu: float
    memory: int
    """Peak, in bytes."""
    seconds: float


def run(folder: Path, url: str, *words: str, **more: str) -> Done:
    """Run the command, and measure it alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    user = {"ATLAS_PAPERS_FOLDER": str(folder / "papers"), "ATLAS_PAPERS_URL": url, "ATLAS_PAPERS_PAUSE_MS": "0"}
    user |= {"ATLAS_PAPERS_TIMEOUT_SECONDS": str(TIMEOUT), "ATLAS_PAPERS_RETRIES": "0"}
    user |= {"ATLAS_PAPERS_CITATIONS_PAUSE_MS": "0", "PYTHONPATH": str(REPOSITORY)}
    started = time.monotonic()
    command = [sys.executable, "-P", "-c", MEASURED, str(folder / "peak"), "papers", *words]
    with (folder / "output").open("w+b") as output:
        process = subprocess.Popen(command, cwd=folder, env=kept | user | more, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode()
    cpu = used.ru_utime + used.ru_stime
    peak = int((folder / "peak").read_text()) * 1024
    print(f"{cpu:.2f} s CPU, {peak >> 20} MB")
    return Done(process.returncode, said, cpu, peak, time.monotonic() - started)


def search(folder: Path, url: str, **more: str) -> Done:
    return run(folder, url, "search", "whales", **more)


def chunked(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def slow_headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X")
        time.sleep(0.1)


def slow_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.1)


def continues(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.05)


def says_a_gibibyte(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    connection.recv(1)


def packed(mebibytes: int) -> bytes:
    """A gzip file that is a thousand times as large when it is unpacked."""
    start, zeros = feed(), bytes(MIB)
    pack = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first, one, end = (
        pack.compress(start) + pack.flush(zlib.Z_FULL_FLUSH),
        # does not depend on what is before it: the same bytes again are another mebibyte
        pack.compress(zeros) + pack.flush(zlib.Z_FULL_FLUSH),
        pack.flush(),
    )
    check = zlib.crc32(start)
    for _ in range(mebibytes):
        check = zlib.crc32(zeros, check)
    head = gzip.compress(b"")[:10]
    return head + first + one * mebibytes + end + struct.pack("<LL", check, len(start) + mebibytes * MIB)


TRANSPORT: dict[str, Callable[[], Answer]] = {
    "endless": lambda: chunked,
    "slow headers": lambda: slow_headers,
    "slow body": lambda: slow_body,
    "100 for ever": lambda: continues,
    "a gibibyte announced": lambda: says_a_gibibyte,
    "a length of 6,000 digits": lambda: reply(feed(), Content_Length="9" * 6_000),
    "packed zeros": lambda: reply(packed(2_000), Content_Encoding="gzip"),
    "packed twice": lambda: reply(gzip.compress(packed(2_000)), Content_Encoding="gzip, gzip"),
    "packed in another way": lambda: reply(feed(), Content_Encoding="br"),
    "not packed": lambda: reply(feed(), Content_Encoding="gzip"),
    "ten thousand headers": lambda: reply(feed(), **{f"X-{number}": "y" for number in range(10_000)}),
    "no HTTP": lambda: lambda connection: connection.sendall(b"\x00\xff" * 1000),
}
"""Made by their tests: every process of a run imports this module."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(TRANSPORT))
def test_an_answer_is_bounded_in_time_and_memory(tmp_path: Path, kind: str) -> None:
    with service(TRANSPORT[kind]()) as served:
        done = search(tmp_path, served.url)
    assert done.code == 7, done.output
    assert "does not answer" in done.output and "Traceback" not in done.output
    assert done.memory < MAX_MEMORY
    assert done.seconds < 30


def filled(unit: bytes) -> bytes:
    """A feed of one mebibyte."""
    return feed().replace(b"</feed>", unit * (MIB // len(unit)) + b"</feed>")


ENTITIES = b"".join(
    b'<!ENTITY b%d "%s">' % (number, (b"&b%d;" % (number - 1) if number else b"x" * 1000) * 10) for number in range(9)
)
FEEDS: dict[str, tuple[bytes, bool]] = {
    "entity bomb": (b"<!DOCTYPE feed [" + ENTITIES + b"]>" + feed("<entry><id>&b8;</id></entry>"), False),
    "entity of a file": (
        b'<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + feed("<entry><id>&x;</id></entry>"),
        False,
    ),
    "no feed": (b"<html><body>Log in</body></html>", False),
    "UTF-16": (feed(entry()).decode().encode("utf-16"), False),
    "empty": (b"", False),
    "elements": (filled(b"<a/>"), True),
    "entries": (filled(b"<entry/>"), True),
    "whole entries": (filled(entry().encode()), True),
    "authors": (feed(entry().replace("</entry>", "<author/>" * (MIB // 9) + "</entry>")), True),
    "attributes": (feed("<entry " + " ".join(f'a{number}=""' for number in range(60_000)) + "/>"), True),
    "namespaces": (feed("<entry " + " ".join(f'xmlns:a{n}="u{n}"' for n in range(40_000)) + "/>"), True),
    "depth": (feed("<a>" * (MIB // 3)), True),
    "less-than": (filled(b"<"), True),
    "a title of one mebibyte": (feed(entry(title="a" * MIB)), True),
    "a title of spaces": (feed(entry(title="a" + " " * MIB + "b")), True),
    "a title that nearly is a formula": (feed(entry(title="\\$" * (MIB // 3))), True),
    "an identifier of one mebibyte": (feed(entry("a-" * (MIB // 2))), True),
    "a comment that is nearly a withdrawal": (feed(entry(comment="paper " * (MIB // 6))), True),
    "a number of 6,000 digits": (feed(entry(), total="9" * 6_000), True),
}


@pytest.mark.slow
def test_a_mebibyte_of_feed_takes_two_seconds_at_most(tmp_path: Path) -> None:
    with service(reply(feed(total="0"))) as served:
        usual = search(tmp_path, served.url)
    assert usual.code == 0
    for kind, (body, is_read) in FEEDS.items():
        folder = tmp_path / kind
        folder.mkdir()
        with service(reply(body)) as served:
            done = search(folder, served.url)
        assert "Traceback" not in done.output and "root:" not in done.output, kind
        assert (done.code == 0) == is_read or (is_read and "too many pages" in done.output), (kind, done.output[:300])
        assert done.cpu - usual.cpu < 20.0, (kind, done.cpu, usual.cpu)
        assert done.memory < MAX_MEMORY, kind
        assert len(served.requests) < 12, kind


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"<a/>", b"<entry/>", b"<![CDATA[x]]>", b"&#120;"])
def test_the_largest_feed_is_bounded_in_memory(tmp_path: Path, unit: bytes) -> None:
    body = feed().replace(b"</feed>", unit * ((23 << 20) // len(unit)) + b"</feed>")
    with service(reply(body)) as served:
        done = search(tmp_path, served.url)
    assert done.memory < MAX_MEMORY
    assert done.seconds < 60


def test_a_redirect_is_not_followed_and_takes_no_key_along(tmp_path: Path) -> None:
    with service(reply(b"[]")) as elsewhere, arxiv_server(ATTENTION) as server:
        for status in ("301 Moved", "302 Found", "307 Again", "308 Moved"):
            with service(reply(b"", status, Location=elsewhere.url)) as moved:
                assert search(tmp_path, moved.url).code == 7
                for form in ("semantic_scholar", "openalex"):
                    chosen = {"URL": moved.url, "FORMAT": form, "API_KEY": "s3cret-s3cret"}
                    more = {f"ATLAS_PAPERS_CITATIONS_{name}": value for name, value in chosen.items()}
                    done = run(tmp_path, server.url, "show", "1706.03762", **more)
                    assert done.code == 0 and "answers with HTTP 30" in done.output, done.output
                    assert "s3cret" not in done.output
        assert elsewhere.requests == []


def citations() -> dict[str, bytes]:
    """Answers of up to 28 MiB."""
    return {
        "depth": b"[" * 1_000_000,
        "depth of objects": b'[{"references": ' * 200_000,
        "a number of 6,000 digits": b"[" + b"9" * 6_000 + b"]",
        "many objects": b"[" + b"{}," * (7 << 20) + b"{}]",
        "many lists": b"[" + b"[]," * (7 << 20) + b"[]]",
        "many strings": b"[" + b'"ab",' * (4 << 20) + b'"ab"]',
        "many keys": b"{" + b",".join(b'"%d":0' % number for number in range(1_500_000)) + b"}",
        "NaN": b"[NaN, Infinity, -Infinity]",
        "half a surrogate": b'[{"references": [{"title": "\\ud800", "externalIds": {"DOI": "10.1000/\\ud800"}}]}]',
        "other types": json.dumps([{"references": {"title": [], "externalIds": 7}, "externalIds": None}]).encode(),
        "no JSON": b"\x00\xff",
        "a path as identifier": json.dumps(
            [{"references": [{"title": "x", "externalIds": {"ArXiv": "../../etc/passwd", "DOI": "../x"}}]}]
        ).encode(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", ["semantic_scholar", "openalex"])
def test_an_answer_of_a_citation_service_is_bounded(tmp_path: Path, form: str) -> None:
    with arxiv_server(ATTENTION) as server:
        usual = run(tmp_path, server.url, "show", "1706.03762")
        assert usual.code == 0
        for kind, body in citations().items():
            print(kind, len(body))
            with service(reply(body)) as served:
                more = {"ATLAS_PAPERS_CITATIONS_URL": served.url, "ATLAS_PAPERS_CITATIONS_FORMAT": form}
                done = run(tmp_path, server.url, "show", "1706.03762", **more)
            assert done.code == 0 and "Traceback" not in done.output, (kind, done.output)
            assert "etc/passwd" not in done.output
            assert done.memory < MAX_MEMORY, kind
            assert done.cpu - usual.cpu < 20.0 or len(body) > MIB, kind
            assert served.requests, kind
            (tmp_path / "papers" / "references.json").unlink(missing_ok=True)


def test_texts_neither_drive_the_terminal_nor_choose_a_file(tmp_path: Path) -> None:
    evil = "\u202e\u2066\u200b\u0085\U000e0041 <script>alert(1)</script> \u2028| `x` ](javascript:1)"
    entries = entry("../../../etc/cron.d/evil") + entry("2401.00001v1\n../x", evil)
    entries += entry("2401.00002v1", evil, doi="javascript:1", journal_ref=evil, comment=evil)
    with service(reply(feed(entries, "3"))) as served:
        done = search(tmp_path, served.url)
    assert done.code == 0 and "2401.00002" in done.output
    assert not set(done.output) & set("\u202e\u2066\u200b\u0085\U000e0041\u2028\x1b")
    for form in ("bibtex", "ris", "markdown"):
        said = run(tmp_path, served.url, "export", "--format", form).output
        assert "2401.00002" in said and not set(said) & set("\u202e\u2066\u200b\u0085\u2028\x1b")
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    kept = {"papers/.requests.lock", "papers/whales/.write.lock", "output", "peak"}
    assert written - kept == {"papers/whales/papers_info.json", "papers/whales/searches.json"}


def test_a_service_that_never_ends_its_list_is_asked_a_few_times(tmp_path: Path) -> None:
    pages = iter(range(10_000))

    def page(connection: socket.socket) -> None:
        reply(feed(entry(f"no-identifier-{next(pages)}"), "9" * 9))(connection)

    with service(page) as served:
        done = search(tmp_path, served.url)
    assert done.code == 7 and "too many pages" in done.output
    assert len(served.requests) < 12
