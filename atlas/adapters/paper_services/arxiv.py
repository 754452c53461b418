"""arXiv through the package `arxiv`: requests in its query language, one every three seconds, answers as papers.

The package's client has neither time limit nor size limit: the session below it adds both, keeps the pace over all
processes and follows no redirect, so that an answer cannot choose where the next request goes.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas.adapters.paper_services.answers import (
    ENCODING,
    MAX_TEXT,
    line,
    no_credentials,
    read_body,
    reason,
    within,
)
from atlas.adapters.paper_services.pace import Pace
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.invisible import normal_form
from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import ARXIV_ID, Paper, PaperRequest, split_version

if TYPE_CHECKING:
    import arxiv  # pyright: ignore[reportMissingTypeStubs]
    import requests

PAGE = 100
"""Papers of one request; the service allows 2,000, and small pages answer sooner."""

SPARE_PAGES = 3
"""Pages of a search beyond twice those that it needs."""

MAX_TAGS = 1_500_000
"""Tags of a page; a hundred papers with 3,000 authors each have 1.2 million. An element takes 120 bytes."""

ATOM = b"http://www.w3.org/2005/Atom"
"""Names the format near the start of an answer; the page of a login portal does not."""

PACE_FILE = ".requests.lock"

MAX_NAMES = 5_000
"""Authors of a paper; the longest list of arXiv has about 3,000."""

_WORDS = lazy_regex(r"[^\W_]+(?:['’.-][^\W_]+)*")
_OPERATORS = ("and", "or", "andnot")
_WITHDRAWN = lazy_regex(r"\b(?:paper|article|manuscript|submission|work|version|it)\b[^.]{0,60}\bwithdrawn\b", re.I)
_FIRST, _LAST = "199001010000", "209912312359"


class ArxivSource:
    """`atlas.core.paper_source.PaperSource` over arXiv, or over a server that speaks its format."""

    def __init__(self, url: str, folder: Path, pause: float, retries: int, timeout: float) -> None:
        """`folder` holds the lock that keeps the pace. Sends nothing yet."""
        self._url, self._retries, self._timeout = url, retries, timeout
        self._pace = Pace(folder, pause, PACE_FILE)
        self._client: arxiv.Client | None = None
        self._left = 0
        """Requests that the search at work may still make."""

    @property
    def place(self) -> str:
        """The address of the service."""
        return self._url

    def find(self, request: PaperRequest, most: int) -> Sequence[Paper]:
        """Return at most `most` papers, each once; a paper that two pages contain counts once."""
        client = self._opened()
        import arxiv  # pyright: ignore[reportMissingTypeStubs]
        import requests

        sort = {
            "relevance": arxiv.SortCriterion.Relevance,
            "submitted": arxiv.SortCriterion.SubmittedDate,
            "updated": arxiv.SortCriterion.LastUpdatedDate,
        }[request.sort]
        client.page_size = min(PAGE, most)
        self._left = (2 * most // client.page_size + SPARE_PAGES) * (self._retries + 1)
        search = arxiv.Search(query_of(request), list(request.ids), None, sort)
        found: dict[str, Paper] = {}
        try:
            for result in itertools.islice(client.results(search), 2 * most + PAGE):
                paper = paper_of(result)
                if paper is not None:
                    found.setdefault(paper.id, paper)
                if len(found) >= most:
                    break
        except arxiv.HTTPError as error:
            if error.status in (400, 404, 414):
                raise ConfigError(f"{self._url} rejects the request (HTTP {error.status})", "Simplify it.") from error
            raise Unavailable(f"{self._url} answers with HTTP {error.status}", "Try again later.") from error
        except arxiv.UnexpectedEmptyPageError:
            # known of the service: a later page is empty although more papers are counted; what came is right
            logging.getLogger("atlas.papers").info("%s ended its list early", self._url)
        except requests.RequestException as error:
            raise Unavailable(f"{self._url} does not answer: {reason(error)}", "Try again later.") from error
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise Unavailable(f"{self._url} answers in another format", "Check papers.url.") from error
        return list(found.values())

    def close(self) -> None:
        """Start no more requests; idempotent."""
        self._pace.close()

    def _spend(self) -> None:
        if self._left <= 0:
            raise Unavailable(f"{self._url} divides its answer into too many pages", "Ask for fewer papers.")
        self._left -= 1

    def _opened(self) -> arxiv.Client:
        if self._client is None:
            try:
                import arxiv  # pyright: ignore[reportMissingTypeStubs]
            except ImportError as error:
                from atlas.runtime.process.extras import how_to_install

                raise ConfigError("searching papers needs the package arxiv", how_to_install("papers")) from error
            logging.getLogger("arxiv").setLevel(logging.ERROR)
            # the session below keeps the pause, for the requests of other processes as well
            client = arxiv.Client(PAGE, 0.0, self._retries)
            client.query_url_format = self._url.rstrip("?") + "?{}"
            client._session = _session(self._pace, self._timeout, self._spend)  # pyright: ignore[reportPrivateUsage]
            self._client = client
        return self._client


def query_of(request: PaperRequest) -> str:
    """Return a request in arXiv's query language; words of the user never become operators. "" without any words.

    Raises ConfigError if a field has no words.
    """
    if request.ids:
        return ""
    parts = [f"all:{word}" for word in _words("topic", request.topic)]
    if request.author:
        parts.append(f'au:"{" ".join(_words("author", request.author))}"')
    if request.category:
        parts.append(f"cat:{request.category}")
    if request.since or request.until:
        first = f"{request.since.replace('-', '')}0000" if request.since else _FIRST
        last = f"{request.until.replace('-', '')}2359" if request.until else _LAST
        parts.append(f"submittedDate:[{first} TO {last}]")
    return " AND ".join(parts)


def _words(field: str, text: str) -> list[str]:
    words = [word for word in _WORDS.findall(normal_form(text)) if word.lower() not in _OPERATORS]
    if text and not words:
        raise ConfigError(f"{field} has no word that can be searched for", "Give words.")
    return words


def paper_of(result: arxiv.Result) -> Paper | None:
    """Return an entry as a paper; None for one without an identifier of arXiv or without a title.

    Raises ConfigError for an entry that says what is wrong with the request.
    """
    title = line(result.title)
    written = line(result.entry_id.rpartition("/abs/")[2], 100)
    if "/api/errors" in result.entry_id:
        raise ConfigError(f"the service rejects the request: {line(result.summary, 200)}", "Change the search.")
    if not ARXIV_ID.fullmatch(written) or not title:
        return None
    identifier, version = split_version(written)
    comment = line(result.comment or "")
    summary = line(result.summary, MAX_TEXT)
    authors = [line(author.name, 300) for author in result.authors[:MAX_NAMES]]
    return Paper(
        identifier,
        title,
        tuple(filter(None, authors)),
        summary,
        _address(result.entry_id),
        _address(result.pdf_url or ""),
        _time(result.published),
        _time(result.updated),
        version,
        line(result.primary_category or "", 100),
        tuple(filter(None, (line(one, 100) for one in result.categories[:100]))),
        line(result.doi or "", 300),
        line(result.journal_ref or ""),
        comment,
        bool(_WITHDRAWN.search(comment) or _WITHDRAWN.search(summary[:300])),
    )


def _address(text: str) -> str:
    address = line(text)
    return address if address.startswith(("https://", "http://")) and " " not in address else ""


def _time(moment: datetime) -> str:
    if moment.year <= 1:
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _check_feed(content: bytes) -> None:
    """Raise RequestException for an answer that is not an Atom feed, declares entities, or has too many elements."""
    import requests

    if ATOM not in content[:4096] or b"<!DOCTYPE" in content:
        raise requests.RequestException("it answers with something else than an Atom feed")
    if content.count(b"<") > MAX_TAGS:
        raise requests.RequestException("its answer has too many elements")


def _session(pace: Pace, timeout: float, spend: Callable[[], None]) -> requests.Session:
    """Return a session that keeps pace, time and size; `spend` counts a request and raises if it is one too many."""
    import requests

    class _Limited(requests.Session):
        def get(self, url: Any, **options: Any) -> requests.Response:  # pyright: ignore[reportIncompatibleMethodOverride]
            spend()
            with pace.turn():
                response = within(3 * timeout, lambda: self._ask(url, options))
            if response.status_code == requests.codes.ok:
                _check_feed(response.content)
            return response

        def _ask(self, url: Any, options: Mapping[str, Any]) -> requests.Response:
            response = super().get(url, **options, timeout=timeout, stream=True, allow_redirects=False)
            with response:
                response._content = read_body(response, timeout)  # pyright: ignore[reportPrivateUsage]
            return response

    session = _Limited()
    session.headers["Accept-Encoding"] = ENCODING
    # nothing of the user's .netrc is sent to a configured address
    session.auth = no_credentials
    return session
