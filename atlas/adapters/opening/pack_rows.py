"""The tables and rows of a pack's file, checked before it is opened."""

from __future__ import annotations

from pathlib import Path


def check_rows(file: Path) -> None:
    """Check the tables and rows of a pack's file. Raises NotFound, SchemaMismatch and StoreError."""
    from atlas.adapters.stores.sqlite.file.pack_check import check_pack

    check_pack(file)
