"""Measure a chat: `python -m tests.bench.chat [PART...]` prints start, rounds, memory, kills, interrupts and `--help`.

The model is the scripted server of the tests, behind the real LiteLLM. `servers FILE` connects the servers of an
`mcpServers` file, such as the reference servers of the registries, lists what they offer and calls what needs no
arguments. Times are CPU seconds of this process and its children where other work shares the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import mcp_types as types

import atlas.chat.connection as connections
from atlas.adapters.language_models.chat import LiteLlmChatModel
from atlas.app.chat import make_limits, open_chat
from atlas.chat.connection import ServerConnection
from atlas.chat.server_spec import read_servers
from atlas.chat.session import ChatSession
from atlas.chat.turn import TurnOutcome
from atlas.cli.chat.once import PlainScreen
from atlas.core.errors import AtlasError
from atlas.core.language_model import Message, ModelEvent, TextDelta, ToolRequest, Usage
from tests.chat.model_server import Say, model_server
from tests.chat.test_servers import chat, descendants, settings_for, spec
from tests.chat.test_terminal import person, until_runs


def call(mark: Path) -> tuple[str, str]:
    """Return a call that lasts until it is cut off; `mark` exists once it runs."""
    return ("slow", json.dumps({"seconds": 600, "mark": str(mark)}))


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


def measure_start(folder: Path) -> None:
    """A fresh process each time, as for a user: its imports are part of what he waits for."""
    for count in (1, 1, 1, 5, 5, 5):
        ready = [sys.executable, "-m", "tests.bench.chat", "ready", str(folder), str(count)]
        print(subprocess.run(ready, check=True, capture_output=True, text=True).stdout.strip())


async def be_ready(folder: Path, count: int) -> None:
    """Connect servers and say what it took since the start of this process."""
    from rich.console import Console

    from atlas.cli.chat.editor import make_editor
    from atlas.cli.chat.terminal import Terminal

    terminal = Terminal(Console(), None, allow_all=True)
    settings, specs = settings_for(folder), [spec(f"s{number}") for number in range(count)]
    limits = make_limits(settings, 0, 0, 0.0)
    model = LiteLlmChatModel("openai/stub", "http://127.0.0.1:9", "key", 1.0)
    async with open_chat(settings, specs, model, terminal.screen, terminal.screen, limits, lambda _: None) as session:
        make_editor(session.hub)
        wall, own = time.clock_gettime(time.CLOCK_BOOTTIME) - start_of(os.getpid()), cpu_of(os.getpid())
        all_of = session.hub.connections.values()
        assert all(one.state == "ready" for one in all_of)
        of_servers = [cpu_of(pid) for pid in servers()]
        print(f"ready with {count} stdio servers: {wall:.2f} s, slowest server {max(one.seconds for one in all_of):.2f} s; "
              f"CPU: chat {own:.2f} s, servers {sum(of_servers):.2f} s, the most {max(of_servers):.2f} s")  # fmt: skip


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_of(pid: int) -> float:
    """Return when a process was started, in seconds since the machine was."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


class InstantModel:
    """A chat model that takes no time: calls a tool, then answers."""

    name, context_tokens, reads_images = "instant", 0, False

    def __init__(self) -> None:
        self._asked = 0

    async def load(self) -> None:
        pass

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]
    ) -> AsyncGenerator[ModelEvent]:
        self._asked += 1
        yield ToolRequest("call_0", "echo", '{"text": "x"}') if self._asked % 2 else TextDelta("done")
        yield Usage(100, 10)


async def measure_host(folder: Path) -> None:
    """Rounds without a language model: what is left is the host, the SDK and the tool's server."""
    settings = settings_for(folder)
    screen = PlainScreen(allow_all=True, quiet=True)
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec()], InstantModel(), screen, screen, limits, lambda _: None) as session:
        await measured_rounds("host alone", session)


