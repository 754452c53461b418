"""Every tool is tested on the memory store and on the embedded one: both must answer alike."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from reference_store.store import MemoryStore

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.atlas import Atlas

from .processes import Place, filled
from .shop import fill, open_shop, write_files


@pytest.fixture(params=["memory", "embedded"])
async def shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Atlas]:
    """The filled shop project, its files on disk under `shop.reader.root`."""
    root = tmp_path / "shop"
    write_files(root)
    if request.param == "memory":
        store = MemoryStore()
    else:
        store = EmbeddedStore.open(tmp_path / "data", writing=True, vector_index=VectorIndex)
    await fill(store, root)
    yield open_shop(store, root)
    await store.aclose()


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    """The shop project with an index that was written by hand."""
    return await filled(tmp_path)
