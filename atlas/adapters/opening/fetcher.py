"""The fetcher of web pages for documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.adapters.web.fetcher import WebFetcher


def make_fetcher() -> WebFetcher:
    """Return a fetcher that connects to checked addresses only. Sends nothing yet; close it."""
    from atlas.adapters.web.fetcher import WebFetcher

    return WebFetcher()
