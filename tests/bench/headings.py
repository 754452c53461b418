"""How well search finds a section by its heading: MRR@10 and recall@10 of words, of meaning and of the whole search.

`python -m tests.bench.headings TREE [--questions N] [--under FOLDER]` indexes the tree and asks each heading of its
documents that occurs once and has two words. The whole index competes, code and tests included. A document whose title
is the heading counts as its section. An index of the tree in `--data-dir` is kept for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.find import Mode
from atlas.code.index.events import no_progress
from atlas.core.model import DOCUMENTS, Filter, Label, NodeRow
from atlas.runtime.config.load import load_settings

MODES = {"BM25 alone": Mode.WORDS, "vectors alone": Mode.MEANING, "hybrid": Mode.HYBRID}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and the file that it stands in."""

    text: str
    path: str

    def is_at(self, row: NodeRow) -> bool:
        """Return whether a node is the section, or the document with this title."""
        return row.path == self.path and row.name == self.text


async def headings(atlas: Atlas, under: str) -> list[Heading]:
    """Return the headings of the indexed documents that can be asked, sorted."""
    store, project = atlas.reader.store, atlas.reader.project
    uids = [row.uid for row in await store.vectors(project, 1_000_000, "", DOCUMENTS)]
    nodes = [node.row for start in range(0, len(uids), 500) for node in await store.symbols(uids[start : start + 500])]
    rows = [row for row in nodes if row.label == Label.DOC_SECTION and row.path.startswith(under)]
    times = Counter(row.name.lower() for row in rows)
    asked = {Heading(row.name, row.path) for row in rows if times[row.name.lower()] == 1 and _is_worded(row.name)}
    return sorted(asked, key=lambda each: (each.path, each.text))


def _is_worded(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= 2


async def measure(atlas: Atlas, asked: list[Heading]) -> dict[str, list[int]]:
    """Return the rank of the section for each question and way to search, 0 if it is not among the first ten."""
    where = Filter(project=atlas.reader.project)
    ranks: dict[str, list[int]] = {name: [] for name in MODES}
    for heading in asked:
        for name, mode in MODES.items():
            rows = [each.node.row for each in (await atlas.search(heading.text, where, mode)).ranked[:10]]
            ranks[name].append(next((place for place, row in enumerate(rows, 1) if heading.is_at(row)), 0))
    return ranks


async def run(tree: Path, data_dir: Path, under: str, limit: int) -> None:
    """Index the tree, ask and print."""
    settings = load_settings(str(tree), str(data_dir), {})
    await index_project(settings, no_progress)
    async with open_atlas(settings) as atlas:
        asked = await headings(atlas, under)
        random.Random(0).shuffle(asked)
        ranks = await measure(atlas, asked[:limit])
    print(f"{len(asked[:limit])} of {len(asked)} headings")
    for name, found in ranks.items():
        reciprocal = sum(1 / rank for rank in found if rank) / len(found)
        print(f"{name:16} MRR@10 {reciprocal:.3f}  recall@10 {sum(map(bool, found)) / len(found):.3f}")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--under", default="", help="only headings of files below this folder")
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(run(given.tree, given.data_dir or Path(scratch), given.under, given.questions))


if __name__ == "__main__":
    main()