async def measure_rounds(folder: Path) -> None:
    await measure_host(folder)
    steps = [Say("", [("echo", '{"text": "x"}')]) if number % 2 == 0 else Say("done") for number in range(1200)]
    with model_server(*steps) as stub:
        stub.requests = deque(maxlen=1)  # type: ignore[assignment]
        stub.headers = deque(maxlen=1)  # type: ignore[assignment]
        async with chat(stub, folder, allow_all=True) as (session, _):
            await measured_rounds("with LiteLLM and the scripted model in this process", session)


async def measured_rounds(name: str, session: ChatSession) -> None:
    for _ in range(20):
        await session.ask("go")
    for number in range(2):
        gc.collect()
        start, size = memory(), len(json.dumps(session.conversation.messages))
        began, before = time.perf_counter(), time.process_time()
        for _ in range(100):
            assert await session.ask("go") is TurnOutcome.ANSWERED
        wall, cpu = time.perf_counter() - began, time.process_time() - before
        gc.collect()
        grown = len(json.dumps(session.conversation.messages)) - size
        print(f"{name}, rounds {number * 200 + 1} to {number * 200 + 200}: {wall / 200 * 1000:.1f} ms a round, CPU "
              f"{cpu / 200 * 1000:.2f} ms; memory {start:.1f} -> {memory():.1f} MB, transcript + {grown >> 10} KB")  # fmt: skip


async def measure_kills(folder: Path, count: int = 100) -> None:
    connections.MAX_DELAY = connections.FIRST_DELAY  # measure the kills, not the growing pauses between them
    own, began = servers(), time.monotonic()
    marks = [folder / f"killed{number}" for number in range(count)]
    steps = [step for mark in marks for step in (Say("", [call(mark)]), Say("the server died"))]
    with model_server(*steps) as stub:
        async with chat(stub, folder, allow_all=True) as (session, _):
            for mark in marks:
                asking = asyncio.create_task(session.ask("go"))
                while not mark.exists():
                    assert not asking.done(), "the call did not reach the server"
                    await asyncio.sleep(0.02)
                for pid in await asyncio.to_thread(servers) - own:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                assert await asking is TurnOutcome.ANSWERED
        said = sum("ended during the call" in str(stub.results(2 * one + 1)[-1:]) for one in range(count))
    print(f"{count} kills in mid-call: {count} questions answered, {said} with the error of the call; orphans: "
          f"{len(servers() - own)}; {time.monotonic() - began:.0f} s")  # fmt: skip


def servers() -> set[int]:
    """Return the processes below this one, without the `ps` that lists them."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,comm="], capture_output=True, text=True, check=True).stdout
    running = {int(line.split()[0]) for line in listed.splitlines() if line.split()[1] != "ps"}
    return descendants() & running - {os.getpid()}


def measure_interrupts(folder: Path, count: int = 100) -> None:
    own, began = servers(), time.monotonic()
    marks = [folder / f"interrupted{number}" for number in range(count)]
    with model_server(*[Say("", [call(mark)]) for mark in marks]) as stub, person(stub, folder, "--yes") as one:
        for mark in marks:
            one.types("go\r")
            until_runs(mark)
            one.process.send_signal(signal.SIGINT)
            one.sees("cancelled")
        one.types("/quit\r")
        code = one.waits_for_the_end()
        reached = sum(mark.read_text() == "cancelled" for mark in marks)
    print(f"{count} Ctrl-C: exit code {code}, {reached} cancellations reached the server, orphans: "
          f"{len(servers() - own)}; {time.monotonic() - began:.0f} s")  # fmt: skip


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
    if parts[:1] == ["ready"]:
        asyncio.run(be_ready(Path(parts[1]), int(parts[2])))
        return
    if parts[:1] == ["servers"]:
        asyncio.run(measure_servers(Path(parts[1])))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        measures = {
            "help": measure_help,
            "start": lambda: measure_start(folder),
            "rounds": lambda: asyncio.run(measure_rounds(folder)),
            "kills": lambda: asyncio.run(measure_kills(folder)),
            "interrupts": lambda: measure_interrupts(folder),
        }
        for part in parts or measures:
            measures[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
