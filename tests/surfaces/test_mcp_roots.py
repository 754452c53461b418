"""The roots that a client offers choose the project of a server that was given none."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ListRootsResult, Root

from .processes import COMMAND, answer, atlas, environment, refusal
from .test_hostile_stdio import INITIALIZE


def project(folder: Path, name: str) -> Path:
    """A folder with a marker and one function that only it has."""
    root = folder / name
    root.mkdir(parents=True)
    (root / "atlas.toml").write_text("")
    (root / "code.py").write_text(f"def only_in_{name}():\n    return 1\n")
    return root


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder that the server starts in: a project itself."""
    return project(tmp_path, "here")


class Roots:
    """What a client offers; counts how often it is asked."""

    def __init__(self, *roots: Path | str) -> None:
        self.uris: Sequence[Path | str] = roots
        self.asked = 0

    async def __call__(self, context: object) -> ListRootsResult:
        self.asked += 1
        return ListRootsResult(
            roots=[Root(uri=one.as_uri() if isinstance(one, Path) else one) for one in self.uris]  # type: ignore[arg-type]
        )


@asynccontextmanager
async def rooted(here: Path, roots: Roots | None, *arguments: str, **env: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", *arguments],
        cwd=here,
        env=environment(ATLAS_MCP_START_DAEMON="false", **env),
    )
    async with Client(parameters, mode="legacy", list_roots_callback=roots) as client:  # type: ignore[arg-type]
        yield client


async def found(client: Client, name: str) -> bool:
    return (await answer(client, "get_node", name=f"only_in_{name}"))["outcome"] == "found"


async def test_the_root_of_the_client_is_the_project(tmp_path: Path, here: Path) -> None:
    inner = project(tmp_path, "with space") / "deep"
    inner.mkdir()
    (inner.parent / "code.py").write_text("def only_in_spaced(): pass\n")
    roots = Roots(inner)
    async with rooted(here, roots) as client:
        assert await found(client, "spaced"), "the project around the root, as around the current folder"
        assert not await found(client, "here")
        places = (await answer(client, "status"))["evidence"]["notes"]
        assert f"project: {inner.parent} (roots of the client)" in places
    assert roots.asked == 1


async def test_the_first_root_that_is_a_project_is_chosen(tmp_path: Path, here: Path) -> None:
    (tmp_path / "plain").mkdir()
    file = tmp_path / "file.txt"
    file.write_text("no folder")
    good = project(tmp_path, "good")
    roots = Roots(tmp_path / "gone", file, tmp_path / "plain", Path.home(), Path("/"), good, project(tmp_path, "late"))
    async with rooted(here, roots) as client:
        assert await found(client, "good")


async def test_without_a_root_that_exists_the_folder_of_the_server_is_the_project(tmp_path: Path, here: Path) -> None:
    other = project(tmp_path, "other")
    for roots in (None, Roots(), Roots(tmp_path / "gone"), Roots(f"file://elsewhere{other}")):
        async with rooted(here, roots) as client:
            assert await found(client, "here")


async def test_a_project_that_is_given_stays(tmp_path: Path, here: Path) -> None:
    roots = Roots(project(tmp_path, "other"))
    for arguments, env in ((("--project", str(here)), {}), ((), {"ATLAS_PROJECT": str(here)})):
        async with rooted(here, roots, *arguments, **env) as client:
            assert await found(client, "here")
    assert roots.asked == 0


async def test_changed_roots_are_asked_for_again(tmp_path: Path, here: Path) -> None:
    roots = Roots(project(tmp_path, "one"))
    async with rooted(here, roots) as client:
        assert await found(client, "one")
        roots.uris = [project(tmp_path, "two")]
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()
        await asyncio.sleep(0.1)
        assert await found(client, "two")
        assert "outside the project" in await refusal(
            client, "get_node", name="x", path=(tmp_path / "one" / "code.py").as_uri()
        )
    assert roots.asked == 2


async def test_further_roots_answer_with_the_first(tmp_path: Path, here: Path) -> None:
    one, two, three = (project(tmp_path, name) for name in ("one", "two", "three"))
    (one / "pyproject.toml").write_text('[project]\nname = "one"\nversion = "1"\n')
    for root in (one, two, three):
        assert atlas("index", str(root), "--project", str(root)).returncode == 0
    roots = Roots(one, tmp_path / "gone", two, one)
    async with rooted(here, roots) as client:
        assert await found(client, "one")
        assert not await found(client, "two"), "a name is looked for in the asking project"
        other = await answer(client, "get_node", name="only_in_two", project="two")
        assert other["outcome"] == "found"
        everything = await answer(client, "hybrid_search", query="only_in_two", project="all")
        assert "two" in everything["others"] and "three" not in everything["others"]
        assert "three" in await refusal(client, "get_node", name="only_in_three", project="three")
        roots.uris = [one]
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()
        await asyncio.sleep(0.1)
        assert "two" in await refusal(client, "get_node", name="only_in_two", project="two")


def test_a_client_that_never_says_its_roots_is_answered(here: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "mcp"],
        cwd=here,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(ATLAS_MCP_START_DAEMON="false"),
    )
    assert process.stdin is not None and process.stdout is not None
    hello: dict[str, Any] = {**INITIALIZE, "capabilities": {"roots": {"listChanged": True}}}
    call = {"name": "get_node", "arguments": {"name": "only_in_here"}}
    for line in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1].get("id") != "call":
        heard.append(json.loads(process.stdout.readline()))
    assert any(one.get("method") == "roots/list" for one in heard)
    assert heard[-1]["result"]["structuredContent"]["outcome"] == "found"
    process.communicate(timeout=30)
