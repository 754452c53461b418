"""Requests to a citation service: one at a time with a pause; JSON within limits of size and time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas.adapters.paper_services.answers import ENCODING, no_credentials, read_body, reason, within
from atlas.adapters.paper_services.pace import Pace
from atlas.core.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    import requests

PACE_FILE = ".citations.lock"

MAX_OBJECTS = 500_000
"""Objects and lists of an answer, of which each takes up to 100 times its two bytes; 1,000 references of 50 papers have
100,000."""

OK, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN = 200, 400, 401, 403


class CitationRequests:
    """Requests to one address, with headers that may hold a key. Sends nothing before the first request."""

    def __init__(self, url: str, headers: Mapping[str, str], folder: Path, timeout: float, pause: float) -> None:
        """`folder` holds the lock that keeps the pace."""
        self.url, self._headers, self._timeout = url.rstrip("/"), headers, timeout
        self._pace = Pace(folder, pause, PACE_FILE)
        self._session: requests.Session | None = None

    def send(self, path: str, query: Mapping[str, str], body: Any = None) -> tuple[int, object]:
        """Return the status and the JSON of an answer, None if it has none; with a `body` it is posted.

        Raises Unavailable if the service does not answer, ConfigError if a library is missing.
        """
        session = self._opened()
        import requests

        try:
            with self._pace.turn():
                status, content = within(3 * self._timeout, lambda: self._ask(session, path, query, body))
        except requests.RequestException as error:
            raise Unavailable(f"{self.url} does not answer: {reason(error)}", "Try again later.") from error
        if content.count(b"{") + content.count(b"[") > MAX_OBJECTS:
            return status, None
        try:
            return status, json.loads(content)
        except (ValueError, RecursionError):
            return status, None

    def _ask(self, session: requests.Session, path: str, query: Mapping[str, str], body: Any) -> tuple[int, bytes]:
        response = session.request(
            "GET" if body is None else "POST",
            f"{self.url}{path}",
            params=dict(query),
            json=body,
            timeout=self._timeout,
            stream=True,
            allow_redirects=False,
        )
        with response:
            return response.status_code, read_body(response, self._timeout)

    def close(self) -> None:
        """Send no more; idempotent."""
        self._pace.close()

    def failed(self, status: int) -> Unavailable:
        """Return the error for a status other than success."""
        return Unavailable(f"{self.url} answers with HTTP {status}", "Try again later.")

    def rejected(self, status: int) -> ConfigError:
        """Return the error for a key that the service does not accept."""
        hint = "Set the environment variable ATLAS_PAPERS_CITATIONS_API_KEY."
        return ConfigError(f"{self.url} rejects the key (HTTP {status})", hint)

    def misunderstood(self) -> Unavailable:
        """Return the error for an answer in another format."""
        hint = "Check papers.citations_url and papers.citations_format."
        return Unavailable(f"{self.url} answers in another format", hint)

    def _opened(self) -> requests.Session:
        if self._session is None:
            try:
                import requests
            except ImportError as error:
                from atlas.runtime.process.extras import how_to_install

                hint = how_to_install("papers")
                raise ConfigError("asking for citations needs the package requests", hint) from error
            self._session = requests.Session()
            self._session.auth = no_credentials
            self._session.headers.update({**self._headers, "Accept-Encoding": ENCODING})
        return self._session
