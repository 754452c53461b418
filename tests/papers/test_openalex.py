"""Citations from a server with OpenAlex's interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atlas.adapters.paper_services.openalex import OpenAlex
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings

from .arxiv_server import ATTENTION, BERT, arxiv_server
from .openalex_server import openalex_server, work
from .test_papers import Desk

WORKS = (
    work(1, "10.48550/arxiv.1706.03762", ATTENTION.title),
    work(2, "10.48550/arxiv.1810.04805", BERT.title, [1, 3, 4, 5, 99, 1, "W3", None, 7, "https://openalex.org/A5"]),
    work(3, "10.18653/V1/N18-1202", "Deep contextualized\x1b[31m word representations"),
    work(4, None, "No DOI"),
    work(5, "10.48550/arxiv.quant-ph/0201082v2", None),
)


def test_references_are_found_by_doi_and_stored(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server, openalex_server(*WORKS) as service:
        chosen = {
            "citations_url": service.url,
            "citations_format": "openalex",
            "citations_api_key": "s3cret",
            "citations_pause_ms": 0,
        }
        found = Desk(tmp_path, server, **chosen)("search_papers", topic="language models")
        assert found["notices"] == []
        first, second = service.asked
        assert first["filter"] == "doi:10.48550/arxiv.1706.03762|10.48550/arxiv.1810.04805"
        assert first["api_key"] == second["api_key"] == "s3cret"
        assert second["filter"] == "openalex:W1|W3|W4|W5|W99|W7"
        shown = Desk(tmp_path, server, **chosen)("get_paper", id="1810.04805")
        assert shown["cites"] == ["1706.03762", "doi:10.18653/v1/n18-1202", "quant-ph/0201082"]
        assert len(service.asked) == 2, "also a paper without references is not asked for again at once"
    stored = json.loads((tmp_path / "papers" / "references.json").read_text())
    assert stored["1810.04805"]["cites"]["arxiv:1706.03762"] == ATTENTION.title
    assert stored["1706.03762"]["cites"] == {}
    assert "s3cret" not in json.dumps(stored)


def test_many_references_take_several_requests(tmp_path: Path) -> None:
    cited = [work(number, f"10.1234/{number}", f"Title {number}") for number in range(10, 330)]
    papers = [work(1000 + number, f"10.48550/arxiv.2101.{number:05}", "", range(10, 330)) for number in range(120)]
    with openalex_server(*papers, *cited) as service:
        source = OpenAlex(service.url, "", tmp_path, 5.0, 0.0)
        found = source.references([f"2101.{number:05}" for number in range(121)])
    assert len(service.asked) == 3 + 7, "papers by 50, and each cited work once"
    assert len(found) == 121 and found["2101.00120"] == ()
    assert [one.name for one in found["2101.00007"]] == [f"doi:10.1234/{number}" for number in range(10, 330)]
    assert all(int(one["per_page"]) >= len(one["filter"].split("|")) for one in service.asked)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, b"", "HTTP 500"),
        (403, b"{}", "HTTP 403"),
        (429, b'{"error": "Rate limit exceeded"}', "HTTP 429"),
        (401, b"{}", "rejects the key"),
        (301, b"", "HTTP 301"),
        (200, b"<html>", "another format"),
        (200, b"[]", "another format"),
        (200, b'{"results": 3}', "another format"),
    ],
)
def test_a_service_that_fails_is_said_and_the_paper_shown(tmp_path: Path, status: int, body: bytes, said: str) -> None:
    with arxiv_server(ATTENTION) as server, openalex_server() as service:
        service.status, service.body = status, body
        chosen = {"citations_url": service.url, "citations_format": "openalex", "citations_api_key": "s3cret"}
        shown = Desk(tmp_path, server, **chosen)("get_paper", id="1706.03762")
    assert shown["paper"]["id"] == "1706.03762"
    assert said in shown["notices"][0] and "s3cret" not in shown["notices"][0]


def test_damaged_works_are_left_out(tmp_path: Path) -> None:
    works = [None, 3, {}, {"doi": 3}, {"doi": "https://doi.org/10.48550/arxiv.2101.00001", "referenced_works": "W1"}]
    with openalex_server() as service:
        service.body = json.dumps({"results": works}).encode()
        assert OpenAlex(service.url, "", tmp_path, 5.0, 0.0).references(["2101.00001"]) == {"2101.00001": ()}


def test_another_format_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="citations_format must be one of semantic_scholar, openalex"):
        load_settings(str(tmp_path), environment={"ATLAS_PAPERS_CITATIONS_FORMAT": "openalx"})
