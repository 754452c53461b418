"""What the first answer of hybrid_search costs, and whether the target is in it: tokens and target-inside rate by kind.

`python -m tests.bench.first_answers TREE [--suffix .py|.rs|.go|.ts] [--questions N]` copies a tree without docstrings,
indexes the copy and asks over the tool with its defaults: the first sentence of each docstring (its definition is the
target), plain names (its definition), callers of names, and words that belong to no symbol. Tokens are those of the
structured content, which is all that many clients show to their model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import tempfile
from pathlib import Path

from atlas._parser import count_tokens
from atlas.answers.answer import structure_text
from atlas.app.main import index_project
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.code.index.events import no_progress
from atlas.runtime.config.load import load_settings

from .questions import Question, copy_without_doc_comments, copy_without_docstrings

UNRECOGNISED = (
    "what happens when the disk is full",
    "explain the overall architecture",
    "how do I deploy this to production",
    "which colour is the bikeshed",
    "performance considerations for large inputs",
    "how are errors reported to the user",
    "where is the configuration read",
    "thread safety guarantees",
    "quaternion interpolation of camera paths",
    "list everything related to caching",
)


def asked(questions: list[Question]) -> dict[str, list[tuple[str, str]]]:
    """Return (question, place of the target or "") by kind."""
    return {
        "docstring": [(each.text, each.place) for each in questions],
        "name": [(each.name, each.place) for each in questions if len(each.name) > 5],
        "callers": [(f"callers of {each.name}", "") for each in questions[:200] if len(each.name) > 5],
        "unrecognised": [(text, "") for text in UNRECOGNISED],
    }


async def measure(session: Session, pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Return tokens (median, p95, mean) and the share of answers that contain their target's place."""
    tokens: list[int] = []
    inside = 0
    for text, place in pairs:
        answer = structure_text(await session.answer(BY_NAME["hybrid_search"], {"query": text}))
        tokens.append(count_tokens(answer))
        inside += bool(place) and re.search(rf"{re.escape(place)}\b", answer) is not None
    found: dict[str, float] = {
        "questions": len(pairs),
        "median": statistics.median(tokens),
        "p95": sorted(tokens)[int(len(tokens) * 0.95)],
        "mean": round(statistics.fmean(tokens)),
    }
    return {**found, "inside": round(inside / len(pairs), 4)} if pairs[0][1] else found


async def run(tree: Path, scratch: Path, suffix: str, limit: int) -> dict[str, dict[str, float]]:
    """Index a copy of the tree without docstrings and measure each kind of question."""
    copy = scratch / "tree"
    if suffix == ".py":
        questions = copy_without_docstrings(tree, copy)
    else:
        questions = copy_without_doc_comments(tree, copy, suffix)
    random.Random(0).shuffle(questions)
    settings = load_settings(str(copy), str(scratch / "data"), {})
    await index_project(settings, no_progress)
    session = Session(settings)
    try:
        return {kind: await measure(session, pairs) for kind, pairs in asked(questions[:limit]).items()}
    finally:
        await session.aclose()


def main() -> None:
    """Print a table of all kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--suffix", default=".py")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = asyncio.run(run(given.tree, Path(scratch), given.suffix, given.questions))
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'':14}questions  median     p95    mean  target inside")
    for kind, row in found.items():
        share = f"{row['inside']:.1%}" if "inside" in row else "-"
        print(f"{kind:14}{row['questions']:9.0f}{row['median']:8.0f}{row['p95']:8.0f}{row['mean']:8.0f}  {share:>13}")


if __name__ == "__main__":
    main()
