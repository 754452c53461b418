"""Every tool is tested on the memory store and on the embedded one: both must answer alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from reference_store.store import MemoryStore

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import write_tree

from .processes import Place, filled
from .shop import fill, open_shop, write_files
from .trees import QUICK, indexed


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


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the module names `FILES`, below `shop`, and their index in `data`; tests only ask."""
    folder = tmp_path_factory.mktemp("files")
    write_tree(folder / "shop", request.module.FILES)
    asyncio.run(indexed(folder / "shop", folder / "data"))
    return folder


@pytest.fixture
async def atlas(folder: Path) -> AsyncIterator[Atlas]:
    """Answers from the index of `folder`."""
    async with open_atlas(load_settings(str(folder / "shop"), str(folder / "data"), environment=QUICK)) as opened:
        yield opened
