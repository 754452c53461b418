"""The library of a Zotero that runs on this machine, read through its local interface as CSL-JSON.

Zotero answers other programs only if its user has allowed that, and only on the loopback interface; nothing is written.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from atlas.adapters.paper_services.citation_requests import FORBIDDEN, OK, CitationRequests
from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.core.lazy_regex import lazy_regex

LOCAL = "http://127.0.0.1:23119/api/users/0"
PAGE, MAX_ENTRIES, NOT_FOUND = 100, 10_000, 404
HINT = "Start Zotero, and allow other applications to communicate with it (Settings > Advanced)."
_LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
_KEY = lazy_regex(r"[A-Z0-9]{8}")


class ZoteroLibrary:
    """Sends nothing before the first request; close with `close`."""

    def __init__(self, folder: Path, timeout: float, url: str = LOCAL) -> None:
        """`folder` holds the lock of the requests. Raises ConfigError for an address on another machine."""
        if urlsplit(url).hostname not in _LOOPBACK:
            raise ConfigError(f"{url[:200]} is not on this machine", f"Zotero answers at {LOCAL}.")
        self._requests = CitationRequests(url, {"Zotero-API-Version": "3"}, folder, timeout, 0.0)

    def items(self, collection: str = "") -> list[object]:
        """Return the entries of the library, or of the collection with this key, as CSL.

        Raises Unavailable if Zotero does not answer, NotFound for an unknown collection, ConfigError if it refuses.
        """
        if collection and not _KEY.fullmatch(collection):
            raise ConfigError(f"{collection[:40]!r} is not the key of a collection", "It has eight letters and digits.")
        path = f"/collections/{collection}/items/top" if collection else "/items/top"
        found: list[object] = []
        # a page without notes and attachments may be short, and only one behind the end is empty
        for start in range(0, MAX_ENTRIES, PAGE):
            if not (page := self._page(path, start)):
                break
            found += page
        return found

    def close(self) -> None:
        """Send no more; idempotent."""
        self._requests.close()

    def _page(self, path: str, start: int) -> list[object]:
        query = {"format": "csljson", "limit": str(PAGE), "start": str(start)}
        try:
            status, content = self._requests.send(path, query)
        except Unavailable as error:
            raise Unavailable(error.message, HINT) from error
        if status == FORBIDDEN:
            raise ConfigError("Zotero refuses to answer other programs", HINT)
        if status == NOT_FOUND:
            raise NotFound("Zotero has no such collection", "Its key is the end of its address in the web library.")
        # the service of the web puts the list into an object
        listed = cast("dict[str, object]", content).get("items") if isinstance(content, dict) else content
        if status != OK or not isinstance(listed, list):
            raise Unavailable(f"{self._requests.url} answers with HTTP {status}, not with CSL-JSON", HINT)
        return cast("list[object]", listed)
