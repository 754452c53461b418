"""How well packs answer: hand-written and unanswerable questions, the packs' own ones, and multi-hop questions.

`python -m tests.bench.packs FOLDER ... [--split tune] [--without STAGE ...]` takes folders of packs that
`atlas pack build` made of the documentation named in `tests/bench/data/packs/README.md`, under the names that the
questions have (`django`, `sqlalchemy`, `click` ...), or of a dictionary with one article per headword (`foldoc`), and
asks the questions that belong to their names. `--own` asks the questions that the build made by rules instead. Times
are CPU ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

from atlas.packs.opening import open_pack
from atlas.packs.questions.evaluation import NO_PACK, Evaluation, QuestionOutcome, evaluate
from atlas.packs.questions.questions import EvalQuestion, read_questions
from atlas.packs.questions.report import table
from atlas.packs.questions.retrieval.search import find
from atlas.packs.questions.values import BALANCED, BASELINE, PackReader, QuestionOptions

DATA = Path(__file__).with_name("data") / "packs"
MULTI_HOP = "multi_hop"
WRITTEN = (
    "later", "next", "near",
    "shelf", "shelf_unanswerable", "hand", "fresh", "celery", "unseen", "other_words", "libraries", "new_libraries", "kinds",
    "unanswerable", "other_words_unanswerable"
)  # fmt: skip


def written(name: str, pack: str, split: str) -> list[dict[str, Any]]:
    """Return the written questions of a file for a pack."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return [row for row in rows if row["pack"] == pack and split in ("all", row["split"])]


def questions_of(reader: PackReader, split: str, *, own: bool) -> list[EvalQuestion]:
    """Return the questions for a pack, each with its kind."""
    if own:
        return [each for each in read_questions(reader.examples) if each.split == "held-out"]
    return [
        replace(each, kind=name)
        for name in WRITTEN
        for row in written(name, reader.project, split)
        for each in read_questions(json.dumps(row))
    ]


async def multi_hop(reader: PackReader, split: str, options: QuestionOptions) -> list[float]:
    """Return for each question the share of its articles among the first five; "title" is the article's key."""
    found: list[float] = []
    for row in written(MULTI_HOP, reader.project, split):
        sections = (await find(reader, row["question"], options)).sections
        titles = list(dict.fromkeys(section.passages[0].passage.headings[0] for section in sections))[:5]
        found.append(sum(title in titles for title in row["gold"]) / len(row["gold"]))
    return found


async def measure(folders: list[Path], split: str, profiles: list[QuestionOptions], *, own: bool) -> Evaluation:
    """Return the outcomes of all packs; prints those of multi-hop questions."""
    outcomes: list[QuestionOutcome] = []
    for folder in folders:
        pack = open_pack(folder)
        reader = pack.reader
        if own:
            reader = replace(reader, examples=(folder / "eval" / "questions.jsonl").read_text(encoding="utf-8"))
        found = await evaluate(reader, questions_of(reader, split, own=own), profiles)
        outcomes += [each for each in found.outcomes if each.profile != NO_PACK]
        for options in profiles:
            shares = await multi_hop(reader, split, options)
            if shares:
                print(f"multi-hop, {options.name}: R@5 {statistics.fmean(shares):.3f} of {len(shares)}")
        await pack.aclose()
    return Evaluation(", ".join(folder.name for folder in folders), "", tuple(outcomes))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--split", default="held-out", choices=["tune", "held-out", "all"])
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--without", action="append", default=[], metavar="STAGE", help="a field of QuestionOptions")
    arguments = parser.parse_args()
    off = {name: type(getattr(BALANCED, name))(0) for name in arguments.without}
    profiles = [BASELINE, BALANCED, *([replace(BALANCED, **off, name="without")] if off else [])]
    found = asyncio.run(measure(arguments.folders, arguments.split, profiles, own=arguments.own))
    if found.outcomes:
        print(table(found))


if __name__ == "__main__":
    main()
