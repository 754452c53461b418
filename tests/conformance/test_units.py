"""Units and vectors as every store gives them to a copy: what was applied, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas.core.contracts import Store
from atlas.core.errors import NotFound
from atlas.core.model import Decision, FileRecord, GraphDelta, ModelInfo, VectorRow
from tests.conformance.rows import MODEL, PROJECT, edge, gone, node, unit, vector

ONE, TWO = node("a.one"), node("a.two", span=(10, 20))
FAR = node("b.far", "b.py")


def bare(delta: GraphDelta) -> GraphDelta:
    """The delta as it comes back: sorted, without texts."""
    return replace(
        delta,
        nodes=sorted(delta.nodes or (), key=lambda row: row.uid),
        edges=sorted(delta.edges),
        decisions=sorted(delta.decisions),
        texts=(),
    )


async def test_units_come_back_as_they_were_applied(store: Store) -> None:
    one = unit("a.py", [TWO, ONE], [edge("a.one", "b.far", line=3), edge("a.one", "nobody"), edge("a.two", "a.one")])
    one = replace(one, content=b"a" * 40, decisions=[Decision(ONE.uid, True, "added")])
    far = unit("b.py", [FAR], [edge("b.far", "a.one")])
    await store.apply([one, far])
    assert await store.units(PROJECT, ["b.py", "unknown", "a.py", "b.py"]) == [bare(far), bare(one)]
    # twice is once, and the way of an edge whose target came later leaves no trace
    await store.apply([far, one])
    assert await store.units(PROJECT, ["a.py"]) == [bare(one)]
    await store.apply([gone("b.py")])
    assert await store.units(PROJECT, ["a.py", "b.py"]) == [bare(one)]


async def test_a_record_is_the_whole_of_it(store: Store) -> None:
    record = FileRecord(
        "x.py",
        "python",
        "0" * 32,
        3,
        5,
        7,
        "d",
        2,
        4,
        is_test=True,
        is_generated=True,
        problems=("1: a", "2: b"),
        stale=True,
    )
    await store.apply([GraphDelta(PROJECT, "x.py", record, [], content=b"")])
    ((delta),) = await store.units(PROJECT, ["x.py"])
    assert (delta.record, delta.content, list(delta.nodes or ())) == (record, b"", [])


async def test_vectors_come_page_by_page_and_only_those_that_are_true(store: Store) -> None:
    nodes = [node(f"a.n{number}") for number in range(5)]
    await store.apply([unit("a.py", nodes)])
    assert await store.vectors(PROJECT, 10) == []
    rows = [vector(row, 0.1 * place, 1, -0.333, 65504) for place, row in enumerate(nodes)]
    await store.put_vectors(PROJECT, MODEL, rows)
    assert await store.vectors(PROJECT, 10) == rows
    assert await store.vectors(PROJECT, 2) == rows[:2]
    assert await store.vectors(PROJECT, 2, rows[1].uid) == rows[2:4]
    assert await store.vectors(PROJECT, 2, rows[4].uid) == []
    await store.apply([unit("a.py", [*nodes[:4], nodes[4]._replace(chunk_digest="other")])])
    assert await store.vectors(PROJECT, 10) == rows[:4]
    other = ModelInfo("test", "tiny", 2, "two")
    new = VectorRow(nodes[0].uid, nodes[0].chunk_digest, vector(nodes[0], 1, 0).data)
    await store.put_vectors(PROJECT, other, [new])
    assert await store.vectors(PROJECT, 10) == [new]


async def test_of_an_unknown_project_there_is_nothing_to_copy(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.units("other", ["a.py"])
    with pytest.raises(NotFound):
        await store.vectors("other", 1)
