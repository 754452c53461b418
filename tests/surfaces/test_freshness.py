"""Answers after edits: what is newer on disk is indexed first or named.

Servers, commands and daemons are real processes where processes matter; other tests use a server's session directly.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.answers.answer import Answer
from atlas.app.main import index_project
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.core.errors import NotFound
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.daemon import find_running
from atlas.runtime.process.tree_version import read_version

from .daemons import Home, home, until
from .processes import Place, atlas, server
from .processes import answer as answer_of_server

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings

CODE = {
    "app/core.py": 'def load_settings():\n    """Read the settings."""\n    return 1\n',
    "app/main.py": "from app.core import load_settings\n\n\ndef start():\n    return load_settings()\n",
    "README.md": "# App\n\nCalls `load_settings`.\n",
}


@pytest.fixture
async def app(tmp_path: Path) -> Place:
    """An indexed project of three files."""
    place = bare(tmp_path)
    await index_project(settings_of(place), no_progress)
    return place


@pytest.fixture
def daemon_home(tmp_path: Path) -> Iterator[Home]:
    with home(tmp_path) as opened:
        yield opened


def bare(folder: Path) -> Place:
    place = Place(folder / "app", folder / "data")
    for name, text in CODE.items():
        file = place.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


def settings_of(place: Place, **env: str) -> Settings:
    return load_settings(str(place.root), str(place.data), environment=env)


@asynccontextmanager
async def session(place: Place, **env: str) -> AsyncIterator[Session]:
    """The session of a server."""
    opened = Session(settings_of(place, **env), serves_agents=True)
    try:
        yield opened
    finally:
        await opened.aclose()


async def answer(client: Client | Session, tool: str, **arguments: object) -> dict[str, Any]:
    if isinstance(client, Client):
        return await answer_of_server(client, tool, **arguments)
    return (await client.call(BY_NAME[tool], arguments, no_report))[1]


async def no_report(done: float, total: float, message: str) -> None:
    """Take no notice of progress."""


def notes(found: dict[str, Any]) -> str:
    return "\n".join(found["evidence"].get("notes", ()))


async def settled(client: Client | Session, tool: str, **arguments: object) -> dict[str, Any]:
    """Return the first answer that no file is newer than: on a busy machine a pass outlasts the deadline of an answer.

    Until then, every answer says so.
    """
    end = time.monotonic() + 30.0
    while (found := await answer(client, tool, **arguments))["stale"]:
        assert "files newer than the index" in notes(found) or "first index is incomplete" in notes(found)
        assert time.monotonic() < end, found
    return found


async def outcome(client: Client | Session, name: str) -> str:
    return str((await settled(client, "get_node", name=name))["outcome"])


async def test_edits_between_questions_are_indexed_before_the_answer(app: Place) -> None:
    async with server(app) as client:
        assert await outcome(client, "load_settings") == "found"
        (app.root / "extra.py").write_text(
            "from app.core import load_settings\n\n\ndef fresh_one():\n    return load_settings()\n"
        )
        assert await outcome(client, "fresh_one") == "found", "a new file"
        related = await settled(client, "hybrid_search", query="callers of load_settings")
        assert "extra.py" in related["relation"]["edges"]
        assert "notes" not in related["evidence"]
        (app.root / "extra.py").rename(app.root / "app" / "moved.py")
        found = await settled(client, "get_node", name="fresh_one")
        assert found["node"]["place"] == "app/moved.py:4", "a renamed file"
        (app.root / "app" / "moved.py").write_text("def second_one():\n    return 2\n")
        assert await outcome(client, "fresh_one") == "not_found", "a changed file"
        table = await settled(client, "cypher_query", query="MATCH (f:Function) RETURN f.name ORDER BY f.name")
        assert ["second_one"] in table["rows"]
        (app.root / "app" / "moved.py").unlink()
        gone = await settled(client, "hybrid_search", query="second_one")
        assert "app/moved.py" not in str(gone["hits"]), "a deleted file"
        assert gone["stale"] is False
        (app.root / ".gitignore").write_text("app/main.py\n")
        assert await outcome(client, "start") == "not_found", "a file that has left the scope"


async def test_a_file_that_cannot_be_indexed_is_tried_once(app: Place) -> None:
    (app.root / "blob.py").write_bytes(b"blob_name = 1\n\0\0\0")
    async with session(app) as client:
        first = await settled(client, "get_node", name="blob_name")
        assert first["outcome"] == "not_found"
        assert first["evidence"].get("freshness", "") != "stale", "a refused file is not newer"
        again = await answer(client, "get_node", name="blob_name")
        assert again["evidence"]["generation"] == first["evidence"]["generation"]


async def test_many_newer_files_are_named_and_searched_as_text(app: Place) -> None:
    for number in range(25):
        (app.root / f"more{number:02}.py").write_text(f"def many_{number}():\n    return load_settings()\n")
    (app.root / "app" / "main.py").unlink()
    async with session(app) as client:
        found = await answer(client, "get_node", name="many_7")
        assert found["outcome"] == "not_found"
        assert "`many_7` appears in more07.py:1, which is not indexed yet" in notes(found)
        assert "25 new, 1 deleted (more00.py, more01.py, more02.py and 23 more)" in notes(found)
        text, _ = await client.call(BY_NAME["get_node"], {"name": "many_7"}, no_report)
        assert "not found in the index" in text
        callers = await answer(client, "hybrid_search", query="callers of load_settings")
        assert callers["stale"] is True
        assert callers["evidence"]["stale_files"] == {"app/main.py": "deleted"}
        assert "`load_settings` appears in more00.py:2" in notes(callers)
        status = await answer(client, "status")
        (project,) = status["projects"]
        assert (project["stale_files"], project["new_files"], project["deleted_files"]) == (26, 25, 1)


async def test_what_a_question_has_read_is_free_after_its_answer(app: Place) -> None:
    async with session(app) as opened:
        await answer(opened, "hybrid_search", query="how are settings loaded")
        left: list[int] = []
        gc.disable()
        try:
            # a module that a question imports and a thread of an earlier test leave cycles once, a question each time
            for query in ("where does the app start", "callers of load_settings", "where does the app start"):
                gc.collect()
                await answer(opened, "hybrid_search", query=query)
                left.append(gc.collect())
        finally:
            gc.enable()
    assert min(left) < 50, "cycles keep the texts of a question until the next full collection"


async def test_a_reading_session_and_an_unusable_folder_name_what_is_newer(app: Place) -> None:
    (app.root / "extra.py").write_text("def fresh_one():\n    return 1\n")
    async with session(app, ATLAS_MCP_ALLOW_INDEX="false") as client:
        found = await answer(client, "get_node", name="fresh_one")
        assert "`fresh_one` appears in extra.py:1" in notes(found)
        assert "run `atlas index`" in notes(found)
    lock = app.data / "writer.lock"
    lock.unlink()
    lock.mkdir()
    async with session(app) as client:
        found = await answer(client, "get_node", name="fresh_one")
        assert "`fresh_one` appears in extra.py:1" in notes(found)
        assert "they cannot be indexed" in notes(found)
        assert (await answer(client, "get_node", name="load_settings"))["outcome"] == "found"


async def test_a_folder_that_is_gone_is_named_and_the_index_still_answers(app: Place) -> None:
    async with session(app) as client:
        found = await answer(client, "hybrid_search", query="load_settings")
        assert "is gone" not in notes(found)
        shutil.rmtree(app.root)
        found = await answer(client, "hybrid_search", query="load_settings")
        assert f"the project folder is gone: {app.root}" in notes(found)
        assert (await answer(client, "get_node", name="load_settings"))["outcome"] == "found"
        assert "is gone" in notes(await answer(client, "hybrid_search", query="callers of load_settings"))


async def test_another_writer_delays_an_answer_only_for_a_moment(app: Place) -> None:
    async with session(app) as client, session(app) as second:
        (app.root / "extra.py").write_text("def fresh_one():\n    return 1\n")
        assert await asyncio.gather(outcome(client, "fresh_one"), outcome(second, "fresh_one")) == ["found", "found"]
        store = EmbeddedStore.open(app.data, writing=True, vector_index=VectorIndex)
        try:
            (app.root / "later.py").write_text("def later_one():\n    return 1\n")
            started = time.monotonic()
            found = await answer(client, "get_node", name="later_one")
            assert time.monotonic() - started < 10.0
            assert "`later_one` appears in later.py:1" in notes(found)
            assert f"process {os.getpid()}" in notes(found)
        finally:
            await store.aclose()
        assert await outcome(client, "later_one") == "found"


async def test_a_file_that_is_being_rewritten_does_not_hold_up_answers(app: Place) -> None:
    stop = threading.Event()

    def rewrite() -> None:
        count = 0
        while not stop.is_set():
            count += 1
            (app.root / "busy.py").write_text(f"def busy_{count}():\n    return {count}\n" * (count % 50 + 1))

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        async with session(app) as client:
            for _ in range(3):
                assert (await answer(client, "get_node", name="load_settings"))["outcome"] == "found"
    finally:
        stop.set()
        writer.join()


async def test_the_first_question_makes_the_index(tmp_path: Path) -> None:
    place = bare(tmp_path)
    async with server(place) as client, server(place) as second:
        found = await asyncio.gather(
            *(one.call_tool("get_node", {"name": "load_settings"}) for one in (client, second))
        )
        for result in found:
            told = str(result)
            assert not result.is_error or "is being indexed" in told, told
        assert await outcome(client, "load_settings") == "found"


async def test_no_index_is_made_where_it_is_not_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = bare(tmp_path)
    async with session(place, ATLAS_MCP_INDEX_ON_DEMAND="false") as client:
        with pytest.raises(NotFound, match="not indexed yet"):
            await outcome(client, "load_settings")
    for folder, why in ((place.root, "is the home folder"), (place.root / "app", "contains the home folder")):
        monkeypatch.setenv("HOME", str(folder))
        async with session(place) as client:
            with pytest.raises(NotFound, match=why):
                await outcome(client, "load_settings")
    assert not place.data.exists()


async def test_an_interrupted_first_index_is_told_and_continued(tmp_path: Path) -> None:
    place = bare(tmp_path)
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    await store.open_project("app", str(place.root))
    await store.aclose()
    done = atlas("search", "load_settings", *place.options, env={"ATLAS_MCP_INDEX_ON_DEMAND": "false"})
    assert done.returncode == 3
    assert "the first index is incomplete" in done.stdout
    assert "0 of 3 files indexed; `atlas index` completes it" in done.stdout
    assert "vectors" not in done.stdout
    assert "`atlas index`" in atlas("status", *place.options).stdout
    async with session(place) as client:
        assert await outcome(client, "load_settings") == "found"


async def test_answers_during_a_first_index_claim_nothing_of_files_that_wait(tmp_path: Path) -> None:
    place = bare(tmp_path)
    (place.root / "boot.zig").write_text("fn foo() void {}\n")
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    await store.open_project("app", str(place.root))
    calls = {"search": ("load_settings",), "context": ("load_settings",), "impact": ("load_settings",), "status": ()}
    for command, words in calls.items():
        done = atlas(command, *words, *place.options)
        told = done.stdout + done.stderr
        assert "another process is indexing" in told, told
        for claim in ("supported language", "vectors match", "indexed files", "never indexed", "`atlas index`"):
            assert claim not in told, told
    assert "index: the first index is under way" in atlas("health", *place.options).stdout
    await store.aclose()


def test_commands_index_newer_files_and_status_counts_them(app: Place) -> None:
    (app.root / "extra.py").write_text("def fresh_one():\n    return 1\n")
    (app.root / "app" / "core.py").write_text("def load_settings():\n    return 22\n")
    (app.root / "app" / "main.py").unlink()
    status = atlas("status", *app.options)
    assert "stale: 3 files (1 new, 1 changed, 1 deleted)" in status.stdout, status.stdout + status.stderr
    found = atlas("node", "fresh_one", *app.options)
    assert (found.returncode, "fresh]" in found.stdout) == (0, True)
    assert "stale: 0 files," in atlas("status", *app.options).stdout


async def test_a_tree_of_unsupported_languages_says_so(tmp_path: Path) -> None:
    place = Place(tmp_path / "zig", tmp_path / "data")
    place.root.mkdir()
    for number in range(3):
        (place.root / f"a{number}.zig").write_text("fn foo() void {}\n")
    (place.root / "README.md").write_text("# Zig\n")
    async with session(place) as client:
        found = await answer(client, "get_node", name="foo")
        assert "no code of this project is in a supported language: .zig 3" in notes(found)


def test_a_failed_index_leaves_no_data_folder(tmp_path: Path) -> None:
    done = atlas("index", str(tmp_path / "missing"), "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 2
    assert not (tmp_path / "data").exists()


def at(opened: Home) -> Place:
    return Place(opened.root, opened.data)


async def test_the_daemon_keeps_answers_fresh_and_spares_the_check(daemon_home: Home) -> None:
    daemon_home.run("daemon", "start", "--data-dir", str(daemon_home.data))
    daemon_home.running()

    def settled() -> bool:
        version = read_version(daemon_home.data, "first", daemon_home.root)
        return version is not None and version.noticed == version.indexed

    until(settled, "index and tree are equal")
    async with session(at(daemon_home)) as client:
        (daemon_home.root / "extra.py").write_text("def fresh_one():\n    return 1\n")
        assert await outcome(client, "fresh_one") == "found"
        until(settled, "index and tree are equal again")
        assert await outcome(client, "fresh_one") == "found"
        running = find_running(daemon_home.data)
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        until(lambda: find_running(daemon_home.data) is None, "the daemon is gone")
        (daemon_home.root / "later.py").write_text("def later_one():\n    return 1\n")
        assert await outcome(client, "later_one") == "found"


async def test_the_first_session_starts_the_daemon_for_all(daemon_home: Home) -> None:
    wanted = {"ATLAS_MCP_START_DAEMON": "true"}
    async with server(at(daemon_home), **wanted) as client, server(at(daemon_home), **wanted) as second:
        found = await asyncio.gather(client.call_tool("status", {}), second.call_tool("health", {}))
        assert find_running(daemon_home.data) is None, "a question about the installation starts nothing"
        found = await asyncio.gather(
            *(one.call_tool("hybrid_search", {"query": "anything"}) for one in (client, second))
        )
        assert not any(result.is_error for result in found)
        running = daemon_home.running()
    assert find_running(daemon_home.data) == daemon_home.running(), "it survives the sessions"
    assert running.pid == daemon_home.running().pid
    assert (
        f"stopped: process {running.pid}"
        in daemon_home.run("daemon", "stop", "--data-dir", str(daemon_home.data)).stdout
    )
    (daemon_home.data / "logs").rename(daemon_home.data / "old-logs")
    (daemon_home.data / "logs").write_text("in the way")
    async with server(at(daemon_home), **wanted) as client:
        await client.call_tool("hybrid_search", {"query": "anything"})
        assert "could not be started" in notes(await answer(client, "status"))
        checks = (await answer(client, "health"))["checks"]
        assert checks["daemon"].startswith("broken: could not be started")


async def test_no_tool_runs_twice_for_a_note_or_a_newer_file_that_is_only_named(app: Place) -> None:
    tool, runs = BY_NAME["get_node"], list[str]()

    async def counted(atlas: Atlas, **arguments: str) -> Answer:
        runs.append(arguments["name"])
        return await tool.run(atlas, arguments)

    counting = replace(tool, handler=counted)
    (app.root / "app/new.py").write_text("def surplus():\n    return 2\n")
    async with session(app, ATLAS_MCP_ALLOW_INDEX="false") as named:
        said = (await named.call(counting, {"name": "surplus"}, no_report))[1]
        assert runs == ["surplus"]
        assert said["outcome"] == "not_found" and said["stale"] is True
        assert "files newer than the index: 1 new (app/new.py)" in notes(said)
        assert "`surplus` appears in app/new.py:1, which is not indexed yet" in notes(said)
        tight = (await named.call(counting, {"name": "surplus", "token_budget": 1}, no_report))[1]
        assert tight["evidence"]["below_floor"] is True and len(runs) == 2
    async with session(app) as indexing:
        said = (await indexing.call(counting, {"name": "surplus"}, no_report))[1]
        assert said["outcome"] == "found" and runs[2:] == ["surplus", "surplus"]  # the index changed under it
