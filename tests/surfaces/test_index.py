"""`atlas index` and the `index` tool on a real tree: what they leave behind, what they say, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import Unavailable
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.data_folder import default_folder
from tests.raw_database import raw

from .processes import COMMAND, Place, answer, atlas, environment, refusal, server, text_of
from .shop import write_files


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The shop project with its index where it is by default, not there yet."""
    root = tmp_path / "shop"
    write_files(root)
    for file in root.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))  # older than what counts as just written
    return Place(root, default_folder(root))


def index(place: Place, *arguments: str) -> dict[str, Any]:
    done = atlas("index", str(place.root), "--json", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    summary = json.loads(done.stdout)
    assert isinstance(summary, dict)
    return summary


def test_index_then_ask(place: Place) -> None:
    before = sorted(path for path in place.root.rglob("*"))
    summary = index(place)
    assert summary["parsed"] == summary["changed"] == summary["files"] > 0
    assert summary["vectors"] > 0
    assert sorted(place.root.rglob("*")) == before, "indexing must not touch the project"
    found = atlas("search", "reduce the price for regular customers", cwd=place.root / "shop")
    assert "apply_discount(amount: int) -> int shop/cart.py:20" in found.stdout
    context = json.loads(atlas("context", "Cart.total", "--json", cwd=place.root).stdout)
    callees = next(section for section in context["sections"] if section["kind"] == "callees")
    assert "shop:shop.cart.apply_discount" in [one["uid"] for one in callees["neighbours"]]
    held = atlas("context", "Cart.total", cwd=place.root).stdout.splitlines()[2]
    assert held.startswith("in class shop.cart.Cart < ")
    assert held.endswith(" < project shop")


def test_index_for_people_ends_with_a_summary(place: Place) -> None:
    done = atlas("index", cwd=place.root)
    assert done.returncode == 0, done.stderr
    assert "shop at" in done.stdout
    assert "parsed" in done.stdout
    assert done.stderr == ""


def test_only_what_changed_is_parsed_and_what_is_gone_leaves(place: Place) -> None:
    index(place)
    again = index(place)
    assert (again["changed"], again["parsed"], again["written"]) == (0, 0, 0)
    (place.root / "shop" / "extra.py").write_text("def surplus():\n    return 1\n")
    added = index(place)
    assert (added["changed"], added["parsed"]) == (1, 1)
    assert atlas("node", "surplus", cwd=place.root).returncode == 0
    (place.root / "shop" / "extra.py").unlink()
    assert index(place)["removed"] == 1
    assert atlas("node", "surplus", cwd=place.root).returncode == 3
    assert index(place, "--full")["parsed"] == again["files"]


def test_what_is_left_out_because_of_its_content_is_no_change_but_what_becomes_so_is(tmp_path: Path) -> None:
    def summary() -> dict[str, int]:
        return json.loads(atlas("index", str(tmp_path), "--json").stdout)

    binary = b"x = 1\n\0\x01\x02" * 500
    (tmp_path / "one.py").write_text("x = 1\n")
    (tmp_path / "two.py").write_text("y = 1\n")
    (tmp_path / "dump.py").write_bytes(binary)
    for path in tmp_path.glob("*.py"):
        os.utime(path, (1_700_000_000, 1_700_000_000))  # else each was written too shortly before it was read
    first = summary()
    assert (first["files"], first["changed"], first["parsed"], first["skipped"]) == (2, 2, 2, 1)
    (tmp_path / "two.py").write_bytes(binary)
    (tmp_path / "dump.py").write_bytes(binary * 2)
    second = summary()
    assert (second["files"], second["changed"], second["removed"], second["skipped"]) == (1, 1, 1, 2)


def test_an_empty_folder_and_one_without_code_are_answers(tmp_path: Path) -> None:
    done = atlas("index", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "No file was indexed" in done.stdout
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert json.loads(atlas("index", str(tmp_path), "--json").stdout)["files"] == 0
    status = json.loads(atlas("status", "--project", str(tmp_path), "--skipped", "--json").stdout)
    assert [skip["path"] for skip in status["skipped_files"]] == ["photo.png"]
    found = atlas("search", "anything", "--project", str(tmp_path))
    assert found.returncode == 0
    assert "no hits" in found.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_skipped_with_its_reason(place: Place) -> None:
    secret = place.root / "shop" / "locked.py"
    secret.write_text("x = 1\n")
    secret.chmod(0)
    index(place)
    done = atlas("status", "--skipped", cwd=place.root)
    assert "shop/locked.py" in done.stdout


def test_a_second_writer_waits_and_says_for_whom_unless_told_not_to(place: Place) -> None:
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    waiting = None
    try:
        done = atlas("index", str(place.root), "--no-wait")
        assert done.returncode == 7
        assert f"process {os.getpid()} is writing" in done.stderr
        assert "hint: " in done.stderr
        waiting = subprocess.Popen(
            [*COMMAND, "index", str(place.root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert waiting.stderr is not None
        said = waiting.stderr.readline().decode()
        assert said.startswith(f"waiting: process {os.getpid()} is writing")
        assert waiting.poll() is None
        store._close()
        output, more = waiting.communicate(timeout=30)
        assert (waiting.returncode, more) == (0, b"")
        assert b"shop at" in output
    finally:
        store._close()
        if waiting is not None:
            waiting.kill()
            waiting.communicate()
    assert index(place)["parsed"] == 0


@pytest.mark.parametrize("damage", ["version", "garbage", "truncated"])
def test_full_rebuilds_a_store_that_cannot_be_used(place: Place, damage: str) -> None:
    index(place)
    file = place.data / "atlas.db"
    if damage == "version":
        connection = raw(file)
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
        connection.close()
    elif damage == "garbage":
        file.write_bytes(b"not a database" * 1000)
    else:
        file.write_bytes(file.read_bytes()[:5000])
    refused = atlas("index", str(place.root))
    assert refused.returncode in (5, 6)
    assert "--full" in refused.stderr
    assert index(place, "--full")["files"] > 0
    assert atlas("node", "Cart", cwd=place.root).returncode == 0


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.5])
def test_interrupting_leaves_an_index_that_the_next_pass_completes(place: Place, delay: float) -> None:
    for number in range(300):
        (place.root / f"module{number}.py").write_text(
            "\n".join(f"def f{number}_{k}():\n    return f{(number + 1) % 300}_{k}()" for k in range(20))
        )
    process = subprocess.Popen(
        [*COMMAND, "index", str(place.root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    while not place.data.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT), log  # the last: as the interpreter was ending
    assert b"Traceback" not in log
    assert index(place)["files"] >= 300
    assert atlas("node", "f299_19", cwd=place.root).returncode == 0
    assert index(place)["parsed"] == 0


async def test_the_index_tool_reports_progress_and_what_it_did(place: Place) -> None:
    reports: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with server(place, ATLAS_MCP_INDEX_ON_DEMAND="false") as client:
        assert "not indexed" in await refusal(client, "get_node", name="Cart")
        result = await client.call_tool("index", {}, progress_callback=note)
        assert not result.is_error, text_of(result)
        assert "files" in text_of(result)
        assert result.structured_content is not None
        assert result.structured_content["summary"]["files"] > 0
        assert result.structured_content["evidence"]["project"] == "shop"
        assert reports
        assert all(total == 100 and message for _, total, message in reports)
        done = [progress for progress, _, _ in reports]
        assert done == sorted(set(done))
        assert (done[0], done[-1]) == (0, 100)
        assert (await answer(client, "get_node", name="Cart"))["outcome"] == "found"
        (place.root / "shop" / "extra.py").write_text("def surplus():\n    return 1\n")
        again = await answer(client, "index")
        assert again["summary"]["parsed"] == 1
        assert (await answer(client, "get_node", name="surplus"))["outcome"] == "found"
        meaning = await answer(client, "vector_search", query="shopping cart of a customer")
        assert "class Cart" in [hit[0] for hit in meaning["hits"]]


async def test_the_index_tool_waits_a_while_and_says_when_someone_else_writes(place: Place) -> None:
    heard: list[str] = []

    async def report(done: float, total: float, message: str) -> None:
        heard.append(message)

    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    session = Session(load_settings(str(place.root), environment={}), index_patience=0.7)
    try:
        with pytest.raises(Unavailable, match="is writing to the index"):
            await session.call(BY_NAME["index"], {}, report)
        assert any("is writing to the index" in message for message in heard)
        patient = asyncio.create_task(session.call(BY_NAME["index"], {}, report))
        await asyncio.sleep(0.1)
        await store.aclose()
        text, _ = await patient
        assert "indexed now]" in text
    finally:
        await session.aclose()
        await store.aclose()


async def test_the_index_tool_can_be_withheld(place: Place) -> None:
    async with server(place, ATLAS_MCP_ALLOW_INDEX="false") as client:
        assert "index" not in [tool.name for tool in (await client.list_tools()).tools]


def test_export_of_an_incremental_index_equals_that_of_a_new_one(place: Place, tmp_path: Path) -> None:
    index(place)
    (place.root / "shop" / "cart.py").write_text("def apply_discount(amount):\n    return amount\n")
    (place.root / "shop" / "more.py").write_text(
        "from shop.cart import apply_discount\n\n\ndef f():\n    apply_discount(1)\n"
    )
    index(place)
    fresh = Place(place.root, tmp_path / "fresh")
    index(fresh, "--data-dir", str(fresh.data))
    exports = [atlas("export", "--canonical", *one.options).stdout for one in (place, fresh)]
    assert exports[0] == exports[1] != ""


async def test_reading_goes_on_while_the_server_indexes_and_a_second_index_waits_for_its_turn(place: Place) -> None:
    index(place)
    for number in range(150):
        (place.root / f"module{number}.py").write_text(
            "\n".join(f"def f{number}_{k}():\n    return f{(number + 1) % 150}_{k}()" for k in range(20))
        )
    async with server(place) as client:
        await answer(client, "get_node", name="Cart")
        first = asyncio.create_task(client.call_tool("index", {"full": True}))
        await asyncio.sleep(0)
        second = asyncio.create_task(client.call_tool("index", {}))
        read = 0
        while not first.done():
            assert (await answer(client, "get_node", name="Cart"))["outcome"] == "found"
            read += 1
        summaries = [(await one).structured_content for one in (first, second)]
        assert read
        assert all(summary is not None for summary in summaries)
        full, plain = (summary["summary"] for summary in summaries if summary)
        assert full["parsed"] == full["files"] > 150
        assert plain["parsed"] in (0, 150), "the new files are parsed by whichever pass takes the lock first"
        assert (await answer(client, "get_node", name="f149_19"))["outcome"] == "found"
