"""A session whose tools of claims and memory are called as the MCP server calls them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atlas.answers.schema import check_arguments
from atlas.app.session import Session, make_session
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import AtlasError
from atlas.runtime.config.load import load_settings

from .processes import Place

CODE = {
    "app/core.py": 'def load_settings(path):\n    """Read the settings."""\n    return path\n',
    "app/attention.py": "def forward(tokens):\n    return [a * b for a in tokens for b in tokens]\n",
}
CLIENT = "tester/1.0"


@dataclass(frozen=True)
class Said:
    """An answer as text and as structured content."""

    text: str
    data: dict[str, Any]

    def ids(self, group: str) -> list[str]:
        return [item["id"] for item in self.data[group]]

    @property
    def id(self) -> str:
        """Id of what a call has written."""
        group = next(self.data[name] for name in ("observation", "unit", "entry", "entity") if name in self.data)
        return str(group[0]["id"])


@dataclass(frozen=True)
class Desk:
    session: Session
    place: Place
    client: str = CLIENT

    async def say(self, tool: str, **arguments: object) -> Said:
        """Return the answer of a call that must succeed; `from_` and `id_` stand for words of Python."""
        given = {name.rstrip("_"): value for name, value in arguments.items()}
        checked = check_arguments(BY_NAME[tool].input_schema, given)
        return Said(*await self.session.call(BY_NAME[tool], checked, no_report, self.client))

    async def refusal(self, tool: str, **arguments: object) -> str:
        """Return message and hint of a call that must be refused with an error of Code Atlas."""
        with pytest.raises(AtlasError) as error:
            await self.say(tool, **arguments)
        return f"{error.value.message} {error.value.hint}"

    def files(self) -> list[Path]:
        """All notes below the knowledge folder, also drafts that should not be left."""
        found = (self.place.root / ".knowledge").rglob("*")
        return sorted(path for path in found if path.is_file() and path.name != ".gitattributes")


async def no_report(done: float, total: float, message: str) -> None:
    """Take no notice of progress."""


def project(folder: Path, files: dict[str, str] = CODE) -> Place:
    place = Place(folder / "app", folder / "data")
    for name, text in files.items():
        file = place.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


@asynccontextmanager
async def desk(place: Place, *, personal: bool = False, **env: str) -> AsyncGenerator[Desk]:
    """The session of a server that writes notes; it makes the first index, and starts no daemon."""
    given = {"ATLAS_MCP_START_DAEMON": "false", **env}
    settings = load_settings(str(place.root), str(place.data), environment=given)
    session = make_session(settings, serves_agents=True, personal=personal)
    try:
        yield Desk(session, place)
    finally:
        await session.aclose()
