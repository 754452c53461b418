"""The gate of search: no kind of question may sink below its recorded number, whatever a change does for another.

A small fixed corpus (`data/search_gate/corpus`) is indexed with the models that ship, and asked what `questions.toml`
holds.
"""

from __future__ import annotations

import asyncio
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from atlas_bench.search.measures import score
from atlas_bench.search.questions import SearchQuestion, Target
from atlas_bench.search.variants import hits_of

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.code.rank.relevance import RELEVANT
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings

GATE = Path(__file__).parent / "data/search_gate"
MEASURES = {"file": "ndcg10", "reason": "ndcg10", "configuration": "ndcg10", "symbol": "acc1"}
"""Kind -> measure; MRR@10 of definitions for the others."""


def _questions() -> dict[str, list[SearchQuestion]]:
    given = tomllib.loads((GATE / "questions.toml").read_text(encoding="utf-8"))
    del given["floors"]
    reports = {each["ask"]: each["gold"] for each in given.pop("report")}
    return {
        kind: [SearchQuestion(kind, text.strip(), tuple(map(_target, gold))) for text, gold in asked.items()]
        for kind, asked in {**given, "report": reports}.items()
    }


def _target(place: str) -> Target:
    path, _, line = place.partition(":")
    return Target(path, int(line or 0))


async def _measure(atlas: Atlas, questions: dict[str, list[SearchQuestion]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind, asked in questions.items():
        values: list[float] = []
        for question in asked:
            result = await atlas.search(question.text, Filter(project=atlas.reader.project))
            if question.gold:
                values.append(score(question, await hits_of(atlas, result))[MEASURES.get(kind, "mrr10")])
            else:
                values.append(float(result.relevance < RELEVANT))
        found[kind] = sum(values) / len(values)
    return found


async def _run(data: Path, off: frozenset[str] = frozenset()) -> dict[str, float]:
    settings = load_settings(str(GATE / "corpus"), str(data), {})
    await index_project(settings, no_progress)
    async with open_atlas(settings) as atlas:
        ranking = replace(atlas.reader.ranking, off=off)
        return await _measure(replace(atlas, reader=replace(atlas.reader, ranking=ranking)), _questions())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gate")


@pytest.fixture(scope="module")
def measured(data: Path) -> dict[str, float]:
    return asyncio.run(_run(data))


def _floors() -> dict[str, float]:
    return tomllib.loads((GATE / "questions.toml").read_text(encoding="utf-8"))["floors"]


@pytest.mark.parametrize("kind", list(_questions()))
def test_no_kind_of_question_sinks(measured: dict[str, float], kind: str) -> None:
    assert measured[kind] >= _floors()[kind] - 0.0005, f"{kind}: {measured[kind]:.3f}; all: {measured}"


def test_the_gate_notices_stages_that_are_off(measured: dict[str, float], data: Path) -> None:
    off = ("long_texts", "intents", "relevance", "symbols", "titles", "file_meaning", "mentions", "coverage")
    without = asyncio.run(_run(data, frozenset(off)))
    sunk = {kind for kind, value in without.items() if value < _floors()[kind]}
    assert {"report", "reason", "configuration", "irrelevant"} <= sunk, without
