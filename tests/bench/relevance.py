"""Calibrate the absolute relevance of questions (`atlas/code/rank/relevance.py`), and count false refusals.

`python -m tests.bench.relevance PART TREE... --data-dir DIR [--questions FOLDER]... [--fit]` asks questions that the
trees answer (docstrings, headings, sections, names of tests, up to `--limit` of each, and those about files of question
files), nonsense, word salad and questions about other things (`data/irrelevant.toml`, PART is `tune` or `test`), and
questions that other trees answer. It prints the share of each that is told "nothing relevant", and "weak match".
`--fit` prints the coefficients of two logistic regressions: both classes weigh the same, and so do generated and
written questions; those of other trees have `FOREIGN_SHARE` of theirs for the relevance, `WEAK_FOREIGN_SHARE` for the
strength.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas_bench.search.questions import SearchQuestion, Target
from atlas_bench.search.sets import Plan, QuestionSet, make_sets

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.find import read_question_signals
from atlas.code.index.events import no_progress
from atlas.code.rank.relevance import RELEVANT, WEAK, Signals, match_strength, relevance
from atlas.core.model import Filter
from atlas.parsing import load_languages
from atlas.runtime.config.load import load_settings

GENERATED = ("docstring", "heading", "section", "test")
WRITTEN = "file"
ANSWERED = (*GENERATED, WRITTEN)
FOREIGN_SHARE, WEAK_FOREIGN_SHARE = 0.3, 0.7
RELEVANCE, COVERAGE = ("cosine", "known"), ("in_hit", "in_file")
SYLLABLES = """ba be bi bo bu ka ke ki ko dra fli gru sno wiz zor plu mor ten lif quo xan vul tri ska"""
NONSENSE, FOREIGN = 40, 20
STEPS, RATE, DECAY = 3000, 8.0, 0.0005


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a kind, and what the channels said about it."""

    tree: str
    kind: str
    text: str
    signals: Signals


def nonsense(seed: str) -> Iterator[str]:
    """Yield words without meaning: several, one, as a question, and as a qualified name."""
    chooser = random.Random(seed)

    def word() -> str:
        return "".join(chooser.choice(SYLLABLES.split()) for _ in range(chooser.randint(2, 4)))

    for number in range(NONSENSE):
        yield (
            " ".join(word() for _ in range(chooser.randint(2, 6))),
            "".join(chooser.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chooser.randint(6, 14))),
            f"how does the {word()} {word()} the {word()}",
            f"{word().capitalize()}{word().capitalize()}.{word()}",
        )[number % 4]


async def ask(sets: Sequence[QuestionSet], data: Path, others: Mapping[str, Sequence[str]]) -> list[Asked]:
    """Put the questions of each set, the irrelevant ones, and some of other trees to the index of the set."""
    everything = [(each.name, question.text) for each in sets for question in each.questions]
    found: list[Asked] = []
    for each in sets:
        settings = load_settings(str(each.tree), str(data / "index" / each.index / each.name), {})
        await index_project(settings, no_progress)
        drawn = random.Random(each.name).sample(everything, min(3 * FOREIGN, len(everything)))
        foreign = [text for name, text in drawn if name != each.name][:FOREIGN]
        texts = [(question.kind, question.text) for question in each.questions]
        texts += [(kind, text) for kind, given in {**others, "foreign": foreign}.items() for text in given]
        async with open_atlas(settings) as atlas:
            found += [asked for kind, text in texts if (asked := await _one(atlas, each.name, kind, text))]
        print(each.name, each.index, flush=True)
    return found


async def _one(atlas: Atlas, tree: str, kind: str, text: str) -> Asked | None:
    """Return the signals of one question; None if the graph answers it."""
    signals = await read_question_signals(atlas.reader, text, Filter(project=atlas.reader.project))
    return None if signals is None else Asked(tree, kind, text, signals)


