"""Filters that remove most of the nearest vectors: as many hits as are asked for, without a list of all that pass."""

import math
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite import vector_cache
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Filter
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, node, query, unit, vector

NODES = 6_000
STEP = 1 / NODES


async def filled(folder: Path, passes: int) -> EmbeddedStore:
    """A store of nodes in the order of their distance from (1, 0, 0, 0), of which one in `passes` is a class."""
    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    rows = [node(f"f{at:05d}", label="Function" if at % passes else "Class") for at in range(NODES)]
    await store.apply([unit("a.py", rows)])
    angles = [(math.cos(at * STEP), math.sin(at * STEP)) for at in range(NODES)]
    await store.put_vectors(PROJECT, MODEL, [vector(row, *at, 0, 0) for row, at in zip(rows, angles, strict=True)])
    return store


@pytest.mark.parametrize(("passes", "lists"), [(2, 0), (4, 0), (100, 1)])
async def test_the_nearest_that_pass_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: int, lists: int
) -> None:
    listed: list[object] = []
    real = vector_cache._listed  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(vector_cache, "_listed", lambda *asked: listed.append(asked) or real(*asked))
    store = await filled(tmp_path, passes)
    try:
        hits = await store.search_vector(query(1, 0, 0, 0), Filter(labels=("Class",)), 20)
    finally:
        await store.aclose()
    assert len(hits) == 20 and all(int(hit.uid.rpartition("f")[2]) % passes == 0 for hit in hits)
    # float16 vectors of neighbours are nearly equal
    assert max(int(hit.uid.rpartition("f")[2]) for hit in hits) <= 25 * passes
    assert len(listed) == lists
