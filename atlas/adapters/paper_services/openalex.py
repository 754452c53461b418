"""References of papers from a server that speaks the interface of OpenAlex (`GET /works`).

A work lists what it cites as identifiers of OpenAlex; their DOIs and titles take further requests. Papers are found by
the DOI that arXiv registers for each of them, 10.48550/arXiv.ID. The server is asked only if the user has configured
its address, because it learns which papers are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from atlas.adapters.paper_services.answers import line
from atlas.adapters.paper_services.citation_requests import OK, UNAUTHORIZED, CitationRequests
from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import ARXIV_ID, DOI, MAX_REFERENCES, CitedPaper, split_version

BATCH = 50
"""Values of one filter, and works of one page. The service allows 100 of both."""

MAX_NAMED = 10_000
"""Cited works whose names one call asks for, in 200 requests: 100 papers cite about 4,000."""

ARXIV_DOI = "10.48550/arxiv."

_WORK = lazy_regex(r"W\d{1,14}")

Work = Mapping[str, object]


class OpenAlex:
    """`atlas.core.paper_source.CitationSource`."""

    def __init__(self, url: str, key: str, folder: Path, timeout: float, pause: float) -> None:
        """`folder` holds the lock that keeps the pace. Sends nothing yet."""
        self._requests = CitationRequests(url, {}, folder, timeout, pause)
        self._key = {"api_key": key} if key else {}

    @property
    def place(self) -> str:
        """The address of the service."""
        return self._requests.url

    def references(self, ids: Sequence[str]) -> Mapping[str, tuple[CitedPaper, ...]]:
        """Return what each of these papers of arXiv cites; nothing for papers that the service does not know."""
        papers = {f"{ARXIV_DOI}{one}".lower(): one for one in ids}
        cited: dict[str, list[str]] = {}
        for work in self._works("doi", list(papers), "id,doi,referenced_works"):
            paper = papers.get(_doi(work))
            if paper is not None:
                # a paper and its published version may be two works
                cited.setdefault(paper, []).extend(_cited_works(work))
        wanted = list(dict.fromkeys(one for works in cited.values() for one in works[:MAX_REFERENCES]))[:MAX_NAMED]
        known: dict[str, CitedPaper] = {}
        for work in self._works("openalex", wanted, "id,doi,title"):
            reference = _reference(work)
            if reference is not None:
                known[_identifier(work.get("id"))] = reference
        return {one: tuple(_named(cited.get(one, ()), known)) for one in ids}

    def close(self) -> None:
        """Start no more requests; idempotent."""
        self._requests.close()

    def _works(self, field: str, values: Sequence[str], fields: str) -> Iterator[Work]:
        """Yield the works whose `field` has one of these values."""
        for start in range(0, len(values), BATCH):
            query = {
                "filter": f"{field}:{'|'.join(values[start : start + BATCH])}",
                "select": fields,
                "per_page": str(BATCH),
                **self._key,
            }
            status, document = self._requests.send("/works", query)
            if status == UNAUTHORIZED:
                raise self._requests.rejected(status)
            if status != OK:
                raise self._requests.failed(status)
            works = cast("Work", document).get("results") if isinstance(document, dict) else None
            if not isinstance(works, list):
                raise self._requests.misunderstood()
            yield from (cast("Work", one) for one in cast("list[object]", works) if isinstance(one, dict))


def _named(works: Sequence[str], known: Mapping[str, CitedPaper]) -> list[CitedPaper]:
    """Return the references to works that are known by DOI, each once."""
    found = {known[one].name: known[one] for one in works if one in known}
    return list(found.values())[:MAX_REFERENCES]


def _cited_works(work: Work) -> list[str]:
    given = work.get("referenced_works")
    found = [_identifier(one) for one in cast("list[object]", given)] if isinstance(given, list) else []
    return [one for one in found if one]


def _identifier(given: object) -> str:
    """Return W... of an address such as https://openalex.org/W2741809807, "" for another address."""
    name = given.rpartition("/")[2].upper() if isinstance(given, str) else ""
    return name if _WORK.fullmatch(name) else ""


def _doi(work: Work) -> str:
    """Return the DOI of a work in lower case, "" without one."""
    given = work.get("doi")
    doi = given.lower().removeprefix("https://doi.org/") if isinstance(given, str) else ""
    return doi if DOI.fullmatch(doi) else ""


def _reference(work: Work) -> CitedPaper | None:
    doi, title = _doi(work), work.get("title")
    shown = line(title, 500) if isinstance(title, str) else ""
    arxiv = doi.removeprefix(ARXIV_DOI)
    if arxiv != doi and ARXIV_ID.fullmatch(arxiv):
        return CitedPaper(f"arxiv:{split_version(arxiv)[0]}", shown)
    return CitedPaper(f"doi:{doi}", shown) if doi else None
