"""What a chat keeps and spends beside its model: resources that the model reads, limits of a model, memory."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import mcp_types as types
import pytest

from atlas.app.chat import make_limits, open_chat
from atlas.chat.connection import ServerConnection
from atlas.chat.hub import Hub
from atlas.chat.server_spec import ServerSpec
from atlas.chat.turn import TurnOutcome
from atlas.cli.chat.once import PlainScreen
from atlas.core.errors import NotFound, Unavailable
from atlas.core.language_model import Message, ModelEvent, TextDelta, ToolRequest, Usage

from .test_servers import SERVER, settings_for, spec

CALLS = (("read_resource", '{"uri": "notes://readme"}'), ("read_resource", '{"uri": "notes://physics"}'),
         ("read_resource", '{"uri": "gone://x"}'), ("read_resource", '{"uri": 3}'), ("picture", "{}"))  # fmt: skip


class Scripted:
    """A chat model in this process: answers each question after one round of calls."""

    name = "scripted"

    def __init__(self, *calls: tuple[str, str], reads_images: bool = False, context_tokens: int = 0) -> None:
        self._calls, self.reads_images, self.context_tokens = calls, reads_images, context_tokens
        self.requests: list[list[Message]] = []
        self.tools: Sequence[Mapping[str, object]] = ()
        self.kept = True

    async def load(self) -> None:
        pass

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]
    ) -> AsyncGenerator[ModelEvent]:
        if self.kept:
            self.requests.append(list(messages))
        self.tools = tools
        if messages[-1]["role"] == "user" and "Images" not in str(messages[-1]["content"]):
            for number, (name, arguments) in enumerate(self._calls):
                yield ToolRequest(f"call_{number}", name, arguments)
        else:
            yield TextDelta("done")
        yield Usage(100, 10)


async def test_the_model_reads_resources_and_gets_images_if_it_reads_them(tmp_path: Path) -> None:
    settings, screen = settings_for(tmp_path), PlainScreen(allow_all=False, quiet=True)
    model, second = Scripted(*CALLS, reads_images=True), Scripted(*CALLS[-1:])
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec()], model, screen, screen, limits, lambda _: None) as session:
        assert await session.ask("go") is TurnOutcome.ANSWERED
        session.change_model(second)
        await session.ask("another model")
        results = [str(one["content"]) for one in session.conversation.messages if one["role"] == "tool"]
        pictures = [one for one in session.conversation.messages if isinstance(one["content"], list)]
    assert results[:2] == ["The magic word is xyzzy.", "All about physics."]
    assert results[2].startswith(
        "error: no server has a resource 'gone://x'. Resources: notes://readme, notes://{topic}"
    )
    assert results[3].startswith("error: uri must be a string")
    assert results[4].startswith("[image image/png") and results[5] == results[4]
    assert len(pictures) == 1, "the second model reads no images"
    (declared,) = [one["function"] for one in model.tools if "read_resource" in str(one["function"])]
    assert "notes://readme\\nnotes://{topic}" in str(declared)
    assert isinstance(model.requests[1][-1]["content"], list)
    assert "image_url" not in str(second.requests), "images of the conversation are not sent to the second model"
    assert "Images returned by picture:\\n[image]" in str(second.requests)


async def test_a_link_is_read_from_the_server_that_returned_it() -> None:
    one, other = (ServerConnection(spec(name), None, (), None) for name in ("one", "other"))  # type: ignore[arg-type]
    hub = Hub([one, other])
    assert hub.tools() == (), "nothing to read, no tool"

    async def read(uri: str) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text="found")])

    other.read_resource = read  # type: ignore[method-assign]
    link = types.ResourceLink(name="x", uri="made://on/demand")
    hub.reader.remember(types.CallToolResult(content=[link]), other)
    assert [route.name for route in hub.tools()] == ["read_resource"]
    result = await hub.reader.call_tool("read_resource", {"uri": "made://on/demand"}, None)  # type: ignore[arg-type]
    assert result.content[0].resource.text == "found"  # type: ignore[union-attr]
    with pytest.raises(NotFound):
        await hub.reader.call_tool("read_resource", {"uri": "made://on"}, None)  # type: ignore[arg-type]


async def test_the_context_of_the_model_limits_the_messages(tmp_path: Path) -> None:
    settings, screen = settings_for(tmp_path), PlainScreen(allow_all=False, quiet=True)
    model = Scripted(("big", '{"megabytes": 1}'), context_tokens=10_000)
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec()], model, screen, screen, limits, lambda _: None) as session:
        for _ in range(3):
            await session.ask("go")
        assert session.conversation.tokens < 10_000 < settings.chat.context_tokens
    assert any("to stay within 9000 tokens" in notice for notice in screen.notices)


async def test_rounds_leave_nothing_but_the_transcript(tmp_path: Path) -> None:
    settings, screen = settings_for(tmp_path), PlainScreen(allow_all=False, quiet=True)
    model = Scripted(("echo", '{"text": "x"}'))
    model.kept = False
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec()], model, screen, screen, limits, lambda _: None) as session:
        counts: list[Counter[str]] = []
        for rounds in (20, 100):
            for _ in range(rounds):
                await session.ask("go")
            screen.calls.clear()
            screen.texts.clear()
            gc.collect()
            counts.append(Counter(type(one).__qualname__ for one in gc.get_objects()))
    grown = counts[1] - counts[0]
    del grown["Counter"]
    # of each question: a message with a list of one call, an object in an object; texts are not counted
    assert grown["dict"] <= 2 * 100 + 20 and grown["list"] <= 100 + 20, grown
    del grown["dict"], grown["list"]
    assert grown.total() < 50, grown


def test_a_name_that_a_server_has_too_is_qualified() -> None:
    tool = types.Tool(name="read_resource", input_schema={"type": "object"})
    resource = types.Resource(name="a", uri="a://b")
    server = SimpleNamespace(spec=spec("s"), offer=SimpleNamespace(tools=[tool], resources=[resource], templates=()))
    assert [route.name for route in Hub([server]).tools()] == ["s__read_resource", "chat__read_resource"]  # type: ignore[list-item]


async def test_a_call_waits_while_a_lost_session_is_still_being_closed() -> None:
    crashing = ServerSpec("crashing", sys.executable, (str(SERVER),))
    one = ServerConnection(crashing, types.Implementation(name="test", version="1"), (), PlainScreen(False, True))
    await one.start()
    try:
        for _ in range(3):
            with pytest.raises(Unavailable, match="ended during the call"):
                await one.call_tool("crash", {}, nothing)
            # at once: the task of the session has not seen the end yet
            assert (await one.call_tool("echo", {"text": "x"}, nothing)).content[0].text == "echo: x"  # type: ignore[union-attr]
    finally:
        await one.close()
    assert one.restarts == 3


async def test_a_resource_alone_is_shown_without_the_model(tmp_path: Path) -> None:
    settings, screen = settings_for(tmp_path), PlainScreen(allow_all=False, quiet=True)
    model = Scripted()
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, [spec()], model, screen, screen, limits, lambda _: None) as session:
        assert await session.ask("@readme @topic(topic=a/b)") is TurnOutcome.ANSWERED
        assert model.requests == [] and not session.conversation.messages
        shown = "".join(screen.texts)
        # this server wants an encoded slash
        assert "The magic word is xyzzy." in shown and "All about a/b." in shown
        await session.ask("what is @readme")
        assert len(model.requests) == 1


async def nothing(done: float, total: float | None, message: str | None) -> None:
    """Take no notice of progress."""


async def test_results_that_are_not_as_declared_are_errors_and_the_chat_goes_on(tmp_path: Path) -> None:
    liar = str(SERVER.with_name("lying_server.py"))
    servers = [ServerSpec("liar", sys.executable, (liar,)), ServerSpec("broken", sys.executable, (liar, "broken-list"))]
    names = ("other", "none", "malformed", "unknown", "binary", "image", "busy", "late", "fine")
    model = Scripted(*((name, "{}") for name in names))
    settings, screen = settings_for(tmp_path, call_seconds=2), PlainScreen(allow_all=False, quiet=True)
    limits = make_limits(settings, 0, 0, 0.0)
    async with open_chat(settings, servers, model, screen, screen, limits, lambda _: None) as session:
        broken = session.hub.connections["broken"]
        assert broken.state == "ready" and not broken.offer.tools, "what cannot be read is left out"
        assert await session.ask("go") is TurnOutcome.ANSWERED
        results = [str(one["content"]) for one in session.conversation.messages if one["role"] == "tool"]
    found = dict(zip(names, results, strict=True))
    for name in ("other", "none", "malformed", "unknown"):
        assert found[name].startswith("error: liar: the answer is not valid"), found[name]
    assert found["binary"] == "[x://y: a/b, 1 KB, not shown]"
    assert found["image"] == "[image image/png, 1 KB, not shown]"
    # servers use this code of the SDK for their own errors: this one is still there
    assert found["busy"] == "error: liar: the database is busy"
    assert "liar did not answer within 2 s" in found["late"]
    # it answers one request after the other, and was asked while it was late
    assert found["fine"] == "fine" or "did not answer" in found["fine"]
