from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from atlas.contracts import Store
from atlas.stores.embedded import EmbeddedStore
from atlas.stores.memory import MemoryStore
from tests.conformance.rows import PROJECT, PythonVectorIndex

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "embedded": lambda folder: EmbeddedStore.open(folder / "data", writing=True, vector_index=PythonVectorIndex),
}


@pytest.fixture(params=list(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each kind, with one project."""
    opened = STORES[request.param](tmp_path)
    await opened.open_project(PROJECT, "/somewhere")
    yield opened
    await opened.aclose()
