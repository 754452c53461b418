"""The graph of citations between papers: identifiers in stored texts, and what a citation service has said.

arXiv's answers have no lists of references: texts name few papers. See `atlas.papers.references` for the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Scored
from atlas.core.paper_source import CitedPaper, Paper
from atlas.parsing import papers_named_in

MAX_REFERENCES = 1_000
"""References of one paper."""

_BARE = lazy_regex(r"(?<![\w./])(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5})(?:v\d+)?(?![\w/]|\.\d)")


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Who cites whom. Targets are identifiers of arXiv, or `doi:...` of papers that are not stored."""

    cites: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    cited_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Titles of targets that are not stored, as far as they are known."""


@dataclass(frozen=True, slots=True)
class RelatedPaper:
    """A related paper with the reasons, strongest first."""

    paper: Paper
    score: float
    reasons: tuple[str, ...]


def citation_graph(
    papers: Mapping[str, Paper], references: Mapping[str, Sequence[CitedPaper]] | None = None
) -> CitationGraph:
    """Return the graph of stored papers; `references` holds what a service has said about them."""
    of_doi = {paper.doi.lower(): one for one, paper in papers.items() if paper.doi}
    cites: dict[str, tuple[str, ...]] = {}
    cited_by: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for identifier, paper in papers.items():
        found = dict.fromkeys(references_of(paper, papers, of_doi))
        for one in (references or {}).get(identifier, ()):
            target = paper_key(one.name, of_doi)
            found[target] = None
            if one.title and target not in papers:
                titles[target] = one.title
        found.pop(identifier, None)
        targets = tuple(found)[:MAX_REFERENCES]
        if targets:
            cites[identifier] = targets
        for target in targets:
            cited_by.setdefault(target, []).append(identifier)
    return CitationGraph(cites, {one: tuple(citing) for one, citing in cited_by.items()}, titles)


def references_of(paper: Paper, papers: Mapping[str, Paper], of_doi: Mapping[str, str]) -> tuple[str, ...]:
    """Return the papers that a paper names, in the order of its text, without itself.

    A number such as 1706.03762 without "arXiv:" counts only if that paper is stored.
    """
    text = f"{paper.summary}\n{paper.comment}\n{paper.journal_ref}"
    found: dict[str, None] = {}
    named = papers_named_in(text, MAX_REFERENCES)
    for name in named:
        if name != f"doi:{paper.doi.lower()}":
            found[paper_key(name, of_doi)] = None
    for match in _BARE.finditer(text):
        if match[1] in papers:
            found[match[1]] = None
    found.pop(paper.id, None)
    return tuple(found)[:MAX_REFERENCES]


def paper_key(name: str, of_doi: Mapping[str, str]) -> str:
    """Return the key of a paper in the library and its citation graph: its identifier at arXiv, else `doi:...`."""
    if name.startswith("arxiv:"):
        return name.removeprefix("arxiv:")
    return of_doi.get(name.removeprefix("doi:"), name)


def related(
    paper: Paper, papers: Mapping[str, Paper], graph: CitationGraph, near: Sequence[Scored], most: int
) -> list[RelatedPaper]:
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
    return [RelatedPaper(papers[one], round(float(scores[one]), 3), tuple(reasons[one])) for one in best]
