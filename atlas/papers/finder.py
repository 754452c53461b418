"""Searches: from the store if it knows the answer, else from the service; from the store again if that is away."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from atlas.core.errors import AtlasError, NotFound, StoreError, Unavailable
from atlas.core.paper_source import ARXIV_ID, Paper, PaperRequest, PaperSource
from atlas.papers.library import PaperLibrary
from atlas.papers.record import SavedSearch, now_text
from atlas.papers.wanted import BY_ID, topic_folder

FROM_SERVICE, FROM_STORE, SERVICE_AWAY = "service", "store", "store, service away"


@dataclass(frozen=True, slots=True)
class FoundPapers:
    """The papers of a search, best first; `origin` says from where, `notices` what did not work."""

    topic: str
    papers: tuple[Paper, ...]
    origin: str
    at: str = ""
    """When the service was asked."""
    new: tuple[str, ...] = ()
    """Identifiers that the topic did not have before."""
    notices: tuple[str, ...] = ()


class PaperFinder:
    """Finds papers. Methods block; they may be called from several threads."""

    def __init__(self, library: PaperLibrary, source: PaperSource, days: int) -> None:
        """Ask `source`, and not again for the same within `days`."""
        self.library, self._source, self._days = library, source, days
        self._asking = threading.Lock()

    @property
    def place(self) -> str:
        """Where requests are sent."""
        return self._source.place

    def search(self, request: PaperRequest, most: int, *, again: bool = False) -> FoundPapers:
        """Return what the service finds, stored under the topic. `again`: ask even if the answer is stored.

        Raises Unavailable when the service is away and this search was never made, and ConfigError.
        """
        topic = topic_folder(request.topic) if request.topic else BY_ID
        known = self._saved(topic, request, most)
        if known is not None and not again and known.age_days(datetime.now(UTC)) <= self._days:
            return self._from_store(topic, known, most, FROM_STORE)
        with self._asking:
            # the same question may have been answered while this one waited
            known = self._saved(topic, request, most)
            if known is not None and not again and known.age_days(datetime.now(UTC)) <= self._days:
                return self._from_store(topic, known, most, FROM_STORE)
            try:
                papers = self._source.find(request, most)
            except Unavailable as error:
                if known is None:
                    raise
                found = self._from_store(topic, known, most, SERVICE_AWAY)
                return replace(found, notices=(f"{error.message}: the answer is from the store", *found.notices))
        return self._stored(topic, request, most, papers)

    def get(self, identifier: str) -> tuple[Paper, str]:
        """Return a paper and its origin; one that is not stored is asked for. Raises NotFound and Unavailable."""
        stored = self.library.papers().get(identifier)
        if stored is not None:
            return stored, FROM_STORE
        if not ARXIV_ID.fullmatch(identifier):
            raise NotFound(f"no stored paper has the DOI {identifier}", "atlas papers import reads it from a file.")
        found = self.search(PaperRequest(ids=(identifier,)), 1)
        paper = next((one for one in found.papers if one.id == identifier), None)
        if paper is None:
            raise NotFound(f"{self.place} has no paper {identifier}", "Check the identifier.")
        return paper, found.origin

    def check(self, topic: str = "") -> tuple[list[tuple[SavedSearch, FoundPapers]], list[str]]:
        """Repeat the saved searches of a topic, or all, newest papers first; return what each finds, and failures.

        After the service was away once, the rest is not asked.
        """
        names = [self.library.existing(topic).topic] if topic else self.library.topics()
        found: list[tuple[SavedSearch, FoundPapers]] = []
        problems: list[str] = []
        for name in names:
            # a search by relevance finds the same papers for years
            newest = {replace(one.request, sort="submitted"): one for one in self.library.searches(name)}
            for request, search in newest.items():
                if request.ids or topic_folder(request.topic) != name:
                    continue
                try:
                    result = self.search(request, search.asked, again=True)
                except Unavailable as error:
                    return found, [*problems, f"{name}: {error.message}"]
                except AtlasError as error:
                    problems.append(f"{name}: {error.message}")
                    continue
                if result.origin == SERVICE_AWAY:
                    return found, [*problems, f"{name}: {result.notices[0]}"]
                found.append((search, result))
        return found, problems

    def close(self) -> None:
        """Ask no more; idempotent."""
        self._source.close()

    def _saved(self, topic: str, request: PaperRequest, most: int) -> SavedSearch | None:
        known = self.library.saved(topic, request)
        if known is None or not known.answers(most):
            return None
        # a file of papers that was damaged or removed: its search no longer knows them
        return known if self.library.shelf(topic).papers.keys() >= set(known.ids) else None

    def _from_store(self, topic: str, known: SavedSearch, most: int, origin: str) -> FoundPapers:
        papers = self.library.shelf(topic).papers
        chosen = tuple(papers[one] for one in known.ids[:most] if one in papers)
        return FoundPapers(topic, chosen, origin, known.at)

    def _stored(self, topic: str, request: PaperRequest, most: int, papers: Sequence[Paper]) -> FoundPapers:
        at = now_text()
        search = SavedSearch(request, most, at, tuple(paper.id for paper in papers))
        if request.ids and not papers:
            return FoundPapers(topic, (), FROM_SERVICE, at)
        try:
            new = self.library.add(topic, papers, search)
        except StoreError as error:
            return FoundPapers(topic, tuple(papers), FROM_SERVICE, at, (), (f"not stored: {error.message}",))
        return FoundPapers(topic, tuple(papers), FROM_SERVICE, at, tuple(new))
