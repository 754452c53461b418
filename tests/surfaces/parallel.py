"""Calls at once from one or many sessions while a pass over the tree is due: what each round does and what must hold."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mcp import Client

from atlas.app.session import make_session
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import AtlasError
from atlas.runtime.config.load import load_settings

from .http_server import http_server
from .processes import Place, atlas, server, text_of

STATES = ("no index", "one file changed", "branch switched")
LOADS = ("reads", "writes", "mixed")
TOOLSETS = ("--toolsets", "code,claims,memory")
MANY_WRITES = {"ATLAS_KNOWLEDGE_WRITES_PER_MINUTE": "100000"}
BRANCH_FILES = 8
IN_PROCESS = {"one in this process": 1, "ten sessions": 10}

Call = Callable[[str, Mapping[str, object]], "asyncio.Future[str]"]
"""Returns the answer's text; raises AssertionError for a refused call."""


def make_project(folder: Path) -> Place:
    """A repository with two branches that differ in `BRANCH_FILES` files."""
    place = Place(folder / "app", folder / "data")
    place.root.mkdir()
    (place.root / "core.py").write_text("def load_settings():\n    return 1\n")
    (place.root / "main.py").write_text(
        "from core import load_settings\n\n\ndef start():\n    return load_settings()\n"
    )
    (place.root / ".gitignore").write_text(".knowledge/\nfresh_*.py\n!fresh_*.py\n")
    _git(place.root, "init", "-q", "-b", "one")
    for branch in ("one", "two"):
        if branch == "two":
            _git(place.root, "checkout", "-q", "-b", "two")
        for number in range(BRANCH_FILES):
            (place.root / f"part{number}.py").write_text(f"def on_{branch}_{number}():\n    return {number}\n")
        _git(place.root, "add", ".")
        _git(place.root, "commit", "-q", "-m", branch)
    return place


def _git(root: Path, *arguments: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)


@dataclass
class Rounds:
    """Rounds of calls over one project; counts what was asked and keeps every write that was acknowledged."""

    place: Place
    calls: Sequence[Call]
    number: int = 0
    asked: int = 0
    branch: str = "two"
    kept: Counter[str] = field(default_factory=Counter)
    random: random.Random = field(default_factory=lambda: random.Random(7))

    async def play(self, state: str, load: str, *, cancels: bool, at_once: int = 10) -> None:
        """Change the tree, send calls at once through all sessions, and check every answer that was not cancelled."""
        self.number += 1
        name = self._prepare(state)
        calls = [self._call(load, index, name) for index in range(at_once)]
        tasks = [
            asyncio.ensure_future(self.calls[index % len(self.calls)](tool, arguments))
            for index, (tool, arguments) in enumerate(calls)
        ]
        self.asked += len(calls)
        cancelled = {index for index in range(at_once) if cancels and index % 3 == 1}
        for index in cancelled:
            asyncio.get_running_loop().call_later(self.random.uniform(0.0, 0.4), tasks[index].cancel)
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for index, ((tool, arguments), answer) in enumerate(zip(calls, answers, strict=True)):
            told = f"round {self.number}, {state}, {load}: {tool} {dict(arguments)}: {answer!r}"
            if index in cancelled and isinstance(answer, BaseException):
                assert isinstance(answer, asyncio.CancelledError), told
                continue
            assert isinstance(answer, str), told
            if tool in ("remember", "ingest_hypothesis"):
                self.kept[str(arguments.get("observation") or arguments["hypothesis"])] += 1
            elif arguments.get("name") == name and "newer than the index" not in answer and "incomplete" not in answer:
                assert "not found" not in answer, told

    def check_writes(self) -> None:
        """Every acknowledged write stands in exactly one note, and each entity has one file."""
        files = sorted((self.place.root / ".knowledge").rglob("*.md"))
        texts = [file.read_text() for file in files]
        found = Counter(re.findall(r"write \d+ of round \d+ said", "\n".join(texts)))
        lost = [text for text in self.kept if found[text] != 1]
        assert not lost, f"{len(lost)} of {len(self.kept)} writes are not kept once: {lost[:5]}"
        assert all(count == 1 for count in found.values()), "a cancelled write stands twice"
        names = Counter(re.findall(r"^name: (.*)$", "\n".join(texts), re.MULTILINE))
        assert all(count == 1 for count in names.values()), f"entities with two files: {names}"

    def _prepare(self, state: str) -> str:
        """Bring about the state; return a name that the index must know afterwards."""
        if state == "one file changed":
            fresh = f"fresh_{self.number}"
            (self.place.root / f"fresh_{self.number % 3}.py").write_text(f"def {fresh}():\n    return {self.number}\n")
            return fresh
        if state == "branch switched":
            self.branch = "one" if self.branch == "two" else "two"
            _git(self.place.root, "checkout", "-q", self.branch)
            return f"on_{self.branch}_3"
        return "load_settings"

    def _call(self, load: str, index: int, name: str) -> tuple[str, dict[str, object]]:
        if load == "writes" or (load == "mixed" and index % 2):
            text = f"write {index} of round {self.number} said"
            if index % 4 < 2:
                return "remember", {"entity": f"Team {self.number % 3}", "observation": text}
            return "ingest_hypothesis", {"hypothesis": text}
        return (
            ("get_node", {"name": name}),
            ("hybrid_search", {"query": "callers of load_settings"}),
            ("get_context", {"name": "load_settings"}),
            ("cypher_query", {"query": "MATCH (f:Function) RETURN count(f)"}),
            ("recall", {"query": "what did the team say"}),
        )[index % 5]


