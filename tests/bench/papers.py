"""Measure stored papers: `python -m tests.bench.papers [COUNT]` prints times of reading a topic and of searching.

The papers are made of the words of a vocabulary with natural frequencies, from a fixed seed.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from atlas.app.papers import make_papers_desk
from atlas.core.paper_source import Paper
from atlas.papers.library import PaperLibrary
from atlas.runtime.config.load import load_settings

VOCABULARY = Path(__file__).parents[2] / "atlas" / "adapters" / "embedders" / "prose_model" / "vocab.txt"


def papers(count: int, words: list[str]) -> list[Paper]:
    chance = random.Random(7)
    weights = [1 / (rank + 10) for rank in range(len(words))]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, weights, k=length))

    return [
        Paper(
            f"{20 + number // 12_000:02}{number // 1000 % 12 + 1:02}.{number % 1000:05}",
            text(9),
            tuple(text(2).title() for _ in range(4)),
            text(170),
            published=f"20{20 + number % 5}-0{number % 9 + 1}-01T00:00:{number % 60:02}Z",
            primary_category="cs.LG",
            categories=("cs.LG",),
        )
        for number in range(count)
    ]


Times = list[tuple[float, float]]
"""Wall time and CPU time of this process, in seconds."""


def shown(name: str, times: Times) -> None:
    parts: list[str] = []
    for kind, ordered in zip(("wall", "CPU"), map(sorted, zip(*times, strict=True)), strict=True):
        middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
        parts.append(f"{kind} median {1000 * middle:.1f} ms, p95 {1000 * late:.1f} ms")
    print(f"{name}: {'; '.join(parts)}")


def milliseconds(times: tuple[float, float]) -> str:
    return f"{1000 * times[0]:.0f} ms, CPU {1000 * times[1]:.0f} ms"


async def measure(count: int, folder: Path) -> None:
    words = [one for one in VOCABULARY.read_text().split() if one.isalpha() and len(one) > 2]
    PaperLibrary(folder / "papers").add("bench", papers(count, words))
    settings = load_settings(str(folder))
    chosen = replace(settings, papers=replace(settings.papers, folder=str(folder / "papers")))
    desk = make_papers_desk(chosen)
    chance = random.Random(11)

    async def timed(work: object) -> tuple[float, float]:
        began, before = time.perf_counter(), time.process_time()
        await work  # type: ignore[misc]
        return time.perf_counter() - began, time.process_time() - before

    print(f"{count} papers, {(folder / 'papers' / 'bench' / 'papers_info.json').stat().st_size >> 20} MB")
    print(f"first papers://bench (reads the file): {milliseconds(await timed(desk.resource('papers://bench')))}")
    shown("papers://bench", [await timed(desk.resource("papers://bench")) for _ in range(100)])
    first = timed(desk.call("search_stored", {"query": "first question"}))
    print(f"first search (embeds all): {milliseconds(await first)}")
    again = make_papers_desk(chosen)
    first = timed(again.call("search_stored", {"query": "first question"}))
    print(f"first search of the next process: {milliseconds(await first)}")
    questions = [" ".join(chance.sample(words[:8000], 6)) for _ in range(200)]
    shown("search_stored", [await timed(desk.call("search_stored", {"query": one})) for one in questions])
    filtered = {"category": "cs.LG", "since": "2021"}
    shown(
        "search_stored with filters",
        [await timed(desk.call("search_stored", {"query": one, **filtered})) for one in questions],
    )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place
        asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, Path(place)))
