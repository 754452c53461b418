"""The user's own notes: in the user's data folder, for the user alone, and never on a server of the project."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from atlas.app.session import make_session
from atlas.runtime.config.load import load_settings, personal_settings

from .http_server import http_server
from .knowledge import Desk, desk, project
from .processes import answer as answer_of
from .processes import server

TOKEN = secrets.token_urlsafe(32)
WRITES = ("--toolsets", "claims,memory")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, also of the processes that a test starts."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path / "data"


def everything(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.md"))]


async def test_personal_notes_are_kept_apart_and_joined_to_answers(home: Path, tmp_path: Path) -> None:
    place = project(tmp_path / "p")
    async with desk(place, personal=True) as memory:
        assert (await memory.say("refresh", greeting="hello")).data["status"] == "none"
        assert (await memory.say("list_entities")).data["status"] == "none"
        assert not everything(home) and not memory.files(), "reads create nothing"
        said = await memory.say("remember", entity="The user", observation="Prefers short answers.", personal=True)
        claim = await memory.say("ingest_hypothesis", hypothesis="Short answers are read.", personal=True)
        shared = await memory.say("remember", entity="The team", observation="Prefers short meetings.")
        assert len(memory.files()) == 1, "the project's folder has the project's note only"
        assert len(everything(home)) == 2
        found = await memory.say("recall", query="prefers short")
        personal = {one["id"]: one.get("personal", False) for one in found.data["memories"]}
        assert personal == {said.id: True, claim.id: True, shared.id: False}
        assert "; personal" in found.text
        own = await memory.say("update_unit", id=claim.id, confidence=0.4)
        assert own.data["status"] == "changed"
        listed = await memory.say("list_propositions")
        assert listed.ids("units") == [claim.id] and listed.data["units"][0]["personal"] is True
        mixed = (await memory.say("ingest_hypothesis", hypothesis="Of the project.")).id
        assert "different folders" in await memory.refusal(
            "connect_propositions", from_=claim.id, to=mixed, relation="supports"
        )
        await memory.say("forget", id=said.id)
        assert said.id not in (await memory.say("recall", query="prefers short")).ids("memories")
    async with desk(project(tmp_path / "q"), personal=True) as elsewhere:
        assert claim.id in (await elsewhere.say("semantic_search", query="short answers")).ids("units")
    async with desk(place) as without:
        assert (await without.say("semantic_search", query="short answers are read")).ids("units") in ([], [mixed])
        assert "not available here" in await without.refusal("remember", entity="X", observation="y", personal=True)


async def test_pages_of_lists_go_on_from_the_project_to_personal_notes(home: Path, tmp_path: Path) -> None:
    async with desk(project(tmp_path / "p"), personal=True) as memory:
        known = [
            (await memory.say("ingest_hypothesis", hypothesis=f"Fact {at} holds.", personal=at % 2 == 0)).id
            for at in range(5)
        ]
        seen: list[str] = []
        cursor = ""
        for _ in known:
            page = await memory.say("list_propositions", limit=2, order="oldest", cursor=cursor)
            seen += page.ids("units")
            cursor = page.data["evidence"].get("cursor", "")
            if not cursor:
                break
        assert seen == [*known[1::2], *known[::2]]


def test_personal_notes_reach_no_server(home: Path, tmp_path: Path) -> None:
    environment = {
        "ATLAS_STORE_URL": "bolt://store.example.org:7687",
        "ATLAS_BUS_URL": "valkey://bus.example.org:6379",
        "ATLAS_EMBEDDER_PROVIDER": "openai",
        "ATLAS_EMBEDDER_MODEL": "text-embedding-3-small",
        "ATLAS_EMBEDDER_URL": "https://embedder.example.org",
    }
    project(tmp_path / "p")
    settings = load_settings(str(tmp_path / "p/app"), str(tmp_path / "d"), environment=environment)
    own = personal_settings(settings)
    assert all("example.org" in url for url in (settings.store.url, settings.bus.url, settings.embedder.url))
    assert (own.store.url, own.bus.url, own.embedder.url, own.embedder.provider) == ("", "", "", "none")
    assert own.root.is_relative_to(home) and not own.shared and own.data_dir != settings.data_dir


PERSONAL = {"entity": "The user", "observation": "Prefers short answers.", "personal": True}
OVER_HTTP: dict[str, dict[str, Any]] = {
    "no token": {"env": {"ATLAS_KNOWLEDGE_PERSONAL_OVER_HTTP": "true"}, "served": False},
    "no setting": {"env": {"ATLAS_MCP_TOKEN": TOKEN}, "served": False},
    "both": {"env": {"ATLAS_MCP_TOKEN": TOKEN, "ATLAS_KNOWLEDGE_PERSONAL_OVER_HTTP": "true"}, "served": True},
}


async def test_a_process_serves_them_on_stdio_and_over_http_only_with_token_and_setting(
    home: Path, tmp_path: Path
) -> None:
    place = project(tmp_path / "p")
    user = {name: os.environ[name] for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    quiet = {**user, "ATLAS_MCP_START_DAEMON": "false"}
    async with server(place, *WRITES, **quiet) as client:
        assert (await answer_of(client, "remember", **PERSONAL))["status"] == "created"
        assert "Prefers short" in str(await answer_of(client, "recall", query="short answers"))
    for case, rule in OVER_HTTP.items():
        with http_server(place, *WRITES, **quiet, **rule["env"]) as served:
            headers = {"Authorization": f"Bearer {TOKEN}"} if "ATLAS_MCP_TOKEN" in rule["env"] else {}
            found = served.ask("recall", {"query": "short answers"}, **headers).result
            assert ("Prefers short answers" in str(found)) == rule["served"], case
            written = served.ask("remember", {**PERSONAL, "observation": case}, **headers).result
            assert written.get("isError", False) != rule["served"], case
    assert len(everything(home)) == 1


async def test_a_setting_leaves_them_out(home: Path, tmp_path: Path) -> None:
    place = project(tmp_path / "p")
    settings = load_settings(str(place.root), str(place.data), environment={"ATLAS_KNOWLEDGE_PERSONAL": "false"})
    session = make_session(settings, serves_agents=True)
    assert "not available here" in await Desk(session, place).refusal("remember", **PERSONAL)
    await session.aclose()
    assert not everything(home)
