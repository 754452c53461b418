"""Exact scan over int8 vectors: filters, ties, replacement, and agreement with float cosines."""

import ast
import asyncio
import inspect
import json
import math
import random
import struct
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas._parser import StaticEncoder, VectorIndex
from atlas.adapters.embedders.static import MODEL_FOLDER


def half(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}e", *values)


def single(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def packed(ids: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(ids)}q", *ids)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    lengths = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return sum(map(float.__mul__, left, right)) / lengths


def recall_at_10(vectors: list[tuple[float, ...]], queries: list[tuple[float, ...]]) -> float:
    index = VectorIndex(256)
    index.put(range(len(vectors)), [half(vector) for vector in vectors])
    found = 0
    for query in queries:
        exact = sorted(range(len(vectors)), key=lambda row: -cosine(query, vectors[row]))[:10]
        found += len({row for row, _ in index.search(single(query), 10)} & set(exact))
    return found / (10 * len(queries))


def test_recall_on_random_vectors() -> None:
    chance = random.Random(1)
    vectors = [tuple(chance.gauss(0, 1) for _ in range(256)) for _ in range(1515)]
    assert recall_at_10(vectors[15:], vectors[:15]) >= 0.99


@pytest.mark.slow
def test_recall_on_code() -> None:
    encoder = StaticEncoder(str(MODEL_FOLDER))
    names, texts = [], []
    for module in (ast, asyncio.base_events, asyncio.tasks, inspect, json.decoder, random, threading):
        lines = inspect.getsource(module).splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append(node.name)
                # `ast.get_source_segment` would split the whole module again for every node
                texts.append("\n".join(lines[node.lineno - 1 : node.end_lineno])[node.col_offset :])
    vectors = [struct.unpack("<256e", data) for data in encoder.encode(texts, names, [False] * len(texts))]
    questions = [f"{name} {text.split('(')[0]}" for name, text in zip(names[:12], texts[100:112], strict=True)]
    queries = [struct.unpack("<256f", encoder.query(question)) for question in questions]
    assert len(vectors) > 500
    assert recall_at_10(vectors, queries) >= 0.99


def test_scores_are_cosines_best_first() -> None:
    index = VectorIndex(3)
    index.put([1, 2, 3], [half([1, 0, 0]), half([1, 1, 0]), half([-1, 0, 0])])
    hits = index.search(single([2, 0, 0]), 10)
    assert [row for row, _ in hits] == [1, 2, 3]
    assert [score for _, score in hits] == pytest.approx([1, math.sqrt(0.5), -1], abs=1e-4)


def test_equal_scores_come_by_id() -> None:
    index = VectorIndex(2)
    index.put([9, 4, 7, 1], [half([1, 1])] * 4)
    assert [row for row, _ in index.search(single([1, 1]), 3)] == [1, 4, 7]


def test_put_replaces_and_the_last_of_equal_ids_counts() -> None:
    index = VectorIndex(2)
    index.put([5, 6], [half([1, 0]), half([0, 1])])
    index.put([6, 5, 6], [half([0, 1]), half([0, 1]), half([1, 0])])
    assert len(index) == 2
    assert [row for row, _ in index.search(single([1, 0]), 1)] == [6]


def test_zero_vectors_are_never_found() -> None:
    index = VectorIndex(2)
    index.put([1, 2], [half([0, 0]), half([0, 1])])
    assert [row for row, _ in index.search(single([0, 1]), 10)] == [2]
    assert index.search(single([0, 0]), 10) == []


def test_exact_cosines_have_the_bits_of_plain_arithmetic() -> None:
    chance = random.Random(2)
    query = struct.unpack("<5f", single([chance.gauss(0, 1) for _ in range(5)]))
    vectors = [struct.unpack("<5e", half([chance.gauss(0, 1) for _ in range(5)])) for _ in range(50)]
    found = VectorIndex(5).cosines(single(query), [*map(half, vectors), half([0] * 5)])
    for vector, score in zip(vectors, found, strict=False):
        product = square = length = 0.0
        for own, asked in zip(vector, query, strict=True):
            product, square, length = product + own * asked, square + own * own, length + asked * asked
        assert score == product / (math.sqrt(square) * math.sqrt(length))
    assert math.isnan(found[-1])
    assert math.isnan(VectorIndex(1).cosines(single([0]), [half([1])])[0])


def test_another_dimension_is_refused_and_nothing_changes() -> None:
    index = VectorIndex(2)
    with pytest.raises(ValueError, match="dimension 2"):
        index.put([1, 2], [half([1, 0]), half([1, 0, 0])])
    with pytest.raises(ValueError, match="dimension 2"):
        index.search(single([1, 0, 0]), 1)
    with pytest.raises(ValueError, match="same length"):
        index.put([1], [])
    with pytest.raises(ValueError, match="8 bytes"):
        index.search(single([1, 0]), 1, b"1234")
    with pytest.raises(ValueError, match="dimension"):
        VectorIndex(0)
    assert len(index) == 0


def test_values_that_are_no_numbers_do_no_harm() -> None:
    index = VectorIndex(2)
    index.put([1, 2], [half([math.nan, 1]), half([math.inf, -1])])
    assert [row for row, _ in index.search(single([math.nan, 1]), 2)] == [1, 2]


IDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 30)
VECTORS = st.tuples(*[st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])] * 3)
PUT = st.tuples(st.just("put"), st.lists(st.tuples(IDS, VECTORS), max_size=12))
REMOVE = st.tuples(st.just("remove"), st.lists(IDS, max_size=6))


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(PUT | REMOVE, max_size=8), VECTORS, st.integers(0, 8), st.none() | st.sets(IDS, max_size=40))
def test_any_history_equals_a_plain_dictionary(
    history: list[tuple[str, list[object]]], query: tuple[float, ...], limit: int, allowed: set[int] | None
) -> None:
    index = VectorIndex(3)
    model: dict[int, tuple[float, ...]] = {}
    for verb, items in history:
        if verb == "put":
            index.put([row for row, _ in items], [half(vector) for _, vector in items])
            model.update(items)
        else:
            index.remove(items)
            for row in items:
                model.pop(row, None)
    assert index.ids() == sorted(model)
    hits = index.search(single(query), limit, None if allowed is None else packed(sorted(allowed)))
    eligible = [row for row, vector in model.items() if any(vector) and (allowed is None or row in allowed)]
    if not any(query):
        assert hits == []
        return
    assert len(hits) == min(limit, len(eligible))
    for row, score in hits:
        assert score == pytest.approx(cosine(query, model[row]), abs=0.01)
    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    worst = hits[-1][1] if hits else math.inf
    left_out = set(eligible) - {row for row, _ in hits}
    assert limit == 0 or all(cosine(query, model[row]) <= worst + 0.01 for row in left_out)


