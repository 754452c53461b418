"""Cost of the check before an answer: `python -m tests.bench.fresh_answers TREE DATA_FOLDER QUESTION...`.

Prints wall and CPU milliseconds of the first check of a session, of later ones on an unchanged tree, and p50 and p95 of
the questions. With a running daemon the checks cost nothing.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from atlas.app.main import open_atlas
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.runtime.config.load import load_settings

ROUNDS = 20


async def measure(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return wall and CPU milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def shown(times: list[tuple[float, float]]) -> str:
    parts: list[str] = []
    for name, values in zip(("wall", "CPU"), (sorted(column) for column in zip(*times, strict=True)), strict=True):
        parts.append(f"{name} p50 {values[len(values) // 2]:.1f} p95 {values[len(values) * 95 // 100]:.1f} ms")
    return ", ".join(parts)


async def main(root: str, data: str, questions: list[str]) -> None:
    settings = load_settings(root, data)
    session = Session(settings, serves_agents=True)
    guard = session.guard
    async with open_atlas(settings) as atlas:
        store = atlas.reader.store
        print("first check:", shown([await measure(lambda: guard.look(store))]))
        print("later checks:", shown([await measure(lambda: guard.look(store)) for _ in range(ROUNDS)]))

    async def ask(question: str) -> None:
        await session.answer(BY_NAME["hybrid_search"], {"query": question})

    for question in questions:
        await ask(question)
    if questions:
        times = [await measure(lambda: ask(question)) for _ in range(ROUNDS) for question in questions]  # noqa: B023
        print("hybrid_search:", shown(times))
    await session.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
