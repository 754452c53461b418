"""Papers over a server with arXiv's Atom format: searches, the store, what goes wrong, exports, citations."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.adapters.paper_services.arxiv import query_of
from atlas.app.papers import make_papers_desk
from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.core.model import PROSE, Chunk, Scored
from atlas.core.paper_source import Paper, PaperRequest
from atlas.papers import alerts
from atlas.papers.citations import citation_graph
from atlas.papers.export import export, tex
from atlas.papers.index import PaperIndex
from atlas.papers.library import PAPERS_FILE, PaperLibrary
from atlas.papers.wanted import checked_date, paper_id, topic_folder
from atlas.runtime.config.load import Settings, load_settings

from .arxiv_server import ATTENTION, BERT, WITHDRAWN, ArxivServer, Entry, arxiv_server


def settings_for(folder: Path, url: str, **changed: Any) -> Settings:
    found = load_settings(str(folder))
    values = {"folder": str(folder / "papers"), "url": url, "pause_ms": 0, "retries": 1, **changed}
    return replace(found, papers=replace(found.papers, **values))


class Desk:
    """The verbs over a server, from synchronous tests."""

    def __init__(self, folder: Path, server: ArxivServer | str, **changed: Any) -> None:
        url = server if isinstance(server, str) else server.url
        self.desk = make_papers_desk(settings_for(folder, url, **changed))
        self.text = ""

    def __call__(self, tool: str, **arguments: object) -> dict[str, Any]:
        self.text, document = asyncio.run(self.desk.call(tool, arguments))
        return document

    def read(self, uri: str) -> str:
        return asyncio.run(self.desk.resource(uri))


def ids(document: dict[str, Any]) -> list[str]:
    return [one["id"] for one in document["papers"]]


def test_the_index_is_kept_for_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cache" / "papers.index"
    papers = {f"2401.{n:05}": Paper(f"2401.{n:05}", f"Paper {n} about whales", summary=f"word{n}") for n in range(100)}
    embedded: list[int] = []

    class Counting(StaticEmbedder):
        async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
            embedded.append(len(chunks))
            return await super().embed_chunks(chunks)

    def best(stored: Mapping[str, Paper], text: str = "word42") -> list[Scored]:
        embedded.clear()
        index = PaperIndex(Counting(PROSE_FOLDER, PROSE), file)
        return asyncio.run(index.search(stored, text, None, 3))

    first = best(papers)
    assert (first[0].uid, embedded) == ("2401.00042", [100])
    assert (best(papers), embedded) == (first, [])
    more = {**papers, "2402.00001": Paper("2402.00001", "Zebras")}
    assert (best(more, "zebras")[0].uid, embedded) == ("2402.00001", [1])
    changed = {**papers, "2401.00042": Paper("2401.00042", "Penguins")}
    assert (best(changed, "penguins")[0].uid, embedded) == ("2401.00042", [1])
    assert "2401.00042" not in [hit.uid for hit in best({one: papers[one] for one in list(papers)[:40]})]
    assert (best(papers), embedded) == (first, [1]), "the vectors of unchanged papers are kept"
    whole = file.read_bytes()
    for damaged in (whole[:-10], whole[:-1] + b"?", b"", b"\n\n", whole.replace(b'"order"', b'"ORDER"')):
        file.write_bytes(damaged)
        assert (best(papers), embedded) == (first, [100]), "a damaged file costs only time"
        assert file.read_bytes() == whole
    monkeypatch.setattr("atlas.papers.index.__version__", "0.0.0")
    assert (best(papers), embedded) == (first, [100])


def test_a_search_is_stored_and_not_repeated(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT, WITHDRAWN) as server:
        desk = Desk(tmp_path, server)
        first = desk("search_papers", topic="Large  Language Models", max_results=2, author="Devlin", since="2017")
        assert first["origin"] == "service"
        assert ids(first) == ["1706.03762", "1810.04805"] == first["new"]
        again = Desk(tmp_path, server)("search_papers", topic="Large Language Models", max_results=1, author="Devlin", since="2017-01-01")  # fmt: skip
        assert (again["origin"], ids(again)) == ("store", ["1706.03762"])
        assert len(server.requests) == 1
        desk("search_papers", topic="Large Language Models", max_results=3, author="Devlin", since="2017")
        assert len(server.requests) == 2, "more papers than were asked for are not known"
        assert Desk(tmp_path, server, days=0)("search_papers", topic="Large Language Models", author="Devlin")["origin"] == "service"  # fmt: skip
    assert server.requests[0]["search_query"] == (
        'all:Large AND all:Language AND all:Models AND au:"Devlin" AND submittedDate:[201701010000 TO 209912312359]'
    )
    path = tmp_path / "papers" / "large_language_models" / "papers_info.json"
    stored = json.loads(path.read_text())
    assert stored["1706.03762"]["authors"] == ["Ashish Vaswani", "Noam Shazeer", "Łukasz Kaiser"]
    assert stored["1706.03762"]["pdf_url"] == "https://arxiv.org/pdf/1706.03762v5"
    assert stored["1706.03762"]["published"] == "2017-06-12T17:57:34Z"
    assert stored["2101.00001"]["is_withdrawn"] and not stored["1810.04805"]["is_withdrawn"]
    assert "Łukasz" in path.read_text(), "the file is readable"
    assert path.stat().st_mode & 0o077 == 0


def test_pages_with_papers_in_common_count_each_once(tmp_path: Path) -> None:
    entries = [Entry(f"2301.{number:05}v1", f"Paper {number}") for number in range(150)]
    with arxiv_server(*entries, overlap=3, page_limit=60) as server:
        found = Desk(tmp_path, server)("search_papers", topic="paper", max_results=140)
    assert len(set(ids(found))) == len(ids(found)) == 140
    assert [int(one["start"]) for one in server.requests] == [0, 60, 120]


def test_the_pause_holds_between_programs(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION) as server:
        for topic in ("one", "two"):
            Desk(tmp_path, server, pause_ms=300)("search_papers", topic=topic)
    assert server.times[1] - server.times[0] >= 0.29


@pytest.mark.parametrize("status", [500, 503, 302, 429])
def test_an_error_is_tried_again_and_then_named(tmp_path: Path, status: int) -> None:
    with arxiv_server(ATTENTION, failing=[status]) as server:
        assert ids(Desk(tmp_path, server)("search_papers", topic="x")) == ["1706.03762"]
        assert len(server.requests) == 2
        server.failing = [status] * 5
        empty = tmp_path / "empty"
        empty.mkdir()
        with pytest.raises(Unavailable, match=f"HTTP {status}"):
            Desk(empty, server)("search_papers", topic="y")


@pytest.mark.parametrize("body", [b"<html>Log in to this network</html>", b"\0\1", b""])
def test_an_answer_in_another_format_is_no_empty_result(tmp_path: Path, body: bytes) -> None:
    with arxiv_server(ATTENTION, body=body or b" ") as server, pytest.raises(Unavailable, match="Atom"):
        Desk(tmp_path, server)("search_papers", topic="x")


def test_nothing_found_is_an_answer_and_is_kept(tmp_path: Path) -> None:
    with arxiv_server() as server:
        for origin in ("service", "store"):
            found = Desk(tmp_path, server)("search_papers", topic="unobtainium")
            assert (found["papers"], found["origin"]) == ([], origin)


def test_when_the_service_is_away_the_store_answers_and_says_so(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        Desk(tmp_path, server)("search_papers", topic="transformer")
        url = server.url
    old = Desk(tmp_path, url, days=0)
    found = old("search_papers", topic="transformer")
    assert (found["origin"], ids(found)) == ("store, service away", ["1706.03762", "1810.04805"])
    assert "cannot be reached" in old.text
    other = old("search_papers", topic="attention mechanisms", max_results=1)
    assert ids(other) == ["1706.03762"]
    assert "similar papers from the store" in old.text
    with pytest.raises(Unavailable):
        old("search_papers", topic="quantum chromodynamics", since="2025")
    checked = old("check_topics")
    assert checked["problems"]


def test_a_hostile_service_is_bounded(tmp_path: Path) -> None:
    bad = (
        Entry("../../evil", "No identifier"),
        Entry("2301.00001v1", "\x1b]0;title\x07 Bidi \u202e".replace("\x1b", "").replace("\x07", "") + "x" * 90_000),
        replace(ATTENTION, summary="<script>" + "y" * 100_000),
    )
    with arxiv_server(*bad) as server:
        found = Desk(tmp_path, server)("search_papers", topic="x")
    assert ids(found) == ["2301.00001", "1706.03762"]
    assert "\u202e" not in found["papers"][0]["title"]
    stored = PaperLibrary(tmp_path / "papers").papers()
    assert len(stored["2301.00001"].title) == 2_000
    assert len(stored["1706.03762"].summary) <= 20_000


def test_a_damaged_file_is_kept_aside_and_the_rest_is_served(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="one")
        desk("search_papers", topic="two")
        path = tmp_path / "papers" / "one" / PAPERS_FILE
        path.write_bytes(b'{"1706.03762": {"title": "cut')
        assert ids(desk("search_stored")) == ["1706.03762"]
        assert "is damaged: it is kept as" in desk.text
        aside = list(path.parent.glob("papers_info.json.damaged-*"))
        assert [one.read_bytes() for one in aside] == [b'{"1706.03762": {"title": "cut']
        # the saved search no longer knows its papers: the service is asked, and the file is whole again
        assert desk("search_papers", topic="one")["origin"] == "service"
        assert "1706.03762" in json.loads(path.read_text())


def test_a_damaged_record_stays_in_the_file(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="one", max_results=1)
        path = tmp_path / "papers" / "one" / PAPERS_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), "1810.04805": {"title": 7}, "x": None}))
        assert ids(desk("search_stored")) == ["1706.03762"]
        assert "2 damaged records" in desk.read("papers://one")
        desk("search_papers", topic="one", max_results=2)
    stored = json.loads(path.read_text())
    assert stored["1810.04805"]["title"] == BERT.title
    assert stored["1810.04805 (damaged)"] == {"title": 7}
    assert stored["x"] is None


@pytest.mark.parametrize(
    "topic", ["../../x", "/etc/passwd", "..", "a/../b", "~root", "C:\\x", "..\\x", " \t", "\0", "+++"]
)
def test_a_topic_is_no_path(tmp_path: Path, topic: str) -> None:
    with arxiv_server(ATTENTION) as server:
        desk = Desk(tmp_path, server)
        with pytest.raises(ConfigError, match="topic"):
            desk("search_papers", topic=topic)
        for uri in ("papers://../../x", "papers://..%2F..%2Fx", "papers://x%00y", "papers://nothing", "papers://"):
            with pytest.raises((ConfigError, NotFound)):
                desk.read(uri)
    assert not server.requests
    assert not (tmp_path / "papers").exists()


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_names_of_topics_are_safe_and_stable(topic: str) -> None:
    try:
        name = topic_folder(topic)
    except ConfigError:
        return
    assert 0 < len(name.encode()) <= 120
    assert not set(name) & set("/\\:\0. \n")
    assert topic_folder(name) == name


def test_a_link_in_place_of_a_topic_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / PAPERS_FILE).write_text('{"1706.03762": {"title": "secret"}}')
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one").symlink_to(outside)
    with arxiv_server(ATTENTION) as server:
        desk = Desk(tmp_path, server)
        assert ids(desk("search_stored")) == []
        with pytest.raises(NotFound):
            desk.read("papers://one")


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="one", max_results=1)
        before = (tmp_path / "papers" / "one" / PAPERS_FILE).read_bytes()

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("atlas.runtime.process.files.os.fsync", full)
        found = desk("search_papers", topic="one", max_results=2)
    assert ids(found) == ["1706.03762", "1810.04805"]
    assert "not stored: cannot store papers" in desk.text
    assert (tmp_path / "papers" / "one" / PAPERS_FILE).read_bytes() == before
    left = {one.name for one in (tmp_path / "papers" / "one").iterdir()}
    assert left == {PAPERS_FILE, "searches.json", ".write.lock"}, "no draft is left"


WRITER = """
import sys
from pathlib import Path
from atlas.core.paper_source import Paper
from atlas.papers.library import PaperLibrary
library = PaperLibrary(Path(sys.argv[1]))
for number in range(20):
    library.add("shared topic", [Paper(f"{sys.argv[2]}.{number:05}", "Title")])
