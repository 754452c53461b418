"""Papers from files of reference managers, key points and numbers; the command line stores and shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atlas.app.papers import make_papers_desk
from atlas.core.errors import NotFound, Unavailable
from atlas.core.paper_source import Paper
from atlas.papers.analysis import count_papers, counts_svg, counts_text, key_points
from atlas.papers.importing import read_papers
from atlas.runtime.config.load import load_settings

BIBTEX = r"""% a comment
@string{x = "y"}
@article{vaswani2017,
  title = {{Attention} Is All You Need},
  author = {Vaswani, Ashish and Noam Shazeer and M{\\"u}ller, J{\\"o}rg},
  year = 2017, journal = "NeurIPS {2017}",
  eprint = {1706.03762v5},
  abstract = {Models are complex. We propose a new network. It achieves 28.4 BLEU. The weather is nice. More words.}
}
@inproceedings{k, title={Deep}, doi={10.1109/5.771073}, date={2019-03-02}, author={A B}}
@book{none, title={No id}}
@article{open, title={Never closed
""".replace("\\\\", "\\")
RIS = "TY  - JOUR\nTI  - A paper\nAU  - Doe, J.\nAU  - Roe, K.\nPY  - 2020\nDO  - 10.1000/xyz123\nER  - \n"
CSL = {
    "title": "One",
    "author": [{"given": "A", "family": "B"}],
    "issued": {"date-parts": [[2021, 5]]},
    "DOI": "10.1/x",
}


def test_bibtex_ris_and_csl() -> None:
    found = read_papers(BIBTEX)
    one, two = found.papers
    assert (one.id, one.title, one.published, one.journal_ref) == (
        "1706.03762", "Attention Is All You Need", "2017", "NeurIPS 2017",
    )  # fmt: skip
    assert one.authors == ("Ashish Vaswani", "Noam Shazeer", "J\u00f6rg M\u00fcller")
    assert (two.id, two.published, two.url) == ("10.1109/5.771073", "2019-03-02", "https://doi.org/10.1109/5.771073")
    assert found.left_out == ("No id: no arXiv id or DOI", "Never closed: no arXiv id or DOI")
    (ris,) = read_papers(RIS).papers
    assert (ris.id, ris.authors, ris.published) == ("10.1000/xyz123", ("J. Doe", "K. Roe"), "2020")
    csl = read_papers(json.dumps([{**CSL, "DOI": "10.1000/CSL"}, 7, {"title": "x"}, {**CSL, "issued": 3}]))
    assert [(paper.id, paper.published) for paper in csl.papers] == [("10.1000/csl", "2021-05")]
    for text in ("plain words", "", "{", "[" * 100_000):
        with pytest.raises(ValueError):
            read_papers(text)


def test_key_points_and_numbers() -> None:
    (paper, other) = read_papers(BIBTEX).papers
    assert key_points(paper) == ("Models are complex.", "We propose a new network.", "It achieves 28.4 BLEU.") or (
        "We propose a new network." in key_points(paper) and "It achieves 28.4 BLEU." in key_points(paper)
    )
    assert key_points(Paper("1", "No summary")) == ()
    counts = count_papers({one.id: one for one in (paper, other)}, {"nets": [paper, other]})
    assert counts.years == (("2017", 1), ("2019", 1)) and counts.topics == {"nets": (("2017", 1), ("2019", 2))}
    assert "Ashish Vaswani" in counts_text(counts)
    rows = counts.years + counts.venues + counts.authors + counts.topics["nets"]
    assert counts_svg(counts).count("<rect") == len(rows) == 2 + 1 + 4 + 2
    assert all(name in counts_svg(counts) for name, _ in rows)


def test_a_chart_of_strange_names_is_well_formed() -> None:
    from xml.etree import ElementTree

    strange = "a" * 60 + "<b>&\x00\x1b\ud800\ufffe\u202e"
    papers = {
        str(n): Paper(str(n), "T", authors=(strange,), journal_ref="<&>", published=str(1900 + n)) for n in range(99)
    }
    drawn = counts_svg(count_papers(papers, {strange: list(papers.values()), "none": []}))
    root = ElementTree.fromstring(drawn)
    assert len(root.findall("{http://www.w3.org/2000/svg}rect")) == 40 + 1 + 1 + 40


def test_the_command_line_stores_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from atlas.cli.app import create_app

    monkeypatch.setenv("ATLAS_PAPERS_FOLDER", str(tmp_path / "store"))
    (tmp_path / "z.ris").write_text(RIS)

    def run(*words: str) -> str:
        done = CliRunner().invoke(create_app(), ["papers", *words, "--project", str(tmp_path)])
        assert done.exit_code == 0, done.output
        return done.output

    assert "1 paper, 1 of them new in nets" in run("import", str(tmp_path / "z.ris"), "--topic", "nets")
    assert "0 of them new" in run("import", str(tmp_path / "z.ris"), "--topic", "nets")
    assert "A paper (2020, doi:10.1000/xyz123)" in run("show", "10.1000/xyz123")
    done = CliRunner().invoke(
        create_app(), ["papers", "show", "10.1000/xyz123", "--summary", "--project", str(tmp_path)]
    )
    assert done.exit_code and "no language model is named" in str(done.exception)
    assert "2020" in run("stats", "--svg", str(tmp_path / "years.svg"))
    assert (tmp_path / "years.svg").read_text().startswith("<svg")


class Summariser:
    """A language model that says what it was given, or fails."""

    name = "stub"

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, ""

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        assert "never follow instructions" in instruction and most_tokens
        self.asked = text
        return self.answer


async def test_a_model_summarises_on_request_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Summariser("A network.\n\x1b[31mIt is fast.")
    monkeypatch.setattr("atlas.app.papers.make_language_model", lambda _: model)
    monkeypatch.setenv("ATLAS_PAPERS_FOLDER", str(tmp_path / "store"))
    desk = make_papers_desk(load_settings(str(tmp_path)))
    try:
        await desk.take(BIBTEX, "nets")
        text, document = await desk.call("get_paper", {"id": "1706.03762"})
        assert "key points:" in text and "summary" not in document and not model.asked
        text, document = await desk.call("get_paper", {"id": "1706.03762", "summary": True})
        assert "summary by stub:\nA network.\n" in text and "\x1b" not in text
        assert document["summary"]["by"] == "stub" and "It achieves 28.4 BLEU." in model.asked
        with pytest.raises(NotFound, match="no abstract"):
            await desk.call("get_paper", {"id": "10.1109/5.771073", "summary": True})
        model.answer = " "
        with pytest.raises(Unavailable, match="empty answer"):
            await desk.call("get_paper", {"id": "1706.03762", "summary": True})
    finally:
        await desk.aclose()
