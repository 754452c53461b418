"""A store that is told what a unit had before holds the same rows as one that reads them itself."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import STRUCTURE_PATH, EdgeRow, FileRecord, GraphDelta, NodeRow, UnitRows
from tests.pipeline.trees import Dump, differences, dump
from tests.raw_database import raw

from .rows import PROJECT, digest, edge, node, words

NAMES = [f"n{number}" for number in range(8)]


def structure(source: random.Random, number: int) -> GraphDelta:
    """A unit with some of the nodes, each in one of two versions, and edges between them and to others."""
    rows = [
        node(name, STRUCTURE_PATH, docstring=source.choice(("", "one", "two")))
        for name in NAMES
        if source.random() < 0.7
    ]
    kinds = [(name, target) for name in NAMES for target in (*NAMES[:3], "far", "farther") if source.random() < 0.3]
    edges = [edge(name, target, confidence=source.choice((0.5, 0.9))) for name, target in kinds]
    texts = [words(row, source.choice(("tea", "milk"))) for row in rows if source.random() < 0.5]
    record = FileRecord(STRUCTURE_PATH, digest="made", unit_digest=digest(rows, edges, texts, number))
    return GraphDelta(PROJECT, STRUCTURE_PATH, record, rows, edges, texts)


def rows_of(delta: GraphDelta) -> UnitRows:
    assert delta.record is not None
    assert delta.nodes is not None
    return UnitRows(delta.record.unit_digest, delta.nodes, frozenset(delta.edges), delta.texts)


def other_unit(source: random.Random) -> GraphDelta:
    """A file that may claim nodes of the structure, or leave."""
    if source.random() < 0.3:
        return GraphDelta(PROJECT, "a.py", None)
    rows: list[NodeRow] = [node(name, "a.py") for name in ("far", *source.sample(NAMES, 2))]
    edges: list[EdgeRow] = [edge("far", source.choice(NAMES))]
    return GraphDelta(PROJECT, "a.py", FileRecord("a.py", digest=digest(rows, edges)), rows, edges)


@pytest.mark.parametrize("seed", range(15))
async def test_parts_give_the_rows_of_whole_units(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    folders = (tmp_path / "whole", tmp_path / "parts")
    stores = [EmbeddedStore.open(folder, writing=True, vector_index=VectorIndex) for folder in folders]
    for store in stores:
        await store.open_project(PROJECT, "/p")
    before: UnitRows | None = None
    for number in range(12):
        made = structure(source, number)
        batch = [replace(made, before=before)]
        if source.random() < 0.3:
            batch.append(other_unit(source))
        if source.random() < 0.1:
            # written by another process meanwhile
            strange = structure(source, -number)
            for store in stores:
                await store.apply([strange])
        await stores[0].apply([replace(delta, before=None) for delta in batch])
        await stores[1].apply(batch)
        before = rows_of(made)
        if source.random() < 0.3:
            between = other_unit(source)
            for store in stores:
                await store.apply([between])
        left, right = _dumps(folders)
        assert not differences(left, right), number
    for store in stores:
        await store.aclose()


async def test_only_the_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from atlas.adapters.stores.sqlite.apply import _Batch  # pyright: ignore[reportPrivateUsage]

    read: list[int] = []
    old_edges = _Batch._old_edges  # pyright: ignore[reportPrivateUsage]

    def counted(self: _Batch, sources: list[int]) -> object:
        read.append(len(sources))
        return old_edges(self, sources)

    monkeypatch.setattr(_Batch, "_old_edges", counted)
    store = EmbeddedStore.open(tmp_path, writing=True, vector_index=VectorIndex)
    await store.open_project(PROJECT, "/p")
    first = structure(random.Random(1), 1)
    assert first.nodes
    await store.apply([first])
    added = edge(first.nodes[0].qualified_name, "added")
    second = replace(
        first,
        edges=[*first.edges, added],
        record=FileRecord(STRUCTURE_PATH, digest="made", unit_digest=digest("second")),
        before=rows_of(first),
    )
    await store.apply([second])
    assert read == [0, 0]
    await store.aclose()


def _dumps(folders: tuple[Path, Path]) -> list[Dump]:
    """Return what the stores hold, with the counts of edges and the names in use."""
    found: list[Dump] = []
    for folder in folders:
        connection = raw(folder / "atlas.db", writing=False)
        query = connection.execute
        try:
            counts = sorted(query("SELECT * FROM edge_count"))
            names = sorted(query("SELECT uid FROM symbol_id"))
        finally:
            connection.close()
        found.append(Dump(**dump(folder), counts=counts, names=names))
    return found
