"""Chats over real servers and a real model client: tools, errors, crashes, cancellation, resources, prompts."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atlas.adapters.language_models.chat import LiteLlmChatModel
from atlas.app.chat import make_limits, open_chat
from atlas.chat.connection import ConnectionState
from atlas.chat.server_spec import ServerSpec
from atlas.chat.session import ChatSession
from atlas.chat.turn import TurnOutcome
from atlas.cli.chat.once import PlainScreen
from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.runtime.config.load import Settings, load_settings
from tests.litellm_clients import close_litellm_clients

from .model_server import Fail, ModelServer, Say, Step, model_server

# LiteLLM uses what pydantic deprecates
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SERVER = Path(__file__).with_name("tool_server.py")


@pytest.fixture(autouse=True)
async def close_connections() -> AsyncGenerator[None]:
    yield
    await close_litellm_clients()


def spec(name: str = "tools", *arguments: str) -> ServerSpec:
    return ServerSpec(name, sys.executable, (str(SERVER), *arguments))


def settings_for(folder: Path, **limits: int) -> Settings:
    settings = load_settings(str(folder))
    return replace(settings, chat=replace(settings.chat, **limits))


@asynccontextmanager
async def chat(
    stub: ModelServer,
    folder: Path,
    servers: Sequence[ServerSpec] = (spec(),),
    *,
    allow_all: bool = False,
    model: str = "openai/stub",
    url: str = "",
    **limits: int,
) -> AsyncGenerator[tuple[ChatSession, PlainScreen]]:
    settings = settings_for(folder, **limits)
    screen = PlainScreen(allow_all=allow_all, quiet=True)
    chosen = LiteLlmChatModel(model, url or stub.openai, "key-of-test", 10.0, delay=0.01)
    bounds = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, servers, chosen, screen, screen, bounds, lambda _: None) as session:
        yield session, screen


def descendants() -> set[int]:
    """Processes that this one has started, at any depth."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in (line.split() for line in listed.splitlines())}
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def calls(*pairs: tuple[str, dict[str, Any]]) -> list[tuple[str, str]]:
    return [(name, json.dumps(arguments)) for name, arguments in pairs]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_tools_are_called_and_their_results_go_back(tmp_path: Path, provider: str) -> None:
    asked = calls(("echo", {"text": "one"}), ("counted", {"steps": 2}), ("picture", {}))
    with model_server(Say("I look.", asked, pieces=3), Say("Both done.")) as stub:
        url = stub.openai if provider == "openai" else stub.anthropic
        async with chat(stub, tmp_path, model=f"{provider}/stub", url=url) as (session, screen):
            assert await session.ask("go") is TurnOutcome.ANSWERED
            roles = [message["role"] for message in session.conversation.messages]
            results = [str(one["content"]) for one in session.conversation.messages if one["role"] == "tool"]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant"]
    assert results == ["echo: one", "counted", "[image image/png, 1 KB]"]
    assert [text for text in screen.texts if text] == ["I look.", "Both done."]
    assert session.spent.requests == 2
    assert session.spent.input_tokens == 200
    assert len(stub.requests) == 2


async def test_whatever_goes_wrong_goes_back_to_the_model(tmp_path: Path) -> None:
    asked = [
        ("nothing", "{}"),
        ("echo", "{broken"),
        ("echo", "[1]"),
        ("echo", "{}"),
        ("fails", "{}"),
        ("write", json.dumps({"path": str(tmp_path / "x"), "text": "y"})),
        ("slow", '{"seconds": 60}'),
    ]
    with model_server(Say("", asked)) as stub:
        async with chat(stub, tmp_path, call_seconds=8) as (session, screen):
            assert await session.ask("go") is TurnOutcome.ANSWERED
    results = stub.results()
    expected = ("no tool 'nothing'", "not valid JSON", "must be a JSON object", "missing arguments: text", "Error executing tool fails",
                "does not allow", "did not answer within 8 s")  # fmt: skip
    assert len(results) == len(expected)
    for result, part in zip(results, expected, strict=True):
        assert result.startswith("error: ")
        assert part in result
    assert not (tmp_path / "x").exists()
    assert screen.asked


