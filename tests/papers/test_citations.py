"""Citations from a configured service, and chains of claims that lead over papers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from atlas.adapters.paper_services import answers
from atlas.app.papers import make_paper_links
from atlas.core.errors import ConfigError
from atlas.core.paper_source import PaperLink
from atlas.runtime.config.load import load_settings
from tests.surfaces.knowledge import desk, project

from .arxiv_server import ATTENTION, BERT, arxiv_server
from .citation_server import citation_server
from .test_papers import Desk, settings_for

BERT_CITES = [
    ({"ArXiv": "1706.03762", "DOI": "10.1/attention"}, "Attention Is All You Need"),
    ({"DOI": "10.18653/V1/N18-1202"}, "Deep contextualized\x1b[31m word representations"),
    ({"CorpusId": 3}, "Neither identifier"),
    ({"ArXiv": "../../etc"}, None),
]


def test_references_are_asked_once_and_stored(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server, citation_server({"1810.04805": BERT_CITES}) as service:
        chosen = {"citations_url": service.url, "citations_api_key": "s3cret", "citations_pause_ms": 0}
        found = Desk(tmp_path, server, **chosen)("search_papers", topic="language models")
        assert found["notices"] == []
        assert service.asked == [["ARXIV:1706.03762", "ARXIV:1810.04805"]]
        assert service.headers[0]["x-api-key"] == "s3cret"
        reader = Desk(tmp_path, server, **chosen)
        shown = reader("get_paper", id="1810.04805")
        assert shown["cites"] == ["1706.03762", "doi:10.18653/v1/n18-1202"]
        assert "doi:10.18653/v1/n18-1202 Deep contextualized[31m word representations (not stored)" in reader.text
        assert reader("get_paper", id="1706.03762")["cited_by"] == ["1810.04805"]
        assert reader("related_papers", id="1706.03762")["related"][0]["reasons"][0] == "cites it"
        assert len(service.asked) == 1, "also a paper that the service does not know is not asked for again at once"
    stored = json.loads((tmp_path / "papers" / "references.json").read_text())
    assert stored["1810.04805"]["cites"]["arxiv:1706.03762"] == "Attention Is All You Need"
    assert Desk(tmp_path, "http://127.0.0.1:9/")("citation_graph")["cites"][0] == ["1810.04805", "1706.03762"]


@pytest.mark.parametrize("status, body", [(500, b""), (200, b"<html>"), (200, b"[]"), (200, b"{}"), (429, b"[null]")])
def test_a_service_that_fails_is_said_and_the_paper_shown(tmp_path: Path, status: int, body: bytes) -> None:
    with arxiv_server(ATTENTION) as server, citation_server({}) as service:
        service.status, service.body = status, body
        shown = Desk(tmp_path, server, citations_url=service.url)("get_paper", id="1706.03762")
    assert shown["paper"]["id"] == "1706.03762" and "citations: http://127.0.0.1" in shown["notices"][0]


def test_a_large_answer_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_BYTES", 100_000)
    with arxiv_server(ATTENTION) as server, citation_server({}) as service:
        service.body = b"[" + b" " * 1_000_000 + b"null]"
        shown = Desk(tmp_path, server, citations_url=service.url)("get_paper", id="1706.03762")
    assert "does not answer" in shown["notices"][0]


def test_no_service_is_asked_unless_the_user_configures_one(tmp_path: Path) -> None:
    (tmp_path / "atlas.toml").write_text('[papers]\ncitations_url = "http://127.0.0.1:9/"\n')
    settings = load_settings(str(tmp_path), environment={})
    assert settings.papers.citations_url == ""
    assert "citations_url" in settings.ignored[0].why
    with pytest.raises(ConfigError, match="must not hold a user or password"):
        load_settings(str(tmp_path), environment={"ATLAS_PAPERS_CITATIONS_URL": "http://me:pw@127.0.0.1:9/"})


def test_damaged_references_are_kept_aside(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION) as server:
        reader = Desk(tmp_path, server)
        reader("get_paper", id="1706.03762")
        (tmp_path / "papers" / "references.json").write_text("{broken")
        assert "is damaged" in reader("get_paper", id="1706.03762")["problems"][0]
    assert list((tmp_path / "papers").glob("references.json.damaged-*"))


def test_links_have_the_names_of_the_graph(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server, citation_server({"1810.04805": BERT_CITES}) as service:
        chosen = settings_for(tmp_path, server.url, citations_url=service.url, citations_pause_ms=0)
        asyncio.run(_search(chosen))
    links = make_paper_links(chosen)
    assert links.links(["arxiv:1706.03762"]) == [PaperLink("arxiv:1810.04805", "arxiv:1706.03762", "CITES")]
    assert links.titles(["arxiv:1810.04805", "doi:10.18653/v1/n18-1202", "arxiv:0000.00000"]) == {
        "arxiv:1810.04805": BERT.title,
        "doi:10.18653/v1/n18-1202": "Deep contextualized[31m word representations",
    }


async def _search(chosen: Any) -> None:
    from atlas.app.papers import make_papers_desk

    await make_papers_desk(chosen).call("search_papers", {"topic": "language models"})


async def test_lineage_crosses_papers(tmp_path: Path) -> None:
    folder = str(tmp_path / "papers")
    with arxiv_server(ATTENTION, BERT) as server, citation_server({"1810.04805": BERT_CITES}) as service:
        await _search(settings_for(tmp_path, server.url, citations_url=service.url, citations_pause_ms=0))
    async with desk(project(tmp_path), personal=True, ATLAS_PAPERS_FOLDER=folder) as claims:

        async def stated(text: str, source: str) -> str:
            return (await claims.say("ingest_hypothesis", hypothesis=text, source=source)).id

        one = await stated("Attention scales quadratically.", "arXiv:1706.03762v5, section 4")
        two = await stated("Several heads look at several positions.", "https://arxiv.org/abs/1706.03762")
        three = await stated("Masked words are predicted from both sides.", "doi:10.48550/arXiv.1810.04805")
        unit = (await claims.say("get_unit", id=one)).data["unit"][0]
        assert unit["source"] == f"{ATTENTION.title}; arXiv:1706.03762v5, section 4", "notes are searched by titles"
        same = await claims.say("find_scientific_lineage", start_concept=one, end_concept=two)
        steps = [(step["relation"], step["direction"], step["to"]) for step in same.data["paths"][0]["steps"]]
        assert steps == [("source", "out", "arxiv:1706.03762"), ("source", "in", two)]
        cited = await claims.say("find_scientific_lineage", start_concept=one, end_concept=three)
        steps = [(step["relation"], step["direction"], step["to"]) for step in cited.data["paths"][0]["steps"]]
        assert steps == [
            ("source", "out", "arxiv:1706.03762"),
            ("cites", "in", "arxiv:1810.04805"),
            ("source", "in", three),
        ]
        assert ATTENTION.title in cited.text
        await claims.say("connect_propositions", from_=one, to=two, relation="extends", confidence=0.2)
        related = await claims.say("find_scientific_lineage", start_concept=one, end_concept=two)
        assert related.data["paths"][0]["steps"][0]["relation"] == "extends", "a stated relation is shorter"
        unit = await claims.say("get_unit", id=one)
        assert unit.data["papers"] == [{"id": "arxiv:1706.03762", "title": ATTENTION.title, "units": [two]}]
    async with desk(project(tmp_path), personal=False, ATLAS_PAPERS_FOLDER=folder) as apart:
        cited = await apart.say("find_scientific_lineage", start_concept=one, end_concept=three)
        assert cited.data["status"] == "none", "the library is the user's own, as personal notes are"
        assert (await apart.say("get_unit", id=one)).data["papers"] == [{"id": "arxiv:1706.03762", "units": [two]}]
