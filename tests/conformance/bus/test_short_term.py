"""Short-term memory in a file and on a real server: the same answers, and nothing after it has expired."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey import memory as valkey_memory
from atlas.adapters.buses.valkey.connection import Connection
from atlas.adapters.buses.valkey.memory import ValkeyMemory
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.stores.sqlite import short_term as sqlite_short_term
from atlas.adapters.stores.sqlite.short_term import FILE, ShortTermFile
from atlas.core import short_term
from atlas.core.errors import StoreError, Unavailable
from atlas.core.short_term import ShortTermEntry, ShortTermMemory

OpenMemory = Callable[[], ShortTermMemory]


@pytest.fixture(params=["disk", "valkey"])
async def open_memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenMemory]:
    opened: list[ShortTermMemory] = []
    prefix = f"{secrets.token_hex(6)}:"

    def opening() -> ShortTermMemory:
        if request.param == "disk":
            opened.append(ShortTermFile(tmp_path))
        else:
            server: ManagedServer = request.getfixturevalue("bus_server")
            opened.append(ValkeyMemory(Connection.open(server.url), prefix))
        return opened[-1]

    yield opening
    for memory in opened:
        await memory.aclose()


def entry(number: int, seconds: float = 60.0, content: str = "") -> ShortTermEntry:
    now = time.time()
    text = content or f"entry {number}"
    return ShortTermEntry(f"s-{number:04}", text, now + number, now + seconds, "cursor/1", os.urandom(1024), b"")


async def test_entries_come_newest_first_to_every_process(open_memory: OpenMemory) -> None:
    memory, other = open_memory(), open_memory()
    written = [entry(number) for number in range(5)]
    for one in written:
        await memory.put(one)
    assert await memory.entries() == await other.entries() == written[::-1]
    assert await memory.entries(2) == written[:2:-1]


async def test_any_text_is_kept(open_memory: OpenMemory) -> None:
    memory = open_memory()
    one = entry(1, content="line\nbreak \t \u202e \U0001f980 'quote' \"double\" {} [] \\ %")
    await memory.put(one)
    assert await memory.entries() == [one]


async def test_the_same_id_replaces_and_delete_says_whether_it_was_there(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.put(entry(1))
    newer = entry(1, content="newer")
    await memory.put(newer)
    assert await memory.entries() == [newer]
    assert [await memory.delete("s-0001"), await memory.delete("s-0001"), await memory.entries()] == [True, False, []]


async def test_an_entry_expires(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.put(entry(1, 0.15))
    await memory.put(entry(2, -1.0))
    await memory.put(entry(3))
    assert [one.id for one in await memory.entries()] == ["s-0003", "s-0001"]
    await asyncio.sleep(0.2)
    assert [one.id for one in await memory.entries()] == ["s-0003"]
    assert not await memory.delete("s-0001")


async def test_the_oldest_make_room(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sqlite_short_term, valkey_memory):
        monkeypatch.setattr(module, "MAX_ENTRIES", 3)
    memory = open_memory()
    for number in range(6):
        await memory.put(entry(number))
    assert [one.id for one in await memory.entries()] == ["s-0005", "s-0004", "s-0003"]
    assert short_term.MAX_ENTRIES == 10_000


async def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    (tmp_path / FILE).chmod(0o600)
    memory = ShortTermFile(tmp_path)
    await memory.put(entry(1))
    assert len(await memory.entries()) == 1
    await memory.aclose()
    assert (tmp_path / f"{FILE}.damaged-1").read_bytes().startswith(b"no database")


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        ShortTermFile(tmp_path / "file")
    assert caught.value.hint


async def test_a_server_that_is_gone_is_unavailable(tmp_path: Path) -> None:
    memory = ValkeyMemory(Connection.open(str(tmp_path / "no.sock")), "x:")
    with pytest.raises(Unavailable):
        await memory.put(entry(1))
    await memory.aclose()


async def test_a_failure_that_passes_is_tried_again_and_one_that_stays_is_said(
    tmp_path: Path, bus_server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket appears during the first pause; that of the other memory never does."""
    assert (short_term.ATTEMPTS, short_term.FIRST_PAUSE, short_term.LONGEST_PAUSE) == (3, 1.0, 10.0)
    pauses: list[float] = []
    late = tmp_path / "late.sock"

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        late.symlink_to(bus_server.url) if len(pauses) == 1 else None

    monkeypatch.setattr(short_term.asyncio, "sleep", pause)
    memory = short_term.PatientMemory(ValkeyMemory(Connection.open(str(late)), f"{secrets.token_hex(6)}:"))
    await memory.put(entry(1))
    assert [one.id for one in await memory.entries()] == ["s-0001"]
    assert pauses == [1.0]
    await memory.aclose()
    gone = short_term.PatientMemory(ValkeyMemory(Connection.open(str(tmp_path / "no.sock")), "x:"))
    with pytest.raises(Unavailable):
        await gone.entries()
    assert pauses == [1.0, 1.0, 2.0]
    await gone.aclose()
