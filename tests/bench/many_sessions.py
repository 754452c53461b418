"""Many sessions on one daemon, each with many questions at once, while the daemon is killed again and again.

`python -m tests.bench.many_sessions TREE --sessions 64 --questions 10 --kills 100` prints what came of it. Every
question has to be answered once, and as it is without a daemon.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atlas.runtime.config.load import load_settings
from atlas.runtime.process.daemon import find_serving

COMMAND = (sys.executable, "-P", "-m", "atlas")
LINE = 16 << 20
INITIALIZE = {
    "capabilities": {},
    "clientInfo": {"name": "many", "version": "1"},
    "protocolVersion": "2025-11-25",
}
CALLS = (
    ("get_node", {"name": "{name}"}),
    ("hybrid_search", {"query": "where is {name} used", "limit": 3}),
    ("text_search", {"query": "{name}", "limit": 3}),
    ("get_context", {"name": "{name}"}),
    ("cypher_query", {"query": "MATCH (n) WHERE n.name = '{name}' RETURN n.uid ORDER BY n.uid"}),
)


@dataclass
class Outcome:
    """What came of all sessions."""

    answered: int = 0
    kills: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    resident_mb: list[int] = field(default_factory=list[int])
    """Of each session's process at its end; one that serves itself has more than 100."""
    seconds: float = 0.0


class Talk:
    """One session: questions at once, answers in any order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process, self._stdin, self._stdout = process, process.stdin, process.stdout
        self._last = 0

    def say(self, method: str, number: int | None, params: Mapping[str, object]) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        line = json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n"
        self._stdin.write(line)

    async def greet(self) -> None:
        self.say("initialize", 0, INITIALIZE)
        assert (await self._hear())["id"] == 0
        self.say("notifications/initialized", None, {})

    async def ask(self, calls: Sequence[tuple[str, Mapping[str, object]]], outcome: Outcome) -> list[dict[str, Any]]:
        """Ask all at once; return the results in the order of the calls."""
        numbers = list(range(self._last + 1, self._last + 1 + len(calls)))
        self._last = numbers[-1]
        for number, (tool, arguments) in zip(numbers, calls, strict=True):
            self.say("tools/call", number, {"name": tool, "arguments": arguments})
        await self._stdin.drain()
        answers: dict[int, dict[str, Any]] = {}
        while len(answers) < len(numbers):
            message = await self._hear()
            number = message.get("id")
            if number not in numbers or number in answers:
                outcome.errors["answered twice or unasked"] += 1
                continue
            answers[number] = message.get("result") or {}
            if "error" in message or answers[number].get("isError"):
                outcome.errors[str(message.get("error") or answers[number]["content"])[:200]] += 1
            outcome.answered += 1
        return [answers[number] for number in numbers]

    async def end(self) -> None:
        self._stdin.close()
        await self.process.wait()

    async def _hear(self) -> dict[str, Any]:
        line = await self._stdout.readline()
        assert line, "the session has ended"
        return json.loads(line)


def calls_of(names: Sequence[str], count: int, start: int) -> list[tuple[str, Mapping[str, object]]]:
    """Return calls about names, another one each time."""
    chosen: list[tuple[str, Mapping[str, object]]] = []
    for at in range(start, start + count):
        tool, arguments = CALLS[at % len(CALLS)]
        name = names[at % len(names)]
        filled = {
            key: value.replace("{name}", name) if isinstance(value, str) else value for key, value in arguments.items()
        }
        chosen.append((tool, filled))
    return chosen


async def run(
    tree: Path, data: Path, names: Sequence[str], sessions: int, questions: int, kills: int, pause: float, **env: str
) -> Outcome:
    """Ask from all sessions until the daemon was killed so often, and once more afterwards."""
    outcome, began = Outcome(), time.monotonic()
    environment = {**os.environ, "ATLAS_MCP_START_DAEMON": "true", "ATLAS_DAEMON_IDLE_SECONDS": "5", **env}
    options = ("mcp", "--project", str(tree), "--data-dir", str(data))
    over = asyncio.Event()

    async def converse(number: int) -> None:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            limit=LINE,
        )
        talk, at, last = Talk(process), number, False
        await talk.greet()
        while not last:
            last = over.is_set()
            await talk.ask(calls_of(names, questions, at), outcome)
            at += questions
        outcome.resident_mb.append(_resident_mb(process.pid))
        await talk.end()

    async def kill() -> None:
        folder = load_settings(str(tree), str(data), environment).data_dir
        while outcome.kills < kills and not all(task.done() for task in talks):
            await asyncio.sleep(pause)
            serving = await asyncio.to_thread(find_serving, folder)
            if serving is not None and serving.sessions:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(serving.pid, signal.SIGKILL)
                    outcome.kills += 1
        over.set()

    talks = [asyncio.create_task(converse(number)) for number in range(sessions)]
    await asyncio.gather(kill(), *talks)
    outcome.seconds = time.monotonic() - began
    return outcome


def _resident_mb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS")), 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--data-dir", type=Path, required=True, help="an index of the tree")
    parser.add_argument("--names", default="save,get,filter,render,clean")
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two kills")
    given = parser.parse_args()
    names = given.names.split(",")
    outcome = asyncio.run(
        run(given.tree, given.data_dir, names, given.sessions, given.questions, given.kills, given.pause)
    )
    print(f"{outcome.answered:,} answers in {outcome.seconds:.0f} s, daemon killed {outcome.kills} times")
    print(f"errors: {dict(outcome.errors) or 'none'}")
    resident = sorted(outcome.resident_mb)
    print(f"resident MB of the sessions: {resident[0]} to {resident[-1]}, median {resident[len(resident) // 2]}")


if __name__ == "__main__":
    main()
