"""Many writers of notes at once, and writers that are killed: is a note lost, doubled or half written?

    python -m tests.bench.note_writers --processes 10 --notes 1000 --kills 100

Each writer is a process with a session of its own, as the server of one agent, and calls the tools of claims and
memory. Ends with 1 if a note was lost, doubled or half written.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from atlas.app.session import Session, make_session
from atlas.app.toolsets import BY_NAME
from atlas.code.notes.note import Note, read_note, text_of
from atlas.runtime.config.load import load_settings

SHARED = "Billing team"
"""The entity that all writers write about."""
TOPICS = 10
LONGEST_LIFE = 0.15
"""Seconds after which a writer is killed at the latest."""


def main(arguments: list[str] | None = None) -> int:
    """Write, kill, count; print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--notes", type=int, default=1000, help="notes of each process")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--index", action="store_true", help="each writer keeps the index true, as servers do")
    parser.add_argument("--seed", type=int, default=14)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="atlas-writers-") as folder:
        # processes that are forked share what has been imported
        _write(_project(Path(folder) / "first"), Path(folder) / "first" / "data", 0, 3, with_index=False)
        report = {
            "writers": many_writers(Path(folder) / "many", chosen.processes, chosen.notes, with_index=chosen.index),
            "kills": killed_writers(Path(folder) / "killed", chosen.kills, random.Random(chosen.seed)),
        }
    print(json.dumps(report, indent=1))
    return int(any(one["failed"] or one["lost"] or one["doubled"] or one["broken"] for one in report.values()))


def many_writers(folder: Path, processes: int, notes: int, *, with_index: bool = False) -> dict[str, Any]:
    """Run all writers to their end; return what is in the knowledge folder."""
    root = _project(folder)
    start = time.perf_counter()
    pids = [
        _fork(partial(_write, root, folder / "data", number, notes, with_index=with_index))
        for number in range(processes)
    ]
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
    seconds = time.perf_counter() - start
    expected = [text(number, at) for number in range(processes) for at in range(notes)]
    found = count(root, expected)
    return {"processes": processes, "notes": notes, "failed": failed, "seconds": round(seconds, 2), **found}


def killed_writers(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill a writer again and again; each successor repeats the call that was under way, with its key."""
    root, done = _project(folder), 0
    acknowledged, code = 0, 0
    for number in range(kills + 1):
        reading, writing = os.pipe()
        first = done
        end = first + 10_000 if number < kills else first + 5
        pid = _fork(partial(_write, root, folder / "data", 0, end, first, writing))
        os.close(writing)
        with os.fdopen(reading, "rb") as lines:
            lines.readline()
            if number < kills:
                time.sleep(chance.uniform(0, LONGEST_LIFE))
                os.kill(pid, signal.SIGKILL)
            said = [int(line) for line in lines if line.endswith(b"\n")]
        code = os.waitpid(pid, 0)[1]
        done = said[-1] + 1 if said else done
        acknowledged += len(said)
    expected = [text(0, at) for at in range(done)]
    found = count(root, expected)
    return {"kills": kills, "acknowledged": acknowledged, "failed": int(code != 0), **found}


def text(number: int, at: int) -> str:
    """Return what a writer says in its call at a position: every third time an observation."""
    return f"{'Observation' if at % 3 == 2 else 'Statement'} {at} of writer {number}."


def count(root: Path, expected: list[str]) -> dict[str, Any]:
    """Return how many texts are lost or doubled, and how many files cannot be read."""
    said: Counter[str] = Counter()
    ids: Counter[str] = Counter()
    names: Counter[str] = Counter()
    broken: list[str] = []
    for file in sorted((root / ".knowledge").rglob("*.md")):
        data = file.read_bytes()
        note = read_note(data)
        if note.problems or not data.endswith(b"\n"):
            broken.append(f"{file.name}: {[one.message for one in note.problems]}")
        said.update(_said(data, note))
        ids.update((note.id, *(one.id for one in note.observations)))
        names.update([note.name.casefold()] if note.kind == "entity" else [])
    wanted = set(expected)
    return {
        "expected": len(expected),
        "found": sum(said.values()),
        "lost": len(wanted - set(said)),
        "doubled": sum(number - 1 for number in (*said.values(), *ids.values(), *names.values())),
        "broken": broken,
        "drafts": len(list((root / ".knowledge").rglob("*.draft"))),
        "entities": len(names),
    }


def _said(data: bytes, note: Note) -> list[str]:
    return [one.text for one in note.observations] if note.kind == "entity" else [text_of(data, note)]


def _project(folder: Path) -> Path:
    root = folder / "project"
    root.mkdir(parents=True)
    (root / "app.py").write_text("def start():\n    return 1\n")
    return root


def _fork(work: Callable[[], None]) -> int:
    """Run a function in a process of its own, which shares what has been imported; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


def _write(
    root: Path, data: Path, number: int, end: int, first: int = 0, told: int = -1, *, with_index: bool = False
) -> None:
    asyncio.run(_call(root, data, number, range(first, end), with_index=with_index, told=told))


async def _call(root: Path, data: Path, number: int, calls: range, *, with_index: bool, told: int) -> None:
    """Write one note after the other; tell the number of each call that was answered."""
    environment = {"ATLAS_MCP_ALLOW_INDEX": str(with_index).lower(), "ATLAS_MCP_START_DAEMON": "false"}
    environment["ATLAS_KNOWLEDGE_WRITES_PER_MINUTE"] = "1000000"
    settings = load_settings(str(root), str(data), environment=environment)
    session = make_session(settings, serves_agents=True, personal=False)
    if told >= 0:
        os.write(told, b"ready\n")
    for at in calls:
        await _one(session, number, at)
        if told >= 0:
            os.write(told, b"%d\n" % at)
    await session.aclose()


async def _one(session: Session, number: int, at: int) -> None:
    said, key = text(number, at), f"{number}/{at}"
    if said.startswith("Statement"):
        tool, arguments = "ingest_hypothesis", {"hypothesis": said}
    else:
        name = SHARED if at % 2 else f"Topic {at % TOPICS}"
        tool, arguments = "remember", {"entity": name, "observation": said}
    await session.call(BY_NAME[tool], {**arguments, "idempotency_key": key}, _no_report, f"writer/{number}")


async def _no_report(done: float, total: float, message: str) -> None:
    """Take no notice of progress."""


if __name__ == "__main__":
    sys.exit(main())
