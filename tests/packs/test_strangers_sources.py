"""`atlas pack update` of a pack from elsewhere: its sources are somebody else's choice until the user names them."""

from __future__ import annotations

import asyncio
import http.server
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.adapters.web.fetcher import WebFetcher
from atlas.cli import main
from atlas.core.errors import ConfigError
from atlas.core.fetching import FetchFailed, FetchRequest
from atlas.packs import sources as pack_sources
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.documentation.pack.folder import load_manifest
from atlas.packs.sources import Consent, NamedHosts, request_of
from tests.surfaces.test_notes_cli import Done, Run

from .library import DOCUMENTATION, write_tree
from .strangers import archived, restated

DIARY = "# Diary\n\n## Secrets\n\nThe code of the `SAFE_DOOR` is kept here. Default: `4711`.\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack that was built on another machine."""
    folder = tmp_path_factory.mktemp("stranger")
    write_tree(folder / "docs", DOCUMENTATION)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        request = BuildRequest("widget", (str(folder / "docs"),), "2.0")
        asyncio.run(build_pack(request, folder / "pack"))
    shutil.rmtree(folder / "pack" / "eval" / "results")
    return folder / "pack"


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    shutil.copytree(made, tmp_path / "made")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATLAS_PACKS", str(tmp_path / "packs"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_tree(tmp_path / "docs", DOCUMENTATION)
    write_tree(tmp_path / "home" / "private", {"diary.md": DIARY})

    def run(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["atlas", "pack", *arguments])
        code = main._run()  # type: ignore[reportPrivateUsage]
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Done(code, shown.out, shown.err)

    return run


@pytest.fixture
def listening() -> Iterator[tuple[int, list[str]]]:
    """A server on this machine, and the paths that it was asked for."""
    asked: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = b"<html><body><h1>Intranet</h1><p>The budget is 4711.</p></body></html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port, asked
    server.shutdown()
    thread.join()
    server.server_close()


def install(run: Run, tmp_path: Path, *sources: str, **changes: object) -> Path:
    """Install a pack that a stranger has made with these sources."""
    listed = [{"text": text, "version": "", "digest": "", "articles": 1} for text in sources]
    archive = archived(tmp_path / "made", tmp_path / "stranger.tar.zst", changes={"sources": listed, **changes})
    done = run("install", str(archive), "--replace")
    assert done.code == 0, done.err
    return tmp_path / "packs" / "widget" / "2.0"


def is_unread(run: Run) -> bool:
    return "4711" not in run("query", "widget", "What is the default of SAFE_DOOR?").out


@pytest.mark.parametrize(
    "source",
    [
        *("~/private", "docs", "./docs", "../", "/etc", "git:~/private", "urls:docs/guide.md", "installed:typer"),
        *("docs/guide.md", "file:///etc/passwd", "FILE:///etc", "git:.", "~root", "//server/share", "x.tar.gz"),
        *("http://127.0.0.1:{port}/", "http://localhost:{port}/", "sitemap:http://127.0.0.1:{port}/sitemap.xml"),
        *("http://2130706433:{port}/", "http://0x7f.1:{port}/", "http://0177.0.0.1:{port}/", "http://127.1:{port}/"),
        *("http://[::1]:{port}/", "http://[::ffff:127.0.0.1]:{port}/", "http://0.0.0.0:{port}/", "http://0/"),
        *("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://[fe80::1]/"),
        *("http://user:key@127.0.0.1:{port}/", "http://router/", "http://nas.local/", "http://wiki.corp./"),
        *("http://localhost.:{port}/", "http://[fd00::1]/", "http://100.64.0.1/", " http://127.0.0.1:{port}/", "pypi:"),
    ],
)
def test_what_is_on_this_machine_is_read_only_if_it_is_named_again(
    run: Run, tmp_path: Path, listening: tuple[int, list[str]], source: str
) -> None:
    port, asked = listening
    source = source.format(port=port)
    install(run, tmp_path, source)
    for options in ((), ("--accept-sources",), ("--dry-run",), ("--force", "--json"), ("--from", "docs/nothing")):
        done = run("update", "widget", *options)
        assert done.code == 2, (options, done.out, done.err)
    assert "--from" in run("update", "widget").err
    assert asked == []
    assert is_unread(run)


def test_a_named_folder_is_read(run: Run, tmp_path: Path) -> None:
    install(run, tmp_path, "~/private")
    assert run("update", "widget", "--from", "~/private", "--json").json["added"] == ["diary.md"]
    assert not is_unread(run)
    # what the user has agreed to, this machine has built
    assert run("update", "widget").code == 0


def test_a_named_address_is_asked_and_no_other_one(run: Run, tmp_path: Path, listening: tuple[int, list[str]]) -> None:
    port, asked = listening
    source = f"http://127.0.0.1:{port}/"
    install(run, tmp_path, source, "~/private")
    assert run("update", "widget", "--from", source).code == 2
    assert asked == []
    install(run, tmp_path, source)
    assert run("update", "widget", "--from", source).code == 0
    assert "/" in asked


