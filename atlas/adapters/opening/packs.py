"""What packs need of adapters: the check of a pack's file before it is opened, and the fetcher of web pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.adapters.web.fetcher import WebFetcher


def check_rows(file: Path) -> None:
    """Check the tables and rows of a pack's file. Raises NotFound, SchemaMismatch and StoreError."""
    from atlas.adapters.stores.sqlite.file.pack_check import check_pack

    check_pack(file)


def make_fetcher() -> WebFetcher:
    """Return a fetcher that connects to checked addresses only. Sends nothing yet; close it."""
    from atlas.adapters.web.fetcher import WebFetcher

    return WebFetcher()
