"""Papers as text for people and models, and as JSON. Texts of strangers are escaped; what is left out is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atlas.core.invisible import escaped
from atlas.core.paper_source import Paper, named
from atlas.core.wording import counted
from atlas.papers.citations import CitationGraph, RelatedPaper
from atlas.papers.finder import FROM_SERVICE, FROM_STORE, FoundPapers
from atlas.papers.library import Shelf

SHOWN_SUMMARY = 300
SHOWN_AUTHORS = 6
PAGE = 100
"""Papers on a page of a topic."""

Document = dict[str, Any]


def paper_json(paper: Paper, *, whole: bool = False) -> Document:
    """Return a paper as JSON; `whole` with its complete abstract."""
    document: Document = {
        "id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "published": paper.published[:10],
        "updated": paper.updated[:10],
        "version": paper.version,
        "categories": list(paper.categories),
        "venue": paper.venue,
        "doi": paper.doi,
        "url": paper.url,
        "pdf_url": paper.pdf_url,
        "withdrawn": paper.is_withdrawn,
        "source": named(paper.id, "arxiv"),
        "summary": paper.summary if whole else _cut(paper.summary),
    }
    return {name: value for name, value in document.items() if value not in ("", [], 0) or value is False}


def paper_lines(paper: Paper, mark: str = "-") -> list[str]:
    """Return a paper as lines."""
    version = f"v{paper.version}" if paper.version else ""
    facts = (paper.published[:10], escaped(paper.venue), f"{escaped(named(paper.id))}{version}")
    withdrawn = " [withdrawn]" if paper.is_withdrawn else ""
    lines = [f"{mark} {escaped(paper.title)} ({', '.join(filter(None, facts))}){withdrawn}"]
    if paper.authors:
        more = len(paper.authors) - SHOWN_AUTHORS
        names = ", ".join(paper.authors[:SHOWN_AUTHORS]) + (f" and {counted(more, 'other')}" if more > 0 else "")
        lines.append(f"  {escaped(names)}")
    if paper.summary:
        lines.append(f"  {escaped(_cut(paper.summary))}")
    return lines


def found_text(found: FoundPapers, place: str) -> str:
    """Return the answer of a search."""
    count = len(found.papers)
    papers = counted(count, "paper")
    asked = f"; asked at {found.at[:16]}Z" if found.at else ""
    source = {FROM_SERVICE: f"from {place}", FROM_STORE: f"from the store, not asked again{asked}"}.get(
        found.origin, f"from the store, {place} is away{asked}"
    )
    new = f", {len(found.new)} new in this topic" if found.origin == FROM_SERVICE else ""
    lines = [f"{papers} in papers://{found.topic} ({source}{new})", *(f"note: {escaped(one)}" for one in found.notices)]
    for number, paper in enumerate(found.papers, 1):
        lines += paper_lines(paper, f"{number}.")
    return "\n".join(lines)


def found_json(found: FoundPapers) -> Document:
    """Return the answer of a search as JSON."""
    return {
        "topic": found.topic,
        "origin": found.origin,
        "asked_at": found.at,
        "new": list(found.new),
        "notices": list(found.notices),
        "papers": [paper_json(paper) for paper in found.papers],
    }


def whole_text(paper: Paper, graph: CitationGraph, papers: Mapping[str, Paper], notes: Sequence[str]) -> str:
    """Return everything about a paper."""
    lines = [*paper_lines(paper)[:1], *([f"authors: {escaped(', '.join(paper.authors))}"] if paper.authors else [])]
    rows = {"categories": ", ".join(paper.categories), "journal": paper.journal_ref, "doi": paper.doi,
            "comment": paper.comment, "page": paper.url, "pdf": paper.pdf_url, "updated": paper.updated[:10],
            "source for claims": named(paper.id, "arxiv")}  # fmt: skip
    lines += [f"{name}: {escaped(value)}" for name, value in rows.items() if value]
    lines += ["", escaped(paper.summary)]
    for title, ids in (("cites", graph.cites.get(paper.id, ())), ("cited by", graph.cited_by.get(paper.id, ()))):
        if ids:
            lines += ["", f"{title} ({len(ids)}):", *(f"- {_named(one, papers, graph)}" for one in ids[:50])]
    if notes:
        lines += ["", f"notes ({len(notes)}):", *(f"- {escaped(one)}" for one in notes)]
    return "\n".join(lines)


def related_text(paper: Paper, found: Sequence[RelatedPaper]) -> str:
    """Return related papers with reasons."""
    lines = [f"{counted(len(found), 'stored paper')} related to {escaped(named(paper.id))} {escaped(paper.title)}"]
    for number, one in enumerate(found, 1):
        lines += [*paper_lines(one.paper, f"{number}.")[:2], f"  because: {escaped('; '.join(one.reasons))}"]
    return "\n".join(lines)


def graph_text(graph: CitationGraph, papers: Mapping[str, Paper], limit: int) -> str:
    """Return the citing papers, each with what it cites."""
    edges = sum(map(len, graph.cites.values()))
    lines = [f"{counted(edges, 'citation')} by {len(graph.cites)} of {counted(len(papers), 'stored paper')}"]
    for identifier, targets in list(graph.cites.items())[:limit]:
        lines += [
            f"- {_named(identifier, papers, graph)} cites:",
            *(f"  - {_named(one, papers, graph)}" for one in targets),
        ]
    if len(graph.cites) > limit:
        lines.append(f"({counted(len(graph.cites) - limit, 'more citing paper')})")
    return "\n".join(lines)


def folders_text(shelves: Sequence[Shelf]) -> str:
    """Return the stored topics as Markdown."""
    if not shelves:
        return "# Topics\n\nNo papers are stored yet: call search_papers."
    rows = [
        f"- {escaped(one.topic)}: {counted(len(one.papers), 'paper')}, papers://{escaped(one.topic)}" for one in shelves
    ]
    return "\n".join(("# Topics", "", *rows))


def topic_text(shelf: Shelf, page: int) -> str:
    """Return a page of a topic's papers, newest first, as Markdown."""
    papers = sorted(shelf.papers.values(), key=lambda one: one.published, reverse=True)
    pages = max(1, -(-len(papers) // PAGE))
    shown = papers[(page - 1) * PAGE : page * PAGE]
    lines = [f"# {escaped(shelf.topic)}", "", f"{counted(len(papers), 'paper')}, newest first; page {page} of {pages}"]
    if shelf.damaged:
        lines.append(f"kept in the file and not shown: {counted(len(shelf.damaged), 'damaged record')}")
    for paper in shown:
        lines += ["", *paper_lines(paper)]
    if page < pages:
        lines += ["", f"next: papers://{escaped(shelf.topic)}?page={page + 1}"]
    return "\n".join(lines)


def _named(identifier: str, papers: Mapping[str, Paper], graph: CitationGraph) -> str:
    if identifier in papers:
        return f"{escaped(named(identifier))} {escaped(papers[identifier].title)}"
    title = graph.titles.get(identifier, "")
    name = identifier if identifier.startswith("doi:") else f"arXiv:{identifier}"
    return f"{escaped(' '.join(filter(None, (name, title))))} (not stored)"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_SUMMARY else f"{text[:SHOWN_SUMMARY].rsplit(' ', 1)[0]}..."
