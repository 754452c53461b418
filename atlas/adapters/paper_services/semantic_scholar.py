"""References of papers from a server that speaks the Academic Graph API of Semantic Scholar (`POST /paper/batch`).

It is asked only if the user has configured its address, because it learns which papers are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from atlas.adapters.paper_services.answers import line
from atlas.adapters.paper_services.citation_requests import BAD_REQUEST, FORBIDDEN, OK, UNAUTHORIZED, CitationRequests
from atlas.core.paper_source import ARXIV_ID, DOI, MAX_REFERENCES, CitedPaper, split_version

BATCH = 50
"""Papers of one request. The service allows 500, and at most 10 MB for an answer."""

_FIELDS = "references.title,references.externalIds"


class SemanticScholar:
    """`atlas.core.paper_source.CitationSource`."""

    def __init__(self, url: str, key: str, folder: Path, timeout: float, pause: float) -> None:
        """`folder` holds the lock that keeps the pace. Sends nothing yet."""
        self._requests = CitationRequests(url, {"x-api-key": key} if key else {}, folder, timeout, pause)

    @property
    def place(self) -> str:
        """The address of the service."""
        return self._requests.url

    def references(self, ids: Sequence[str]) -> Mapping[str, tuple[CitedPaper, ...]]:
        """Return what each of these papers of arXiv cites; nothing for papers that the service does not know."""
        found: dict[str, tuple[CitedPaper, ...]] = {}
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            for identifier, record in zip(batch, self._ask(batch), strict=True):
                found[identifier] = _references(record)
        return found

    def close(self) -> None:
        """Start no more requests; idempotent."""
        self._requests.close()

    def _ask(self, ids: Sequence[str]) -> list[object]:
        """Return one record per paper, None for one that is not known."""
        body = {"ids": [f"ARXIV:{one}" for one in ids]}
        status, records = self._requests.send("/paper/batch", {"fields": _FIELDS}, body)
        if status == BAD_REQUEST:
            return [None] * len(ids)  # none of them is known
        if status in (UNAUTHORIZED, FORBIDDEN):
            raise self._requests.rejected(status)
        if status != OK:
            raise self._requests.failed(status)
        if not isinstance(records, list) or len(cast("list[object]", records)) != len(ids):
            raise self._requests.misunderstood()
        return cast("list[object]", records)


def _references(record: object) -> tuple[CitedPaper, ...]:
    """Return the references of a record; what is malformed, or has neither identifier of arXiv nor DOI, is left out."""
    given = cast("dict[str, Any]", record).get("references") if isinstance(record, dict) else None
    found: dict[str, CitedPaper] = {}
    for one in cast("list[object]", given) if isinstance(given, list) else ():
        reference = _reference(one)
        if reference is not None and len(found) < MAX_REFERENCES:
            found.setdefault(reference.name, reference)
    return tuple(found.values())


def _reference(given: object) -> CitedPaper | None:
    if not isinstance(given, dict):
        return None
    record = cast("dict[str, object]", given)
    identifiers, title = record.get("externalIds"), record.get("title")
    if not isinstance(identifiers, dict):
        return None
    texts = cast("dict[str, object]", identifiers)
    shown = line(title, 500) if isinstance(title, str) else ""
    arxiv, doi = texts.get("ArXiv"), texts.get("DOI")
    if isinstance(arxiv, str) and ARXIV_ID.fullmatch(arxiv):
        return CitedPaper(f"arxiv:{split_version(arxiv)[0]}", shown)
    if isinstance(doi, str) and DOI.fullmatch(doi):
        return CitedPaper(f"doi:{doi.lower()}", shown)
    return None
