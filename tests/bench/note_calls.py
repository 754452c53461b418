"""CPU time of tool calls over stdio with many notes: does storing and checking grow with the store?

`python -m tests.bench.note_calls --folder FOLDER [--rounds 20] [--daemon] [--mixed]` starts `atlas mcp` on a folder that
`tests.bench.notes --folder FOLDER` has written, and stores, checks and searches. CPU is that of the server and, with
`--daemon`, of the daemon; with `--mixed` also until both have been quiet for a moment: work that a call leaves behind.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from atlas.runtime.config.load import load_settings
from atlas.runtime.process.daemon import find_serving
from tests.bench.many_sessions import COMMAND, LINE, Outcome, Talk
from tests.bench.notes import SEED, _question, _sentence  # pyright: ignore[reportPrivateUsage]

TICK = 1000 / os.sysconf("SC_CLK_TCK")
QUIET_SECONDS = 0.5
"""Longer than a session waits before it indexes what it wrote."""


def cpu_ms(pids: list[int]) -> float:
    """Return the CPU time of processes in ms."""
    fields = [Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) * TICK


async def settled(pids: list[int]) -> float:
    """Return the CPU time once nothing works any more."""
    before, quiet = cpu_ms(pids), time.monotonic()
    while time.monotonic() - quiet < QUIET_SECONDS:
        await asyncio.sleep(0.05)
        if (now := cpu_ms(pids)) > before + TICK:
            before, quiet = now, time.monotonic()
    return cpu_ms(pids)


async def run(folder: Path, rounds: int, *, daemon: bool, mixed: bool) -> None:
    """Call and print."""
    root, data, source = folder / "notes", folder / "data", random.Random(SEED + time.time_ns())
    environment = {**os.environ, "ATLAS_MCP_START_DAEMON": str(daemon).lower(), "ATLAS_KNOWLEDGE_PERSONAL": "false"}
    # an installation has compiled modules; a first session that misses them pays .3 s of the processor
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "modules")
    options = ("mcp", "--project", str(root), "--data-dir", str(data), "--toolsets", "claims,memory")
    pipe = asyncio.subprocess.PIPE
    command = (*COMMAND, *options)
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=environment, limit=LINE)
    talk, outcome = Talk(process), Outcome()
    await talk.greet()
    await talk.ask([("semantic_search", {"query": "warm up"})], outcome)
    pids = [process.pid]
    if daemon:
        await asyncio.sleep(10)  # it scans the tree
        found = find_serving(load_settings(str(root), str(data)).data_dir)
        assert found is not None
        pids.append(found.pid)
    times: dict[str, list[float]] = {}

    async def timed(tool: str, **arguments: object) -> None:
        if mixed:
            await asyncio.sleep(0.8)  # as an agent leaves
        start = await settled(pids) if mixed else cpu_ms(pids)
        await talk.ask([(tool, arguments)], outcome)
        times.setdefault(tool, []).append(cpu_ms(pids) - start)
        if mixed:
            times.setdefault(f"{tool}, and after", []).append(await settled(pids) - start)

    kinds: Sequence[Callable[[], Awaitable[None]]] = (
        lambda: timed("ingest_hypothesis", hypothesis=_sentence(source)),
        lambda: timed("find_contradictions", claim=_sentence(source)),
        lambda: timed("semantic_search", query=_question(source)),
        lambda: timed(
            "remember", entity=f"{source.choice(('Greta', 'Samir', 'Olga'))} Bench", observation=_sentence(source)
        ),
        lambda: timed("recall", query=_question(source)),
    )
    for call in kinds * rounds if mixed else [kind for kind in kinds for _ in range(rounds)]:
        await call()
    for name, spent in times.items():
        first = spent[0]
        spent.sort()
        at = min(int(len(spent) * 0.95), len(spent) - 1)
        print(
            f"{name:<34} mean {sum(spent) / len(spent):6.1f}   p50 {spent[len(spent) // 2]:5.0f}   "
            f"p95 {spent[at]:5.0f}   first {first:5.0f} ms"
        )
    print(dict(outcome.errors))
    await talk.end()


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--daemon", action="store_true")
    parser.add_argument("--mixed", action="store_true", help="each read after a write; else many of one kind in a row")
    options = parser.parse_args()
    asyncio.run(run(options.folder, options.rounds, daemon=options.daemon, mixed=options.mixed))


if __name__ == "__main__":
    sys.exit(main())
