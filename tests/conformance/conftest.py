from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from reference_store.store import MemoryStore

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.contracts import Store
from tests.conformance.rows import PROJECT, PythonVectorIndex
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.memgraph import empty_memgraph


async def _memory(_: Path) -> Store:
    return MemoryStore()


async def _embedded(folder: Path) -> Store:
    return EmbeddedStore.open(folder / "data", writing=True, vector_index=PythonVectorIndex)


async def _neo4j(_: Path) -> Store:
    return await empty_neo4j()


async def _memgraph(_: Path) -> Store:
    return await empty_memgraph()


STORES: dict[str, Callable[[Path], Awaitable[Store]]] = {
    "memory": _memory,
    "embedded": _embedded,
    "neo4j": _neo4j,
    "memgraph": _memgraph,
}


@pytest.fixture(params=["memory", "embedded", "neo4j", pytest.param("memgraph", marks=pytest.mark.memgraph)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each kind, with one project."""
    opened = await STORES[request.param](tmp_path)
    await opened.open_project(PROJECT, "/somewhere")
    yield opened
    await opened.aclose()
