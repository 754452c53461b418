"""A database file that another user made: it cannot run anything, and no file is opened that is not the user's own."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.embedding_cache import FILE, DiskCache
from atlas.adapters.stores.sqlite.file.connection import open_reader, open_writer
from atlas.adapters.stores.sqlite.file.hardened import reserve_bytes
from atlas.adapters.stores.sqlite.rows import fetch
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.errors import StoreError
from atlas.core.model import Filter, Match
from atlas.runtime.process.data_folder import make_folder
from tests.conformance.rows import PROJECT, PythonVectorIndex, node, unit
from tests.raw_database import raw


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    await store.apply([unit("a.py", [node("a.one")])])
    await store.finish(PROJECT)
    await store.aclose()
    return folder


FOREIGN = {
    "trigger": "CREATE TRIGGER own AFTER INSERT ON file BEGIN DELETE FROM node; END",
    "view": "CREATE VIEW other AS SELECT 1",
    "table": "CREATE TABLE other (x)",
    "virtual table": "CREATE VIRTUAL TABLE other USING fts5(x)",
    "index": "CREATE INDEX other ON file(path)",
    "view in place of a table": "DROP TABLE skipped; CREATE VIEW skipped AS WITH RECURSIVE n(x) AS "
    "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    "view that reads more": "DROP VIEW node_row; CREATE VIEW node_row AS SELECT load_extension('/tmp/x.so') AS id",
    "generated column": "ALTER TABLE skipped ADD COLUMN y AS (zeroblob(1000000000))",
    "another kind of words": "DROP TABLE word_posting; CREATE VIRTUAL TABLE word_posting USING fts5(id, content='/etc/passwd')",
}


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_holds_anything_else_is_refused(filled: Path, change: str, writing: bool) -> None:
    connection = raw(filled / "atlas.db")
    connection.execute(change)
    connection.close()
    with pytest.raises(StoreError, match="was not created by this program") as caught:
        EmbeddedStore.open(filled, writing=writing, vector_index=PythonVectorIndex)
    assert "atlas index --full" in caught.value.hint


@pytest.mark.parametrize("writing", [False, True])
def test_a_view_in_place_of_the_version_is_not_read(filled: Path, writing: bool) -> None:
    connection = raw(filled / "atlas.db")
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'schema' AS key, x AS value FROM n"
    )
    connection.execute(f"DROP TABLE meta; CREATE VIEW meta AS {endless}")
    connection.close()
    with pytest.raises(StoreError):
        EmbeddedStore.open(filled, writing=writing, vector_index=PythonVectorIndex)


REFUSED = [
    "SELECT load_extension('x')",
    "ATTACH 'other.db' AS other",
    "PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql = ''",
    'SELECT "no such column"',
]


@pytest.mark.parametrize("statement", REFUSED)
@pytest.mark.parametrize("writing", [False, True])
def test_what_sql_may_not_do(filled: Path, statement: str, writing: bool) -> None:
    path = filled / "atlas.db"
    connection = open_writer(path) if writing else open_reader(path)
    try:
        with pytest.raises(apsw.Error):
            fetch(connection, statement)
    finally:
        connection.close()
    assert not (filled / "other.db").exists() and not Path("other.db").exists()


def test_triggers_do_not_run(filled: Path) -> None:
    connection = open_writer(filled / "atlas.db")
    fetch(connection, "CREATE TEMP TABLE t (x); CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM node; END")
    with pytest.raises(apsw.SQLError, match="trigger"):
        fetch(connection, "INSERT INTO t VALUES (1)")
    connection.close()


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(path))


@pytest.mark.skipif(sys.platform == "win32", reason="kinds of files of POSIX")
@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize("name", ["atlas.db", "atlas.db-wal", "atlas.db-shm"])
@pytest.mark.parametrize("make", [a_link, a_pipe, a_folder, a_socket])
async def test_only_regular_files_are_opened(
    filled: Path, make: Callable[[Path], None], name: str, writing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled)
    if not (filled / name).exists():
        (filled / name).touch()
    make(filled / name)
    async with asyncio.timeout(20):
        with pytest.raises(StoreError, match="not a regular file") as caught:
            await asyncio.to_thread(EmbeddedStore.open, filled, writing=writing, vector_index=PythonVectorIndex)
    assert caught.value.hint


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("writing", [False, True])
def test_files_of_another_user_are_not_opened(filled: Path, writing: bool) -> None:
    os.chown(filled / "atlas.db", 12345, 12345)
    with pytest.raises(StoreError, match="belongs to another user") as caught:
        EmbeddedStore.open(filled, writing=writing, vector_index=PythonVectorIndex)
    assert caught.value.hint


async def test_a_folder_may_be_reached_by_a_link(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(filled)
    store = EmbeddedStore.open(tmp_path / "link", writing=False, vector_index=PythonVectorIndex)
    assert len(await store.find("one", Match.EXACT, Filter(), 5)) <= 1
    await store.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
async def test_new_files_are_the_users_own(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
        await store.open_project(PROJECT, "/")
        await store.manifest(PROJECT)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in list_files(tmp_path, "atlas.db*")}
        assert modes == {"atlas.db": 0o600, "atlas.db-wal": 0o600, "atlas.db-shm": 0o600}
        await store.aclose()
        cache = DiskCache(tmp_path, 1 << 20)
        await cache.put({"a": b"1"})
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in list_files(tmp_path, "*.db*")}
        await cache.aclose()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}


async def test_a_foreign_embedding_cache_is_replaced(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / FILE))
    connection.execute("CREATE VIEW vector AS SELECT 'a' AS key, 0 AS used, x'31' AS data")
    connection.close()
    cache = DiskCache(tmp_path, 1 << 20)
    assert await cache.get(["a"]) == [None]
    await cache.put({"a": b"2"})
    assert await cache.get(["a"]) == [b"2"]
    await cache.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="kinds of files of POSIX")
@pytest.mark.parametrize("make", [a_link, a_pipe])
def test_a_cache_that_is_no_regular_file_is_not_opened(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / FILE).touch()
    make(tmp_path / FILE)
    with pytest.raises(StoreError, match="not a regular file"):
        DiskCache(tmp_path, 1 << 20)


async def test_a_file_without_checksums_is_read_and_gets_them_when_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of an older program, or of one that cannot load the checks, with a name that nothing uses any more."""
    with monkeypatch.context() as patched:
        for module in ("file.connection", "file.hardened", "file.page_checks", "file.schema_check", "writer"):
            patched.setattr(f"atlas.adapters.stores.sqlite.{module}.register_page_checks", lambda: False)
        writer = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
        await writer.open_project(PROJECT, "/")
        await writer.apply([unit("a.py", [node("a.one")], content=os.urandom(8_000_000))])
        await writer.aclose()
    file = tmp_path / "atlas.db"
    old = apsw.Connection(str(file))
    old.execute("INSERT INTO symbol_id(uid) VALUES ('p:gone.away.zq7c41f0')")
    old.close()
    reader = EmbeddedStore.open(tmp_path, writing=False, vector_index=PythonVectorIndex)
    assert list(await reader.manifest(PROJECT)) == ["a.py"]
    assert file.read_bytes()[20] == 0
    writer = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
    assert file.read_bytes()[20] == 16
    assert b"gone.away.zq7c41f0" not in file.read_bytes()
    assert list(await reader.manifest(PROJECT)) == list(await writer.manifest(PROJECT)) == ["a.py"]
    await writer.apply([unit("b.py", [node("b.two", "b.py")])])
    assert sorted(await reader.manifest(PROJECT)) == ["a.py", "b.py"]
    await reader.aclose()
    await writer.aclose()
    assert sorted(path.name for path in list_files(tmp_path)) == [
        ".gitignore",
        "atlas-data.json",
        "atlas.db",
        "atlas.db-closed",
        "writer.lock",
    ]
    with monkeypatch.context() as patched:
        for module in ("file.connection", "file.hardened", "file.page_checks", "file.schema_check", "writer"):
            patched.setattr(f"atlas.adapters.stores.sqlite.{module}.register_page_checks", lambda: False)
        assert list(await read_manifest(tmp_path)) == ["a.py", "b.py"]
        with pytest.raises(StoreError, match="this installation cannot load the page checks"):
            EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
    data = bytearray(file.read_bytes())
    data[-200] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)


async def test_a_writer_that_was_killed_before_it_made_the_tables_is_followed_by_another(tmp_path: Path) -> None:
    make_folder(tmp_path)
    (tmp_path / "atlas.db").touch()
    connection = raw(tmp_path / "atlas.db")
    reserve_bytes(connection)
    connection.execute("PRAGMA journal_mode=wal")
    connection.close()
    assert (tmp_path / "atlas.db").stat().st_size > 0
    store = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    await store.aclose()
    assert await read_manifest(tmp_path) == []


async def read_manifest(folder: Path) -> list[str]:
    store = EmbeddedStore.open(folder, writing=False, vector_index=PythonVectorIndex)
    paths = sorted(await store.manifest(PROJECT))
    await store.aclose()
    return paths


def list_files(folder: Path, pattern: str = "*") -> list[Path]:
    return list(folder.glob(pattern))
