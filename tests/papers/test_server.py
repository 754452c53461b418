"""The papers server as a process: over stdio and HTTP with the SDK's client, and as a server of `atlas chat`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from atlas.chat.server_spec import ServerSpec
from atlas.chat.turn import TurnOutcome
from tests.chat.model_server import Say, model_server
from tests.chat.test_servers import calls, chat

from .arxiv_server import ATTENTION, BERT, ArxivServer, arxiv_server

# LiteLLM uses what pydantic deprecates
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

COMMAND = ("-P", "-m", "atlas", "papers", "serve")


def environment(folder: Path, server: ArxivServer) -> dict[str, str]:
    return {
        "ATLAS_PAPERS_FOLDER": str(folder / "papers"),
        "ATLAS_PAPERS_URL": server.url,
        "ATLAS_PAPERS_PAUSE_MS": "0",
        "ATLAS_PROJECT": str(folder),
    }


async def use(client: Client) -> None:
    """What a client relies on."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools["search_papers"].input_schema["properties"]) == {
        "topic", "max_results", "author", "category", "since", "until", "sort"
    }  # fmt: skip
    assert tools["search_stored"].annotations.read_only_hint and not tools["search_papers"].annotations.read_only_hint
    found = await client.call_tool("search_papers", {"topic": "attention", "max_results": 2})
    assert not found.is_error
    assert [one["id"] for one in found.structured_content["papers"]] == ["1706.03762", "1810.04805"]
    assert "arXiv:1706.03762v5" in found.content[0].text
    wrong = await client.call_tool("search_papers", {"topic": "../../x"})
    assert wrong.is_error and "not a path" in wrong.content[0].text
    missing = await client.call_tool("search_papers", {})
    assert missing.is_error and "missing argument topic" in missing.content[0].text
    listed = {str(one.uri) for one in (await client.list_resources()).resources}
    assert listed == {"papers://folders", "papers://attention"}
    folders = await client.read_resource("papers://folders")
    assert "attention: 2 papers" in folders.contents[0].text
    topic = await client.read_resource("papers://attention")
    assert "Attention Is All You Need" in topic.contents[0].text
    with pytest.raises(MCPError, match="no papers are stored"):
        await client.read_resource("papers://nothing")
    prompt = await client.get_prompt("generate_search_prompt", {"topic": "attention", "num_papers": "3"})
    text = prompt.messages[0].content.text
    assert "topic 'attention' and max_results 3" in text
    for wrong_arguments in ({}, {"topic": "x", "num_papers": "many"}, {"topic": "x", "y": "z"}):
        with pytest.raises(MCPError):
            await client.get_prompt("generate_search_prompt", wrong_arguments)


async def test_over_stdio(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        started = StdioServerParameters(
            command=sys.executable, args=list(COMMAND), env={**os.environ, **environment(tmp_path, server)}
        )
        async with Client(stdio_client(started)) as client:
            await use(client)
        assert len(server.requests) == 1


async def test_over_http(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *COMMAND, "--transport", "http", "--port", "0", "--no-token",
            env={**os.environ, **environment(tmp_path, server)}, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            async with asyncio.timeout(30):
                assert b"every user of this machine" in await process.stderr.readline()
                line = (await process.stderr.readline()).decode()
            where = re.search(r"http://\S+", line)
            assert where, line
            async with Client(where[0]) as client:
                await use(client)
        finally:
            process.terminate()
            await process.wait()


async def test_a_chat_runs_the_prompt_and_the_model_searches(tmp_path: Path) -> None:
    with arxiv_server(ATTENTION, BERT) as server:
        spec = ServerSpec("papers", sys.executable, COMMAND, environment=environment(tmp_path, server))
        asked = calls(("search_papers", {"topic": "attention", "max_results": 2}))
        follow = calls(("related_papers", {"id": "1810.04805"}))
        with model_server(Say("I search.", asked), Say("", follow), Say("Two papers.")) as stub:
            async with chat(stub, tmp_path, (spec,), allow_all=True) as (session, _):
                outcome = await session.ask_prompt("generate_search_prompt", ["topic=attention", "num_papers=2"])
                assert outcome is TurnOutcome.ANSWERED
                await session.ask("what is in @papers://attention ?")
        first = json.dumps(stub.requests[0]["messages"])
        assert "Search for 2 academic papers about 'attention'" in first
        assert "Attention Is All You Need" in stub.results(1)[0]
        assert "cited by it" in stub.results(2)[1]
        assert "2 papers, newest first" in json.dumps(stub.requests[-1]["messages"])
    assert (tmp_path / "papers" / "attention" / "papers_info.json").exists()
