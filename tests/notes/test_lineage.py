"""Lineage on written cases whose paths were enumerated by brute force, and at its limits."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from reference_store.store import MemoryStore

from atlas.core.model import EdgeRow
from atlas.knowledge.retrieval import lineage
from atlas.knowledge.retrieval.lineage import find_lineage
from tests.conformance.rows import PROJECT, node, unit

CASES = cast("list[dict[str, Any]]", json.loads(Path(__file__).with_name("data").joinpath("lineage.json").read_text()))


def relation(source: str, kind: str, target: str, confidence: float) -> EdgeRow:
    return EdgeRow(f"{PROJECT}:{source}", f"{PROJECT}:{target}", kind.upper(), 1, "stated", confidence)


async def stored(keys: list[str], relations: list[EdgeRow]) -> MemoryStore:
    store = MemoryStore()
    await store.open_project(PROJECT, "/x")
    await store.apply([unit("c.md", [node(key, "c.md", label="Claim") for key in keys], relations)])
    return store


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["start"][:30])
async def test_paths_are_those_of_brute_force(case: dict[str, Any]) -> None:
    paths = cast("list[list[str]]", case["paths"])
    keys = [claim["key"] for claim in case["claims"]]
    store = await stored(keys, [relation(*one) for one in case["relations"]])
    found = await find_lineage(store, closest(case, "start"), closest(case, "end"), 3)
    assert [[uid.partition(":")[2] for uid in chain.uids] for chain in found.chains] == paths
    assert found.chains or found.is_complete


def closest(case: dict[str, Any], end: str) -> str:
    """Return the uid of the claim that shares most words with one end of the question."""
    words = set(case[end].lower().split())
    return max(
        (f"{PROJECT}:{claim['key']}" for claim in case["claims"]),
        key=lambda uid: len(words & set(text_of(case, uid).lower().replace(".", "").split())),
    )


def text_of(case: dict[str, Any], uid: str) -> str:
    return next(claim["text"] for claim in case["claims"] if uid == f"{PROJECT}:{claim['key']}")


async def test_the_most_certain_of_several_relations_is_taken() -> None:
    store = await stored(["a", "b"], [relation("a", "extends", "b", 0.3), relation("b", "supports", "a", 0.9)])
    (chain,) = (await find_lineage(store, f"{PROJECT}:a", f"{PROJECT}:b", 3)).chains
    assert [row.type for row in chain.relations] == ["SUPPORTS"]
    assert chain.confidence == 0.9


async def test_limits_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"c{number}" for number in range(20)]
    chain = [relation(one, "implies", other, 1.0) for one, other in pairwise(keys)]
    store = await stored(keys, chain)
    reachable = await find_lineage(store, f"{PROJECT}:c0", f"{PROJECT}:c7", 3)
    assert len(reachable.chains) == 1
    too_far = await find_lineage(store, f"{PROJECT}:c0", f"{PROJECT}:c19", 3)
    assert (too_far.chains, too_far.is_complete) == ((), True), "there is none of at most MAX_STEPS"
    monkeypatch.setattr(lineage, "MAX_CLAIMS", 4)
    assert not (await find_lineage(store, f"{PROJECT}:c0", f"{PROJECT}:c7", 3)).is_complete


async def test_a_dense_graph_takes_bounded_work() -> None:
    keys = [f"c{number}" for number in range(60)]
    everything = [relation(one, "supports", other, 0.5) for one in keys for other in keys if one < other]
    found = await find_lineage(await stored(keys, everything), f"{PROJECT}:c0", f"{PROJECT}:c59", 3)
    assert [len(chain.uids) for chain in found.chains] == [2, 3, 3]
