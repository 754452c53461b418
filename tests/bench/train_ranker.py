"""Fit the weights of the learned ranking (`atlas/code/rank/ranking_weights.toml`).

`python -m tests.bench.train_ranker collect OUT.jsonl TREE... --data-dir DIR [--limit 60] [--questions FILES.toml]` asks
generated questions (docstrings, headings, sections, names of tests, issue-like texts) of each tree and writes the
features of all candidates. `... fit TRAIN.jsonl TUNE.jsonl [--weights OUT.toml]` fits weights on the first file,
chooses the regularisation on the second, and prints both with the collected order. `fit` needs numpy, which the
project does not depend on. Packages: `tests/bench/search/{train,tune,test}`; those of `test` are for neither.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atlas_bench.search.questions import SearchQuestion
from atlas_bench.search.sets import Plan, make_sets

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.code.rank.features import FEATURES
from atlas.core.model import Filter
from atlas.parsing import load_languages
from atlas.runtime.config.load import load_settings

KINDS = frozenset(("docstring", "heading", "section", "test", "issue"))
KIND_WEIGHTS: Mapping[str, float] = {
    "file": 1.5,
    "docstring": 4.0,
    "issue": 0.7,
    "heading": 1.0,
    "section": 0.3,
    "test": 0.2,
}
"""How much a kind of question counts, whatever its number of questions."""
DEPTH = 10


async def collect(out: Path, trees: Sequence[Path], data: Path, limit: int, files: Mapping[str, Any]) -> None:
    """Write one line per question: its kind, its gold, and the features of its candidates."""
    kinds = frozenset(("file",)) if files else KINDS
    with out.open("w") as lines:
        for tree in trees:
            asked = [SearchQuestion("file", *_gold(each)) for each in files.get(tree.name, ())]
            languages = load_languages()
            for found in make_sets(tree, data / "copies", languages, Plan(kinds, limit, 0), asked):
                settings = load_settings(str(found.tree), str(data / f"{found.index}-{found.name}"), {})
                await index_project(settings, no_progress)
                async with open_atlas(settings) as atlas:
                    for question in found.questions:
                        if record := await _record(atlas, found.name, question):
                            lines.write(json.dumps(record) + "\n")
            print(tree.name, flush=True)


def _questions(path: Path | None) -> Mapping[str, Any]:
    return json.loads(path.read_text()) if path else {}


def _gold(given: Sequence[Any]) -> Any:
    from atlas_bench.search.questions import Target

    return given[0], tuple(Target(path) for path in given[1])


async def _record(atlas: Atlas, tree: str, question: SearchQuestion) -> dict[str, Any] | None:
    reader = replace(atlas.reader, ranking=replace(atlas.reader.ranking, all_features=True))
    found = await replace(atlas, reader=reader).search(question.text, Filter(project=reader.project))
    if not found.ranked or not found.ranked[0].features:
        return None
    rows = [each.node.row for each in found.ranked]
    places = question.places
    right = [(row.path, row.line) in places if places else row.path in question.files for row in rows]
    return {
        "tree": tree,
        "kind": question.kind,
        "text": question.text,
        "files": sorted(question.files),
        "right": [position for position, is_right in enumerate(right) if is_right],
        "paths": [row.path for row in rows],
        "places": len(places),
        "features": [[round(each.features.get(name, 0.0), 4) for name in FEATURES] for each in found.ranked],
    }


def fit(train: Sequence[Path], tune: Sequence[Path], out: Path | None) -> None:
    """Fit weights for several strengths of regularisation; keep those that do best on the tuning packages."""
    import numpy  # type: ignore[import-not-found]

    training, tuning = list(_read(train)), list(_read(tune))
    best: tuple[float, Any] = (0.0, None)
    print("before", _summary(tuning, None))
    for decay in (0.003, 0.01):
        weights = _descend(numpy, training, decay)
        measured = _summary(tuning, weights)
        mean = sum(measured.values()) / len(measured)
        print(decay, measured, round(mean, 4), flush=True)
        if mean > best[0]:
            best = (mean, weights)
    if out is not None:
        lines = [f"{name} = {weight:.3f}" for name, weight in zip(FEATURES, best[1], strict=True)]
        out.write_text("\n".join(("[weights]", *lines, "")))


def _read(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with path.open() as lines:
            yield from map(json.loads, lines)


def _descend(numpy: Any, records: Sequence[Mapping[str, Any]], decay: float, steps: int = 250) -> Any:
    """Minimise the softmax loss of right candidates against all, by Adam on standardised features."""
    counts: dict[str, int] = {}
    usable = [each for each in records if 0 < len(each["right"]) < len(each["paths"])]
    for each in usable:
        counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    tables = [numpy.array(each["features"]) for each in usable]
    spread = numpy.vstack(tables).std(axis=0)
    spread[spread < 0.01] = 1.0
    tables = [table / spread for table in tables]
    shares = numpy.array([KIND_WEIGHTS[each["kind"]] / counts[each["kind"]] for each in usable])
    shares /= shares.sum()
    weights = numpy.zeros(len(FEATURES))
    first, second = numpy.zeros_like(weights), numpy.zeros_like(weights)
    for step in range(1, steps + 1):
        gradient = decay * weights
        for table, each, share in zip(tables, usable, shares, strict=True):
            scores = table @ weights
            scores = numpy.exp(scores - scores.max())
            wanted = numpy.zeros_like(scores)
            wanted[each["right"]] = scores[each["right"]]
            gradient -= share * (table.T @ (wanted / wanted.sum() - scores / scores.sum()))
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient * gradient
        weights -= 0.05 * (first / (1 - 0.9**step)) / (numpy.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights / spread


def _summary(records: Sequence[Mapping[str, Any]], weights: Any) -> dict[str, float]:
    """Return NDCG@10 of files for questions about files, else MRR@10, by kind."""
    found: dict[str, list[float]] = {}
    for each in records:
        order = list(range(len(each["paths"])))
        if weights is not None:
            scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in each["features"]]
            order.sort(key=lambda position: -scores[position])
        found.setdefault(each["kind"], []).append(_measure(each, order))
    return {kind: round(sum(values) / len(values), 4) for kind, values in sorted(found.items())}


def _measure(record: Mapping[str, Any], order: Sequence[int]) -> float:
    if record["places"]:
        right = set(record["right"])
        return next((1 / rank for rank, at in enumerate(order[:DEPTH], 1) if at in right), 0.0)
    files = list(dict.fromkeys(record["paths"][at] for at in order))[:DEPTH]
    gained = sum(1 / math.log2(rank + 1) for rank, path in enumerate(files, 1) if path in record["files"])
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(record["files"]), DEPTH) + 1))


def main() -> None:
    """Collect features, or fit weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("collect")
    one.add_argument("out", type=Path)
    one.add_argument("trees", type=Path, nargs="+")
    one.add_argument("--data-dir", type=Path, required=True)
    one.add_argument("--limit", type=int, default=60)
    one.add_argument("--questions", type=Path)
    two = commands.add_parser("fit")
    two.add_argument("--train", type=Path, nargs="+", required=True)
    two.add_argument("--tune", type=Path, nargs="+", required=True)
    two.add_argument("--weights", type=Path)
    given = parser.parse_args()
    if given.command == "collect":
        asyncio.run(collect(given.out, given.trees, given.data_dir, given.limit, _questions(given.questions)))
    else:
        fit(given.train, given.tune, given.weights)


if __name__ == "__main__":
    main()
