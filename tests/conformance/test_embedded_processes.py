"""Several processes on one embedded store: readers during writes, a writer that is killed, a second writer, a full disk."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.adapters.stores.sqlite.text_segments import are_sound
from atlas.core.errors import NotFound, QueryError, StoreError, Unavailable
from atlas.core.model import Direction, Filter, Match
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, edge, node, query, unit, vector
from tests.conformance.store_process import NODES, UNITS, batch
from tests.raw_database import raw

ROOT = Path(__file__).parents[2]


def process(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.conformance.store_process", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def open_store(folder: Path, writing: bool = False) -> EmbeddedStore:
    return EmbeddedStore.open(folder, writing=writing, vector_index=PythonVectorIndex)


async def assert_whole(store: EmbeddedStore) -> int:
    """Check that exactly one batch is visible in nodes, edges, texts and records; return its number (0 = none yet)."""
    nodes = await store.find("f", Match.PREFIX, Filter(), 10_000)
    if not nodes:
        assert await store.manifest(PROJECT) == {}
        return 0
    assert len(nodes) == UNITS * NODES
    (name,) = {found.row.docstring for found in nodes}
    number = int(name.removeprefix("batch"))
    edges = await store.edges([found.row.uid for found in nodes], Direction.OUT, limit=10_000)
    assert len(edges) == UNITS * NODES and {found.row.line for found in edges} == {number}
    assert len(await store.search_text([f"word{number}"], Filter(), 1000)) == UNITS * NODES
    assert await store.search_text([f"word{number - 1}", f"word{number + 1}"], Filter(), 1000) == []
    assert {record.unit_digest for record in (await store.manifest(PROJECT)).values()}
    return number


@pytest.mark.parametrize("seed", range(5))
async def test_a_killed_writer_leaves_whole_batches(tmp_path: Path, seed: int) -> None:
    pause = random.Random(seed).uniform(0, 0.25)
    writer = process("write", tmp_path)
    assert writer.stdout is not None
    printed = [int(writer.stdout.readline()) for _ in range(1 + seed % 3)]
    await asyncio.sleep(pause)
    writer.kill()
    printed += [int(line) for line in writer.communicate()[0].split() if line]

    reader = open_store(tmp_path)
    assert await assert_whole(reader) >= printed[-1]
    await reader.aclose()
    store = open_store(tmp_path, writing=True)
    connection = raw(tmp_path / "atlas.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert are_sound(connection, 1 << 40)
    connection.close()
    await store.apply(batch(7))
    assert await assert_whole(store) == 7
    await store.aclose()


async def test_readers_beside_a_writer(tmp_path: Path) -> None:
    writer = process("write", tmp_path)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "1\n"
    readers = [process("read", tmp_path, 1.5) for _ in range(3)]
    results = [reader.communicate(timeout=60) for reader in readers]
    writer.kill()
    writer.communicate()
    assert [(reader.returncode, result[1]) for reader, result in zip(readers, results, strict=True)] == [(0, "")] * 3


async def test_a_reader_never_waits_and_sees_the_state_before(tmp_path: Path) -> None:
    store = open_store(tmp_path, writing=True)
    await store.open_project(PROJECT, "/")
    one, two = node("a.one"), node("a.two")
    await store.apply([unit("a.py", [one], [edge("a.one", "a.one")])])
    await store.put_vectors(PROJECT, MODEL, [vector(one, 1, 0, 0, 0)])
    writing = raw(tmp_path / "atlas.db")
    writing.execute("BEGIN IMMEDIATE")
    writing.execute(
        "DELETE FROM node; DELETE FROM edge; DELETE FROM vector; DELETE FROM word_segment; UPDATE file SET path = 'z'"
    )
    reader = open_store(tmp_path)
    start = time.monotonic()
    for asked in (store, reader):
        assert [found.row for found in await asked.symbols([one.uid, two.uid])] == [one]
        assert len(await asked.edges([one.uid], Direction.OUT)) == 1
        assert list(await asked.manifest(PROJECT)) == ["a.py"]
        assert len(await asked.search_text(["one"], Filter(), 5)) == 1
        assert len(await asked.search_vector(query(1, 0, 0, 0), Filter(), 5)) == 1
    assert time.monotonic() - start < 2
    writing.execute("COMMIT")
    assert await reader.symbols([one.uid]) == []
    assert await reader.search_vector(query(1, 0, 0, 0), Filter(), 5) == []
    writing.close()
    await reader.aclose()
    await store.aclose()


async def test_a_second_writer_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    store = open_store(tmp_path, writing=True)
    with pytest.raises(Unavailable, match=f"process {os.getpid()} is writing"):
        open_store(tmp_path, writing=True)
    other = process("write", tmp_path)
    _, errors = other.communicate(timeout=60)
    assert other.returncode == 1 and f"process {os.getpid()} is writing" in errors
    await store.aclose()
    await store.aclose()
    again = open_store(tmp_path, writing=True)
    await again.aclose()


async def test_a_reading_store_refuses_to_write(tmp_path: Path) -> None:
    await open_store(tmp_path, writing=True).aclose()
    store = open_store(tmp_path)
    with pytest.raises(StoreError, match="for reading"):
        await store.open_project(PROJECT, "/")
    await store.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
async def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path, writing=True)
    await store.open_project(PROJECT, "/")
    await store.apply(batch(1))
    await store.aclose()
    size = (tmp_path / "atlas.db").stat().st_size
    filler = process("fill", tmp_path, size + 400_000)
    output, errors = filler.communicate(timeout=60)
    assert (filler.returncode, errors) == (0, "")
    name, message, hint = (part.strip() for part in output.split("|"))
    assert (name, bool(hint)) == ("StoreError", True) and str(tmp_path) in message

    store = open_store(tmp_path, writing=True)
    assert len(await store.find("m0.py", Match.PATH, Filter(), 100)) == NODES
    for path in await store.manifest(PROJECT):
        assert len(await store.find(path, Match.PATH, Filter(), 100)) in (1, NODES)
    await store.apply([unit("after.py", [node("after.f", "after.py")])])
    assert len(await store.symbols(["p:after.f"])) == 1
    await store.aclose()


async def test_closing_waits_for_the_write_that_runs(tmp_path: Path) -> None:

    store = open_store(tmp_path, writing=True)
    await store.open_project(PROJECT, "/")
    writing = asyncio.create_task(store.apply(batch(1)))
    await asyncio.sleep(0)
    writing.cancel()
    await store.aclose()
    reader = open_store(tmp_path)
    assert await assert_whole(reader) in (0, 1)
    await reader.aclose()


async def test_closing_ends_a_read_that_would_take_long(tmp_path: Path) -> None:
    store = open_store(tmp_path, writing=True)
    await store.open_project(PROJECT, "/")
    await store.apply(batch(1))
    endless = "MATCH (a:Function), (b:Function), (c:Function), (d:Function) RETURN count(a.name + b.name + c.name + d.name) AS n"
    reading = asyncio.create_task(store.cypher(endless, {}, 1, 60))
    await asyncio.sleep(0.3)
    start = time.monotonic()
    await store.aclose()
    with pytest.raises((Unavailable, QueryError)):
        await reading
    assert time.monotonic() - start < 5


async def test_readers_that_arrive_while_the_file_is_made_find_no_damage(tmp_path: Path) -> None:
    found: list[str] = []

    def read(folder: Path, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                store = open_store(folder)
            except NotFound:
                continue
            except StoreError as error:
                found.append(error.message)
            else:
                asyncio.run(store.aclose())
            return

    for number in range(40):
        folder, stop = tmp_path / str(number), threading.Event()
        folder.mkdir(mode=0o700)
        readers = [threading.Thread(target=read, args=(folder, stop)) for _ in range(3)]
        for reader in readers:
            reader.start()
        writer = open_store(folder, writing=True)
        try:
            await writer.open_project(PROJECT, "/root")
            await asyncio.sleep(0.03)
        finally:
            stop.set()
            for reader in readers:
                reader.join()
            await writer.aclose()
    assert found == []


async def test_reads_of_a_turn_share_a_transaction_that_ends_with_it(tmp_path: Path) -> None:
    writer, reader = open_store(tmp_path, writing=True), open_store(tmp_path)
    await writer.open_project(PROJECT, "/r")
    await writer.apply([unit("a.py", [node("a.f")])])
    await reader.projects()
    begun = 0

    def count(statement: str) -> None:
        nonlocal begun
        begun += statement == "BEGIN"

    (connection,) = reader._readers._open
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: count(event["sql"]))
    await asyncio.sleep(0.002)
    reader._yielded = time.monotonic() + 60  # no read gives way to other tasks
    assert [len(await reader.find("f", Match.SUFFIX, Filter(), 9)) for _ in range(3)] == [1, 1, 1]
    assert begun == 1 and connection.in_transaction

    await writer.apply([unit("b.py", [node("b.f", "b.py")])])
    assert not connection.in_transaction, "an open transaction would keep the log from being written back"
    assert len(await reader.find("f", Match.SUFFIX, Filter(), 9)) == 2
    await reader.aclose()
    await writer.aclose()