def test_public_sources_are_shown_and_agreed_to(run: Run, tmp_path: Path) -> None:
    install(run, tmp_path, "pypi:nothing-of-this-name==1.0", "https://docs.example.org/guide/")
    done = run("update", "widget", "--dry-run")
    assert done.code == 2
    assert "pypi:nothing-of-this-name==1.0" in done.err and "https://docs.example.org/guide/" in done.err
    assert "--accept-sources" in done.err
    document = run("update", "widget", "--json").json
    assert document["error"]["kind"] == "ConfigError"
    request = request_of(tmp_path / "packs" / "widget" / "2.0", Consent(public=True))
    assert request.private == ()


async def test_a_public_name_that_leads_to_this_machine_is_refused(listening: tuple[int, list[str]]) -> None:
    port, asked = listening
    fetcher = NamedHosts(WebFetcher(), ["docs.example.org"])
    try:
        for url in (f"http://127.0.0.1:{port}/", f"http://localhost:{port}/"):  # as a name that resolves to it
            assert not await fetcher.is_private(url)
            with pytest.raises(FetchFailed):
                await fetcher.fetch(FetchRequest(url, 1000, 5.0, allow_private=True))
    finally:
        await fetcher.aclose()
    assert asked == []


def test_names_that_resolve_to_this_machine_are_not_connected_to(
    run: Run, tmp_path: Path, listening: tuple[int, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, asked = listening
    folder = install(run, tmp_path, f"http://docs.example.org:{port}/")

    real = socket.getaddrinfo

    def resolve(host: str, *arguments: object, **options: object) -> object:
        is_asked = host == "docs.example.org" and options.get("flags") != socket.AI_NUMERICHOST
        return real("127.0.0.1" if is_asked else host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    # the text of the source says nothing
    assert not pack_sources.foreign_sources(folder, load_manifest(folder))[0].is_local
    assert run("update", "widget", "--accept-sources").code != 0
    assert asked == []


def test_a_confirmation_names_every_source_and_hides_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "https://docs.example.org/\u202egpj\x1b[2J\nRead them? [y/N]: y/"
    install(run, tmp_path, source)
    done = run("update", "widget")
    assert done.code == 2
    assert not {"\u202e", "\x1b"} & set(done.err)
    assert len(done.err.splitlines()) == 2
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, **_: bool(asked.append(text)))
    assert run("update", "widget").code == 2
    assert asked == ["Read them?"]


def test_a_pack_that_was_built_here_is_updated_without_a_question(run: Run, tmp_path: Path) -> None:
    assert run("build", "own", "--from", "docs", "--version", "1").code == 0
    assert run("update", "own").code == 0
    folder = tmp_path / "packs" / "own" / "1"
    questions = folder / "eval" / "questions.jsonl"
    questions.write_text(questions.read_text() + json.dumps({"question": "Mine?", "kind": "hand"}) + "\n")
    assert run("export", "own", "--output", "own.tar.zst").code == 0
    assert run("install", "own.tar.zst", "--replace").code == 0
    assert run("update", "own", "--force").code == 0
    shutil.copytree(folder, tmp_path / "moved")
    (tmp_path / "docs" / "new.md").write_text("# New\n\nA page.\n")
    assert run("update", "./moved", "--json").json["added"] == ["new.md"]


def test_what_the_pack_says_about_itself_does_not_count(run: Run, tmp_path: Path) -> None:
    folder = install(run, tmp_path, "~/private")
    # earlier versions read this file; a clone can bring it
    (folder / "local.json").write_text(json.dumps({"folder": str(tmp_path / "home"), "built": True}))
    assert run("update", "widget").code == 2
    # a pack of the user's whose sources were changed is none of the user's
    assert run("build", "own", "--from", "docs", "--version", "1").code == 0
    own = tmp_path / "packs" / "own" / "1"
    restated(own, sources=[{"text": "~/private", "articles": 1}])
    assert run("update", "own").code == 2


def test_settings_of_a_stranger_raise_no_limit(run: Run, tmp_path: Path) -> None:
    settings = {"max_pages": 10**9, "max_depth": -5, "hosts": ["127.0.0.1", 7], "ignore_robots": True, "language": 5}
    folder = install(run, tmp_path, "https://docs.example.org/", settings=settings)
    options = request_of(folder, Consent(public=True)).options
    assert (options.max_pages, options.max_depth, options.hosts, options.ignore_robots) == (2_000, 0, (), False)
    assert options.language == "en"


def test_more_sources_than_a_person_reads_are_refused(run: Run, tmp_path: Path) -> None:
    folder = install(run, tmp_path, *(f"https://docs.example.org/{number}" for number in range(5000)))
    with pytest.raises(ConfigError) as raised:
        request_of(folder, Consent(public=True))
    assert len(raised.value.message) < 10_000
    assert len(load_manifest(folder).sources) == 5000


def test_a_rebuilt_pack_takes_nothing_from_the_stranger_s_graph(run: Run, tmp_path: Path) -> None:
    install(run, tmp_path, str(tmp_path / "docs"))
    done = run("update", "widget", "--from", str(tmp_path / "docs"), "--json").json
    assert done["embedded"] == done["manifest"]["counts"]["Chunk"]