async def test_a_call_that_changes_something_runs_when_allowed(tmp_path: Path) -> None:
    asked = calls(("write", {"path": str(tmp_path / "x"), "text": "y"}))
    with model_server(Say("", asked)) as stub:
        async with chat(stub, tmp_path, allow_all=True) as (session, _):
            await session.ask("go")
    assert (tmp_path / "x").read_text() == "y"


async def test_read_only_calls_run_side_by_side(tmp_path: Path) -> None:
    asked = calls(*[("slow", {"seconds": 1.5})] * 6)
    with model_server(Say("", asked)) as stub:
        async with chat(stub, tmp_path) as (session, screen):
            began = asyncio.get_running_loop().time()
            await session.ask("go")
            assert asyncio.get_running_loop().time() - began < 6 * 1.5
    assert len(screen.calls) == 6


async def test_a_crashed_server_is_started_again(tmp_path: Path) -> None:
    with model_server(Say("", calls(("crash", {}))), Say("", calls(("echo", {"text": "again"})))) as stub:
        async with chat(stub, tmp_path) as (session, _):
            await session.ask("go")
            connection = session.hub.connections["tools"]
            assert connection.restarts == 1
            assert connection.state is ConnectionState.READY
    assert "ended during the call" in stub.results()[0]
    assert stub.results()[1] == "echo: again"


async def test_servers_that_fail_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    servers = (
        spec(),
        ServerSpec("missing", "no-such-program"),
        ServerSpec("mute", sys.executable, (str(SERVER), "--hang")),
        ServerSpec("ends", sys.executable, ("-c", "import sys; sys.exit('no licence')")),
        ServerSpec("away", url="http://127.0.0.1:9/mcp"),
        spec("noisy", "--noise"),
    )
    with model_server() as stub:
        async with chat(stub, tmp_path, servers, connect_seconds=6) as (session, screen):
            found = session.hub.connections
            assert {name: one.state for name, one in found.items()} == {
                "tools": ConnectionState.READY,
                "missing": ConnectionState.FAILED,
                "mute": ConnectionState.FAILED,
                "ends": ConnectionState.FAILED,
                "away": ConnectionState.FAILED,
                "noisy": ConnectionState.READY,
            }
            assert "no-such-program" in found["missing"].problem
            assert "no answer within 6 s" in found["mute"].problem
            assert "no licence" in found["ends"].problem
            assert await session.ask("hello") is TurnOutcome.ANSWERED
            with pytest.raises(Unavailable, match="missing is not connected"):
                await found["missing"].read_resource("x://y")
            del screen


async def test_a_huge_result_is_cut(tmp_path: Path) -> None:
    with model_server(Say("", calls(("big", {"megabytes": 20})))) as stub:
        async with chat(stub, tmp_path, result_tokens=500) as (session, screen):
            await session.ask("go")
    assert "characters not shown" in stub.results()[0]
    assert len(stub.results()[0]) < 4000
    assert any("was cut" in notice for notice in screen.notices)


