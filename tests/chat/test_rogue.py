"""Servers that attack the chat: tools that change, floods, endless answers, patterns, sequences for the terminal."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from atlas.app.chat import make_limits, open_chat
from atlas.chat.routes import ToolRoute
from atlas.chat.server_spec import ServerSpec
from atlas.chat.session import ChatSession
from atlas.chat.turn import TurnOutcome
from atlas.cli.chat.once import PlainScreen
from atlas.core.errors import Unavailable

from .test_rounds import Scripted, nothing
from .test_servers import settings_for

ROGUE = Path(__file__).with_name("rogue_server.py")


def rogue(attack: str, folder: Path | None = None, **more: Any) -> ServerSpec:
    return ServerSpec("rogue", sys.executable, (str(ROGUE), attack, *([str(folder)] if folder else [])), **more)


class Asked(PlainScreen):
    """A screen that notes which calls are asked about, and allows them."""

    questions: list[str]

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        self.questions.append(route.tool.name)
        return True


@asynccontextmanager
async def chat(
    folder: Path, spec: ServerSpec, *calls: str, screen: PlainScreen | None = None, **limits: int
) -> AsyncGenerator[tuple[ChatSession, PlainScreen, Scripted]]:
    settings, shown = settings_for(folder, **limits), screen or PlainScreen(allow_all=False, quiet=True)
    model = Scripted(*((name, "{}") for name in calls))
    bounds = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec], model, shown, shown, bounds, lambda _: None) as session:
        yield session, shown, model


def results(session: ChatSession) -> list[str]:
    return [str(one["content"]) for one in session.conversation.messages if one["role"] == "tool"]


def called(folder: Path) -> list[str]:
    """The calls that have reached the server."""
    return sorted(path.name for path in folder.glob("called-*"))


async def asked_about(folder: Path, attack: str, *questions: str) -> tuple[list[str], list[str]]:
    """Ask several questions that call `write`; return which calls the user was asked about, and the results."""
    screen = Asked(allow_all=False, quiet=True)
    screen.questions = []
    async with chat(folder, rogue(attack, folder), *questions, screen=screen) as (session, _, _):
        for _ in range(2):
            assert await session.ask("go") is TurnOutcome.ANSWERED
        return screen.questions, results(session)


async def test_a_tool_that_now_claims_to_change_nothing_is_asked_about_all_the_same(tmp_path: Path) -> None:
    asked, found = await asked_about(tmp_path, "change", "write")
    assert asked == ["write", "write"]
    assert found == ["write done", "write done"]


async def test_a_tool_that_appears_later_is_asked_about(tmp_path: Path) -> None:
    asked, found = await asked_about(tmp_path, "rename", "write", "remove")
    assert asked == ["write", "remove"], found
    assert "there is no tool 'remove'" in found[1]


async def test_a_call_of_a_tool_that_changes_while_the_user_reads_is_not_made(tmp_path: Path) -> None:
    class Slow(Asked):
        async def allow(self, route: ToolRoute, arguments: object) -> bool:
            if not self.questions:  # the server changes its tools meanwhile
                await route.server.call_tool("write", {}, nothing)
                await asyncio.sleep(0.2)
            return await Asked.allow(self, route, arguments)

    screen = Slow(allow_all=False, quiet=True)
    screen.questions = []
    async with chat(tmp_path, rogue("change", tmp_path), "write", screen=screen) as (session, _, _):
        await session.ask("go")
        assert "has changed this tool" in results(session)[0]
    assert called(tmp_path) == ["called-write-1"]


async def test_what_a_projects_server_declares_is_not_believed(tmp_path: Path) -> None:
    async with chat(tmp_path, rogue("plain", tmp_path, is_foreign=True), "fine") as (session, screen, _):
        await session.ask("go")
        assert screen.asked
        assert "does not allow" in results(session)[0]
    assert not called(tmp_path)


@pytest.mark.parametrize("attack", ["names", "schemas", "pages", "templates", "broken"])
async def test_no_offer_costs_more_than_seconds_or_keeps_the_rest_away(tmp_path: Path, attack: str) -> None:
    began = time.process_time()
    async with chat(tmp_path, rogue(attack), "t1-0" if attack == "pages" else "fine") as (session, _, model):
        connection = session.hub.connections["rogue"]
        assert connection.state == "ready", connection.problem
        assert await session.ask("see @x://" + "a/" * 500 + " and @y://" + "a/" * 500) is TurnOutcome.ANSWERED
        assert results(session)[0].endswith("done")
        declared = json.dumps(list(model.tools), allow_nan=False)
        assert len(declared) < 3 << 20
        offer = connection.offer
    assert time.process_time() - began < 20, "reading what is offered, and one call"
    assert max(len(tool.name) for tool in offer.tools) <= 256
    assert len(offer.tools) <= 400
    if attack == "schemas":
        names = {tool.name for tool in offer.tools}
        assert {"fine", "pattern", "bomb"} <= names
        assert not names & {"huge", "nan"}
        assert offer.left_out >= 2
    if attack == "broken":
        assert [tool.name for tool in offer.tools] == ["fine", "bare", "none"]
        assert [one.name for one in offer.resources] == ["fence"]
        assert offer.left_out == 9


async def test_schemas_of_results_are_not_evaluated(tmp_path: Path) -> None:
    began = time.process_time()
    async with chat(tmp_path, rogue("schemas"), "pattern", "bomb", "fine") as (session, _, _):
        await session.ask("go")
        found = results(session)
    assert found == ['{"x": "' + "a" * 60 + '!"}', "{}", "fine done"]
    assert time.process_time() - began < 20


def memory() -> int:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


async def test_a_flood_is_counted_not_shown(tmp_path: Path) -> None:
    class Logs(PlainScreen):
        logs: list[str]

        def log(self, server: str, level: str, text: str) -> None:
            self.logs.append(text)

    screen = Logs(allow_all=False, quiet=True)
    screen.logs = []
    async with chat(tmp_path, rogue("flood"), "fine", screen=screen) as (session, _, _):
        await session.ask("go")
        assert results(session) == ["fine done"]
        assert len(session.hub.connections["rogue"].stderr) <= 20
    assert 10 <= len(screen.logs) <= 60
    assert all("\x1b" not in text and "\u202e" not in text for text in screen.logs)
    assert any(text.startswith("not shown: ") and text.endswith(" messages") for text in screen.logs)


async def test_an_answer_without_end_is_an_error(tmp_path: Path) -> None:
    before = memory()
    async with chat(tmp_path, rogue("endless"), "fine", call_seconds=30) as (session, _, _):
        assert await session.ask("go") is TurnOutcome.ANSWERED
        assert "ended during the call" in results(session)[0]
        connection = session.hub.connections["rogue"]
        async with asyncio.timeout(20):
            while not connection.restarts:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert connection.problem.startswith("it sent a message of more than 64 MB")
    assert memory() - before < 400


async def test_a_message_of_millions_of_lists_is_not_read(tmp_path: Path) -> None:
    before = memory()
    async with chat(tmp_path, rogue("brackets"), "fine") as (session, _, _):
        await session.ask("go")
        assert results(session) == ["fine done"]
    assert memory() - before < 200


async def test_a_server_does_not_ask_until_the_user_gives_in(tmp_path: Path) -> None:
    class Asking(PlainScreen):
        count = 0

        async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
            self.count += 1
            return types.ElicitResult(action="decline")

    screen = Asking(allow_all=False, quiet=True)
    async with chat(tmp_path, rogue("questions"), "fine", screen=screen) as (session, _, _):
        await session.ask("go")
        assert results(session) == ["fine done"]
    assert screen.count == 5


async def test_a_server_gets_few_variables_and_starts_outside_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "users-key")
    async with chat(tmp_path, rogue("environment"), "fine") as (session, _, _):
        await session.ask("go")
        found = json.loads(results(session)[0])
    assert set(found["environment"]) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}
    assert found["cwd"] == str(Path.home().resolve())


async def test_no_server_speaks_as_somebody_else(tmp_path: Path) -> None:
    async with chat(tmp_path, rogue("sequences")) as (session, _, model):
        await session.ask("see @e://fence")
        system, user, *_ = (str(one["content"]) for one in model.requests[0])
    for text, closing in ((system, '"""'), (user, "</resource>")):
        mark = text.split("<data-")[-1 if text is user else 2].split(" ")[0]
        assert len(mark) == 16
        inside = text.split(f"<data-{mark} ")[1].split(f"</data-{mark}>")
        assert len(inside) == 2, "the mark ends once"
        assert closing in inside[0]
    assert "SYSTEM: obey" in system and "\x1b" not in system
    assert user.endswith("see @e://fence")


async def test_marks_differ_each_time(tmp_path: Path) -> None:
    async with chat(tmp_path, rogue("sequences")) as (session, _, model):
        for _ in range(2):
            await session.ask("see @e://fence")
        texts = [str(one["content"]) for one in model.requests[-1] if one["role"] == "user"]
    marks = {text.split(" ")[0] for text in texts}
    assert len(marks) == len(texts) == 2


async def test_a_refresh_that_is_never_answered_has_a_limit(tmp_path: Path) -> None:
    async with chat(tmp_path, rogue("plain"), connect_seconds=1) as (session, _, _):
        connection = session.hub.connections["rogue"]

        async def never(*_: object) -> Sequence[object]:
            await asyncio.sleep(60)
            return ()

        connection._ask = never  # type: ignore[method-assign, assignment]
        connection._mark_stale()
        with pytest.raises(Unavailable, match="does not say what it offers"):
            await connection.refresh()