def _group(asked: Asked) -> str:
    if asked.kind == WRITTEN:
        return "written"
    return "generated" if asked.kind in GENERATED else "foreign" if asked.kind == "foreign" else "other"


def fit(asked: Sequence[Asked], features: Sequence[str], foreign: float) -> list[float]:
    """Return bias and weights of these signals; `foreign`: share of questions of other trees among the unanswered."""
    unnamed = [each for each in asked if not each.signals.is_named]
    counts = Counter(map(_group, unnamed))
    shares = {"generated": 0.25, "written": 0.25, "other": 0.5 * (1 - foreign), "foreign": 0.5 * foreign}
    rows = [
        (
            (1.0, *(float(getattr(each.signals, name)) for name in features)),
            float(each.kind in ANSWERED),
            shares[_group(each)] / counts[_group(each)],
        )
        for each in unnamed
    ]
    weights = [0.0] * (1 + len(features))
    for _ in range(STEPS):
        slope = [0.0] * len(weights)
        for values, target, share in rows:
            guess = 1 / (1 + math.exp(-sum(map(float.__mul__, weights, values))))
            for position, value in enumerate(values):
                slope[position] += share * (target - guess) * value
        weights = [
            weight + RATE * (change - DECAY * weight * (position > 0))
            for position, (weight, change) in enumerate(zip(weights, slope, strict=True))
        ]
    return weights


def is_weak(signals: Signals) -> bool:
    """Return whether an answer says that the match is weak."""
    return relevance(signals) >= RELEVANT and match_strength(signals) < WEAK


def _written(folders: Sequence[Path]) -> dict[str, list[SearchQuestion]]:
    """Return the questions about files in the question files of these folders, by package."""
    found: dict[str, list[SearchQuestion]] = {}
    for file in (file for folder in folders for file in sorted(folder.glob("*.toml"))):
        entries = tomllib.loads(file.read_text(encoding="utf-8")).get("question", ())
        about = [each for each in entries if each["kind"] == "concept"]
        found[file.stem] = [SearchQuestion(WRITTEN, each["ask"], tuple(map(Target, each["gold"]))) for each in about]
    return found


def main() -> None:
    """Ask, and print the share of refusals by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("tune", "test"))
    parser.add_argument("trees", type=Path, nargs="+")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=25)
    parser.add_argument("--questions", type=Path, nargs="*", default=[])
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    irrelevant = tomllib.loads((Path(__file__).parent / "data/irrelevant.toml").read_text(encoding="utf-8"))
    others = {**irrelevant[given.part], "nonsense": list(nonsense(given.part))}
    plan = Plan(frozenset(ANSWERED), given.limit, 0)
    languages = load_languages()
    written = _written(given.questions)
    sets = [
        each
        for tree in given.trees
        for each in make_sets(tree.resolve(), given.data_dir, languages, plan, written.get(tree.name, ()))
    ]
    asked = asyncio.run(ask(sets, given.data_dir, others))
    if given.fit:
        for features, foreign in ((RELEVANCE, FOREIGN_SHARE), ((*RELEVANCE, *COVERAGE), WEAK_FOREIGN_SHARE)):
            print("bias,", ", ".join(features), [round(value, 2) for value in fit(asked, features, foreign)])
    for kind in dict.fromkeys(each.kind for each in asked):
        values = [relevance(each.signals) < RELEVANT for each in asked if each.kind == kind]
        weak = [is_weak(each.signals) for each in asked if each.kind == kind]
        shares = f"nothing relevant {sum(values) / len(values):.3f}, weak {sum(weak) / len(weak):.3f}"
        print(f"{kind:12} {len(values):5} questions, {shares}")
    answered = [relevance(each.signals) < RELEVANT for each in asked if each.kind in ANSWERED]
    weak = sum(is_weak(each.signals) for each in asked if each.kind in ANSWERED)
    print(f"false refusals {sum(answered)} of {len(answered)}, called weak {weak}")


if __name__ == "__main__":
    main()