async def until_settled(rounds: Rounds, seconds: float = 60.0) -> None:
    """Wait until no file is newer than the index: on a busy machine a pass outlasts an answer."""
    end = time.monotonic() + seconds
    while "newer than the index" in (await rounds.calls[0]("get_node", {"name": "load_settings"})):
        assert time.monotonic() < end, "the index never becomes current"


@asynccontextmanager
async def sessions(place: Place, transport: str) -> AsyncIterator[list[Call]]:
    """Sessions with one project: those of `IN_PROCESS`, of `daemon`, which one serves, or with processes of their own."""
    async with AsyncExitStack() as stack:
        calls: list[Call] = []
        if transport == "http":
            served = stack.enter_context(http_server(place, *TOOLSETS, **MANY_WRITES))
            calls.append(_client_call(await stack.enter_async_context(Client(served.url))))
        elif transport in IN_PROCESS:
            calls += [await stack.enter_async_context(_in_process(place)) for _ in range(IN_PROCESS[transport])]
        else:
            starts = {"ATLAS_MCP_START_DAEMON": "true"} if transport == "daemon" else {}
            if starts:
                stack.callback(atlas, "daemon", "stop", *place.options)
            for _ in range({"stdio": 1, "two sessions": 2}.get(transport, 10)):
                client = await stack.enter_async_context(server(place, *TOOLSETS, **MANY_WRITES, **starts))
                calls.append(_client_call(client))
        yield calls


def _client_call(client: Client) -> Call:
    async def call(tool: str, arguments: Mapping[str, object]) -> str:
        result = await client.call_tool(tool, dict(arguments))
        assert not result.is_error, text_of(result)
        return text_of(result)

    return lambda tool, arguments: asyncio.ensure_future(call(tool, arguments))


@asynccontextmanager
async def _in_process(place: Place) -> AsyncIterator[Call]:
    session = make_session(
        load_settings(str(place.root), str(place.data), environment=MANY_WRITES), serves_agents=True, personal=False
    )

    async def no_report(done: float, total: float, message: str) -> None:
        del done, total, message

    async def call(tool: str, arguments: Mapping[str, object]) -> str:
        try:
            return (await session.call(BY_NAME[tool], arguments, no_report))[0]
        except AtlasError as error:
            raise AssertionError(error.message) from error

    try:
        yield lambda tool, arguments: asyncio.ensure_future(call(tool, arguments))
    finally:
        await session.aclose()
