"""A Zotero on this machine: its local interface is read page by page; what cannot be read is an error with a hint."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from atlas.adapters.paper_services.zotero import ZoteroLibrary
from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable

from .http_thread import QuietHandler, running


def entry(number: int) -> dict[str, object]:
    return {"title": f"Paper {number}", "DOI": f"10.1000/{number}", "issued": {"date-parts": [[2020]]}}


@contextmanager
def zotero(entries: list[object], *, status: int = 200, wrapped: bool = False) -> Generator[tuple[str, list[str]]]:
    """A server of the interface; every tenth entry is a note, which the export format leaves out."""
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            asked.append(address.path)
            given = {name: values[0] for name, values in parse_qs(address.query).items()}
            start, limit = int(given["start"]), int(given["limit"])
            assert given["format"] == "csljson"
            page = [one for place, one in enumerate(entries[start : start + limit], start) if place % 10 != 9]
            found = 404 if "NOSUCHKE" in address.path else status
            self.reply(found, json.dumps({"items": page} if wrapped else page).encode())

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with running(listener):
        yield f"http://127.0.0.1:{listener.server_address[1]}/api/users/0", asked


@pytest.mark.parametrize("wrapped", [False, True])
def test_all_pages_are_read(tmp_path: Path, wrapped: bool) -> None:
    with zotero([entry(number) for number in range(250)], wrapped=wrapped) as (url, asked):
        library = ZoteroLibrary(tmp_path, 5.0, url)
        assert len(library.items()) == 225
        assert len(library.items("ABCD2345")) == 225
        library.close()
    assert asked[0].endswith("/users/0/items/top")
    assert asked[-1].endswith("/users/0/collections/ABCD2345/items/top")


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="does not answer") as error:
        ZoteroLibrary(tmp_path, 1.0, "http://127.0.0.1:9/api/users/0").items()
    assert "Start Zotero" in error.value.hint
    with zotero([], status=403) as (url, _), pytest.raises(ConfigError, match="refuses"):
        ZoteroLibrary(tmp_path, 5.0, url).items()
    with zotero([], status=500) as (url, _), pytest.raises(Unavailable, match="HTTP 500"):
        ZoteroLibrary(tmp_path, 5.0, url).items()
    with zotero([]) as (url, asked):
        library = ZoteroLibrary(tmp_path, 5.0, url)
        with pytest.raises(NotFound):
            library.items("NOSUCHKE")
        before = len(asked)
        with pytest.raises(ConfigError, match="not the key"):
            library.items("../../1/items")
        assert len(asked) == before


@pytest.mark.parametrize(
    "url", ["http://example.org/api", "http://127.0.0.1.example.org/", "http://[::ffff:10.0.0.1]/"]
)
def test_another_machine_is_not_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="not on this machine"):
        ZoteroLibrary(tmp_path, 1.0, url)


def test_the_command_stores_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from atlas.cli.app import create_app

    monkeypatch.setenv("ATLAS_PAPERS_FOLDER", str(tmp_path / "store"))
    common = ["--topic", "nets", "--project", str(tmp_path)]
    with zotero([entry(1), {"title": "No identifier"}, "not an entry"]) as (url, _):
        done = CliRunner().invoke(create_app(), ["papers", "import", "--zotero-url", url, *common])
    assert done.exit_code == 0, done.output
    assert "1 paper, 1 of them new in nets" in done.output
    assert "left out: No identifier" in done.output
    for words in ([], ["z.bib", "--zotero"]):
        with pytest.raises(AtlasError, match="from a file or from Zotero"):
            CliRunner().invoke(create_app(), ["papers", "import", *words, *common], catch_exceptions=False)
