"""A store's database file opened past the store, by which tests look at it and change it: pages stay valid."""

from __future__ import annotations

from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.hardened import PAGES_VFS, register_page_checks


def raw(path: Path, *, writing: bool = True) -> apsw.Connection:
    """Open the file with SQLite's own defaults but for the checksums of its pages."""
    flags = apsw.SQLITE_OPEN_READWRITE if writing else apsw.SQLITE_OPEN_READONLY
    return apsw.Connection(str(path), flags=flags, vfs=PAGES_VFS if register_page_checks() else None)
