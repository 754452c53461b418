"""Measure a chat: `python -m tests.bench.chat [PART...]` prints start, rounds, memory, kills, interrupts and `--help`.

The model is the scripted server of the tests, behind the real LiteLLM. `servers FILE` connects the servers of an
`mcpServers` file, such as the reference servers of the registries, lists what they offer and calls what needs no
arguments. Times are CPU seconds of this process and its children where other work shares the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mcp_types as types

import atlas.chat.connection as connections
from atlas.chat.connection import ServerConnection
from atlas.chat.server_spec import read_servers
from atlas.chat.turn import Outcome
from atlas.errors import AtlasError
from tests.chat.model_server import Say, model_server
from tests.chat.test_servers import chat, descendants, spec
from tests.chat.test_terminal import person

CALL = ("slow", json.dumps({"seconds": 60}))


def memory() -> float:
    """Resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def used() -> float:
    """CPU seconds of this process and of its children that have ended."""
    both = (resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def measure_help() -> None:
    for _ in range(3):
        began, before = time.perf_counter(), used()
        subprocess.run([sys.executable, "-m", "atlas", "chat", "--help"], check=True, capture_output=True)
        print(f"--help: {time.perf_counter() - began:.2f} s, CPU {used() - before:.2f} s")


async def measure_start(folder: Path) -> None:
    with model_server() as stub:
        for _ in range(3):
            began, before = time.perf_counter(), used()
            async with chat(stub, folder, [spec(f"s{number}") for number in range(5)]) as (session, _):
                slowest = max(one.seconds for one in session.hub.connections.values())
                ready = time.perf_counter() - began
            print(f"ready with 5 stdio servers: {ready:.2f} s, slowest {slowest:.2f} s, CPU {used() - before:.2f} s")


async def measure_rounds(folder: Path) -> None:
    steps = [Say("", [("echo", '{"text": "x"}')]) if number % 2 == 0 else Say("done") for number in range(440)]
    with model_server(*steps) as stub:
        async with chat(stub, folder, allow_all=True) as (session, _):
            for _ in range(20):
                await session.ask("go")
            start, began, before = memory(), time.perf_counter(), time.process_time()
            size = len(json.dumps(stub.requests[-1]))
            for _ in range(200):
                assert await session.ask("go") is Outcome.ANSWERED
            wall, cpu = time.perf_counter() - began, time.process_time() - before
            grown = len(json.dumps(stub.requests[-1])) - size
            print(f"200 questions of 2 rounds and 1 call: {wall / 400 * 1000:.1f} ms a round, CPU of this process")
            print(f"  (host, scripted model and LiteLLM) {cpu / 400 * 1000:.1f} ms a round")
            print(f"memory {start:.0f} MB -> {memory():.0f} MB, of it kept by the model's server: {len(stub.requests)}")
            print(f"  requests; the transcript has grown by {grown >> 10} KB")


async def measure_kills(folder: Path, count: int = 100) -> None:
    connections.MAX_DELAY = connections.FIRST_DELAY  # measure the kills, not the growing pauses between them
    own = servers()
    steps = [step for _ in range(count) for step in (Say("", [CALL]), Say("the server died"))]
    with model_server(*steps) as stub:
        async with chat(stub, folder, allow_all=True) as (session, _):
            for number in range(count):
                asking = asyncio.create_task(session.ask("go"))
                while not (running := await asyncio.to_thread(calls_of, stub.requests, number, own)):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.1)
                for pid in running:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                assert await asking is Outcome.ANSWERED
        said = sum("ended during the call" in str(stub.results(2 * one + 1)[-1:]) for one in range(count))
    print(f"{count} kills in mid-call: {count} questions answered, {said} with the error of the call; orphans: "
          f"{len(servers() - own)}")  # fmt: skip


def servers() -> set[int]:
    """Return the processes below this one, without the `ps` that lists them."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,comm="], capture_output=True, text=True, check=True).stdout
    running = {int(line.split()[0]) for line in listed.splitlines() if line.split()[1] != "ps"}
    return descendants() & running - {os.getpid()}


def calls_of(requests: list[dict[str, object]], number: int, own: set[int]) -> set[int]:
    """Return the servers' processes once the model has asked for the call of a question."""
    return servers() - own if len(requests) > 2 * number else set()


def measure_interrupts(folder: Path, count: int = 100) -> None:
    marks = [folder / f"mark{number}" for number in range(count)]
    calls = [Say("", [("slow", json.dumps({"seconds": 60, "mark": str(mark)}))]) for mark in marks]
    with model_server(*calls) as stub, person(stub, folder, "--yes") as one:
        for mark in marks:
            one.types("go\r")
            until = time.monotonic() + 60
            while not mark.exists() and time.monotonic() < until:
                time.sleep(0.02)
            one.process.send_signal(signal.SIGINT)
            one.sees("cancelled")
        one.types("/quit\r")
        code = one.waits_for_the_end()
        reached = sum(mark.read_text() == "cancelled" for mark in marks)
    print(f"{count} Ctrl-C: exit code {code}, {reached} cancellations reached the server")


class Silent:
    """A host that declines forms."""

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    def log(self, server: str, level: str, text: str) -> None:
        print(f"  {server} {level}: {text[:100]}")


async def measure_servers(file: Path) -> None:
    specs, problems = read_servers(json.loads(file.read_bytes()), file.name, os.environ)  # noqa: ASYNC240
    assert not problems, problems
    client = types.Implementation(name="atlas-chat", version="bench")
    before = servers()
    all_of = [ServerConnection(one, client, (Path.cwd(),), Silent()) for one in specs]
    began = time.perf_counter()
    await asyncio.gather(*(one.start() for one in all_of))
    print(f"{len(all_of)} servers in {time.perf_counter() - began:.2f} s")
    for one in all_of:
        await show(one)
    await asyncio.gather(*(one.close() for one in all_of))
    print(f"processes left: {len(servers() - before)}")


async def show(one: ServerConnection) -> None:
    offer = one.offer
    counts = (len(offer.tools), len(offer.resources), len(offer.templates), len(offer.prompts))
    print(f"{one.spec.name}: {one.state} in {one.seconds:.2f} s, MCP {one.protocol}, {offer.version}; tools, resources, "
          f"templates, prompts: {counts} {one.problem}")  # fmt: skip
    failed: list[str] = []
    called = 0
    for tool in offer.tools:
        if tool.input_schema.get("required"):
            continue
        try:
            result = await one.call_tool(tool.name, {}, nothing)
            called += 1
            if result.is_error:
                failed.append(f"{tool.name}: {str(result.content)[:80]}")
        except AtlasError as error:
            failed.append(f"{tool.name}: {error.message[:80]}")
    for resource_of in offer.resources[:20]:
        try:
            await one.read_resource(str(resource_of.uri))
            called += 1
        except AtlasError as error:
            failed.append(f"{resource_of.uri}: {error.message[:80]}")
    print(f"  {called} calls and resources answered", *(f"\n  failed {text}" for text in failed))


async def nothing(done: float, total: float | None, message: str | None) -> None:
    """Take no notice of progress."""


def main(parts: list[str]) -> None:
    if parts[:1] == ["servers"]:
        asyncio.run(measure_servers(Path(parts[1])))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        measures = {
            "help": measure_help,
            "start": lambda: asyncio.run(measure_start(folder)),
            "rounds": lambda: asyncio.run(measure_rounds(folder)),
            "kills": lambda: asyncio.run(measure_kills(folder)),
            "interrupts": lambda: measure_interrupts(folder),
        }
        for part in parts or measures:
            measures[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