async def test_cancellation_reaches_the_server_and_leaves_no_half_question(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with model_server(Say("", calls(("slow", {"seconds": 60, "mark": str(mark)}))), Say("fine")) as stub:
        async with chat(stub, tmp_path) as (session, _):
            task = asyncio.create_task(session.ask("go"))
            async with asyncio.timeout(30):
                while not mark.exists():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                task.cancel()
                await asyncio.wait([task])
                while mark.read_text() != "cancelled":  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert len(session.conversation) == 0
            assert await session.ask("again") is TurnOutcome.ANSWERED


async def test_no_process_is_left(tmp_path: Path) -> None:
    before = descendants()
    with model_server() as stub:
        async with chat(stub, tmp_path, (spec("a"), spec("b"))):
            assert len(descendants() - before) >= 2
    # `ps` itself is a child of its time
    assert len(descendants() - before) <= 1


async def test_a_provider_that_fails_is_asked_again_or_explained(tmp_path: Path) -> None:
    steps: tuple[Step, ...] = (
        Fail(429, "slow down", retry_after="0.01"), Fail(503), Say("after all"),
        Say("half an answer that is lost", cut_after=3), Say("the whole answer"),
        Fail(401, "bad key key-of-test"),
        Fail(404, "no such model"),
        Fail(500), Fail(500), Fail(500), Fail(500),
    )  # fmt: skip
    with model_server(*steps) as stub:
        async with chat(stub, tmp_path) as (session, screen):
            await session.ask("one")
            assert screen.texts[-2:] == ["after all", ""]
            await session.ask("two")
            assert session.conversation.messages[-1]["content"] == "the whole answer"
            with pytest.raises(ConfigError, match="bad key") as caught:
                await session.ask("three")
            assert "key-of-test" not in caught.value.message
            with pytest.raises(ConfigError, match="no such model"):
                await session.ask("four")
            with pytest.raises(Unavailable):
                await session.ask("five")
            assert [one["content"] for one in session.conversation.messages if one["role"] == "user"] == ["one", "two"]


async def test_rounds_are_limited(tmp_path: Path) -> None:
    with model_server() as stub:
        stub.default = Say("", calls(("echo", {"text": "x"})))
        async with chat(stub, tmp_path, rounds=3) as (session, _):
            assert await session.ask("go") is TurnOutcome.ROUNDS
    assert len(stub.requests) == 3


async def test_resources_and_prompts(tmp_path: Path) -> None:
    with model_server() as stub:
        async with chat(stub, tmp_path) as (session, screen):
            await session.ask("what is in @readme and @topic(topic=physics)? not @this")
            said = str(stub.requests[-1]["messages"][-1]["content"])
            assert "The magic word is xyzzy." in said
            assert "All about physics." in said
            assert said.endswith("not @this")
            assert any("no server has a resource @this" in one for one in screen.notices)
            with pytest.raises(ConfigError, match="needs topic"):
                await session.ask("@topic")
            await session.ask_prompt("review", ["name=main.py"])
            assert stub.requests[-1]["messages"][-1]["content"] == "Review main.py in a kind tone."
            with pytest.raises(NotFound) as caught:
                await session.ask_prompt("reviw", [])
            assert caught.value.near == ("review",)
            with pytest.raises(AtlasError):
                await session.hub.connections["tools"].read_resource("notes://a/b/c")
            reference = session.hub.connections["tools"].offer.templates[0]
            from mcp_types import ResourceTemplateReference

            found = await session.hub.connections["tools"].complete(
                ResourceTemplateReference(type="ref/resource", uri=reference.uri_template), "topic", "ph"
            )
            assert found == ("physics", "philosophy")


async def test_a_server_of_an_older_revision_asks_and_logs(tmp_path: Path) -> None:
    old = ServerSpec("old", sys.executable, (str(SERVER.with_name("old_server.py")),))
    with model_server(Say("", calls(("ask", {})))) as stub:
        async with chat(stub, tmp_path, (old,)) as (session, screen):
            assert session.hub.connections["old"].protocol == "2025-06-18"
            await session.ask("go")
    assert stub.results() == ["decline; roots: " + tmp_path.name]
    assert any("Who are you?" in notice for notice in screen.notices)


async def test_the_same_over_http(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import tool_server as t; t.server.run('streamable-http', port=int(sys.argv[2]))"
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(SERVER.parent), str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        with model_server(Say("", calls(("echo", {"text": "far"})))) as stub:
            server = ServerSpec("far", url=f"http://127.0.0.1:{port}/mcp", headers={"X-Test": "1"})
            async with chat(stub, tmp_path, (server,)) as (session, _):
                await session.ask("go")
        assert stub.results() == ["echo: far"]
    finally:
        process.kill()
        await process.wait()


def test_the_key_is_not_sent_to_another_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from atlas.app.chat import make_chat_model

    monkeypatch.setenv("ATLAS_LANGUAGE_MODEL_API_KEY", "configured-key")
    monkeypatch.setenv("ATLAS_LANGUAGE_MODEL_MODEL", "openai/a")
    settings = load_settings(str(tmp_path))
    made = make_chat_model(settings, "", "http://127.0.0.1:1/v1")
    assert "configured-key" not in repr(vars(made))
    assert os.environ["ATLAS_LANGUAGE_MODEL_API_KEY"] == "configured-key"
