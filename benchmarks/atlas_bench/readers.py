"""Simulated agents: several connections to an index, each of which sends a query at intervals and measures the answer.

`ask_until` runs in a process of its own and `Readers` starts several of them; their measurements come back as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas.core.errors import AtlasError
from atlas_bench.observer import Probe
from atlas_bench.process import ATLAS, ENVIRONMENT

PROCESSES = 4
CONNECTIONS = 5
PAUSE_SECONDS = 0.2
"""Mean time between an answer and the next query of a reader."""

TOOLS = ("get_node", "get_node", "text_search", "get_context")
"""Tools that a reader calls, in turn."""

SAMPLE = (
    "MATCH (n) WHERE (n:Function OR n:Method OR n:Class) AND NOT n.is_test RETURN n.uid AS uid, n.name AS name "
    "ORDER BY n.uid LIMIT 1000"
)


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """Measurements of the readers."""

    seconds: Mapping[str, list[float]]
    """Answer times by tool."""
    errors: tuple[str, ...]


async def ask_until(probes: Sequence[Probe], stop: asyncio.Event, seed: int, ready: Callable[[], None]) -> ReaderReport:
    """Query symbols of the index on each connection, in turn and with pauses, until `stop` is set.

    Each connection sends one untimed query first, like an agent that has been working for a while; `ready` is called
    then.
    """
    table = await probes[0].ask("cypher_query", {"query": SAMPLE, "limit": 1000, "token_budget": 200_000})
    symbols = [(str(uid), str(name)) for uid, name in table["rows"]]
    if not symbols:
        raise AtlasError("the index contains no function or class to query", "Measure a tree with code.")
    for probe in probes:
        for tool in TOOLS:
            await probe.ask(tool, {"query": symbols[0][1]} if tool == "text_search" else {"name": symbols[0][0]})
    ready()
    times: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    errors: list[str] = []

    async def read(number: int, probe: Probe) -> None:
        chance = random.Random(seed * 1000 + number)
        turn = 0
        while not stop.is_set():
            await asyncio.sleep(chance.uniform(0, 2 * PAUSE_SECONDS))
            tool = TOOLS[turn % len(TOOLS)]
            turn += 1
            uid, name = chance.choice(symbols)
            started = time.perf_counter()
            try:
                answer = await probe.ask(tool, {"query": name} if tool == "text_search" else {"name": uid})
                if answer.get("outcome", "found") != "found":
                    errors.append(f"{tool} {uid}: {answer['outcome']}")
            except AtlasError as error:
                errors.append(f"{tool} {uid}: {error.message}")
            times[tool].append(time.perf_counter() - started)

    await asyncio.gather(*(read(number, probe) for number, probe in enumerate(probes)))
    return ReaderReport(times, tuple(errors))


class Readers:
    """Processes that query; use as a context manager, and call `stop` to get the measurements."""

    def __init__(self, tree: Path, data: Path) -> None:
        command = [*ATLAS, "bench", "readers", str(tree), "--data-dir", str(data), "--connections", str(CONNECTIONS)]
        self._processes = [
            subprocess.Popen(
                [*command, "--seed", str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
            )
            for number in range(PROCESSES)
        ]

    def __enter__(self) -> Readers:
        """Nothing to do: the processes have been started."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Terminate what was not stopped."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def wait(self) -> None:
        """Return once all of them are querying."""
        for process in self._processes:
            assert process.stdout is not None
            process.stdout.readline()

    def stop(self) -> ReaderReport:
        """Stop them and return their combined measurements. Raises AtlasError if one of them failed."""
        seconds: dict[str, list[float]] = {}
        errors: list[str] = []
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
        for process in self._processes:
            output, _ = process.communicate(timeout=30)
            if process.returncode:
                raise AtlasError(f"a reader ended with {process.returncode}")
            told: dict[str, Any] = json.loads(output)
            errors += told["errors"]
            for tool, times in told["seconds"].items():
                seconds.setdefault(tool, []).extend(times)
        return ReaderReport(seconds, tuple(errors))
