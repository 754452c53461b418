"""How well search finds a function by its documentation: MRR@10 and recall of each channel and of each way to fuse them.

`python -m tests.bench.retrieval TREE [--questions N]` copies the Python files of a tree without docstrings, indexes the
copy, and asks each docstring's first sentence. Every node of the index competes, tests and modules included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.find import Fusion, Mode
from atlas.code.index.events import no_progress
from atlas.code.question.parse_question import route
from atlas.code.retrieve.channels import by_meaning, by_words
from atlas.code.retrieve.fuse import fuse_rrf, order, text_scores, weighted
from atlas.core.model import Filter, Scored
from atlas.runtime.config.load import load_settings

from .questions import Question, copy_without_docstrings

Ask = Callable[[Atlas, Question], Awaitable[list[str]]]


async def measure(atlas: Atlas, questions: Sequence[Question], variants: dict[str, Ask]) -> dict[str, dict[str, float]]:
    """Return MRR@10, R@1 and R@10 of each variant over all questions."""
    ranks: dict[str, list[int]] = {name: [] for name in variants}
    for question in questions:
        for name, ask in variants.items():
            places = await ask(atlas, question)
            ranks[name].append(places.index(question.place) + 1 if question.place in places else 0)
    return {name: _summary(found) for name, found in ranks.items()}


def _summary(ranks: Sequence[int]) -> dict[str, float]:
    hits = [rank for rank in ranks if 0 < rank <= 10]
    return {
        "mrr10": round(sum(1 / rank for rank in hits) / len(ranks), 4),
        "r1": round(sum(rank == 1 for rank in hits) / len(ranks), 4),
        "r10": round(len(hits) / len(ranks), 4),
    }


def searching(mode: Mode, fusion: Fusion = Fusion.WEIGHTED) -> Ask:
    """Return the product's own search in a mode."""

    async def ask(atlas: Atlas, question: Question) -> list[str]:
        found = await atlas.search(question.text, _where(atlas), mode, fusion)
        return [f"{each.node.row.path}:{each.node.row.line}" for each in found.ranked]

    return ask


def fusing(fuse: Callable[[Sequence[Scored], Sequence[Scored]], Sequence[Scored]]) -> Ask:
    """Return words and meaning fused by a function, without ranking."""

    async def ask(atlas: Atlas, question: Question) -> list[str]:
        query, where = route(question.text, atlas.reader.split_words, atlas.reader.languages), _where(atlas)
        words, meaning = await asyncio.gather(
            by_words(atlas.reader, query, where), by_meaning(atlas.reader, query, where)
        )
        fused = fuse(words.hits, meaning.hits)[:60]
        nodes = await atlas.reader.store.symbols([hit.uid for hit in fused])
        return [f"{node.row.path}:{node.row.line}" for node in nodes]

    return ask


VARIANTS: dict[str, Ask] = {
    "BM25 alone": searching(Mode.WORDS),
    "vector alone": searching(Mode.MEANING),
    "RRF 60": fusing(lambda words, meaning: fuse_rrf((words, meaning))),
    "RRF 10": fusing(lambda words, meaning: fuse_rrf((words, meaning), 10)),
    "weighted .4/.6 by maximum": fusing(lambda words, meaning: order(weighted((words, meaning), (0.4, 0.6)))),
    "weighted .4/.6, cosine from its floor": fusing(lambda words, meaning: order(text_scores(words, meaning))),
    "hybrid (RRF, ranked)": searching(Mode.HYBRID, Fusion.RRF),
    "hybrid (weighted, ranked)": searching(Mode.HYBRID),
}


async def run(
    tree: Path, data_dir: Path, copy: Path, limit: int, variants: dict[str, Ask]
) -> dict[str, dict[str, float]]:
    """Index a copy of the tree without docstrings and measure."""
    questions = copy_without_docstrings(tree, copy)
    random.Random(0).shuffle(questions)
    settings = load_settings(str(copy), str(data_dir), {})
    await index_project(settings, no_progress)
    async with open_atlas(settings) as atlas:
        return await measure(atlas, questions[:limit], variants)


def _where(atlas: Atlas) -> Filter:
    return Filter(project=atlas.reader.project)


def main() -> None:
    """Print a table of all variants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        found = asyncio.run(run(given.tree, folder / "data", folder / "tree", given.questions, VARIANTS))
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'':40}MRR@10  R@1    R@10")
    for name, values in found.items():
        print(f"{name:40}{values['mrr10']:.4f}  {values['r1']:.3f}  {values['r10']:.3f}")


if __name__ == "__main__":
    main()
