"""The stored papers with the graph of their citations, computed again only when a file has changed."""

from __future__ import annotations

import operator
import threading
from collections.abc import Mapping

from atlas.core.paper_source import CitedPaper, Paper
from atlas.papers.citations import CitationGraph, citation_graph
from atlas.papers.library import PaperLibrary, Shelf
from atlas.papers.references import Asked, References


class StoredCitations:
    """Methods block; they may be called from several threads."""

    def __init__(self, library: PaperLibrary, references: References) -> None:
        """Read the papers of `library` and what is known of their references."""
        self._library, self._references = library, references
        self._made_of: tuple[list[Shelf], Mapping[str, Asked]] = ([], {})
        self._known: tuple[dict[str, Paper], CitationGraph] | None = None
        self._reading = threading.Lock()

    def read(self, topic: str = "") -> tuple[Mapping[str, Paper], CitationGraph]:
        """Return the papers of a topic, or all, and their graph. Raises NotFound and StoreError."""
        if topic:
            papers = self._library.papers(topic)
            return papers, citation_graph(papers, _targets(self._references.known()))
        with self._reading:
            shelves, asked = self._library.shelves(), self._references.known()
            same = len(shelves) == len(self._made_of[0]) and all(map(operator.is_, shelves, self._made_of[0]))
            if self._known is None or not same or asked is not self._made_of[1]:
                papers = self._library.papers()
                self._known = papers, citation_graph(papers, _targets(asked))
                self._made_of = shelves, asked
            return self._known


def _targets(asked: Mapping[str, Asked]) -> dict[str, tuple[CitedPaper, ...]]:
    return {identifier: one.references for identifier, one in asked.items()}
