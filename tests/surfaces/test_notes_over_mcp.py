"""Notes through real server processes: who wrote them, and when others see them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Implementation

from atlas.code.notes.note import read_note
from atlas.runtime.process.tree_version import read_version

from .daemons import Home, home, until
from .http_server import http_server
from .knowledge import desk, project
from .processes import COMMAND, Place, answer, environment, refusal

QUIET = {"ATLAS_MCP_START_DAEMON": "false"}
TOOLSETS = ("--toolsets", "claims,memory")
WHO = Implementation(name="editor\u202e, root", version="2.1")


@pytest.fixture
def daemon_home(tmp_path: Path) -> Iterator[Home]:
    with home(tmp_path) as opened:
        yield opened


def clients(place: Place) -> dict[str, str]:
    """The client of each observation, by its text."""
    (file,) = (place.root / ".knowledge/entities").glob("*.md")
    return {one.text: one.client for one in read_note(file.read_bytes()).observations}


async def test_the_client_is_recorded_from_the_handshake_on_every_transport(tmp_path: Path) -> None:
    from mcp import StdioServerParameters

    place = project(tmp_path)
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", *place.options, *TOOLSETS],
        env=environment(**QUIET),
    )
    said = {"entity": "Alice", "observation": "stdio"}
    async with Client(parameters, client_info=WHO) as client:
        await answer(client, "remember", **said)
        refused = await refusal(client, "get_unit", id="\u202eevil")
        assert "\u202e" not in refused and "no unit" in refused
    with http_server(place, *TOOLSETS, **QUIET) as served:
        for mode in ("legacy", "2026-07-28"):
            async with Client(served.url, mode=mode, client_info=WHO) as client:  # type: ignore[arg-type]
                await answer(client, "remember", **{**said, "observation": mode})
    named = "editor- root/2.1"
    # requests of the older revision are independent of its handshake, because the server keeps no sessions
    assert clients(place) == {"stdio": named, "legacy": "", "2026-07-28": named}


async def test_a_write_is_visible_at_once_to_the_writer_and_soon_to_others_beside_a_daemon(daemon_home: Home) -> None:
    daemon_home.run("daemon", "start", "--data-dir", str(daemon_home.data))
    daemon_home.running()

    def settled() -> bool:
        version = read_version(daemon_home.data, "first", daemon_home.root)
        return version is not None and version.noticed == version.indexed

    place = Place(daemon_home.root, daemon_home.data)
    until(settled, "index and tree are equal")
    async with desk(place) as writer, desk(place) as reader:
        await reader.say("recall", query="cats")
        for number in range(3):
            one = (await writer.say("remember", entity="Alice", observation=f"Has {number} cats.")).id
            if number == 0:  # the daemon may not have noticed it yet
                assert f"Has {number} cats" in (await writer.say("hybrid_search", query="how many cats has Alice")).text
            assert one in (await writer.say("recall", query="cats")).ids("memories")
            end = time.monotonic() + 5.0
            while one not in (await reader.say("recall", query="cats")).ids("memories"):
                assert time.monotonic() < end, "another session"
                await asyncio.sleep(0.02)