def test_filter_over_many_rows() -> None:
    index = VectorIndex(2)
    index.put(range(60_000), [half([1, row / 60_000]) for row in range(60_000)])
    everything = index.search(single([1, 0]), 5)
    assert [row for row, _ in everything] == [0, 1, 2, 3, 4]
    few, many = [59_000, 59_999, 70_000], list(range(30_001, 60_000, 2))
    assert [row for row, _ in index.search(single([0, 1]), 5, packed(few))] == [59_999, 59_000]
    hits = index.search(single([1, 0]), 3, packed(many))
    assert hits == index.search(single([1, 0]), 30_000, packed(many))[:3]
    assert {row for row, _ in index.search(single([1, 0]), 30_000, packed(many))} == set(many)


def test_searches_while_others_write() -> None:
    index = VectorIndex(4)
    index.put(range(1000), [half([1, 0, 0, 0])] * 1000)
    failures: list[str] = []

    def search() -> None:
        for _ in range(200):
            hits = index.search(single([1, 0, 0, 0]), 2000)
            if len(hits) not in (1000, 1100):
                failures.append(f"{len(hits)} rows")

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        index.put(range(1000, 1100), [half([0, 1, 0, 0])] * 100)
        index.remove(range(1000, 1100))
    for thread in threads:
        thread.join()
    assert failures == []
