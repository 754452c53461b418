"""The pages of stored papers: by topic, year and citation, what to read first, and one paper. No service is asked.

Titles and abstracts are texts of strangers: they are shown as text, and their addresses too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from atlas.code.reader import Reader
from atlas.core.errors import NotFound
from atlas.core.paper_source import Paper
from atlas.core.wording import counted
from atlas.server.explorer.drawing import MAX_NODES, Picture, PictureEdge, PictureNode, layers_of, svg
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.render import Fields, url

if TYPE_CHECKING:
    from atlas.papers.citations import CitationGraph
    from atlas.papers.desk import PapersDesk
    from atlas.runtime.config.load import Settings

LISTED = 50
READING = 60
"""Papers of a reading list."""
VIEWS = {"": "List", "reading": "What to read first", "citations": "Citations"}
FILTERS = ("query", "author", "category", "venue", "since", "until")


class PaperPages:
    """The pages over the user's library, which is opened with the first one. Close with `aclose`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._desk: PapersDesk | None = None

    def _opened(self) -> PapersDesk:
        from atlas.app.papers import make_papers_desk

        self._desk = self._desk or make_papers_desk(self._settings)
        return self._desk

    async def aclose(self) -> None:
        """Close; idempotent."""
        if self._desk is not None:
            await self._desk.aclose()

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what a list of papers shows. Raises AtlasError as the desk does."""
        desk = self._opened()
        view = given.text("view") if given.text("view") in VIEWS else ""
        topics = await desk.topics()
        topic = given.text("topic")
        values: dict[str, object] = {
            "title": topic or "Papers",
            "views": VIEWS,
            "view": view,
            "topics": topics,
            "topic": topic,
            "papers": [],
            "matching": 0,
            "problems": [],
            "evidence": None,
        }
        if not topics:
            return values
        counts = await desk.stats(topic)
        values["years"] = [*reversed(counts.years)]
        if view:
            papers, graph = await desk.citations(topic)
            return {**values, **(_reading(papers, graph) if view == "reading" else _cited(papers, graph))}
        asked: dict[str, object] = {name: given.text(name) for name in FILTERS if given.text(name)}
        _, found = await desk.call("search_stored", {**asked, "topic": topic, "limit": LISTED})
        return {**values, **found, "papers": [Fields(one) for one in found["papers"]]}

    async def paper(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page of one stored paper shows. Raises NotFound."""
        desk, name = self._opened(), given.text("id")
        if not name:
            raise NotFound("no paper is named", "Choose one of a list.")
        _, found = await desk.stored({"id": name})
        _, near = await desk.call("related_papers", {"id": name, "limit": 12})
        papers, graph = await desk.citations()
        return {
            "title": found["paper"]["title"],
            **found,
            "paper": Fields(found["paper"]),
            "related": [Fields(one) for one in near["related"]],
            "cites": [_named(one, papers, graph) for one in found["cites"]],
            "cited_by": [_named(one, papers, graph) for one in found["cited_by"]],
            "evidence": None,
        }


def _named(identifier: str, papers: Mapping[str, Paper], graph: CitationGraph) -> dict[str, object]:
    stored = papers.get(identifier)
    title = stored.title if stored is not None else graph.titles.get(identifier, "")
    year = stored.published[:4] if stored is not None else ""
    return {"id": identifier, "title": title or identifier, "year": year, "is_stored": stored is not None}


def _reading(papers: Mapping[str, Paper], graph: CitationGraph) -> dict[str, Any]:
    """Return the papers in an order to read them: those that most of the others cite first, then the oldest.

    What others cite and is not stored is named, too.
    """
    times = Counter(target for one, targets in graph.cites.items() if one in papers for target in targets)
    stored = sorted(papers, key=lambda one: (-times[one], papers[one].published, one))
    missing = [one for one, _ in times.most_common() if one not in papers]
    return {
        "reading": [{**_named(one, papers, graph), "times": times[one]} for one in stored[:READING]],
        "missing": [{**_named(one, papers, graph), "times": times[one]} for one in missing[:READING]],
        "left": max(len(stored) - READING, 0),
        "matching": len(papers),
    }


def _cited(papers: Mapping[str, Paper], graph: CitationGraph) -> dict[str, object]:
    """Return the citations between stored papers as a picture: of very many, those with the most of them."""
    pairs = [(one, other) for one, targets in graph.cites.items() for other in targets if {one, other} <= papers.keys()]
    connected = Counter(one for pair in pairs for one in pair)
    kept = [one for one, _ in connected.most_common(MAX_NODES)]
    edges = [pair for pair in pairs if pair[0] in kept and pair[1] in kept]
    layers = layers_of(kept, edges)
    nodes = [_box(papers[one], layers[one]) for one in kept]
    left = f"{counted(len(connected) - len(kept), 'paper')} with fewer citations" if len(connected) > len(kept) else ""
    picture = Picture("Citations", tuple(nodes), tuple(PictureEdge(*pair, "cites") for pair in edges), left)
    drawing = svg(picture, linked=True) if nodes else ""
    return {"picture": picture, "drawing": drawing, "matching": len(papers)}


def _box(paper: Paper, layer: int) -> PictureNode:
    title = " ".join((paper.published[:4], paper.title)).strip()
    return PictureNode(paper.id, title, url("/paper", id=paper.id), layer, title=title, cut_at_end=True)
