"""Citations: identifiers of other papers (arXiv ids, DOIs) in the stored text of a paper, and the graph they make.

arXiv's answers have no lists of references: the graph holds what abstracts, comments and journal references name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atlas.model import Scored
from atlas.paper_source import ARXIV_ID, Paper, split_version

MAX_REFERENCES = 1_000
"""References of one paper."""

_NAMED = re.compile(
    rf"(?:arxiv\s*:\s*|arxiv\.org/(?:abs|pdf)/|10\.48550/arxiv\.)({ARXIV_ID.pattern})(?![\w/])", re.IGNORECASE
)
_BARE = re.compile(r"(?<![\w./])(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5})(?:v\d+)?(?![\w/]|\.\d)")
_DOI = re.compile(r"(?<![\w/])10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+")


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Who cites whom. Targets are identifiers of arXiv, or `doi:...` of papers that are not stored."""

    cites: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    cited_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True, slots=True)
class Related:
    """A related paper with the reasons, strongest first."""

    paper: Paper
    score: float
    reasons: tuple[str, ...]


def citation_graph(papers: Mapping[str, Paper]) -> CitationGraph:
    """Return the graph of stored papers."""
    of_doi = {paper.doi.lower(): one for one, paper in papers.items() if paper.doi}
    cites: dict[str, tuple[str, ...]] = {}
    cited_by: dict[str, list[str]] = {}
    for identifier, paper in papers.items():
        targets = references_of(paper, papers, of_doi)
        if targets:
            cites[identifier] = targets
        for target in targets:
            cited_by.setdefault(target, []).append(identifier)
    return CitationGraph(cites, {one: tuple(citing) for one, citing in cited_by.items()})


def references_of(paper: Paper, papers: Mapping[str, Paper], of_doi: Mapping[str, str]) -> tuple[str, ...]:
    """Return the papers that a paper names, in the order of its text, without itself.

    A number such as 1706.03762 without "arXiv:" counts only if that paper is stored.
    """
    text = f"{paper.summary}\n{paper.comment}\n{paper.journal_ref}"
    found: dict[str, None] = {}
    for match in _NAMED.finditer(text):
        found[split_version(match[1])[0]] = None
    for match in _BARE.finditer(text):
        if match[1] in papers:
            found[match[1]] = None
    for match in _DOI.finditer(text):
        doi = match.group().rstrip(".,;:)'").lower()
        if not doi.startswith("10.48550/arxiv.") and doi != paper.doi.lower():
            found[of_doi.get(doi, f"doi:{doi}")] = None
    found.pop(paper.id, None)
    return tuple(found)[:MAX_REFERENCES]


def related(
    paper: Paper, papers: Mapping[str, Paper], graph: CitationGraph, near: Sequence[Scored], most: int
) -> list[Related]:
    """Return papers that are related by citations, authors or meaning, best first, each with its reasons."""
    scores: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}

    def say(identifier: str, weight: float, reason: str) -> None:
        if identifier != paper.id and identifier in papers:
            scores[identifier] += weight  # pyright: ignore[reportArgumentType]
            reasons.setdefault(identifier, []).append(reason)

    own = graph.cites.get(paper.id, ())
    for one in own:
        say(one, 1.0, "cited by it")
    for one in graph.cited_by.get(paper.id, ()):
        say(one, 1.0, "cites it")
    shared = Counter(one for target in own for one in graph.cited_by.get(target, ()))
    for one, count in shared.items():
        say(one, min(0.6, 0.3 * count), f"cites {count} of the same papers")
    names = set(paper.authors)
    for one, other in papers.items():
        common = sorted(names.intersection(other.authors))
        if common:
            say(one, min(0.5, 0.25 * len(common)), f"same author: {', '.join(common[:3])}")
    for hit in near:
        say(hit.uid, max(0.0, hit.score), f"similar text ({hit.score:.2f})")
    best = sorted(scores, key=lambda one: (-scores[one], one))[:most]
    return [Related(papers[one], round(float(scores[one]), 3), tuple(reasons[one])) for one in best]
