"""How well search finds files without definitions: NDCG@10 by file, beside plain windows of lines ranked by BM25.

`python -m tests.bench.plain_text TREE... [--questions N]` copies the text files of each tree without one comment of
each file, indexes the copy, and asks that comment. The gold is the file that it came from; every node of the index
competes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from atlas._parser import Languages, scan, split_words
from atlas.app.main import index_project, open_atlas
from atlas.code.index.events import no_progress
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.model import Filter
from atlas.parsing import load_languages, search_terms
from atlas.runtime.config.load import load_settings

COMMENT = re.compile(
    r"^\s*(?:#+|//+|--+|;+|%+|/?\*+|\(\*|\{-|<!--|\{#)\s*(?P<text>[A-Z@][^{}<>=;]{30,160}?[.:]?)\s*(?:\*/|-->|#\})?$"
)
WINDOW = 40
MIN_WORDS = 6


def question_of(text: str, stem: str, rng: random.Random) -> tuple[str, str] | None:
    """Return a comment that does not name the file, and the text without it; None if there is none."""
    lines = text.splitlines()
    found = [(number, match["text"]) for number, line in enumerate(lines) if (match := COMMENT.match(line))]
    found = [(number, comment) for number, comment in found if len(comment.split()) >= MIN_WORDS]
    found = [
        (number, comment) for number, comment in found if not re.search("licen[sc]e|copyright|SPDX", comment, re.I)
    ]
    found = [(number, comment) for number, comment in found if stem.lower() not in comment.lower()]
    if not found:
        return None
    number, comment = rng.choice(found)
    return comment, "\n".join(lines[:number] + lines[number + 1 :])


def copy_with_questions(tree: Path, target: Path, languages: Languages, rng: random.Random) -> list[tuple[str, str]]:
    """Copy the indexed files of a tree and return (question, path) for its files without definitions."""
    forms = {row[0]: row[5] for row in search_terms()}
    questions: list[tuple[str, str]] = []
    for file in scan(str(tree), languages, git_rules=False).files:
        place = target / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / file.path, place)
        if forms[file.language] == "text":
            asked = question_of((tree / file.path).read_text("utf-8", "replace"), Path(file.path).stem, rng)
            if asked:
                questions.append((asked[0], file.path))
                place.write_text(asked[1], "utf-8")
    return questions


class Windows:
    """Plain windows of lines with BM25 (k1 1.2, b .75): what a program without any knowledge of formats has."""

    def __init__(self, root: Path, paths: Sequence[str]) -> None:
        self.places: list[str] = []
        self.counts: list[Counter[str]] = []
        self.having: Counter[str] = Counter()
        for path in paths:
            lines = (root / path).read_text("utf-8", "replace").splitlines()
            for at in range(0, len(lines), WINDOW):
                words = Counter(split_words(f"{path} " + "\n".join(lines[at : at + WINDOW])))
                self.places.append(path)
                self.counts.append(words)
                self.having.update(words.keys())
        self.average = sum(count.total() for count in self.counts) / max(len(self.counts), 1)

    def search(self, question: str) -> list[str]:
        """Return the paths of the best windows, best first."""
        words = [word for word in dict.fromkeys(split_words(question)) if word not in STOP_WORDS]
        scores: dict[str, float] = defaultdict(float)
        for path, count in zip(self.places, self.counts, strict=True):
            long = 1.2 * (0.25 + 0.75 * count.total() / self.average)
            score = 0.0
            for word in words:
                if count[word]:
                    rarity = math.log(1 + (len(self.counts) - self.having[word] + 0.5) / (self.having[word] + 0.5))
                    score += rarity * count[word] * 2.2 / (count[word] + long)
            scores[path] = max(scores[path], score)
        return sorted(scores, key=lambda path: (-scores[path], path))


def gain(paths: Sequence[str], gold: str) -> float:
    """Return NDCG@10 with one relevant file."""
    distinct = list(dict.fromkeys(paths))[:10]
    return 1 / math.log2(distinct.index(gold) + 2) if gold in distinct else 0.0


async def measure(tree: Path, limit: int) -> dict[str, object]:
    """Index a copy of the tree and return NDCG@10 by file of search and of plain windows."""
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        copy.mkdir()
        languages = load_languages()
        questions = copy_with_questions(tree, copy, languages, rng)
        questions = rng.sample(questions, min(limit, len(questions)))
        windows = Windows(copy, [file.path for file in scan(str(copy), languages, git_rules=False).files])
        settings = load_settings(str(copy), str(Path(folder) / "data"))
        await index_project(settings, no_progress)
        found, plain = 0.0, 0.0
        async with open_atlas(settings) as atlas:
            for question, path in questions:
                result = await atlas.search(question, Filter(project=atlas.reader.project))
                found += gain([each.node.row.path for each in result.ranked], path)
                plain += gain(windows.search(question), path)
        count = max(len(questions), 1)
        return {"tree": tree.name, "questions": len(questions), "search": found / count, "windows": plain / count}


def main() -> None:
    """Measure the trees named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    for tree in options.trees:
        print(json.dumps(asyncio.run(measure(tree, options.questions))))


if __name__ == "__main__":
    main()
