"""Time of the impact of a ten-file diff: `python -m tests.bench.impact TREE [--rounds 60]`.

Copies TREE, makes a git repository of the copy, indexes it, and then, in one open session as a server has it, edits ten
random source files and asks for `impact --diff HEAD` again and again. Prints milliseconds (p50, p95) and tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.impact import impact
from atlas.code.tools.reports import Report
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository

FILES = 10
RETURN = re.compile(r"\n([ \t]+)return (.+)")


async def measure(tree: Path, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "tree"
        shutil.copytree(tree, root, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        repository = GitRepository(root)
        repository.commit("Begin", {})
        files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
        repository.stage(*(path for path in files if not path.startswith(".git/")))
        repository.commit("Everything")
        settings = load_settings(str(root), f"{scratch}/data", environment={"ATLAS_EMBEDDER_PROVIDER": "none"})
        async with open_atlas(settings, writing=True) as opened:
            await opened.index()
        async with open_atlas(settings) as opened:
            await _rounds(opened, root, rounds)
        repository.close()


async def _rounds(opened: Atlas, root: Path, rounds: int) -> None:
    sources = sorted(
        path for path in await opened.reader.store.manifest(opened.reader.project) if _is_source(root, path)
    )
    chosen, seconds, busy, tokens = random.Random(1), [], [], []
    last: Report | None = None
    for number in range(rounds + 3):
        before = {path: (root / path).read_text() for path in chosen.sample(sources, FILES)}
        for path, text in before.items():
            (root / path).write_text(RETURN.sub(r"\n\1changed = 1\n\1return \2", text, count=2))
        started, worked = time.perf_counter(), time.process_time()
        answer = await impact(opened, diff="HEAD")
        if number >= 3:  # the first ones load languages and read the index of git
            seconds.append(time.perf_counter() - started)
            busy.append(1000 * (time.process_time() - worked))
            tokens.append(answer.evidence.tokens)
            last = answer.report
        for path, text in before.items():
            (root / path).write_text(text)
    ranked = sorted(1000 * each for each in seconds)
    print(f"{rounds} differences of {FILES} files, {len(sources)} source files with a return statement")
    print(
        f"ms: p50 {ranked[len(ranked) // 2]:.0f}, p95 {ranked[int(len(ranked) * 0.95)]:.0f}; of CPU, all threads: p50 {statistics.median(busy):.0f}"
    )
    print(f"tokens: median {statistics.median(tokens):.0f}; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"last: {last.title if last else ''}")


def _is_source(root: Path, path: str) -> bool:
    return (
        path.endswith((".py", ".go", ".ts", ".rs"))
        and RETURN.search((root / path).read_text(errors="ignore")) is not None
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    asyncio.run(measure(given.tree, given.rounds))
    sys.exit(0)
