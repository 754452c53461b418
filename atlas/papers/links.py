"""Citations of stored papers under the names that papers have in the graph of a project: `arxiv:ID` and `doi:DOI`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from atlas.core.paper_source import MAX_LINKS, Paper, PaperLink
from atlas.papers.citations import CitationGraph, paper_key
from atlas.papers.stored_citations import StoredCitations

SAME, CITES = "SAME_PAPER", "CITES"


class StoredLinks:
    """`atlas.core.paper_source.PaperLinks`. Safe to use from several threads."""

    def __init__(self, citations: StoredCitations) -> None:
        """Read from `citations` at each question."""
        self._citations = citations
        self._by_doi: tuple[Mapping[str, Paper], dict[str, str]] = ({}, {})
        self._reading = threading.Lock()

    def titles(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of those papers that are stored, or cited by stored ones, as far as they are known."""
        papers, graph, of_doi = self._read()
        found = {name: papers.get(paper_key(name, of_doi)) for name in names}
        stored = {name: paper.title for name, paper in found.items() if paper is not None}
        cited = {name: graph.titles.get(paper_key(name, of_doi), "") for name in names if name not in stored}
        return {**stored, **{name: title for name, title in cited.items() if title}}

    def links(self, names: Sequence[str]) -> Sequence[PaperLink]:
        """Return the links from or to any of these papers."""
        papers, graph, of_doi = self._read()
        found: dict[PaperLink, None] = {}
        for name in names:
            own = paper_key(name, of_doi)
            links = [PaperLink(name, other, SAME) for other in _other_names(name, own, papers)]
            links += [PaperLink(name, _name(one), CITES) for one in graph.cites.get(own, ())]
            links += [PaperLink(_name(one), name, CITES) for one in graph.cited_by.get(own, ())]
            found.update(dict.fromkeys(links[:MAX_LINKS]))
        return list(found)

    def _read(self) -> tuple[Mapping[str, Paper], CitationGraph, Mapping[str, str]]:
        with self._reading:
            papers, graph = self._citations.read()
            if self._by_doi[0] is not papers:
                dois = {paper.doi.lower(): identifier for identifier, paper in papers.items() if paper.doi}
                self._by_doi = (papers, dois)
            return papers, graph, self._by_doi[1]


def _other_names(name: str, own: str, papers: Mapping[str, Paper]) -> list[str]:
    paper = papers.get(own)
    if paper is None:
        return []
    names = [f"arxiv:{paper.id}", *([f"doi:{paper.doi.lower()}"] if paper.doi else [])]
    return [one for one in names if one != name]


def _name(identifier: str) -> str:
    return identifier if identifier.startswith("doi:") else f"arxiv:{identifier}"
