"""References of papers from a server that speaks the Academic Graph API of Semantic Scholar (`POST /paper/batch`).

It is asked only if the user has configured its address, because it learns which papers are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from atlas.errors import ConfigError, Unavailable
from atlas.paper_services.answers import line, no_credentials, read_body, reason
from atlas.paper_services.pace import Pace
from atlas.paper_source import ARXIV_ID, Reference, split_version

if TYPE_CHECKING:
    import requests

BATCH = 50
"""Papers of one request. The service allows 500, and at most 10 MB for an answer."""
MAX_REFERENCES = 1_000
"""References of one paper that are kept."""
PACE_FILE = ".citations.lock"

_FIELDS = "references.title,references.externalIds"
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200}")


class SemanticScholar:
    """`atlas.paper_source.CitationSource`."""

    def __init__(self, url: str, key: str, folder: Path, timeout: float, pause: float) -> None:
        """`folder` holds the lock that keeps the pace. Sends nothing yet."""
        self._url, self._key, self._timeout = url.rstrip("/"), key, timeout
        self._pace = Pace(folder, pause, PACE_FILE)
        self._session: requests.Session | None = None

    @property
    def place(self) -> str:
        """The address of the service."""
        return self._url

    def references(self, ids: Sequence[str]) -> Mapping[str, tuple[Reference, ...]]:
        """Return what each of these papers of arXiv cites; nothing for papers that the service does not know."""
        found: dict[str, tuple[Reference, ...]] = {}
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            for identifier, record in zip(batch, self._ask(batch), strict=True):
                found[identifier] = _references(record)
        return found

    def close(self) -> None:
        """Start no more requests; idempotent."""
        self._pace.close()

    def _ask(self, ids: Sequence[str]) -> list[object]:
        """Return one record per paper, None for one that is not known."""
        session = self._opened()
        import requests

        address = f"{self._url}/paper/batch?fields={_FIELDS}"
        body = {"ids": [f"ARXIV:{one}" for one in ids]}
        try:
            with self._pace.turn():
                response = session.post(address, json=body, timeout=self._timeout, stream=True, allow_redirects=False)
                with response:
                    content = read_body(response, self._timeout)
        except requests.RequestException as error:
            raise Unavailable(f"{self._url} does not answer: {reason(error)}", "Try again later.") from error
        if response.status_code == requests.codes.bad_request:
            return [None] * len(ids)  # none of them is known
        if response.status_code in (requests.codes.unauthorized, requests.codes.forbidden):
            hint = "Set the environment variable ATLAS_PAPERS_CITATIONS_API_KEY."
            raise ConfigError(f"{self._url} rejects the key (HTTP {response.status_code})", hint)
        if response.status_code != requests.codes.ok:
            raise Unavailable(f"{self._url} answers with HTTP {response.status_code}", "Try again later.")
        try:
            records: object = json.loads(content)
        except (ValueError, RecursionError):
            records = None
        if not isinstance(records, list) or len(cast("list[object]", records)) != len(ids):
            raise Unavailable(f"{self._url} answers in another format", "Check papers.citations_url.")
        return cast("list[object]", records)

    def _opened(self) -> requests.Session:
        if self._session is None:
            try:
                import requests
            except ImportError as error:
                hint = 'Install it: pip install "code-atlas[papers]"'
                raise ConfigError("asking for citations needs the package requests", hint) from error
            self._session = requests.Session()
            self._session.auth = no_credentials
            if self._key:
                self._session.headers["x-api-key"] = self._key
        return self._session


def _references(record: object) -> tuple[Reference, ...]:
    """Return the references of a record; what is malformed, or has neither identifier of arXiv nor DOI, is left out."""
    given = cast("dict[str, Any]", record).get("references") if isinstance(record, dict) else None
    found: dict[str, Reference] = {}
    for one in cast("list[object]", given) if isinstance(given, list) else ():
        reference = _reference(one)
        if reference is not None and len(found) < MAX_REFERENCES:
            found.setdefault(reference.name, reference)
    return tuple(found.values())


def _reference(given: object) -> Reference | None:
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
        return Reference(f"arxiv:{split_version(arxiv)[0]}", shown)
    if isinstance(doi, str) and _DOI.fullmatch(doi):
        return Reference(f"doi:{doi.lower()}", shown)
    return None
