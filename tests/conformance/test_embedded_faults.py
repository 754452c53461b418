"""What a writer meets in weeks: a full disk, a lock, a lost file, readers that never pause. Each ends, and the store goes on."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.adapters.stores.sqlite.text_segments import MAX_SEGMENTS, are_sound
from atlas.core.errors import AtlasError, StoreError, Unavailable
from atlas.core.model import FileRecord, Filter, GraphDelta, Match, Skipped
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, gone, node, unit, vector
from tests.conformance.store_process import NODES, UNITS, batch
from tests.raw_database import raw

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000


def open_store(folder: Path, writing: bool = True) -> EmbeddedStore:
    return EmbeddedStore.open(folder, writing=writing, vector_index=PythonVectorIndex)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if sys.platform != "linux" or not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("may not mount a file system here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def resize(disk: Path, megabytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(disk)], check=True)


def hold_the_lock(folder: Path) -> subprocess.Popen[str]:
    """Start a process that may write and does not, until it is told to end."""
    command = [sys.executable, "-m", "tests.conformance.store_process", "hold", str(folder)]
    holder = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    return holder


async def fill(store: EmbeddedStore, numbers: Iterator[int]) -> AtlasError:
    """Apply units until one is refused; return the error."""
    for number in numbers:
        row = node(f"x{number}.f", f"x{number}.py")
        try:
            await store.apply([unit(row.path, [row], content=os.urandom(50_000))])
        except AtlasError as error:
            return error
    raise AssertionError("never full")


async def assert_batch(store: EmbeddedStore, number: int) -> None:
    nodes = await store.find("f", Match.PREFIX, Filter(path="m*"), 10_000)
    assert len(nodes) == UNITS * NODES and {found.row.docstring for found in nodes} == {f"batch{number}"}
    assert len(await store.search_text([f"word{number}"], Filter(), 10_000)) == UNITS * NODES


async def test_a_full_disk_and_space_again(small_disk: Path) -> None:
    store = open_store(small_disk / "data")
    await store.open_project(PROJECT, "/")
    first = batch(1)
    await store.apply(first)
    rows = [row for delta in first for row in delta.nodes or ()]
    numbers = itertools.count()
    for turn in range(3):
        error = await fill(store, numbers)
        assert isinstance(error, StoreError) and "space" in error.message and error.hint
        with pytest.raises(StoreError):
            await store.apply(batch(2 + turn))
        with suppress(StoreError):
            await store.put_vectors(PROJECT, MODEL, [vector(row, 0, 1, 0, 0) for row in rows])
        await assert_batch(store, 1)
        manifest = await store.manifest(PROJECT)
        for path in manifest:
            assert len(await store.find(path, Match.PATH, Filter(), 100)) in (1, NODES)
        # what is deleted is overwritten, in the log first: that takes as much space as was deleted
        resize(small_disk, 8 << turn)
        await store.apply([gone(path) for path in manifest if path.startswith("x")])
        await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for row in rows])
        assert await store.stale_chunks(PROJECT, MODEL, 10, uids=[row.uid for row in rows]) == []
        await store.finish(PROJECT, [Skipped("z", "binary")])
    await store.apply(batch(9))
    await assert_batch(store, 9)
    await store.aclose()
    whole = raw(small_disk / "data" / "atlas.db")
    assert whole.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert are_sound(whole, 1 << 40)
    whole.close()


@pytest.mark.parametrize("killed", [False, True])
async def test_readers_answer_on_a_full_disk(small_disk: Path, tmp_path: Path, killed: bool) -> None:
    """Nothing can be written, so no shared memory can be made; with a log that was left by a writer that was killed."""
    folder = small_disk / "data"
    store = open_store(folder)
    await store.open_project(PROJECT, "/")
    await store.apply(batch(1))
    await store.finish(PROJECT)
    await store.apply(batch(2))
    if killed:
        for suffix in ("", "-wal"):
            shutil.copy(folder / f"atlas.db{suffix}", tmp_path)
    await store.aclose()
    if killed:
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"atlas.db{suffix}", folder)
        assert (folder / "atlas.db-wal").stat().st_size > 10_000
    fill_disk(small_disk)
    reader = open_store(folder, writing=False)
    await assert_batch(reader, 2)
    with pytest.raises(StoreError, match="no space left on the disk") as caught:
        open_store(folder)
    assert str(folder) in caught.value.message and str(small_disk) in caught.value.message and caught.value.hint
    await assert_batch(reader, 2)
    (small_disk / "filling").unlink()
    await assert_batch(reader, 2)
    store = open_store(folder)
    await store.apply(batch(3))
    await assert_batch(reader, 3)
    await store.finish(PROJECT)
    await assert_batch(reader, 3)
    await store.aclose()
    await reader.aclose()


def fill_disk(disk: Path) -> None:
    with pytest.raises(OSError, match="space"), (disk / "filling").open("wb", buffering=0) as file:
        for size in itertools.chain(itertools.repeat(100_000, 1000), itertools.repeat(1)):
            with suppress(OSError) if size > 1 else nullcontext():
                file.write(bytes(size))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_readers_answer_where_no_file_may_grow(tmp_path: Path) -> None:
    asyncio.run(one_batch(tmp_path))
    command = [sys.executable, "-m", "tests.conformance.store_process", "limited", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    first, refused, last = done.stdout.splitlines()
    assert first == f"{UNITS * NODES} batch1"
    assert "no space left" in refused and str(tmp_path) in refused
    assert last == f"{UNITS * NODES} batch8"


async def one_batch(folder: Path) -> None:
    store = open_store(folder)
    await store.open_project(PROJECT, "/")
    await store.apply(batch(1))
    await store.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_files_that_may_not_grow_and_then_may(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.store_process", "recover", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["StoreError StoreError", "whole"]


async def test_a_lock_held_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas.adapters.stores.sqlite.file.connection.BUSY_MS", 200)
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    one = node("a.one")
    await store.apply([unit("a.py", [one])])
    with hold_the_lock(tmp_path) as holder:
        writes = (
            lambda: store.apply([unit("a.py", [node("a.two")])]),
            lambda: store.put_vectors(PROJECT, MODEL, [vector(one, 1, 0, 0, 0)]),
            lambda: store.finish(PROJECT),
        )
        for write in writes:
            with pytest.raises(Unavailable) as caught:
                await write()
            assert caught.value.hint
        assert [found.row for found in await store.symbols([one.uid])] == [one]
        holder.communicate("go\n")
    for write in writes:
        await write()
    assert [found.row.name for found in await store.find("a.py", Match.PATH, Filter(), 5)] == ["two"]
    await store.aclose()


async def test_an_index_that_was_removed_takes_no_more_writes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    (tmp_path / "atlas.db").rename(tmp_path / "aside.db")
    with pytest.raises(StoreError, match="removed") as caught:
        await store.apply([unit("a.py", [node("a.one")])])
    assert caught.value.hint
    (tmp_path / "aside.db").rename(tmp_path / "atlas.db")
    await store.apply([unit("a.py", [node("a.one")])])
    await store.aclose()


async def test_the_log_stays_short_while_readers_never_pause(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    await store.apply(batch(1))
    readers = [open_store(tmp_path, writing=False) for _ in range(5)]
    writing = True

    async def read(reader: EmbeddedStore) -> int:
        count = 0
        while writing:
            assert len(await reader.find("m0.py", Match.PATH, Filter(), 100)) == NODES
            count += 1
        return count

    reading = [asyncio.create_task(read(reader)) for reader in readers for _ in range(4)]
    longest = 0
    for number in range(36):
        await store.apply([unit(f"x{number % 3}.py", content=os.urandom(2 * MEGABYTE))])
        longest = max(longest, (tmp_path / "atlas.db-wal").stat().st_size)
    writing = False
    assert all(await asyncio.gather(*reading))
    assert longest < 64 * MEGABYTE
    for reader in readers:
        await reader.aclose()
    await store.aclose()


async def test_the_log_starts_anew_when_an_old_reader_is_gone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    old = raw(tmp_path / "atlas.db", writing=False)
    old.execute("BEGIN")
    assert old.execute("SELECT count(*) FROM file").fetchall() == [(0,)]
    log = tmp_path / "atlas.db-wal"
    for number in range(25):
        await store.apply([unit(f"x{number % 3}.py", content=os.urandom(2 * MEGABYTE))])
    assert log.stat().st_size > 48 * MEGABYTE
    assert old.execute("SELECT count(*) FROM file").fetchall() == [(0,)]
    old.close()
    for number in range(10):
        await store.apply([unit(f"x{number % 3}.py", content=os.urandom(2 * MEGABYTE))])
    assert log.stat().st_size < 40 * MEGABYTE
    await store.aclose()


async def test_a_write_does_not_wait_for_readers(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    delta = unit("a.py", [node("a.one")])
    await store.apply([delta])
    old = raw(tmp_path / "atlas.db", writing=False)
    old.execute("BEGIN")
    old.execute("SELECT count(*) FROM file").fetchall()
    async with asyncio.timeout(2):
        record = dataclasses.replace(delta.record or FileRecord("a.py"), stale=True)
        await store.apply([GraphDelta(PROJECT, "a.py", record)])
        await store.finish(PROJECT)
    assert (await store.manifest(PROJECT))["a.py"].stale
    old.close()
    await store.aclose()


async def test_segments_of_words_stay_few_under_readers(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.open_project(PROJECT, "/")
    reader = raw(tmp_path / "atlas.db", writing=False)
    for number in range(40):
        await store.apply(batch(number))
        await assert_batch(store, number)
        ((segments,),) = reader.execute("SELECT count(*) FROM word_segment").fetchall()
        assert segments < MAX_SEGMENTS
    await store.finish(PROJECT)
    ((segments,),) = reader.execute("SELECT count(*) FROM word_segment").fetchall()
    assert segments <= 4
    await assert_batch(store, 39)
    await store.aclose()
    reader.close()
    whole = raw(tmp_path / "atlas.db")
    assert are_sound(whole, 1 << 40)
    whole.close()
