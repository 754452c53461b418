"""Real `atlas` processes over the shop project: commands run to their end, and a server behind the SDK's own client.

Imports the SDK and the store, 0.8 CPU s, only where they are used: clients that tests start need neither.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.surfaces import forked

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

COMMAND = (sys.executable, "-P", "-m", "atlas")
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Place:
    """A project's folder and the folder of its index."""

    root: Path
    data: Path

    @property
    def options(self) -> list[str]:
        return ["--project", str(self.root), "--data-dir", str(self.data)]


async def filled(folder: Path) -> Place:
    """The shop project below a folder, with an index that was written by hand."""
    from atlas._parser import VectorIndex
    from atlas.adapters.stores.sqlite.store import EmbeddedStore

    from .shop import fill, write_files

    place = Place(folder / "shop", folder / "data")
    write_files(place.root)
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    await fill(store, place.root)
    await store.aclose()
    return place


def environment(**more: str) -> dict[str, str]:
    """The test's environment without settings of the machine it runs on; sessions start no daemon that stays behind."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    own = {"PYTHONPATH": str(REPOSITORY), "COLUMNS": "200", "ATLAS_MCP_START_DAEMON": "false"}
    return kept | own | more


def atlas(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `atlas` to its end, without the start of an interpreter where the variables allow it."""
    variables = environment(**(env or {}))
    if forked.can_fork(env or {}):
        return forked.run(arguments, cwd, variables, timeout)
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=variables, capture_output=True, text=True, timeout=timeout
    )


@asynccontextmanager
async def server(place: Place, *arguments: str, mode: str = "auto", **env: str) -> AsyncIterator[Client]:
    """A client of a server process of its own."""
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp", *place.options, *arguments], env=environment(**env)
    )
    async with Client(parameters, mode=mode) as client:  # type: ignore[arg-type]
        yield client


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


async def answer(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Structured content of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    """Text of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)