"""


def test_two_processes_write_one_topic(tmp_path: Path) -> None:
    started = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), part]) for part in ("2301", "2302")]
    library = PaperLibrary(tmp_path)
    while any(one.poll() is None for one in started):
        library.papers()
        time.sleep(0.01)
    assert [one.returncode for one in started] == [0, 0]
    assert len(library.papers()) == 40
    assert library.take_problems() == []


def test_stored_papers_are_filtered(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT, WITHDRAWN) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="all")
        for filters, expected in (
            ({"author": "muller"}, ["2101.00001"]),
            ({"author": "NOAM Shaz"}, ["1706.03762"]),
            ({"category": "cs.*"}, ["1810.04805", "1706.03762"]),
            ({"category": "cs.LG"}, ["1706.03762"]),
            ({"venue": "journal of errors"}, ["2101.00001"]),
            ({"since": "2018", "until": "2018-10"}, ["1810.04805"]),
            ({"query": "language representation", "limit": 1}, ["1810.04805"]),
            ({"query": "Vaswani", "limit": 1}, ["1706.03762"]),
            ({"query": "attention", "category": "math.*"}, []),
        ):
            assert ids(desk("search_stored", **filters)) == expected, filters
        with pytest.raises(ConfigError, match="since"):
            desk("search_stored", since="2020", until="2019")
        assert len(server.requests) == 1


def test_citations_relations_and_notes(tmp_path: Path) -> None:
    folder = tmp_path / ".knowledge"
    folder.mkdir()
    (folder / "claim.md").write_text(
        "---\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9A\nkind: claim\nsource: arxiv:1706.03762\n---\nAttention suffices.\n"
    )
    with arxiv_server(ATTENTION, BERT, WITHDRAWN) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="all", max_results=2)
        shown = desk("get_paper", id="https://arxiv.org/abs/1706.03762v5")
        assert shown["cited_by"] == ["1810.04805"]
        assert [one["text"] for one in shown["notes"]] == ["Attention suffices."]
        assert desk("citation_graph")["cites"] == [["1810.04805", "1706.03762"]]
        related = desk("related_papers", id="arxiv:1810.04805")["related"]
        assert related[0]["id"] == "1706.03762"
        assert related[0]["reasons"][0] == "cited by it"
        # not stored yet: fetched by its identifier, once
        assert desk("get_paper", id="2101.00001")["origin"] == "service"
        assert desk("get_paper", id="2101.00001")["origin"] == "store"
        with pytest.raises(NotFound):
            desk("get_paper", id="2501.00001")
    assert server.requests[1]["id_list"] == "2101.00001"


def test_references_are_found_by_identifiers() -> None:
    papers = {
        "a": Paper(
            "a", "A", summary="See arXiv:2301.00001v2, https://arxiv.org/abs/hep-th/9711200 and 10.1000/XYZ.1)."
        ),
        "2301.00001": Paper("2301.00001", "B", summary="Values 1234.5678 and 2302.99999; not 2301.00001 itself."),
        "c": Paper("c", "C", comment="extends 2301.00001, version of 10.1000/xyz.1", doi="10.1000/xyz.1"),
    }
    graph = citation_graph(papers)
    assert dict(graph.cites) == {"a": ("2301.00001", "hep-th/9711200", "c"), "c": ("2301.00001",)}
    assert graph.cited_by["2301.00001"] == ("a", "c")


def test_alerts_tell_each_new_paper_once(tmp_path: Path) -> None:
    told: list[list[str]] = []
    program = tmp_path / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/shown'\n")
    program.chmod(0o700)
    file = tmp_path / "new.md"

    async def tell(found: list[alerts.PaperAlert], problems: list[str]) -> None:
        told.append([alert.id for alert in found])
        if found:
            alerts.append(file, found)
            await alerts.notify((str(program), "--"), found)

    with arxiv_server(ATTENTION) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="transformer", category="cs.CL")
        hostile = Entry("2401.00001", "Of <b>bold</b> titles\x1b[31m\n- and lists")
        server.entries[:0] = [BERT, hostile]
        asyncio.run(alerts.watch(desk.desk, "", tell, rounds=2, pause=0.0))
    assert [sorted(ids) for ids in told] == [["1810.04805", "2401.00001"], []]
    lines = file.read_text().splitlines()
    assert len(lines) == 2 and any("arXiv:1810.04805 [transformer]" in line for line in lines)
    shown = (tmp_path / "shown").read_text()
    assert shown.startswith("--\n2 new papers\n")
    assert "&lt;b&gt;" in shown and "\x1b" not in shown


def test_new_papers_are_found(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION) as server:
        desk = Desk(tmp_path, server)
        desk("search_papers", topic="transformer", category="cs.CL")
        server.entries.insert(0, BERT)
        checked = desk("check_topics")
        assert [[one["id"] for one in row["new"]] for row in checked["topics"]] == [["1810.04805"]]
        assert [row["new"] for row in desk("check_topics", topic="transformer")["topics"]] == [[]]
        with pytest.raises(NotFound) as caught:
            desk("check_topics", topic="transformers")
        assert caught.value.near == ("transformer",)
    assert server.requests[-1]["sortBy"] == "submittedDate"


def test_a_topic_is_read_in_pages(tmp_path: Path) -> None:
    papers = [Paper(f"2301.{one:05}", f"Title {one}", published=f"2023-01-01T00:{one // 60:02}:{one % 60:02}Z") for one in range(150)]  # fmt: skip
    PaperLibrary(tmp_path / "papers").add("自然 言語", papers)
    desk = Desk(tmp_path, "http://127.0.0.1:9/x")
    assert "papers://自然_言語" in desk.read("papers://folders")
    first = desk.read("papers://%E8%87%AA%E7%84%B6_%E8%A8%80%E8%AA%9E")
    assert "150 papers, newest first; page 1 of 2" in first
    assert first.index("Title 149") < first.index("Title 50 ")
    assert "Title 0 " in desk.read("papers://自然_言語?page=2")
    with pytest.raises(NotFound):
        desk.read("papers://自然_言語?page=3")


HOSTILE = Paper(
    "2301.00001",
    r"\input{/etc/passwd} $\write18{rm}$ 100% {of} $\alpha^2$ [x](javascript:1)",
    ("A and B Collaboration", "Éa Ünal"),
    "first line\nER  - \nTY  - JOUR",
    "javascript:alert(1)",
    published="2023-01-02T00:00:00Z",
    is_withdrawn=True,
)


def test_exports_hold_nothing_that_a_reader_would_run() -> None:
    bibtex = export([HOSTILE, HOSTILE], "bibtex")
    assert r"\textbackslash{}input\textbraceleft{}/etc/passwd\textbraceright{}" in bibtex
    assert r"\$\textbackslash{}write18\textbraceleft{}rm\textbraceright{}\$ 100\%" in bibtex
    assert r"$\alpha^2$" in bibtex
    assert "{A and B Collaboration} and Éa Ünal" in bibtex
    assert bibtex.count("@misc{") == 2
    assert bibtex.count("@misc{collaboration2023inputetcpasswd,") == 1, "keys are unique"
    ris = export([HOSTILE], "ris")
    assert "\r\nTY  - " not in ris and ris.count("\r\nER  - ") == 1
    assert [line for line in ris.split("\r\n") if line.startswith(("TY", "ER"))] == ["TY  - UNPB", "ER  - "]
    markdown = export([HOSTILE], "markdown")
    assert r"\[x\](javascript:1)" in markdown
    assert "javascript:alert" not in markdown + bibtex + ris
    with pytest.raises(ConfigError, match="format"):
        export([], "docx")


@given(st.text(alphabet="\\{}$%^~#&_ab \n", max_size=60))
@settings(max_examples=300, deadline=None)
def test_braces_of_tex_are_balanced(text: str) -> None:
    written = tex(text)
    assert balanced(written), "BibTeX counts escaped braces as well"
    assert balanced(re.sub(r"\\.", "", written)), "TeX does not"


def balanced(text: str) -> bool:
    depth = 0
    for one in text:
        depth += (one == "{") - (one == "}")
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize(
    "title",
    [
        'x}}} @article(evil2020, title = "Forged", year = 2020)',
        'x}, note = "forged"} @misc(evil, title = "y")',
        r"$\}\}\} @misc(evil, x) \{\{\{$",
        "$}$ $x$ {$",
        "\\} @misc(evil, title = 1)",
    ],
)
def test_no_text_ends_its_field_and_begins_an_entry(title: str) -> None:
    paper = Paper("2301.00001", title, (title, "A AND B", "C\u00a0and D"), title, journal_ref=title, doi=title)
    bibtex = export([paper], "bibtex")
    depths, depth = [], 0
    for one in bibtex:
        depth += (one == "{") - (one == "}")
        depths.append(depth)
    assert depth == 0 and min(depths[bibtex.index("{") : bibtex.rindex("}")]) == 1
    assert "{A AND B} and {C and D}" in bibtex


def test_queries_hold_words_only() -> None:
    request = PaperRequest('C++ OR "x" ANDNOT (cat:y) AND', 'Łukasz "Kaiser"', "cs.LG", until="2020-01-31")
    assert query_of(request) == (
        'all:C AND all:x AND all:cat AND all:y AND au:"Łukasz Kaiser" AND cat:cs.LG AND '
        "submittedDate:[199001010000 TO 202001312359]"
    )
    with pytest.raises(ConfigError, match="topic"):
        query_of(PaperRequest("AND ++"))


@pytest.mark.parametrize(
    ("text", "identifier"),
    [("1706.03762v5", "1706.03762"), ("arXiv:hep-th/9711200", "hep-th/9711200"), ("10.48550/arXiv.1706.03762", "1706.03762"),
     ("https://arxiv.org/pdf/1706.03762.pdf", "1706.03762"), ("math.GT/0309136", "math.GT/0309136")],
)  # fmt: skip
def test_identifiers_are_read_in_all_their_forms(text: str, identifier: str) -> None:
    assert paper_id(text) == identifier


@pytest.mark.parametrize(
    "text", ["", "1", "../1706.03762", "1706.03762/../x", "1713.00001", "https://evil.org/abs/1706.03762"]
)
def test_other_identifiers_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        paper_id(text)


def test_dates() -> None:
    assert checked_date("since", "2020") == "2020-01-01"
    assert checked_date("until", "2020-02") == "2020-02-29"
    assert checked_date("until", "2020-12") == "2020-12-31"
    for wrong in ("2020-13", "yesterday", "2020-02-30", "٢٠٢٠x"):
        with pytest.raises(ConfigError, match="since"):
            checked_date("since", wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("URL", "file:///etc"),
        ("URL", "http://u:p@x/y"),
        ("URL", "http://x/y?z"),
        ("URL", "http://x/{}"),
        ("FOLDER", "rel"),
    ],
)
def test_settings_are_checked(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="papers"):
        load_settings(str(tmp_path), environment={f"ATLAS_PAPERS_{name}": value})
